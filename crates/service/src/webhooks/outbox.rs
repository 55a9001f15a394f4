//! What the dispatcher claims from and settles to: the deliveries in the database.
//!
//! Here secrets are taken out of the vault and bodies are made, so that what is claimed can be sent. A delivery whose
//! secret cannot be read (the operator has started with another key) is not given up: it is put off, and the log says
//! what to do.

use std::sync::Arc;

use jiff::SignedDuration;
use notify::address::UrlRules;
use notify::client::{Attempt, Signing, WebhookJob, WebhookTransport};
use notify::dispatcher::{Bell, ClaimOrder, Claimed, Dispatcher, LaneDue, Limits, Outbox, Settled};
use notify::letter::Letter;
use notify::message::{self, slack};
use notify::schedule::{Next, PATIENCE};
use notify::signature::Secrets;
use store::model::{self, ClaimedDelivery, Patience, Settlement, Verdict};
use store::{Store, StoreError, SwitchOffLetters};
use tokio_util::sync::CancellationToken;

use super::body::signed;
use super::{DatabaseOutbox, DeliveryContext, EVENT, Settings, Unreadable};
use crate::{Ports, messages};

/// For so long a delivery is put off whose secret cannot be read.
const UNREADABLE_FOR: SignedDuration = SignedDuration::from_mins(10);

/// The dispatcher of webhooks, ready to work.
pub struct Dispatching(Dispatcher<DatabaseOutbox<Deliveries>, WebhookTransport>);

impl std::fmt::Debug for Dispatching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dispatching")
    }
}

impl Dispatching {
    pub(crate) fn new(ports: &Ports, settings: &Settings, delivery: &Arc<DeliveryContext>) -> Self {
        let defaults = Limits::default();
        // What an attempt takes beside the exchange itself is little.
        let longest_attempt = settings.timeout.saturating_add(SignedDuration::from_secs(5));
        let limits = Limits {
            longest_attempt,
            // What another process had claimed when it died has to wait for so long.
            lease: longest_attempt.saturating_mul(3),
            drain: defaults.drain.max(longest_attempt),
            ..defaults
        };
        let chance = Arc::clone(&ports.chance);
        Self(Dispatcher {
            outbox: ports.network.outbox(Deliveries {
                store: ports.store.clone(),
                webhooks: Arc::clone(delivery),
                letters: letters(ports),
            }),
            transport: Arc::new(delivery.transport.clone()),
            time: Arc::clone(&ports.network.time),
            limits,
            delays: settings.retry_delays.clone(),
            chance: Box::new(move || u64::from_le_bytes(chance.bytes())),
            bell: Bell::from(ports.store.bell()),
        })
    }

    /// Delivers until `stop`, then lets what is under way end.
    pub(crate) async fn run(self, stop: CancellationToken) {
        self.0.run(stop.cancelled_owned()).await;
    }
}

/// Letters to the owners of webhooks that are switched off.
fn letters(ports: &Ports) -> SwitchOffLetters {
    let (vault, chance) = (Arc::clone(&ports.vault), Arc::clone(&ports.chance));
    let time = Arc::clone(&ports.network.time);
    SwitchOffLetters::new(move |off, address| {
        let letter = Letter::WebhookOff {
            url: off.url.clone(),
            reason: off.reason.name().to_owned(),
        };
        let letter = messages::letter(&vault, &chance, time.now(), address, Some(off.account), &letter);
        letter
            .inspect_err(|error| tracing::error!(%error, webhook = %off.webhook.0, "a letter cannot be written"))
            .ok()
    })
}

/// The deliveries in the database.
struct Deliveries {
    store: Store,
    webhooks: Arc<DeliveryContext>,
    letters: SwitchOffLetters,
}

impl Outbox for Deliveries {
    type Job = WebhookJob;
    type Report = Attempt;
    type Error = StoreError;

    async fn lanes(&self, after: i64, limit: u32) -> Result<Vec<LaneDue>, StoreError> {
        let lanes = self.store.lanes(after, limit).await?.into_iter();
        Ok(lanes
            .map(|lane| LaneDue {
                lane: lane.webhook,
                first_due: lane.first_due,
            })
            .collect())
    }

    async fn claim(&self, order: &ClaimOrder) -> Result<Vec<Claimed<WebhookJob>>, StoreError> {
        let claimed = self
            .store
            .claim_deliveries(model::ClaimOrder {
                lanes: order.lanes.clone(),
                most_of_each: order.most_of_each,
                most: order.most,
                now: order.now,
                until: order.until,
                lease: order.lease,
            })
            .await?;
        let mut ready = Vec::with_capacity(claimed.len());
        let mut unreadable = Vec::new();
        for delivery in claimed {
            match self.webhooks.made_ready(&delivery) {
                Ok(claimed) => ready.push(claimed),
                Err(error) => {
                    tracing::error!(%error, webhook = %delivery.webhook.0, "a webhook's secret cannot be read");
                    unreadable.push(delivery);
                }
            }
        }
        if !unreadable.is_empty() {
            self.put_off(&unreadable).await?;
        }
        Ok(ready)
    }

    async fn settle(&self, settled: &[Settled<Attempt>]) -> Result<(), StoreError> {
        let settlements = settled.iter().map(settlement).collect();
        let now = self.webhooks.network.time.now();
        let patience = Patience { lasts: PATIENCE };
        let letters = self.letters.clone();
        for off in self
            .store
            .settle_deliveries(settlements, patience, letters, now)
            .await?
        {
            tracing::warn!(
                webhook = %off.webhook.0,
                account = %off.account.0,
                reason = off.reason.name(),
                "a webhook was switched off; its owner is mailed",
            );
        }
        count(settled);
        Ok(())
    }
}

impl Deliveries {
    async fn put_off(&self, deliveries: &[ClaimedDelivery]) -> Result<(), StoreError> {
        let now = self.webhooks.network.time.now();
        let at = now.saturating_add(UNREADABLE_FOR).unwrap_or(now);
        let settlements = deliveries.iter().map(|delivery| Settlement {
            seq: delivery.seq,
            lease: delivery.lease,
            lane: delivery.lane,
            url: None,
            attempt: None,
            verdict: Verdict::PutOff { until: at },
        });
        let patience = Patience { lasts: PATIENCE };
        self.store
            .settle_deliveries(settlements.collect(), patience, self.letters.clone(), now)
            .await?;
        Ok(())
    }
}

impl DeliveryContext {
    /// A delivery with all that it takes to send it.
    fn made_ready(&self, delivery: &ClaimedDelivery) -> Result<Claimed<WebhookJob>, Unreadable> {
        let (host, is_slack) = host(&self.rules, &delivery.url);
        let (body, signing) = if is_slack {
            (slack::body(EVENT, &delivery.data), Signing::Unsigned)
        } else {
            let body = message::webhook_body(delivery.id.0, EVENT, delivery.created_at, &delivery.data);
            let signing = Signing::Signed {
                secrets: self.secrets(delivery)?,
                form: signed(delivery.signature),
            };
            (body, signing)
        };
        Ok(Claimed {
            key: delivery.seq,
            id: delivery.id.0,
            lane: delivery.lane,
            host: host.into(),
            account: delivery.account.0,
            tries: delivery.tries,
            job: WebhookJob {
                account: delivery.account.0,
                url: delivery.url.clone(),
                event: EVENT,
                generated_at: delivery.created_at,
                body,
                signing,
            },
        })
    }

    fn secrets(&self, delivery: &ClaimedDelivery) -> Result<Secrets, Unreadable> {
        let sealed = &delivery.secrets;
        let now = self.network.time.now();
        let former = sealed.former.iter().filter(|former| former.expires_at > now);
        Ok(Secrets {
            current: self.open(delivery.webhook, &sealed.current)?,
            former: former
                .map(|former| self.open(delivery.webhook, &former.secret))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// What attempts at one receiver are counted by, and whether it is Slack. A URL that is refused by now is tried all the
/// same: the attempt says so.
fn host(rules: &UrlRules, url: &str) -> (String, bool) {
    match rules.target(url) {
        Ok(target) => (format!("{}:{}", target.host_text(), target.port()), target.is_slack()),
        Err(_) => (url.to_owned(), false),
    }
}

fn settlement(settled: &Settled<Attempt>) -> Settlement {
    Settlement {
        seq: settled.key,
        lease: settled.lease,
        lane: settled.lane,
        url: settled.report.as_ref().and_then(|attempt| attempt.url.clone()),
        attempt: settled.report.as_ref().map(|attempt| model::Attempt {
            at: attempt.at,
            outcome: attempt.outcome.name().to_owned(),
            http_status: attempt.outcome.http_status(),
            duration_ms: attempt.duration_ms,
            response: attempt.response.clone(),
        }),
        verdict: match settled.next {
            Next::Delivered => Verdict::Delivered,
            Next::RetryAt(at) => Verdict::Retry { at },
            Next::GivenUp => Verdict::Failed,
            Next::SwitchOff => Verdict::Gone,
            Next::Released => Verdict::Released,
        },
    }
}

fn count(settled: &[Settled<Attempt>]) {
    for attempt in settled.iter().filter_map(|settled| settled.report.as_ref()) {
        metrics::counter!("bellwether_delivery_attempts_total", "outcome" => attempt.outcome.name()).increment(1);
        let seconds = std::time::Duration::from_millis(attempt.duration_ms).as_secs_f64();
        metrics::histogram!("bellwether_delivery_attempt_seconds").record(seconds);
    }
}

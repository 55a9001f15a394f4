//! What the dispatcher claims from and settles to: the deliveries in the database.
//!
//! Here secrets are taken out of the vault and bodies are made, so that what is claimed can be sent. A delivery whose
//! secret cannot be read (the operator has started with another key) is not given up: it is put off, and the log says
//! what to do.

use std::sync::Arc;

use jiff::SignedDuration;
use notify::address::UrlPolicy;
use notify::client::{Signing, WebhookAttempt, WebhookJob, WebhookTransport};
use notify::dispatcher::{
    ClaimParams, ClaimedJob, Dispatcher, DispatcherLimits, DueEndpoint, Outbox, SettledJob, WakeHandle,
};
use notify::message::{self, slack};
use notify::schedule::{DISABLE_AFTER, NextStep};
use notify::signature::SigningSecrets;
use notify::templates::AccountEmail;
use store::model::{self, ClaimedDelivery, DeliveryDecision, DeliverySettlement, DisablePolicy};
use store::{DisabledNotice, Store, StoreError};
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
        let defaults = DispatcherLimits::default();
        // What an attempt takes beside the exchange itself is little.
        let max_attempt_duration = settings.timeout.saturating_add(SignedDuration::from_secs(5));
        let limits = DispatcherLimits {
            max_attempt_duration,
            // What another process had claimed when it died has to wait for so long.
            lease_duration: max_attempt_duration.saturating_mul(3),
            drain_timeout: defaults.drain_timeout.max(max_attempt_duration),
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
            retry_schedule: settings.retry_delays.clone(),
            random: Box::new(move || u64::from_le_bytes(chance.bytes())),
            wake_handle: WakeHandle::from(ports.store.delivery_wake_handle()),
        })
    }

    /// Delivers until `stop`, then lets what is under way end.
    pub(crate) async fn run(self, stop: CancellationToken) {
        self.0.run(stop.cancelled_owned()).await;
    }
}

/// Letters to the owners of webhooks that are switched off.
fn letters(ports: &Ports) -> DisabledNotice {
    let (vault, chance) = (Arc::clone(&ports.vault), Arc::clone(&ports.chance));
    let time = Arc::clone(&ports.network.time);
    DisabledNotice::new(move |off, address| {
        let letter = AccountEmail::WebhookDisabled {
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
    letters: DisabledNotice,
}

impl Outbox for Deliveries {
    type Job = WebhookJob;
    type Report = WebhookAttempt;
    type Error = StoreError;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, StoreError> {
        let lanes = self.store.pending_delivery_endpoints(after, limit).await?.into_iter();
        Ok(lanes
            .map(|lane| DueEndpoint {
                endpoint: lane.endpoint,
                first_due: lane.first_due,
            })
            .collect())
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<WebhookJob>>, StoreError> {
        let claimed = self
            .store
            .claim_deliveries(model::ClaimQuery {
                endpoints: params.endpoints.clone(),
                max_per_endpoint: params.max_per_endpoint,
                max_total: params.max_total,
                now: params.now,
                until: params.until,
                lease: params.lease,
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

    async fn settle(&self, settled: &[SettledJob<WebhookAttempt>]) -> Result<(), StoreError> {
        let settlements = settled.iter().map(settlement).collect();
        let now = self.webhooks.network.time.now();
        let patience = DisablePolicy {
            failing_for: DISABLE_AFTER,
        };
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
        let settlements = deliveries.iter().map(|delivery| DeliverySettlement {
            seq: delivery.seq,
            lease: delivery.lease,
            endpoint: delivery.endpoint,
            url: None,
            attempt: None,
            decision: DeliveryDecision::Postponed { until: at },
        });
        let patience = DisablePolicy {
            failing_for: DISABLE_AFTER,
        };
        self.store
            .settle_deliveries(settlements.collect(), patience, self.letters.clone(), now)
            .await?;
        Ok(())
    }
}

impl DeliveryContext {
    /// A delivery with all that it takes to send it.
    fn made_ready(&self, delivery: &ClaimedDelivery) -> Result<ClaimedJob<WebhookJob>, Unreadable> {
        let (host, is_slack) = host(&self.rules, &delivery.url);
        let (body, signing) = if is_slack {
            (slack::body(EVENT, &delivery.data), Signing::Unsigned)
        } else {
            let body = message::webhook_body(delivery.id.0, EVENT, delivery.created_at, &delivery.data);
            let signing = Signing::Signed {
                secrets: self.secrets(delivery)?,
                format: signed(delivery.signature),
            };
            (body, signing)
        };
        Ok(ClaimedJob {
            key: delivery.seq,
            id: delivery.id.0,
            endpoint: delivery.endpoint,
            host: host.into(),
            account: delivery.account.0,
            previous_attempts: delivery.tries,
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

    fn secrets(&self, delivery: &ClaimedDelivery) -> Result<SigningSecrets, Unreadable> {
        let sealed = &delivery.secrets;
        let now = self.network.time.now();
        let former = sealed.former.iter().filter(|former| former.expires_at > now);
        Ok(SigningSecrets {
            current: self.open(delivery.webhook, &sealed.current)?,
            former: former
                .map(|former| self.open(delivery.webhook, &former.secret))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// What attempts at one receiver are counted by, and whether it is Slack. A URL that is refused by now is tried all the
/// same: the attempt says so.
fn host(rules: &UrlPolicy, url: &str) -> (String, bool) {
    match rules.target(url) {
        Ok(target) => (format!("{}:{}", target.host_text(), target.port()), target.is_slack()),
        Err(_) => (url.to_owned(), false),
    }
}

fn settlement(settled: &SettledJob<WebhookAttempt>) -> DeliverySettlement {
    DeliverySettlement {
        seq: settled.key,
        lease: settled.lease,
        endpoint: settled.endpoint,
        url: settled.report.as_ref().and_then(|attempt| attempt.url.clone()),
        attempt: settled.report.as_ref().map(|attempt| model::Attempt {
            at: attempt.at,
            outcome: attempt.outcome.name().to_owned(),
            http_status: attempt.outcome.http_status(),
            duration_ms: attempt.duration_ms,
            response: attempt.response.clone(),
        }),
        decision: match settled.next {
            NextStep::Delivered => DeliveryDecision::Delivered,
            NextStep::RetryAt(at) => DeliveryDecision::Retry { at },
            NextStep::GivenUp => DeliveryDecision::Failed,
            NextStep::DisableEndpoint => DeliveryDecision::Gone,
            NextStep::Released => DeliveryDecision::Released,
        },
    }
}

fn count(settled: &[SettledJob<WebhookAttempt>]) {
    for attempt in settled.iter().filter_map(|settled| settled.report.as_ref()) {
        metrics::counter!("bellwether_delivery_attempts_total", "outcome" => attempt.outcome.name()).increment(1);
        let seconds = std::time::Duration::from_millis(attempt.duration_ms).as_secs_f64();
        metrics::histogram!("bellwether_delivery_attempt_seconds").record(seconds);
    }
}

//! Webhook queue in the database, as the dispatcher's [`Outbox`].
//!
//! Claiming opens the secrets and builds the bodies. A delivery whose secret cannot be opened (the operator has started
//! the service with another key) is not dropped: it is postponed, and the log explains the fix.

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

use super::request_body::signing_form;
use super::{DeliveryContext, EVENT, SecretError, WebhooksConfig};
use crate::messages;
use foundation::Ports;
use foundation::network::DatabaseOutbox;

/// Retry delay of deliveries whose secret cannot be opened.
const UNREADABLE_SECRET_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(10);

/// The webhook dispatcher, ready to run.
pub struct WebhookDispatcher(Dispatcher<DatabaseOutbox<WebhookOutbox>, WebhookTransport>);

impl std::fmt::Debug for WebhookDispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookDispatcher")
    }
}

impl WebhookDispatcher {
    pub(crate) fn new(ports: &Ports, settings: &WebhooksConfig, delivery: &Arc<DeliveryContext>) -> Self {
        let defaults = DispatcherLimits::default();
        // Other work of an attempt takes little time.
        let max_attempt_duration = settings.timeout.saturating_add(SignedDuration::from_secs(5));
        let limits = DispatcherLimits {
            max_attempt_duration,
            // Claims of a process that died expire after this time.
            lease_duration: max_attempt_duration.saturating_mul(3),
            drain_timeout: defaults.drain_timeout.max(max_attempt_duration),
            ..defaults
        };
        let random = Arc::clone(&ports.random);
        Self(Dispatcher {
            outbox: ports.network.outbox(WebhookOutbox {
                store: ports.store.clone(),
                delivery: Arc::clone(delivery),
                notices: disabled_notices(ports),
            }),
            transport: Arc::new(delivery.transport.clone()),
            time: Arc::clone(&ports.network.time),
            limits,
            retry_schedule: settings.retry_delays.clone(),
            random: Box::new(move || u64::from_le_bytes(random.bytes())),
            wake_handle: WakeHandle::from(ports.store.delivery_wake_handle()),
        })
    }

    /// Delivers until `stop`, then waits for the running attempts.
    pub(crate) async fn run(self, stop: CancellationToken) {
        self.0.run(stop.cancelled_owned()).await;
    }
}

/// Returns the notices for owners of disabled webhooks.
fn disabled_notices(ports: &Ports) -> DisabledNotice {
    let (vault, random) = (Arc::clone(&ports.vault), Arc::clone(&ports.random));
    let time = Arc::clone(&ports.network.time);
    DisabledNotice::new(move |off, address| {
        let letter = AccountEmail::WebhookDisabled {
            url: off.url.clone(),
            reason: off.reason.name().to_owned(),
        };
        let letter = messages::account_email(&vault, &random, time.now(), address, Some(off.account), &letter);
        letter
            .inspect_err(|error| tracing::error!(%error, webhook = %off.webhook.0, "cannot create a notice about a disabled webhook"))
            .ok()
    })
}

/// The webhook queue in the database.
struct WebhookOutbox {
    store: Store,
    delivery: Arc<DeliveryContext>,
    notices: DisabledNotice,
}

impl Outbox for WebhookOutbox {
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
            match self.delivery.prepare(&delivery) {
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
        let now = self.delivery.network.time.now();
        let patience = DisablePolicy {
            failing_for: DISABLE_AFTER,
        };
        let notices = self.notices.clone();
        for off in self
            .store
            .settle_deliveries(settlements, patience, notices, now)
            .await?
        {
            tracing::warn!(
                webhook = %off.webhook.0,
                account = %off.account.0,
                reason = off.reason.name(),
                "a webhook was disabled; its owner gets an email",
            );
        }
        count(settled);
        Ok(())
    }
}

impl WebhookOutbox {
    async fn put_off(&self, deliveries: &[ClaimedDelivery]) -> Result<(), StoreError> {
        let now = self.delivery.network.time.now();
        let at = now.saturating_add(UNREADABLE_SECRET_RETRY_DELAY).unwrap_or(now);
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
            .settle_deliveries(settlements.collect(), patience, self.notices.clone(), now)
            .await?;
        Ok(())
    }
}

impl DeliveryContext {
    /// Builds the job for a delivery.
    fn prepare(&self, delivery: &ClaimedDelivery) -> Result<ClaimedJob<WebhookJob>, SecretError> {
        let (host, is_slack) = host_key(&self.rules, &delivery.url);
        let (body, signing) = if is_slack {
            (slack::body(EVENT, &delivery.data), Signing::Unsigned)
        } else {
            let body = message::webhook_body(delivery.id.0, EVENT, delivery.created_at, &delivery.data);
            let signing = Signing::Signed {
                secrets: self.secrets(delivery)?,
                format: signing_form(delivery.signature),
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

    fn secrets(&self, delivery: &ClaimedDelivery) -> Result<SigningSecrets, SecretError> {
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

/// Returns the host that concurrent attempts are counted by, and whether it is Slack. A URL that the policy rejects by
/// now is attempted anyway: the attempt reports the error.
fn host_key(rules: &UrlPolicy, url: &str) -> (String, bool) {
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

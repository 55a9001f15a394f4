//! The channel of webhooks.
//!
//! Claiming opens the secrets and builds the bodies. A delivery whose secret cannot be opened (the operator has started
//! the service with another key) is not dropped: it is postponed, and the log explains the fix.

use std::sync::Arc;

use bytes::Bytes;
use foundation::links::link;
use foundation::{DispatchShare, Ports, Random};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use notify::address::UrlPolicy;
use notify::client::{Signing, WebhookAttempt, WebhookJob, WebhookTransport};
use notify::dispatcher::{ClaimedJob, Dispatcher, DispatcherLimits, SettledJob};
use notify::message::{self, slack};
use notify::schedule::DISABLE_AFTER;
use notify::signature::SigningSecrets;
use notify::templates::AccountEmail;
use notify::templates::user_template::{TemplateError, TemplateKind, TemplateVariables};
use store::model::{
    Attempt, ClaimQuery, ClaimedDelivery, DeliveryId, DeliveryResult, DisablePolicy, PayloadTemplate, Queue,
    Settlement, TemplateOwner,
};
use store::{DisabledNotice, Store, StoreError};

use super::request_body::signing_form;
use super::{DeliveryContext, EVENT, SecretError, WebhooksConfig};
use crate::messages;
use crate::messages::templates::{self, TemplateFailure};
use crate::queue::{self, ChannelQueue, QueueOutbox};

/// Creates the dispatcher of webhooks.
pub(crate) fn dispatcher(
    ports: &Ports,
    share: &DispatchShare,
    settings: &WebhooksConfig,
    delivery: &Arc<DeliveryContext>,
) -> Dispatcher<QueueOutbox<WebhookQueue>, WebhookTransport> {
    let channel = WebhookQueue {
        store: ports.store.clone(),
        delivery: Arc::clone(delivery),
        notices: disabled_notices(ports),
        random: Arc::clone(&ports.random),
    };
    queue::dispatcher(
        ports,
        share,
        channel,
        delivery.transport.clone(),
        settings.timeout,
        settings.retry_delays.clone(),
        DispatcherLimits::default(),
    )
}

/// Returns the notices for owners of disabled webhooks.
fn disabled_notices(ports: &Ports) -> DisabledNotice {
    let (vault, random) = (Arc::clone(&ports.vault), Arc::clone(&ports.random));
    let time = Arc::clone(&ports.network.time);
    DisabledNotice::new(move |disabled, address| {
        let content = AccountEmail::WebhookDisabled {
            url: disabled.url.clone(),
            reason: disabled.reason.name().to_owned(),
        };
        messages::account_email(&vault, &random, time.now(), address, Some(disabled.account), &content)
            .inspect_err(|error| {
                let webhook = disabled.webhook.0;
                tracing::error!(%error, %webhook, "cannot create a notice about a disabled webhook");
            })
            .ok()
    })
}

/// The queue of webhooks.
pub(crate) struct WebhookQueue {
    store: Store,
    delivery: Arc<DeliveryContext>,
    notices: DisabledNotice,
    random: Arc<Random>,
}

impl ChannelQueue for WebhookQueue {
    type Job = WebhookJob;
    type Report = WebhookAttempt;

    fn queue(&self) -> Queue {
        Queue::Webhooks
    }

    async fn claim(&self, query: ClaimQuery) -> Result<Vec<ClaimedJob<WebhookJob>>, StoreError> {
        let postponed = queue::postpone_unreadable(query.now);
        let claimed = self.store.claim_deliveries(query).await?;
        let mut ready = Vec::with_capacity(claimed.len());
        let mut unreadable = Vec::new();
        let mut failures = Vec::new();
        for delivery in claimed {
            match self.delivery.prepare(&delivery, &mut failures) {
                Ok(claimed) => ready.push(claimed),
                Err(error) => {
                    tracing::error!(%error, webhook = %delivery.webhook.0, "a webhook's secret cannot be read");
                    unreadable.push(Settlement {
                        seq: delivery.seq,
                        lease: delivery.lease,
                        decision: postponed,
                        result: DeliveryResult::default(),
                    });
                }
            }
        }
        if !unreadable.is_empty() {
            self.record(unreadable).await?;
        }
        let sealing = (self.delivery.vault.as_ref(), self.random.as_ref());
        let now = self.delivery.network.time.now();
        templates::report(&self.store, &self.delivery.public_url, sealing, now, failures).await;
        Ok(ready)
    }

    async fn settle(&self, settled: &[SettledJob<WebhookAttempt>]) -> Result<(), StoreError> {
        self.record(settled.iter().map(settlement).collect()).await?;
        count(settled);
        Ok(())
    }
}

impl WebhookQueue {
    async fn record(&self, settlements: Vec<Settlement<DeliveryResult>>) -> Result<(), StoreError> {
        let now = self.delivery.network.time.now();
        let policy = DisablePolicy {
            failing_for: DISABLE_AFTER,
        };
        let disabled = self
            .store
            .settle_deliveries(settlements, policy, self.notices.clone(), now)
            .await?;
        for webhook in disabled {
            tracing::warn!(
                webhook = %webhook.webhook.0,
                account = %webhook.account.0,
                reason = webhook.reason.name(),
                "a webhook was disabled; its owner gets an email",
            );
        }
        Ok(())
    }
}

impl DeliveryContext {
    /// Builds the job for a delivery.
    fn prepare(
        &self,
        delivery: &ClaimedDelivery,
        failures: &mut Vec<TemplateFailure>,
    ) -> Result<ClaimedJob<WebhookJob>, SecretError> {
        let (host, is_slack) = host_key(&self.rules, &delivery.url);
        let body = match self.payload(delivery.payload.as_ref(), &delivery.url, &delivery.data) {
            Ok(Some(payload)) => payload,
            Ok(None) => self.body(&delivery.url, delivery.id, delivery.created_at, &delivery.data),
            Err((template, error)) => {
                failures.push(TemplateFailure {
                    account: delivery.account,
                    owner: template.owner.clone(),
                    kind: TemplateKind::Payload,
                    source: template.source.clone(),
                    error,
                });
                self.body(&delivery.url, delivery.id, delivery.created_at, &delivery.data)
            }
        };
        let signing = if is_slack {
            Signing::Unsigned
        } else {
            Signing::Signed {
                secrets: self.secrets(delivery)?,
                format: signing_form(delivery.signature),
            }
        };
        Ok(ClaimedJob {
            key: delivery.seq,
            id: delivery.id.0,
            endpoint: delivery.endpoint,
            host: host.into(),
            account: delivery.account.0,
            previous_attempts: delivery.tries,
            caused_at: Some(delivery.caused_at),
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

    /// Renders the payload template of a delivery to a URL. `None` without one. That of an alert does not replace the message to Slack,
    /// which accepts nothing else.
    pub(super) fn payload<'a>(
        &self,
        template: Option<&'a PayloadTemplate>,
        url: &str,
        data: &str,
    ) -> Result<Option<Bytes>, (&'a PayloadTemplate, TemplateError)> {
        let Some(template) = template else {
            return Ok(None);
        };
        if matches!(template.owner, TemplateOwner::Alert(_)) && host_key(&self.rules, url).1 {
            return Ok(None);
        }
        let event: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
        let alert = event.pointer("/alert/id").and_then(serde_json::Value::as_str);
        let link = alert.map(|alert| link(&self.public_url, &format!("alerts/{alert}"), &[]));
        let variables = TemplateVariables::from_event_data(data, link, TimeZone::UTC);
        let payload = templates::render(TemplateKind::Payload, &template.source, &variables);
        payload
            .map(|payload| Some(Bytes::from(payload)))
            .map_err(|error| (template, error))
    }

    /// Returns the default body that is sent to a URL about an event.
    pub(super) fn body(&self, url: &str, id: DeliveryId, at: Timestamp, data: &str) -> Bytes {
        match host_key(&self.rules, url) {
            (_, true) => slack::body(EVENT, data),
            (_, false) => message::webhook_body(id.0, EVENT, at, data),
        }
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

fn settlement(settled: &SettledJob<WebhookAttempt>) -> Settlement<DeliveryResult> {
    let result = DeliveryResult {
        endpoint: settled.endpoint,
        url: settled.report.as_ref().and_then(|attempt| attempt.url.clone()),
        attempt: settled.report.as_ref().map(|attempt| Attempt {
            at: attempt.at,
            outcome: attempt.outcome.name().to_owned(),
            http_status: attempt.outcome.http_status(),
            duration_ms: attempt.duration_ms,
            response: attempt.response.clone(),
        }),
    };
    queue::settlement(settled, result)
}

fn count(settled: &[SettledJob<WebhookAttempt>]) {
    for (settled, attempt) in settled
        .iter()
        .filter_map(|settled| Some((settled, settled.report.as_ref()?)))
    {
        queue::record_delay("webhook", settled, queue::attempt_end(attempt.at, attempt.duration_ms));
        metrics::counter!("bellwether_delivery_attempts_total", "outcome" => attempt.outcome.name()).increment(1);
        let seconds = std::time::Duration::from_millis(attempt.duration_ms).as_secs_f64();
        metrics::histogram!("bellwether_delivery_attempt_seconds").record(seconds);
    }
}

//! Records the attempts of settled deliveries, and the health of their webhooks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use crate::bulk::{Statement, write_many};
use crate::columns::text;
use crate::model::{
    AccountId, Attempt, DeliveryResult, DisablePolicy, DisabledReason, DisabledWebhook, NewMessage, Settlement,
    SettlementDecision, WebhookId,
};
use crate::queue::{DELIVERIES, SettlementResult};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

/// Skips deliveries that were deleted with their account in the meantime.
const INSERT_ATTEMPTS: Statement = Statement {
    before: "WITH noted (delivery_seq, at, outcome, http_status, duration_ms, response) AS (VALUES ",
    columns: 6,
    after: ") INSERT INTO delivery_attempts (delivery_seq, at, outcome, http_status, duration_ms, response)
            SELECT delivery_seq, noted.at, outcome, http_status, duration_ms, response
            FROM noted JOIN deliveries ON deliveries.seq = noted.delivery_seq",
};

type ComposeNotice = dyn Fn(&DisabledWebhook, &str) -> Option<NewMessage> + Send + Sync;

/// Composes the message to a webhook's owner (whose address is given) that the webhook was disabled.
#[derive(Clone)]
pub struct DisabledNotice(Arc<ComposeNotice>);

impl DisabledNotice {
    /// Creates a notice from a function that composes the message.
    pub fn new(compose: impl Fn(&DisabledWebhook, &str) -> Option<NewMessage> + Send + Sync + 'static) -> Self {
        Self(Arc::new(compose))
    }
}

impl fmt::Debug for DisabledNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DisabledNotice")
    }
}

impl Store {
    /// Records the results of claimed deliveries. Disables webhooks that are gone or have only failed for too long,
    /// and queues a message to their owners. Returns the disabled webhooks.
    pub async fn settle_deliveries(
        &self,
        settlements: Vec<Settlement<DeliveryResult>>,
        policy: DisablePolicy,
        notice: DisabledNotice,
        now: Timestamp,
    ) -> Result<Vec<DisabledWebhook>, StoreError> {
        let settle = SettleDeliveries {
            settlements,
            policy,
            notice,
            now,
        };
        self.commit(settle, |settle, unit| Box::pin(settle.run(unit))).await
    }
}

impl SettlementResult for DeliveryResult {}

struct SettleDeliveries {
    settlements: Vec<Settlement<DeliveryResult>>,
    policy: DisablePolicy,
    notice: DisabledNotice,
    now: Timestamp,
}

/// Results of one batch of deliveries to a webhook.
#[derive(Default)]
struct WebhookBatchHealth {
    succeeded_at: Option<i64>,
    failed_at: Option<i64>,
    /// Whether the last attempt failed.
    last_attempt_failed: bool,
    is_gone: bool,
}

impl SettleDeliveries {
    async fn record_attempts(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let attempts = self.settlements.iter();
        let attempts: Vec<(i64, &Attempt)> = attempts
            .filter_map(|settled| Some((settled.seq, settled.result.attempt.as_ref()?)))
            .collect();
        write_many!(unit, INSERT_ATTEMPTS, &attempts, |query, attempt| {
            let (seq, attempt) = attempt;
            query
                .bind(*seq)
                .bind(attempt.at.as_microsecond())
                .bind(attempt.outcome.as_str())
                .bind(attempt.http_status.map(i64::from))
                .bind(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX))
                .bind(attempt.response.as_deref().map(text))
        });
        Ok(())
    }

    /// Results by webhook and URL.
    fn health(&self) -> BTreeMap<(i64, &str), WebhookBatchHealth> {
        let mut endpoints: BTreeMap<(i64, &str), WebhookBatchHealth> = BTreeMap::new();
        for settled in &self.settlements {
            let (Some(attempt), Some(url)) = (&settled.result.attempt, &settled.result.url) else {
                continue;
            };
            let health = endpoints.entry((settled.result.endpoint, url)).or_default();
            let at = attempt.at.as_microsecond();
            if settled.decision == SettlementDecision::Delivered {
                health.succeeded_at = health.succeeded_at.max(Some(at));
                health.failed_at = None;
                health.last_attempt_failed = false;
            } else {
                health.failed_at = Some(health.failed_at.map_or(at, |earlier| earlier.min(at)));
                health.last_attempt_failed = true;
            }
            health.is_gone |= settled.decision == SettlementDecision::Gone;
        }
        endpoints
    }

    /// Updates a webhook's health and disables the webhook if required.
    async fn update_webhook_health(
        &self,
        unit: &mut UnitOfWork,
        endpoint: i64,
        url: &str,
        health: &WebhookBatchHealth,
    ) -> Result<Option<DisabledWebhook>, StoreError> {
        if let Some(at) = health.succeeded_at {
            let sql = "UPDATE webhooks SET failing_since = NULL, last_success_at = $2
                       WHERE seq = $1 AND url = $3
                       AND (failing_since IS NOT NULL OR COALESCE(last_success_at, 0) < $2 - 1000000)";
            write_rows!(unit, sql, endpoint, at, url);
        }
        if let Some(at) = health.failed_at.filter(|_| health.last_attempt_failed) {
            let sql = "UPDATE webhooks SET failing_since = $2 WHERE seq = $1 AND url = $3 AND failing_since IS NULL";
            write_rows!(unit, sql, endpoint, at, url);
        }
        if !health.last_attempt_failed {
            return Ok(None);
        }
        let limit = self.now.as_microsecond() - micros(self.policy);
        let reason = if health.is_gone {
            DisabledReason::Gone
        } else {
            DisabledReason::Failing
        };
        let sql = "UPDATE webhooks SET is_active = $5, disabled_at = $2, disabled_reason = $3
                   WHERE seq = $1 AND url = $7 AND is_active AND deleted_at IS NULL AND ($6 OR failing_since <= $4)";
        let now = self.now.as_microsecond();
        if write_rows!(
            unit,
            sql,
            endpoint,
            now,
            reason.name(),
            limit,
            false,
            health.is_gone,
            url
        ) == 0
        {
            return Ok(None);
        }
        let sql = "SELECT w.id, w.account_id, w.url, a.email FROM webhooks w JOIN accounts a ON a.id = w.account_id
                   WHERE w.seq = $1";
        let (id, account, url, email) = fetch!(unit, fetch_one(Uuid, Uuid, String, String), sql, endpoint);
        unit.give_up_deliveries(WebhookId(id), self.now).await?;
        let disabled = DisabledWebhook {
            webhook: WebhookId(id),
            account: AccountId(account),
            url,
            reason,
        };
        // In the same transaction, so that a webhook is never disabled without a message.
        if let Some(message) = (self.notice.0)(&disabled, &email) {
            unit.queue_message(&message).await?;
        }
        Ok(Some(disabled))
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<Vec<DisabledWebhook>, StoreError> {
        self.record_attempts(unit).await?;
        unit.settle(&DELIVERIES, &self.settlements, self.now).await?;
        let mut disabled = Vec::new();
        for ((endpoint, url), health) in self.health() {
            disabled.extend(self.update_webhook_health(unit, endpoint, url, &health).await?);
        }
        Ok(disabled)
    }
}

fn micros(policy: DisablePolicy) -> i64 {
    i64::try_from(policy.failing_for.as_micros()).unwrap_or(i64::MAX / 2)
}

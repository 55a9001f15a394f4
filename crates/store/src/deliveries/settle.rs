//! Records the results of many delivery attempts at once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use super::claim::into_store_error;
use crate::bulk::{Statement, execute_many};
use crate::columns::text;
use crate::model::{
    AccountId, DeliveryDecision, DeliverySettlement, DisablePolicy, DisabledReason, DisabledWebhook, NewMessage,
    WebhookId,
};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Abort, BoxFuture, Store, StoreError, Transaction, UnitOfWork};

/// Skips deliveries that were deleted with their account in the meantime.
const INSERT_ATTEMPTS: Statement = Statement {
    before: "WITH noted (delivery_seq, at, outcome, http_status, duration_ms, response) AS (VALUES ",
    columns: 6,
    after: ") INSERT INTO delivery_attempts (delivery_seq, at, outcome, http_status, duration_ms, response)
            SELECT delivery_seq, noted.at, outcome, http_status, duration_ms, response
            FROM noted JOIN deliveries ON deliveries.seq = noted.delivery_seq",
};

/// Counts even if the lease has expired, because the receiver has accepted the delivery.
const MARK_DELIVERED: Statement = Statement {
    before: "UPDATE deliveries SET status = 'delivered', lease = NULL, tries = tries + 1 WHERE seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const MARK_FAILED: Statement = Statement {
    before: "WITH settled (seq, lease) AS (VALUES ",
    columns: 2,
    after: ") UPDATE deliveries SET status = 'failed', lease = NULL, tries = tries + 1 FROM settled
            WHERE deliveries.seq = settled.seq AND deliveries.lease = settled.lease AND status = 'pending'",
};

const RESCHEDULE: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, tried) AS (VALUES ",
    columns: 4,
    after: ") UPDATE deliveries SET lease = NULL, due_at = settled.due_at, tries = tries + settled.tried FROM settled
            WHERE deliveries.seq = settled.seq AND deliveries.lease = settled.lease AND status = 'pending'",
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
        settlements: Vec<DeliverySettlement>,
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
        self.write(settle).await.map_err(into_store_error)
    }
}

struct SettleDeliveries {
    settlements: Vec<DeliverySettlement>,
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
    fn filter_settlements<'a, T>(&'a self, pick: impl Fn(&'a DeliverySettlement) -> Option<T>) -> Vec<T> {
        self.settlements.iter().filter_map(pick).collect()
    }

    async fn record_attempts(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let attempts = self.filter_settlements(|settled| Some((settled.seq, settled.attempt.as_ref()?)));
        let inserted = execute_many!(&mut unit.connection, INSERT_ATTEMPTS, &attempts, |query, attempt| {
            let (seq, attempt) = attempt;
            query
                .bind(*seq)
                .bind(attempt.at.as_microsecond())
                .bind(attempt.outcome.as_str())
                .bind(attempt.http_status.map(i64::from))
                .bind(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX))
                .bind(attempt.response.as_deref().map(text))
        });
        unit.track_rows(inserted)?;
        Ok(())
    }

    async fn update_deliveries(&self, unit: &mut UnitOfWork) -> Result<(), StoreError> {
        let delivered =
            self.filter_settlements(|settled| (settled.decision == DeliveryDecision::Delivered).then_some(settled.seq));
        let done = execute_many!(&mut unit.connection, MARK_DELIVERED, &delivered, |query, seq| query
            .bind(*seq));
        unit.track_rows(done)?;
        let failed = self.filter_settlements(|settled| {
            matches!(settled.decision, DeliveryDecision::Failed | DeliveryDecision::Gone)
                .then_some((settled.seq, settled.lease))
        });
        let done = execute_many!(&mut unit.connection, MARK_FAILED, &failed, |query, settled| {
            query.bind(settled.0).bind(settled.1)
        });
        unit.track_rows(done)?;
        let rescheduled = self.filter_settlements(|settled| match settled.decision {
            DeliveryDecision::Retry { at } => Some((settled.seq, settled.lease, at.as_microsecond(), 1_i64)),
            DeliveryDecision::Released => Some((settled.seq, settled.lease, self.now.as_microsecond(), 0)),
            DeliveryDecision::Postponed { until } => Some((settled.seq, settled.lease, until.as_microsecond(), 0)),
            DeliveryDecision::Delivered | DeliveryDecision::Failed | DeliveryDecision::Gone => None,
        });
        let done = execute_many!(&mut unit.connection, RESCHEDULE, &rescheduled, |query, settled| {
            query.bind(settled.0).bind(settled.1).bind(settled.2).bind(settled.3)
        });
        unit.track_rows(done)?;
        Ok(())
    }

    /// Results by webhook and URL.
    fn health(&self) -> BTreeMap<(i64, &str), WebhookBatchHealth> {
        let mut endpoints: BTreeMap<(i64, &str), WebhookBatchHealth> = BTreeMap::new();
        for settled in &self.settlements {
            let (Some(attempt), Some(url)) = (&settled.attempt, &settled.url) else {
                continue;
            };
            let health = endpoints.entry((settled.endpoint, url)).or_default();
            let at = attempt.at.as_microsecond();
            if settled.decision == DeliveryDecision::Delivered {
                health.succeeded_at = health.succeeded_at.max(Some(at));
                health.failed_at = None;
                health.last_attempt_failed = false;
            } else {
                health.failed_at = Some(health.failed_at.map_or(at, |earlier| earlier.min(at)));
                health.last_attempt_failed = true;
            }
            health.is_gone |= settled.decision == DeliveryDecision::Gone;
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
        let sql = "UPDATE deliveries SET status = 'failed', lease = NULL WHERE status = 'pending' AND webhook_seq = $1";
        write_rows!(unit, sql, endpoint);
        let sql = "SELECT w.id, w.account_id, w.url, a.email FROM webhooks w JOIN accounts a ON a.id = w.account_id
                   WHERE w.seq = $1";
        let (id, account, url, email) = fetch!(unit, fetch_one(Uuid, Uuid, String, String), sql, endpoint);
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
}

fn micros(policy: DisablePolicy) -> i64 {
    i64::try_from(policy.failing_for.as_micros()).unwrap_or(i64::MAX / 2)
}

impl Transaction for SettleDeliveries {
    type Output = Vec<DisabledWebhook>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(
        &'a self,
        unit: &'a mut UnitOfWork,
    ) -> BoxFuture<'a, Result<Vec<DisabledWebhook>, Abort<Self::Refusal>>> {
        Box::pin(async move {
            self.record_attempts(unit).await?;
            self.update_deliveries(unit).await?;
            let mut disabled = Vec::new();
            for ((endpoint, url), health) in self.health() {
                disabled.extend(self.update_webhook_health(unit, endpoint, url, &health).await?);
            }
            Ok(disabled)
        })
    }
}

//! What came of attempts, many at once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use super::claim::never;
use crate::bulk::{Statement, execute_many};
use crate::columns::text;
use crate::model::{AccountId, DisabledReason, NewMessage, Patience, Settlement, SwitchedOff, Verdict, WebhookId};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// What was deleted meanwhile, with its account, has no attempts any more.
const NOTE_ATTEMPTS: Statement = Statement {
    before: "WITH noted (delivery_seq, at, outcome, http_status, duration_ms, response) AS (VALUES ",
    columns: 6,
    after: ") INSERT INTO delivery_attempts (delivery_seq, at, outcome, http_status, duration_ms, response)
            SELECT delivery_seq, noted.at, outcome, http_status, duration_ms, response
            FROM noted JOIN deliveries ON deliveries.seq = noted.delivery_seq",
};

/// A receiver that has taken a delivery has taken it, whatever became of the lease.
const DELIVERED: Statement = Statement {
    before: "UPDATE deliveries SET status = 'delivered', lease = NULL, tries = tries + 1 WHERE seq IN (VALUES ",
    columns: 1,
    after: ")",
};

const FAILED: Statement = Statement {
    before: "WITH settled (seq, lease) AS (VALUES ",
    columns: 2,
    after: ") UPDATE deliveries SET status = 'failed', lease = NULL, tries = tries + 1 FROM settled
            WHERE deliveries.seq = settled.seq AND deliveries.lease = settled.lease AND status = 'pending'",
};

const PUT_OFF: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, tried) AS (VALUES ",
    columns: 4,
    after: ") UPDATE deliveries SET lease = NULL, due_at = settled.due_at, tries = tries + settled.tried FROM settled
            WHERE deliveries.seq = settled.seq AND deliveries.lease = settled.lease AND status = 'pending'",
};

type WriteLetter = dyn Fn(&SwitchedOff, &str) -> Option<NewMessage> + Send + Sync;

/// Writes to the owner of a webhook, whose address is given, that it was switched off.
#[derive(Clone)]
pub struct SwitchOffLetters(Arc<WriteLetter>);

impl SwitchOffLetters {
    /// Letters as that writes them.
    pub fn new(write: impl Fn(&SwitchedOff, &str) -> Option<NewMessage> + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }
}

impl fmt::Debug for SwitchOffLetters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SwitchOffLetters")
    }
}

impl Store {
    /// Writes down what came of claimed deliveries, and switches off the webhooks that are gone or only failed for too
    /// long, with a letter to their owners. Answers those.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn settle_deliveries(
        &self,
        settlements: Vec<Settlement>,
        patience: Patience,
        letters: SwitchOffLetters,
        now: Timestamp,
    ) -> Result<Vec<SwitchedOff>, StoreError> {
        let settle = Settle {
            settlements,
            patience,
            letters,
            now,
        };
        self.write(settle).await.map_err(never)
    }
}

struct Settle {
    settlements: Vec<Settlement>,
    patience: Patience,
    letters: SwitchOffLetters,
    now: Timestamp,
}

/// What a webhook's deliveries of one batch say about it.
#[derive(Default)]
struct Health {
    succeeded_at: Option<i64>,
    failed_at: Option<i64>,
    /// The last attempt failed.
    ends_badly: bool,
    is_gone: bool,
}

impl Settle {
    fn by_verdict<'a, T>(&'a self, pick: impl Fn(&'a Settlement) -> Option<T>) -> Vec<T> {
        self.settlements.iter().filter_map(pick).collect()
    }

    async fn note_attempts(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let attempts = self.by_verdict(|settled| Some((settled.seq, settled.attempt.as_ref()?)));
        let noted = execute_many!(&mut unit.link, NOTE_ATTEMPTS, &attempts, |query, attempt| {
            let (seq, attempt) = attempt;
            query
                .bind(*seq)
                .bind(attempt.at.as_microsecond())
                .bind(attempt.outcome.as_str())
                .bind(attempt.http_status.map(i64::from))
                .bind(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX))
                .bind(attempt.response.as_deref().map(text))
        });
        unit.noted_rows(noted)?;
        Ok(())
    }

    async fn move_deliveries(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let delivered = self.by_verdict(|settled| (settled.verdict == Verdict::Delivered).then_some(settled.seq));
        let done = execute_many!(&mut unit.link, DELIVERED, &delivered, |query, seq| query.bind(*seq));
        unit.noted_rows(done)?;
        let failed = self.by_verdict(|settled| {
            matches!(settled.verdict, Verdict::Failed | Verdict::Gone).then_some((settled.seq, settled.lease))
        });
        let done = execute_many!(&mut unit.link, FAILED, &failed, |query, settled| {
            query.bind(settled.0).bind(settled.1)
        });
        unit.noted_rows(done)?;
        let put_off = self.by_verdict(|settled| match settled.verdict {
            Verdict::Retry { at } => Some((settled.seq, settled.lease, at.as_microsecond(), 1_i64)),
            Verdict::Released => Some((settled.seq, settled.lease, self.now.as_microsecond(), 0)),
            Verdict::PutOff { until } => Some((settled.seq, settled.lease, until.as_microsecond(), 0)),
            Verdict::Delivered | Verdict::Failed | Verdict::Gone => None,
        });
        let done = execute_many!(&mut unit.link, PUT_OFF, &put_off, |query, settled| {
            query.bind(settled.0).bind(settled.1).bind(settled.2).bind(settled.3)
        });
        unit.noted_rows(done)?;
        Ok(())
    }

    /// By webhook and by where it led.
    fn health(&self) -> BTreeMap<(i64, &str), Health> {
        let mut lanes: BTreeMap<(i64, &str), Health> = BTreeMap::new();
        for settled in &self.settlements {
            let (Some(attempt), Some(url)) = (&settled.attempt, &settled.url) else {
                continue;
            };
            let health = lanes.entry((settled.lane, url)).or_default();
            let at = attempt.at.as_microsecond();
            if settled.verdict == Verdict::Delivered {
                health.succeeded_at = health.succeeded_at.max(Some(at));
                health.failed_at = None;
                health.ends_badly = false;
            } else {
                health.failed_at = Some(health.failed_at.map_or(at, |earlier| earlier.min(at)));
                health.ends_badly = true;
            }
            health.is_gone |= settled.verdict == Verdict::Gone;
        }
        lanes
    }

    /// Takes note of how a webhook does, and switches it off if it has to be.
    async fn judge(
        &self,
        unit: &mut Unit,
        lane: i64,
        url: &str,
        health: &Health,
    ) -> Result<Option<SwitchedOff>, StoreError> {
        if let Some(at) = health.succeeded_at {
            let sql = "UPDATE webhooks SET failing_since = NULL, last_success_at = $2
                       WHERE seq = $1 AND url = $3
                       AND (failing_since IS NOT NULL OR COALESCE(last_success_at, 0) < $2 - 1000000)";
            write!(unit, sql, lane, at, url);
        }
        if let Some(at) = health.failed_at.filter(|_| health.ends_badly) {
            let sql = "UPDATE webhooks SET failing_since = $2 WHERE seq = $1 AND url = $3 AND failing_since IS NULL";
            write!(unit, sql, lane, at, url);
        }
        if !health.ends_badly {
            return Ok(None);
        }
        let limit = self.now.as_microsecond() - micros(self.patience);
        let reason = if health.is_gone {
            DisabledReason::Gone
        } else {
            DisabledReason::Failing
        };
        let sql = "UPDATE webhooks SET is_active = $5, disabled_at = $2, disabled_reason = $3
                   WHERE seq = $1 AND url = $7 AND is_active AND deleted_at IS NULL AND ($6 OR failing_since <= $4)";
        let now = self.now.as_microsecond();
        if write!(unit, sql, lane, now, reason.name(), limit, false, health.is_gone, url) == 0 {
            return Ok(None);
        }
        let sql = "UPDATE deliveries SET status = 'failed', lease = NULL WHERE status = 'pending' AND webhook_seq = $1";
        write!(unit, sql, lane);
        let sql = "SELECT w.id, w.account_id, w.url, a.email FROM webhooks w JOIN accounts a ON a.id = w.account_id
                   WHERE w.seq = $1";
        let (id, account, url, email) = ask!(unit, fetch_one(Uuid, Uuid, String, String), sql, lane);
        let off = SwitchedOff {
            webhook: WebhookId(id),
            account: AccountId(account),
            url,
            reason,
        };
        // With the switching off, so that neither is there without the other.
        if let Some(letter) = (self.letters.0)(&off, &email) {
            unit.queue_message(&letter).await?;
        }
        Ok(Some(off))
    }
}

fn micros(patience: Patience) -> i64 {
    i64::try_from(patience.lasts.as_micros()).unwrap_or(i64::MAX / 2)
}

impl Work for Settle {
    type Done = Vec<SwitchedOff>;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Vec<SwitchedOff>, Abort<Self::Refusal>>> {
        Box::pin(async move {
            self.note_attempts(unit).await?;
            self.move_deliveries(unit).await?;
            let mut off = Vec::new();
            for ((lane, url), health) in self.health() {
                off.extend(self.judge(unit, lane, url, &health).await?);
            }
            Ok(off)
        })
    }
}

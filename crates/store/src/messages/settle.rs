//! What came of messages, many at once; with what the alerts' histories and the outbox say about it.

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::bulk::{Statement, execute_many, query_many};
use crate::columns::text;
use crate::deliveries::never;
use crate::model::{KeptMessage, MessageChannel, MessageSettlement, MessageVerdict};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

/// What has arrived has arrived, whatever became of the lease. A letter's content is not kept.
const SENT: Statement = Statement {
    before: "WITH settled (seq, outcome, provider_id, at) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET status = 'sent', lease = NULL, tries = tries + 1, content = NULL,
                outcome = settled.outcome, provider_id = settled.provider_id, finished_at = settled.at
            FROM settled WHERE messages.seq = settled.seq AND status <> 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const FAILED: Statement = Statement {
    before: "WITH settled (seq, lease, outcome, at) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET status = 'failed', lease = NULL, content = NULL,
                outcome = settled.outcome, finished_at = settled.at
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const PUT_OFF: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, tried, outcome) AS (VALUES ",
    columns: 5,
    after: ") UPDATE messages SET lease = NULL, due_at = settled.due_at, tries = tries + settled.tried,
                outcome = settled.outcome
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'",
};

/// The message keeps its id, so it is sent once, whichever way.
const BY_MAIL: Statement = Statement {
    before: "WITH settled (seq, lease, due_at, outcome) AS (VALUES ",
    columns: 4,
    after: ") UPDATE messages SET channel = 'email', lease = NULL, due_at = settled.due_at, outcome = settled.outcome
            FROM settled WHERE messages.seq = settled.seq AND messages.lease = settled.lease AND status = 'pending'",
};

const KEEP: Statement = Statement {
    before: "INSERT INTO outbox (id, channel, recipient, content, created_at) VALUES ",
    columns: 5,
    after: " ON CONFLICT (id) DO NOTHING",
};

/// Writes down in the alerts' histories what became of their notifications. The alerts stay as they are, so of one that is
/// deleted meanwhile there is nothing that it was before.
const RECORD: Statement = Statement {
    before: "WITH told (alert_seq, action, at, details) AS (VALUES ",
    columns: 4,
    after: ") INSERT INTO history (alert_seq, action, previous_status, new_status, at, price, details)
            SELECT alerts.seq, told.action, CASE WHEN alerts.deleted_at IS NULL THEN alerts.status END,
                CASE WHEN alerts.deleted_at IS NULL THEN alerts.status ELSE 'deleted' END, told.at, NULL, told.details
            FROM told JOIN alerts ON alerts.seq = told.alert_seq",
};

/// A message that was settled for good: its alert, itself, and what came of it.
type Ended = (Option<i64>, Uuid, Option<String>);

impl Store {
    /// Writes down what came of claimed messages.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn settle_messages(
        &self,
        channel: MessageChannel,
        settlements: Vec<MessageSettlement>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let settle = Settle {
            channel,
            settlements,
            now,
        };
        self.write(settle).await.map_err(never)
    }

    /// Takes note of what a provider says about a message after it has taken it. Answers whether it is known: a provider may
    /// say it before what it has answered is on disk.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn note_message_status(
        &self,
        channel: MessageChannel,
        provider_id: &str,
        outcome: &str,
        has_failed: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let note = Note {
            channel,
            provider_id: text(provider_id),
            outcome: text(outcome),
            has_failed,
            now,
        };
        self.write(note).await.map_err(never)
    }
}

struct Settle {
    channel: MessageChannel,
    settlements: Vec<MessageSettlement>,
    now: Timestamp,
}

impl Settle {
    fn by_verdict<'a, T>(&'a self, pick: impl Fn(&'a MessageSettlement) -> Option<T>) -> Vec<T> {
        self.settlements.iter().filter_map(pick).collect()
    }

    async fn keep(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let kept: Vec<&KeptMessage> = self.by_verdict(|settled| match &settled.verdict {
            MessageVerdict::Sent { kept } => kept.as_ref(),
            _ => None,
        });
        let done = execute_many!(&mut unit.link, KEEP, &kept, |query, kept| {
            query
                .bind(kept.id.0)
                .bind(kept.channel.name())
                .bind(text(&kept.recipient))
                .bind(kept.content.as_slice())
                .bind(kept.created_at.as_microsecond())
        });
        unit.noted_rows(done)?;
        Ok(())
    }

    async fn put_off(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let put_off = self.by_verdict(|settled| {
            let (due, tried) = match &settled.verdict {
                MessageVerdict::Retry { at } => (*at, 1_i64),
                MessageVerdict::Released => (self.now, 0),
                MessageVerdict::PutOff { until } => (*until, 0),
                MessageVerdict::Sent { .. } | MessageVerdict::Failed | MessageVerdict::ByMail => return None,
            };
            Some((settled, due.as_microsecond(), tried))
        });
        let done = execute_many!(&mut unit.link, PUT_OFF, &put_off, |query, put_off| {
            let (settled, due, tried) = put_off;
            query
                .bind(settled.seq)
                .bind(settled.lease)
                .bind(*due)
                .bind(*tried)
                .bind(settled.outcome.as_deref().map(text))
        });
        unit.noted_rows(done)?;
        Ok(())
    }

    async fn send_by_mail(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let by_mail = self.by_verdict(|settled| (settled.verdict == MessageVerdict::ByMail).then_some(settled));
        let done = execute_many!(&mut unit.link, BY_MAIL, &by_mail, |query, settled| {
            query
                .bind(settled.seq)
                .bind(settled.lease)
                .bind(self.now.as_microsecond())
                .bind(settled.outcome.as_deref().map(text))
        });
        unit.noted_rows(done)?;
        unit.has_messages |= !by_mail.is_empty();
        Ok(())
    }
}

impl Unit {
    /// Writes into the histories of alerts what became of messages about them.
    async fn record_notifications(
        &mut self,
        channel: MessageChannel,
        action: &'static str,
        ended: &[Ended],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let told = ended.iter().filter_map(|(alert, id, outcome)| {
            let mut details = json!({"channel": channel.name(), "message_id": id.to_string()});
            if action == FAILED_ACTION {
                details["reason"] = json!(outcome);
            }
            Some(((*alert)?, details.to_string()))
        });
        let told: Vec<(i64, String)> = told.collect();
        if told.is_empty() {
            return Ok(());
        }
        self.announce_history().await?;
        let recorded = execute_many!(&mut self.link, RECORD, &told, |query, told| {
            query
                .bind(told.0)
                .bind(action)
                .bind(now.as_microsecond())
                .bind(told.1.as_str())
        });
        self.noted_rows(recorded)?;
        Ok(())
    }
}

const SENT_ACTION: &str = "notification_sent";
const FAILED_ACTION: &str = "notification_failed";

impl Work for Settle {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let at = self.now.as_microsecond();
            self.keep(unit).await?;
            let sent =
                self.by_verdict(|settled| matches!(settled.verdict, MessageVerdict::Sent { .. }).then_some(settled));
            let ended = query_many!(Ended, &mut unit.link, SENT, &sent, |query, settled| {
                query
                    .bind(settled.seq)
                    .bind(settled.outcome.as_deref().map(text))
                    .bind(settled.provider_id.as_deref().map(text))
                    .bind(at)
            });
            let ended = unit.noted_writing(ended)?;
            unit.record_notifications(self.channel, SENT_ACTION, &ended, self.now)
                .await?;
            let failed = self.by_verdict(|settled| (settled.verdict == MessageVerdict::Failed).then_some(settled));
            let ended = query_many!(Ended, &mut unit.link, FAILED, &failed, |query, settled| {
                query
                    .bind(settled.seq)
                    .bind(settled.lease)
                    .bind(settled.outcome.as_deref().map(text))
                    .bind(at)
            });
            let ended = unit.noted_writing(ended)?;
            unit.record_notifications(self.channel, FAILED_ACTION, &ended, self.now)
                .await?;
            self.put_off(unit).await?;
            self.send_by_mail(unit).await?;
            Ok(())
        })
    }
}

struct Note {
    channel: MessageChannel,
    provider_id: String,
    outcome: String,
    has_failed: bool,
    now: Timestamp,
}

/// What a provider says later. Of two things that it says, the one that a message has failed stays.
const NOTE: Statement = Statement {
    before: "WITH noted (provider_id, outcome) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET outcome = noted.outcome FROM noted
            WHERE messages.provider_id = noted.provider_id AND status = 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

const NOTE_FAILURE: Statement = Statement {
    before: "WITH noted (provider_id, outcome) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET outcome = noted.outcome, status = 'failed' FROM noted
            WHERE messages.provider_id = noted.provider_id AND status = 'sent'
            RETURNING messages.alert_seq, messages.id, messages.outcome",
};

impl Work for Note {
    type Done = bool;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<bool, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let statement = if self.has_failed { NOTE_FAILURE } else { NOTE };
            let ended = query_many!(Ended, &mut unit.link, statement, &[()], |query, _one| {
                query.bind(self.provider_id.as_str()).bind(self.outcome.as_str())
            });
            let ended = unit.noted_writing(ended)?;
            if self.has_failed {
                unit.record_notifications(self.channel, FAILED_ACTION, &ended, self.now)
                    .await?;
            }
            if !ended.is_empty() {
                return Ok(true);
            }
            let sql = "SELECT COUNT(*) FROM messages WHERE provider_id = $1";
            let (known,) = crate::unit::ask!(unit, fetch_one(i64,), sql, self.provider_id.as_str());
            Ok(known > 0)
        })
    }
}

//! Messages that were folded into another follow it.

use uuid::Uuid;

use crate::bulk::{Statement, write_many, write_many_returning};
use crate::model::message_hold::message_holds;
use crate::model::{MessageResult, Settlement, SettlementDecision};
use crate::queue::{FinishedRow, MESSAGES};
use crate::{StoreError, UnitOfWork};
use jiff::Timestamp;

/// Finishes the messages that were folded into finished ones.
const FINISH: Statement = Statement {
    before: "UPDATE messages SET status = f.status, outcome = f.outcome, finished_at = COALESCE(messages.finished_at, f.finished_at)
             FROM messages f WHERE messages.folded_into = f.seq AND f.status IN ('sent', 'failed')
             AND (messages.status <> f.status OR messages.outcome IS DISTINCT FROM f.outcome) AND f.seq IN (VALUES ",
    columns: 1,
    after: ") RETURNING messages.seq, messages.status, messages.alert_seq,
             (SELECT f.id FROM messages f WHERE f.seq = messages.folded_into), messages.outcome",
};

/// Lets the messages that were folded into ones that go by another channel follow them there.
const MOVE: Statement = Statement {
    before: "UPDATE messages SET channel = f.channel FROM messages f WHERE messages.folded_into = f.seq AND messages.status = 'folded'
             AND messages.channel <> f.channel AND f.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

/// Separates the messages again that were folded into ones that are held back before their first attempt.
const SEPARATE: Statement = Statement {
    before: concat!(
        "UPDATE messages SET status = 'pending', folded_into = NULL, due_at = f.due_at, outcome = f.outcome
         FROM messages f WHERE messages.folded_into = f.seq AND messages.status = 'folded'
         AND f.status = 'pending' AND f.admitted_at IS NULL AND f.lease IS NULL AND f.outcome IN (",
        message_holds!(),
        ") AND f.seq IN (VALUES "
    ),
    columns: 1,
    after: ") RETURNING messages.seq",
};

/// Messages that are held back are not those of a burst.
const CLEAR: Statement = Statement {
    before: concat!(
        "UPDATE messages SET burst_at = NULL
         WHERE burst_at IS NOT NULL AND status = 'pending' AND admitted_at IS NULL AND lease IS NULL AND outcome IN (",
        message_holds!(),
        ") AND seq IN (VALUES "
    ),
    columns: 1,
    after: ")",
};

/// The time for an acknowledgement begins when a message is sent that is held back.
const AWAIT: Statement = Statement {
    before: concat!(
        "WITH held (held_id, held_until) AS (SELECT id, due_at FROM messages WHERE status = 'pending' AND lease IS NULL AND outcome IN (",
        message_holds!(),
        ") AND seq IN (VALUES "
    ),
    columns: 1,
    after: ")) UPDATE escalations SET due_at = held_until + ack_timeout FROM held WHERE current_id = held_id AND ack_timeout IS NOT NULL",
};

type FollowingRow = (i64, String, Option<i64>, Uuid, Option<String>);

impl UnitOfWork {
    /// Separates the messages that were folded into ones that are held back. The time for an acknowledgement of all of them begins when
    /// they are sent. Messages that are not held back are left out.
    pub(in crate::messages) async fn separate_held(&mut self, messages: &[i64]) -> Result<(), StoreError> {
        let separated = write_many_returning!(self, (i64,), SEPARATE, messages, |query, seq| query.bind(*seq));
        write_many!(self, CLEAR, messages, |query, seq| query.bind(*seq));
        let held: Vec<i64> = messages
            .iter()
            .copied()
            .chain(separated.into_iter().map(|(seq,)| seq))
            .collect();
        write_many!(self, AWAIT, &held, |query, seq| query.bind(*seq));
        Ok(())
    }

    /// Lets messages follow the ones that they were folded into, whose settlements have been written. Returns the finished ones, each with
    /// the id of the message that its firing went out in.
    pub(in crate::messages) async fn settle_folded(
        &mut self,
        settlements: &[Settlement<MessageResult>],
        now: Timestamp,
    ) -> Result<Vec<FinishedRow>, StoreError> {
        let seqs = |is_meant: fn(&Settlement<MessageResult>) -> bool| -> Vec<i64> {
            let meant = settlements.iter().filter(|settled| is_meant(settled));
            meant.map(|settled| settled.seq).collect()
        };
        let postponed = seqs(|settled| matches!(settled.decision, SettlementDecision::Postponed { .. }));
        self.separate_held(&postponed).await?;
        let moved = seqs(|settled| settled.result.moved_to.is_some());
        write_many!(self, MOVE, &moved, |query, seq| query.bind(*seq));
        self.follow_settled(&seqs(|_| true), now).await
    }

    /// Lets messages follow the settled ones that they were folded into. Returns the finished ones, each with the id of the message that
    /// its firing went out in.
    pub(in crate::messages) async fn follow_settled(
        &mut self,
        settled: &[i64],
        now: Timestamp,
    ) -> Result<Vec<FinishedRow>, StoreError> {
        let finished = write_many_returning!(self, FollowingRow, FINISH, settled, |query, seq| query.bind(*seq));
        let failed = finished.iter().filter(|row| row.1 == "failed");
        let failed: Vec<i64> = failed.map(|row| row.0).collect();
        self.escalate(&MESSAGES, &failed, now).await?;
        Ok(finished
            .into_iter()
            .map(|(_, status, alert, id, outcome)| (status, alert, id, outcome))
            .collect())
    }
}

//! Messages that were folded into another follow it.

use uuid::Uuid;

use crate::bulk::{Statement, write_many, write_many_returning};
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

/// Separates the messages again that were folded into ones that are held back before their first attempt, or moved to another channel.
const UNFOLD: Statement = Statement {
    before: "UPDATE messages SET status = 'pending', folded_into = NULL, due_at = f.due_at, outcome = f.outcome, channel = f.channel
             FROM messages f WHERE messages.folded_into = f.seq AND messages.status = 'folded'
             AND f.status = 'pending' AND f.admitted_at IS NULL AND f.lease IS NULL AND f.seq IN (VALUES ",
    columns: 1,
    after: ")",
};

/// The others have been separated.
const CLEAR: Statement = Statement {
    before: "UPDATE messages SET folded_at = NULL
             WHERE folded_at IS NOT NULL AND status = 'pending' AND admitted_at IS NULL AND lease IS NULL AND seq IN (VALUES ",
    columns: 1,
    after: ")",
};

type FollowingRow = (i64, String, Option<i64>, Uuid, Option<String>);

impl UnitOfWork {
    /// Lets messages follow the settled ones that they were folded into. Returns the finished ones, each with the id of the message that
    /// its firing went out in.
    pub(in crate::messages) async fn follow_settled(
        &mut self,
        settled: &[i64],
        now: Timestamp,
    ) -> Result<Vec<FinishedRow>, StoreError> {
        write_many!(self, UNFOLD, settled, |query, seq| query.bind(*seq));
        write_many!(self, CLEAR, settled, |query, seq| query.bind(*seq));
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

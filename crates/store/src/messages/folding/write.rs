//! Folds and holds back messages as planned.

use super::FoldingClaim;
use super::candidates::Group;
use super::plan::Plan;
use crate::bulk::{Statement, write_many};
use crate::unit_of_work::write_rows;
use crate::{StoreError, UnitOfWork};

const FOLD: Statement = Statement {
    before: "WITH folded (folded_seq, into_seq) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET status = 'folded', folded_into = into_seq, burst_at = NULL, lease = NULL
            FROM folded WHERE seq = folded_seq",
};

/// Messages that were folded into ones that are themselves folded now.
const MOVE: Statement = Statement {
    before: "WITH folded (folded_seq, into_seq) AS (VALUES ",
    columns: 2,
    after: ") UPDATE messages SET folded_into = into_seq FROM folded WHERE folded_into = folded_seq",
};

const HOLD: Statement = Statement {
    before: "WITH held (held_seq, held_until, reason) AS (VALUES ",
    columns: 3,
    after: ") UPDATE messages SET lease = NULL, due_at = held_until, outcome = reason FROM held WHERE seq = held_seq",
};

impl UnitOfWork {
    /// Writes the plan for a group. Returns the message that firings were folded into, which the claim gets.
    pub(super) async fn write_plan(
        &mut self,
        claim: &FoldingClaim,
        plan: &Plan,
        group: &Group,
    ) -> Result<Option<i64>, StoreError> {
        write_many!(self, HOLD, &plan.held, |query, held| {
            query.bind(held.0).bind(held.1.as_microsecond()).bind(held.2.name())
        });
        let held: Vec<i64> = plan.held.iter().map(|held| held.0).collect();
        self.separate_held(&held).await?;
        let Some((&first, others)) = plan.folded.split_first() else {
            return Ok(None);
        };
        let (until, now) = (claim.until.as_microsecond(), claim.now.as_microsecond());
        let sql = "UPDATE messages SET lease = $2, due_at = $3, burst_at = $4 WHERE seq = $1";
        let burst_at = plan.is_burst.then_some(now);
        write_rows!(self, sql, first, claim.lease, until, burst_at);
        write_many!(self, FOLD, others, |query, seq| query.bind(*seq).bind(first));
        let moved = group.messages.iter().filter(|message| message.has_folded);
        let moved: Vec<i64> = moved
            .map(|message| message.seq)
            .filter(|seq| others.contains(seq))
            .collect();
        write_many!(self, MOVE, &moved, |query, seq| query.bind(*seq).bind(first));
        Ok(Some(first))
    }
}

//! The explanation of alerts at a past moment.

use alerts::AlertId;
use alerts::engine::Explanation;
use jiff::Timestamp;
use jiff::civil::Date;
use uuid::Uuid;

use super::{Flow, Replay};
use crate::replay::ReplayFiring;

impl<OnFiring: FnMut(ReplayFiring) -> Flow> Replay<'_, OnFiring> {
    /// Replays up to an instant and explains each alert as of it, in their order, one over many stocks for each of them. `None` for an alert that the engine does not
    /// explain, and for one that has fired once. The result of a replay that `may_continue` has stopped before a session is not of
    /// that instant.
    #[must_use]
    pub fn explain_at(mut self, at: Timestamp, may_continue: impl FnMut(Date) -> bool) -> Vec<Option<Explanation>> {
        self.until = at;
        // A session that has not ended at that instant stops the replay.
        let _ = self.run_days_while(may_continue);
        let _ = self.advance(at);
        (0..self.alerts.len())
            .map(|index| self.engine.explain(AlertId(Uuid::from_u128(index as u128)), at))
            .collect()
    }
}

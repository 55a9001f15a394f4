//! The input of the state machine.

use jiff::Timestamp;
use market::Price;

use crate::expression::Truth;

/// The instant of a judgement, and the prices that are known then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The instant, not before the last judgement.
    pub at: Timestamp,
    /// Whether an observation is new; for a condition of facts alone, whether a fact is. False for a judgement that sees the same
    /// prices again, such as one because of time alone ([`next_check`](super::next_check())).
    pub is_new: bool,
    /// The newest price that is judged; `None` if there is none, or if the condition has no `high_since_armed` or
    /// `low_since_armed`.
    pub price: Option<Price>,
    /// The newest such price before [`at`](Self::at). It is the newest price at the end of a snooze that ended in between.
    pub previous_price: Option<Price>,
}

/// The condition at one observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// The observation.
    pub observation: Observation,
    /// The truth of the condition.
    pub truth: Truth,
    /// The truth once the crossings of this instant are over. The same as [`truth`](Self::truth) without `crosses`.
    pub truth_after: Truth,
    /// Whether the metric is at or beyond the level of [`AlertOptions::rearm`](crate::options::AlertOptions::rearm); false
    /// without one.
    pub is_rearm_level_reached: bool,
}

impl Judgement {
    /// Returns whether the condition is left: it is false at the judgement or after its crossings, or the level of `rearm` is
    /// reached. An unknown condition is not left.
    pub(super) fn is_left(&self, has_rearm_level: bool) -> bool {
        if has_rearm_level {
            // At its level, the condition of valid options is not true. After a split it can be, if both levels round to one.
            self.is_rearm_level_reached && self.truth_after != Truth::True
        } else {
            self.truth == Truth::False || self.truth_after == Truth::False
        }
    }
}

//! The positions of changes of alerts, to compare them with those of messages with market data.
//!
//! A message may be judged long after it was received: its node was stopped, or it was sent again. It must not fire an alert that
//! was activated in the meantime. So a message has the position of the change feed at which it was received, and this compares it
//! with the positions of the changes that the engine knows.

use std::collections::{HashMap, VecDeque};

use ::alerts::AlertId;
use jiff::SignedDuration;
use store::model::Shard;

/// How long a change is kept. No message is older: its origin repeats it for a few seconds, and one that has been stopped for
/// longer than its lease has lost its shards.
const KEPT_FOR: SignedDuration = SignedDuration::from_mins(5);

/// The positions of the changes that the engine knows. Times are uptimes.
#[derive(Debug)]
pub(crate) struct ChangePositions {
    changes: HashMap<AlertId, i64>,
    order: VecDeque<(SignedDuration, AlertId, i64)>,
    /// The positions at which the alerts of each shard were read.
    loads: [i64; Shard::COUNT],
}

impl Default for ChangePositions {
    fn default() -> Self {
        Self {
            changes: HashMap::new(),
            order: VecDeque::new(),
            loads: [i64::MIN; Shard::COUNT],
        }
    }
}

impl ChangePositions {
    /// Records that the engine knows the change of an alert at a position.
    pub(crate) fn note(&mut self, alert: AlertId, position: i64, now: SignedDuration) {
        let kept = self.changes.entry(alert).or_insert(position);
        *kept = position.max(*kept);
        self.order.push_back((now, alert, position));
        while let Some(&(at, alert, position)) = self.order.front()
            && now.saturating_sub(at) > KEPT_FOR
        {
            self.order.pop_front();
            if self.changes.get(&alert) == Some(&position) {
                self.changes.remove(&alert);
            }
        }
    }

    /// Records that the alerts of a shard were read, with all changes at or before a position.
    pub(crate) fn note_load(&mut self, shard: Shard, position: i64) {
        self.loads[usize::from(shard.0)] = position;
    }

    /// Whether an alert has changed after a position.
    pub(crate) fn has_changed_after(&self, alert: AlertId, position: i64) -> bool {
        self.changes.get(&alert).is_some_and(|&changed| changed > position)
    }

    /// Whether the alerts of a shard were read after a position, so that it is not known which of them have changed after it.
    pub(crate) fn was_loaded_after(&self, shard: Shard, position: i64) -> bool {
        self.loads[usize::from(shard.0)] > position
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ALERT: AlertId = AlertId(Uuid::from_u128(1));
    const OTHER: AlertId = AlertId(Uuid::from_u128(2));

    fn at(secs: i64) -> SignedDuration {
        SignedDuration::from_secs(secs)
    }

    #[test]
    fn alert_has_changed_after_each_position_before_its_last_change() {
        let mut positions = ChangePositions::default();
        positions.note(ALERT, 7, at(0));
        positions.note(ALERT, 5, at(0));
        assert!(positions.has_changed_after(ALERT, 6));
        assert!(!positions.has_changed_after(ALERT, 7));
        assert!(!positions.has_changed_after(OTHER, 0));
    }

    #[test]
    fn change_is_forgotten_when_no_message_can_be_older() {
        let mut positions = ChangePositions::default();
        positions.note(ALERT, 7, at(0));
        positions.note(OTHER, 8, at(300));
        assert!(positions.has_changed_after(ALERT, 6));
        positions.note(OTHER, 9, at(301));
        assert!(!positions.has_changed_after(ALERT, 6));
        assert!(positions.has_changed_after(OTHER, 8));
    }

    #[test]
    fn later_change_of_an_alert_outlives_its_earlier_one() {
        let mut positions = ChangePositions::default();
        positions.note(ALERT, 7, at(0));
        positions.note(ALERT, 9, at(200));
        positions.note(OTHER, 10, at(400));
        assert!(positions.has_changed_after(ALERT, 8));
    }

    #[test]
    fn shard_was_loaded_after_each_position_before_its_load() {
        let mut positions = ChangePositions::default();
        positions.note_load(Shard(3), 100);
        assert!(positions.was_loaded_after(Shard(3), 99));
        assert!(!positions.was_loaded_after(Shard(3), 100));
        assert!(!positions.was_loaded_after(Shard(4), 0));
    }
}

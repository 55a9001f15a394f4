//! The changes of alerts that were applied before the change feed was complete up to them, so that they are not applied again.

use std::collections::HashMap;

use ::alerts::AlertId;

/// The positions of changes that were applied early.
#[derive(Debug, Default)]
pub(crate) struct EarlyChanges(HashMap<AlertId, i64>);

impl EarlyChanges {
    /// Records that the change of an alert at a position is applied.
    pub(crate) fn record(&mut self, alert: AlertId, position: i64) {
        let last = self.0.entry(alert).or_insert(position);
        *last = position.max(*last);
    }

    /// Whether the change of an alert at a position is applied already, or a later one.
    pub(crate) fn is_applied(&self, alert: AlertId, position: i64) -> bool {
        self.0.get(&alert).is_some_and(|&last| last >= position)
    }

    /// Forgets the changes at or before a position that the change feed has passed.
    pub(crate) fn forget_until(&mut self, position: i64) {
        self.0.retain(|_, last| *last > position);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ALERT: AlertId = AlertId(Uuid::from_u128(1));
    const OTHER: AlertId = AlertId(Uuid::from_u128(2));

    #[test]
    fn change_is_applied_early_until_the_feed_has_passed_it() {
        let mut early = EarlyChanges::default();
        early.record(ALERT, 7);
        early.record(ALERT, 5);
        assert!(early.is_applied(ALERT, 7) && early.is_applied(ALERT, 6));
        assert!(!early.is_applied(ALERT, 8) && !early.is_applied(OTHER, 7));
        early.forget_until(6);
        assert!(early.is_applied(ALERT, 7));
        early.forget_until(7);
        assert!(!early.is_applied(ALERT, 7));
    }
}

//! Alerts that are armed again after they fired, for previews.
//!
//! An alert with a life cycle repeats by itself. One that only compares consecutive observations, or facts, has none; it is
//! armed again at the end of the session in which it fired.

use std::ops::ControlFlow;

use alerts::Condition;
use jiff::{SignedDuration, Timestamp};

use super::{Flow, Replay};
use crate::replay::ReplayFiring;

/// The alerts that fired, with the instant from which they may be armed again.
#[derive(Debug, Default)]
pub(super) struct FiredAlerts(Vec<(Timestamp, usize)>);

impl FiredAlerts {
    /// Adds an alert that fired, unless it cannot fire again.
    pub(super) fn note(&mut self, index: usize, condition: &Condition, at: Timestamp) {
        let wait = match condition {
            // The engine keeps a daily reminder armed.
            Condition::Reminder { .. } | Condition::DailyReminder(_) => return,
            // The trades that made it fire count until they leave the window.
            Condition::InsiderTransactions(criteria) => {
                SignedDuration::from_hours(24 * (i64::from(criteria.window_days) + 1))
            }
            _ => SignedDuration::ZERO,
        };
        self.0.push((at.saturating_add(wait).unwrap_or(Timestamp::MAX), index));
    }
}

impl<OnFiring: FnMut(ReplayFiring) -> Flow> Replay<'_, OnFiring> {
    /// Arms each alert again after it fired, so that it fires each time.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.fired = Some(FiredAlerts::default());
        self
    }

    pub(super) fn rearm_fired(&mut self, now: Timestamp) -> Flow {
        let Some(fired) = &mut self.fired else {
            return ControlFlow::Continue(());
        };
        let due: Vec<_> = fired.0.extract_if(.., |&mut (from, _)| from <= now).collect();
        for (_, index) in due {
            let alert = &mut self.alerts[index];
            (alert.armed_at, alert.rsi_side) = (now, None);
            self.arm(index, now)?;
        }
        ControlFlow::Continue(())
    }
}

//! The state of an alert at a past moment, from its history.

use alerts::lifecycle::{WaitReason, cooldown_end};
use alerts::options::AlertOptions;
use alerts::transition::{ArmingDetails, HistoryAction, HistoryStatus};
use alerts::{Alert, Status};
use foundation::ServiceError;
use jiff::Timestamp;

use crate::alerts::Alerts;

/// How many entries of a history are read at once.
const HISTORY_PAGE: u32 = 100;

/// The state of an alert at a past moment, according to its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PastState {
    pub(super) status: Status,
    pub(super) has_expired: bool,
    /// The last creation, activation or change of the alert before the moment.
    pub(super) armed_at: Timestamp,
    /// The last firing since then.
    pub(super) last_fired_at: Option<Timestamp>,
    /// The end of the snooze that was last set before the moment.
    pub(super) snoozed_until: Option<Timestamp>,
}

impl PastState {
    /// Returns the wait as the history knows it. The replay may have fired where the alert did not, because its observations are
    /// other ones, so a wait after a firing counts only if the history has the firing.
    pub(super) fn wait(
        self,
        options: &AlertOptions,
        replayed: Option<WaitReason>,
        at: Timestamp,
    ) -> Option<WaitReason> {
        if let Some(until) = self.snoozed_until.filter(|&until| at < until) {
            return Some(WaitReason::Snoozed { until });
        }
        let cooldown = self.last_fired_at.and_then(|fired_at| cooldown_end(options, fired_at));
        if let Some(until) = cooldown.filter(|&until| at < until) {
            return Some(WaitReason::Cooldown { until });
        }
        match replayed? {
            WaitReason::Cooldown { .. } | WaitReason::FiringLimit { .. } | WaitReason::Snoozed { .. } => None,
            reason @ (WaitReason::WaitingToRearm | WaitReason::WaitingForRearmLevel) => {
                self.last_fired_at.map(|_| reason)
            }
            reason => Some(reason),
        }
    }
}

impl Alerts {
    /// Reads the state of an alert at a past moment; `None` if it did not exist then.
    pub(super) async fn past_state(&self, alert: &Alert, at: Timestamp) -> Result<Option<PastState>, ServiceError> {
        let mut state: Option<PastState> = None;
        let mut last_fired_at = None;
        let mut before = i64::MAX;
        loop {
            let (page, next) = self
                .ports
                .store
                .history_until(alert.id, alert.symbol, at, before, HISTORY_PAGE)
                .await?;
            for row in page.iter().filter(|row| !row.is_noted_by_client()) {
                let HistoryStatus::Of(status) = row.entry.new_status else {
                    continue;
                };
                let state = state.get_or_insert(PastState {
                    status,
                    has_expired: row.entry.action == HistoryAction::Expired,
                    armed_at: alert.created_at,
                    last_fired_at: None,
                    snoozed_until: None,
                });
                let details = ArmingDetails::read(row.details.as_ref());
                match row.entry.action {
                    HistoryAction::Updated if !details.is_rearmed => {}
                    HistoryAction::Triggered => last_fired_at = last_fired_at.or(Some(row.at)),
                    HistoryAction::Created
                    | HistoryAction::Updated
                    | HistoryAction::Snoozed
                    | HistoryAction::Reactivated
                    | HistoryAction::Verified => {
                        let (armed_at, fired_before) = match details.restored {
                            Some(restored) => (restored.armed_at, restored.last_fired_at),
                            None => (row.at, None),
                        };
                        // The end of a snooze arms the alert anew.
                        let snooze_end = details.snoozed_until.filter(|&until| until <= at);
                        return Ok(Some(PastState {
                            armed_at: snooze_end.unwrap_or(armed_at),
                            last_fired_at: last_fired_at.or(fired_before.filter(|_| snooze_end.is_none())),
                            snoozed_until: details.snoozed_until,
                            ..*state
                        }));
                    }
                    HistoryAction::Paused
                    | HistoryAction::Deleted
                    | HistoryAction::Expired
                    | HistoryAction::Adjusted
                    | HistoryAction::NotEvaluated
                    | HistoryAction::NotificationSent
                    | HistoryAction::NotificationFailed
                    | HistoryAction::Acknowledged => {}
                }
            }
            if page.is_empty() {
                return Ok(state.map(|state| PastState { last_fired_at, ..state }));
            }
            before = next;
        }
    }
}

//! The reasons why an alert does not fire whatever its condition.

use alerts::engine::Explanation;
use alerts::expression::Truth;
use alerts::lifecycle::WaitReason;
use alerts::plan::check_alert_features;
use alerts::{Alert, Plan, Status};
use jiff::Timestamp;
use market::Calendar;

/// A reason why an alert does not fire whatever its condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockingReason {
    /// The name: `market_closed`, `stale_quote`, `no_data`, `snoozed`, `cooldown`, `waiting_to_rearm`, `holding`, `second_judgement`,
    /// `paused`, `triggered`, `inactive`, `plan` or `quiet_hours`.
    pub name: &'static str,
    /// A sentence for the owner.
    pub message: String,
    /// The instant at which it ends by itself, if there is one.
    pub until: Option<Timestamp>,
}

impl BlockingReason {
    pub(super) const fn new(name: &'static str, message: String, until: Option<Timestamp>) -> Self {
        Self { name, message, until }
    }

    pub(super) const fn no_data(message: String) -> Self {
        Self::new("no_data", message, None)
    }
}

/// Returns the reason of a status other than active.
pub(super) fn of_status(status: Status, has_expired: bool) -> Option<BlockingReason> {
    let (name, message) = match status {
        Status::Active => return None,
        Status::Paused => ("paused", "the alert is paused; activate it"),
        Status::Triggered => ("triggered", "the alert has fired; activate it to wait again"),
        Status::Inactive if has_expired => ("inactive", "the alert has expired; set a later expiry and activate it"),
        Status::Inactive => ("inactive", "the email address of this alert is not verified yet"),
    };
    Some(BlockingReason::new(name, message.to_owned(), None))
}

/// Returns the reason of quiet hours, which end at `until`: the alert fires, but its message waits.
pub(super) fn of_quiet_hours(until: Timestamp) -> BlockingReason {
    let message = "messages wait until the end of the quiet hours or of the absence; webhooks do not";
    BlockingReason::new("quiet_hours", message.to_owned(), Some(until))
}

/// Returns the reason of a plan that does not include the alert, which therefore cannot be activated.
pub(super) fn of_plan(plan: Plan, alert: &Alert) -> Option<BlockingReason> {
    let refusal = check_alert_features(plan, &alert.condition, alert.notification).err()?;
    Some(BlockingReason::new("plan", refusal.to_string(), None))
}

/// Returns the reason of a closed market, for conditions on prices and volumes. For an alert that is judged in extended hours, too, the
/// market is closed outside of them.
pub(super) fn of_market(calendar: &Calendar, alert: &Alert, at: Timestamp) -> Option<BlockingReason> {
    let is_extended = alert.options.judges_extended_hours();
    let is_open = calendar.session_at(at).is_some() || is_extended && calendar.extended_hours_at(at).is_some();
    if is_open || !alert.condition.is_about_market() {
        return None;
    }
    let (message, until) = if is_extended {
        let message = "the market is closed, extended hours included";
        (message, calendar.next_extended_open(at))
    } else {
        ("the market is closed", calendar.next_open(at))
    };
    Some(BlockingReason::new("market_closed", message.to_owned(), until))
}

/// Returns the reason of a past moment in extended hours, for an alert that is judged in them: their prices are not stored.
pub(super) fn of_past_extended_hours(calendar: &Calendar, alert: &Alert, at: Timestamp) -> Option<BlockingReason> {
    let hours = calendar.extended_hours_at(at);
    hours.filter(|_| alert.options.judges_extended_hours())?;
    let message = "prices of extended hours are not stored; the values are those of the last session";
    Some(BlockingReason::no_data(message.to_owned()))
}

/// Returns the reason of a condition that is neither true nor false.
pub(super) fn of_unknown(explanation: &Explanation) -> Option<BlockingReason> {
    if explanation.truth != Truth::Unknown {
        return None;
    }
    let unknown = explanation.terms.iter().find(|term| term.holds.is_none());
    let unknown = unknown.map_or("the condition", |term| &term.text);
    let message = format!("{unknown} has no value: a metric is missing, or a division is by zero");
    Some(BlockingReason::no_data(message))
}

/// Returns the reason of a wait, unless it is the condition itself.
pub(super) fn of_wait(reason: WaitReason) -> Option<BlockingReason> {
    match reason {
        WaitReason::NotTrue | WaitReason::NoData => None,
        reason => Some(BlockingReason::new(reason.name(), reason.to_string(), reason.until())),
    }
}

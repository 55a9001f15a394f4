//! The transitions of alerts.

mod initial_price;

use alerts::request::AlertChange;
use alerts::transition::{
    self, ChangedAlert, HistoryAction, HistoryStatus, OwnerVerification, PriceAvailability, Transition,
    TransitionError, activate, attach, delete, fire, pause, verify,
};
use alerts::{Alert, AlertId, Channel, Revision, Status};
use jiff::Timestamp;
use serde_json::json;

use crate::requests::support::{NOW, alert, condition, current_at, instant, parsed, price};

const LATER: &str = "2024-07-01T15:05:00Z";

fn later() -> Timestamp {
    instant(LATER)
}

fn current(text: &str) -> PriceAvailability {
    PriceAvailability::Current(current_at(text, later()))
}

fn price_alert(status: Status) -> Alert {
    let mut alert = alert("price_above", &json!({"threshold": 210}));
    alert.status = status;
    alert
}

/// Returns the alert after a change. Checks its revision and its history entry.
fn after(before: &Alert, done: Result<Transition, TransitionError>, action: HistoryAction) -> Alert {
    let Transition::Changed(changed) = done.unwrap() else {
        panic!("nothing has changed")
    };
    let ChangedAlert { alert, entry } = *changed;
    assert_eq!(alert.revision, before.revision.next());
    assert_eq!(entry.action, action);
    assert_eq!(entry.previous_status, Some(before.status));
    assert_eq!(entry.new_status, HistoryStatus::Of(alert.status));
    alert
}

fn change_of(alert: &Alert) -> AlertChange {
    AlertChange {
        condition: alert.condition.clone(),
        notification: alert.notification,
        parameters: alert.parameters.clone(),
        note: alert.note.clone(),
        tags: alert.tags.clone(),
        options: alert.options.clone(),
        routing: alert.routing.clone(),
        managed_by: None,
        rearms: true,
    }
}

#[test]
fn account_creates_active_and_guest_inactive_alert() {
    for (owner, status) in [
        (OwnerVerification::Verified, Status::Active),
        (OwnerVerification::Unverified, Status::Inactive),
    ] {
        let id = AlertId(uuid::Uuid::nil());
        let made = transition::create(
            parsed("new_high", &json!({})),
            id,
            owner,
            PriceAvailability::Unknown,
            later(),
        );
        let ChangedAlert { alert, entry } = made.unwrap();
        assert_eq!((alert.status, alert.revision), (status, Revision(0)));
        assert_eq!(
            (alert.initial_price, alert.created_at, alert.armed_at),
            (None, later(), later())
        );
        assert_eq!((entry.action, entry.previous_status), (HistoryAction::Created, None));
        assert_eq!(entry.new_status, HistoryStatus::Of(status));
    }
}

#[test]
fn only_percent_changes_need_a_price_at_creation() {
    let id = AlertId(uuid::Uuid::nil());
    for (name, expected) in [
        ("price_change_up", Err(TransitionError::NoPrice)),
        ("price_change_down", Err(TransitionError::NoPrice)),
        ("price_above", Ok(())),
    ] {
        let request = || parsed(name, &json!({"threshold": 5}));
        let made = transition::create(
            request(),
            id,
            OwnerVerification::Verified,
            PriceAvailability::Unknown,
            later(),
        );
        assert_eq!(made.map(|_| ()), expected, "{name}");
        assert!(transition::create(request(), id, OwnerVerification::Verified, current("1"), later()).is_ok());
    }
}

#[test]
fn only_active_alerts_can_be_paused() {
    let active = price_alert(Status::Active);
    let paused = after(&active, pause(&active), HistoryAction::Paused);
    assert_eq!(paused.status, Status::Paused);
    assert_eq!(
        (paused.initial_price, paused.armed_at),
        (active.initial_price, active.armed_at)
    );
    assert_eq!(pause(&paused), Ok(Transition::Unchanged));
    for status in [Status::Inactive, Status::Triggered] {
        assert_eq!(pause(&price_alert(status)), Err(TransitionError::CannotPause(status)));
    }
    assert_eq!(
        TransitionError::CannotPause(Status::Triggered).to_string(),
        "only an active alert can be paused, and this one is triggered; activate it first"
    );
}

#[test]
fn activation_sets_a_new_initial_price() {
    for status in [Status::Paused, Status::Triggered, Status::Inactive] {
        let before = price_alert(status);
        let done = activate(&before, OwnerVerification::Verified, current("205"), later());
        let active = after(&before, done, HistoryAction::Reactivated);
        assert_eq!(active.status, Status::Active);
        assert_eq!((active.initial_price, active.armed_at), (price("205"), later()));
        assert_eq!(active.created_at, before.created_at);
        assert_eq!(
            activate(
                &before,
                OwnerVerification::Verified,
                PriceAvailability::Unknown,
                later()
            ),
            Err(TransitionError::NoPrice),
            "{status:?}"
        );
    }
    let active = price_alert(Status::Active);
    for owner in [OwnerVerification::Verified, OwnerVerification::Unverified] {
        assert_eq!(
            activate(&active, owner, PriceAvailability::Unknown, later()),
            Ok(Transition::Unchanged)
        );
    }
}

#[test]
fn inactive_alert_requires_a_verified_owner() {
    let inactive = price_alert(Status::Inactive);
    let done = activate(&inactive, OwnerVerification::Unverified, current("205"), later());
    assert_eq!(done, Err(TransitionError::NotVerified));
}

#[test]
fn past_reminder_cannot_be_activated_or_verified() {
    let mut reminder = alert("reminder", &json!({"parameters": {"date": "2024-07-01T16:00:00Z"}}));
    let at = instant("2024-07-01T16:00:00Z");
    let past = instant("2024-07-01T16:00:00.000001Z");
    reminder.status = Status::Triggered;
    assert!(activate(&reminder, OwnerVerification::Verified, current("1"), at).is_ok());
    let rejected = activate(&reminder, OwnerVerification::Verified, current("1"), past);
    assert_eq!(rejected, Err(TransitionError::ReminderPassed(at)));
    assert_eq!(
        rejected.unwrap_err().to_string(),
        "this reminder was set for 2024-07-01T16:00:00Z, which is in the past; set a future date first"
    );
    reminder.status = Status::Inactive;
    assert!(verify(&reminder, PriceAvailability::Unknown, at).is_ok());
    assert_eq!(
        verify(&reminder, PriceAvailability::Unknown, past),
        Err(TransitionError::ReminderPassed(at))
    );
}

#[test]
fn verification_activates_a_guest_alert_with_a_new_price() {
    let inactive = price_alert(Status::Inactive);
    let active = after(
        &inactive,
        verify(&inactive, current("206"), later()),
        HistoryAction::Verified,
    );
    assert_eq!((active.status, active.initial_price), (Status::Active, price("206")));
    assert_eq!(active.armed_at, later());
    assert_eq!(verify(&active, current("1"), later()), Ok(Transition::Unchanged));
    for status in [Status::Paused, Status::Triggered] {
        let rejected = verify(&price_alert(status), current("1"), later());
        assert_eq!(rejected, Err(TransitionError::CannotVerify(status)));
    }
    assert!(verify(&inactive, PriceAvailability::Unknown, later()).is_ok());
    let mut percent = alert("price_change_up", &json!({"threshold": 5}));
    percent.status = Status::Inactive;
    assert_eq!(
        verify(&percent, PriceAvailability::Unknown, later()),
        Err(TransitionError::NoPrice)
    );
}

#[test]
fn attach_activates_inactive_alerts_and_bumps_the_revision_of_others() {
    let inactive = price_alert(Status::Inactive);
    let done = attach(&inactive, current("206"), later());
    let active = after(&inactive, done, HistoryAction::Verified);
    assert_eq!((active.status, active.initial_price), (Status::Active, price("206")));
    for status in [Status::Active, Status::Paused, Status::Triggered] {
        let before = price_alert(status);
        let attached = after(&before, attach(&before, current("1"), later()), HistoryAction::Updated);
        let revision = attached.revision;
        assert_eq!(attached, Alert { revision, ..before });
    }
    let mut percent = alert("price_change_up", &json!({"threshold": 5}));
    percent.status = Status::Inactive;
    assert_eq!(
        attach(&percent, PriceAvailability::Unknown, later()),
        Err(TransitionError::NoPrice)
    );
}

#[test]
fn update_rearms_an_active_alert_and_keeps_its_initial_price() {
    let active = price_alert(Status::Active);
    let change = AlertChange {
        condition: condition("price_below", &json!({"threshold": 190})),
        notification: Channel::Sms,
        parameters: None,
        ..change_of(&active)
    };
    let done = transition::update(&active, change.clone(), PriceAvailability::Unknown, later());
    let updated = after(&active, done, HistoryAction::Updated);
    assert_eq!(change_of(&updated), change);
    assert_eq!((updated.status, updated.armed_at), (Status::Active, later()));
    assert_eq!(updated.initial_price, active.initial_price);
    let same = transition::update(&active, change_of(&active), PriceAvailability::Unknown, later());
    assert_eq!(after(&active, same, HistoryAction::Updated).armed_at, later());
}

#[test]
fn update_of_a_non_active_alert_changes_only_fields() {
    for status in [Status::Paused, Status::Triggered, Status::Inactive] {
        let before = price_alert(status);
        let same = transition::update(&before, change_of(&before), PriceAvailability::Unknown, later());
        assert_eq!(same, Ok(Transition::Unchanged));
        let change = AlertChange {
            notification: Channel::Sms,
            ..change_of(&before)
        };
        let done = transition::update(&before, change, PriceAvailability::Unknown, later());
        let updated = after(&before, done, HistoryAction::Updated);
        assert_eq!((updated.status, updated.armed_at), (status, instant(NOW)));
    }
}

#[test]
fn firing_triggers_an_alert_but_keeps_daily_reminders_active() {
    let active = price_alert(Status::Active);
    let fired = after(&active, fire(&active, later(), None), HistoryAction::Triggered);
    assert_eq!((fired.status, fired.triggered_at), (Status::Triggered, Some(later())));
    let daily = alert("daily_reminder", &json!({}));
    let fired = after(&daily, fire(&daily, later(), None), HistoryAction::Triggered);
    assert_eq!((fired.status, fired.triggered_at), (Status::Active, Some(later())));
}

#[test]
fn only_active_alerts_can_fire() {
    for status in [Status::Paused, Status::Triggered, Status::Inactive] {
        assert_eq!(
            fire(&price_alert(status), later(), None),
            Err(TransitionError::NotActive(status))
        );
    }
}

#[test]
fn any_alert_can_be_deleted() {
    for status in Status::ALL {
        let entry = delete(&price_alert(*status));
        assert_eq!(entry.action, HistoryAction::Deleted);
        assert_eq!(
            (entry.previous_status, entry.new_status.name()),
            (Some(*status), "deleted")
        );
    }
}

#[test]
fn names_round_trip() {
    for action in HistoryAction::ALL {
        assert_eq!(HistoryAction::from_name(action.name()), Some(*action));
    }
    for status in Status::ALL {
        assert_eq!(Status::from_name(status.name()), Some(*status));
        assert_eq!(
            HistoryStatus::from_name(status.name()),
            Some(HistoryStatus::Of(*status))
        );
    }
    for channel in Channel::ALL {
        assert_eq!(Channel::from_name(channel.name()), Some(*channel));
    }
    assert_eq!(HistoryStatus::from_name("deleted"), Some(HistoryStatus::Deleted));
    assert_eq!(
        (Status::from_name("deleted"), HistoryAction::from_name("")),
        (None, None)
    );
}

#[test]
fn initial_price_is_dated_when_its_price_was_observed() {
    // Monday, 08:30 in New York: the current price is the close of Friday.
    let (close, now) = (instant("2024-07-05T20:00:00Z"), instant("2024-07-08T12:30:00Z"));
    let friday = current_at("200", close);
    let current = PriceAvailability::Current(friday);
    let id = AlertId(uuid::Uuid::nil());
    let made = transition::create(
        parsed("new_high", &json!({})),
        id,
        OwnerVerification::Verified,
        current,
        now,
    );
    assert_eq!(made.unwrap().alert.initial_price_set_at, close);
    let without = transition::create(
        parsed("new_high", &json!({})),
        id,
        OwnerVerification::Verified,
        PriceAvailability::Unknown,
        now,
    );
    let mut alert = without.unwrap().alert;
    assert_eq!(alert.initial_price_set_at, now);
    let Transition::Changed(filled) = transition::set_initial_price(&alert, friday, now) else {
        panic!("nothing has changed")
    };
    assert_eq!(filled.alert.initial_price_set_at, close);
    let updated = transition::update(&alert, change_of(&alert), current, now);
    let updated = after(&alert, updated, HistoryAction::Updated);
    assert_eq!((updated.initial_price_set_at, updated.armed_at), (close, now));
    alert.status = Status::Paused;
    let active = after(
        &alert,
        activate(&alert, OwnerVerification::Verified, current, now),
        HistoryAction::Reactivated,
    );
    assert_eq!((active.initial_price_set_at, active.armed_at), (close, now));
}

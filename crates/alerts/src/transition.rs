//! # Transitions: the status changes of an alert
//!
//! Every function of this module takes an alert and returns its next state; nothing is written. A change is a [`ChangedAlert`]:
//! the alert with its next revision and the [`StatusChange`] for its history. Both must be written in one transaction.
//! [`Transition::Unchanged`] means that the alert keeps its revision and gets no history entry. A [`TransitionError`] names the
//! fix.
//!
//! | from | transition | to |
//! |---|---|---|
//! | | [`create`] for an account | active |
//! | | [`create`] for a guest | inactive |
//! | inactive | [`verify`] | active, new initial price |
//! | active | [`pause`] | paused |
//! | active | [`fire`] | triggered |
//! | active | [`expire`] | inactive |
//! | paused, triggered | [`activate`] | active, new initial price |
//! | inactive | [`activate`], the owner being verified | active, new initial price |
//! | inactive, of a guest | [`attach`] to an account | active, new initial price |
//! | any other, of a guest | [`attach`] to an account | the same |
//! | active | [`update()`] | active, armed anew unless only the note or the tags change, same initial price |
//! | any other | [`update()`] | the same |
//! | active, without an initial price | [`set_initial_price`] | active, with an initial price |
//! | any | [`delete`] | deleted |
//!
//! A daily reminder that fires stays active, and so does an alert that repeats, until its last firing.

mod arming_details;
mod history;
mod price_availability;
mod update;

use jiff::Timestamp;
use market::CurrentPrice;

use crate::alert::{Alert, AlertId, NewAlert, Revision, Status};
use crate::condition::Condition;
use crate::lifecycle::Lifecycle;
use crate::options::AlertOptions;

pub use arming_details::{ArmingDetails, RestoredState};
pub use history::{HistoryAction, HistoryStatus, StatusChange};
pub use price_availability::PriceAvailability;
pub use update::update;

/// An alert that has changed.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangedAlert {
    /// The alert after the change.
    pub alert: Alert,
    /// The entry for its history.
    pub entry: StatusChange,
}

/// The result of a transition.
#[derive(Clone, PartialEq, Debug)]
#[must_use = "a change has to be written"]
pub enum Transition {
    /// The alert already has the requested state. It keeps its revision and gets no history entry.
    Unchanged,
    /// The alert has changed.
    Changed(Box<ChangedAlert>),
}

/// Whether the owner's email address is verified.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OwnerVerification {
    /// An account, or a guest who opened the verification link.
    Verified,
    /// A guest who has not opened the verification link.
    Unverified,
}

/// An error: the alert does not permit the transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TransitionError {
    /// The transition needs a current price of the stock, and none is available.
    #[error("no current price of this stock is available at the moment; try again in a few minutes")]
    NoPrice,
    /// Only an active alert can be paused.
    #[error(
        "only an active alert can be paused, and this one is {}; {}",
        .0.name(),
        pause_hint(*.0)
    )]
    CannotPause(Status),
    /// The alert has expired, so there is nothing to pause.
    #[error(
        "only an active alert can be paused, and this one has expired; set options.expires_at to a later date and activate it"
    )]
    CannotPauseExpired,
    /// The guest's address has to be verified first.
    #[error("the email address of this alert is not verified yet; open the link in the verification email")]
    NotVerified,
    /// Only an inactive alert can be verified.
    #[error("only an inactive alert can be verified, and this one is {}; activate it", .0.name())]
    CannotVerify(Status),
    /// The moment of the reminder has passed.
    #[error("this reminder was set for {0:.0}, which is in the past; set a future date first")]
    ReminderPassed(Timestamp),
    /// The alert has expired.
    #[error("this alert expired at {0:.0}; set options.expires_at to a later date first")]
    Expired(Timestamp),
    /// Only an active alert fires.
    #[error("only an active alert can fire, and this one is {}", .0.name())]
    NotActive(Status),
}

const fn pause_hint(status: Status) -> &'static str {
    match status {
        Status::Inactive => "verify its address first",
        Status::Active | Status::Paused | Status::Triggered => "activate it first",
    }
}

/// Creates an alert: active, or inactive for a guest whose address is not verified.
///
/// # Errors
/// [`TransitionError::NoPrice`] without a price for a percent change. Other conditions need no price.
pub fn create(
    request: NewAlert,
    id: AlertId,
    owner: OwnerVerification,
    price: PriceAvailability,
    now: Timestamp,
) -> Result<ChangedAlert, TransitionError> {
    let initial_price = price.for_condition(&request.condition)?;
    let status = match owner {
        OwnerVerification::Verified => Status::Active,
        OwnerVerification::Unverified => Status::Inactive,
    };
    let lifecycle = armed_lifecycle(&request.condition, &request.options, now);
    let alert = Alert {
        id,
        revision: Revision::default(),
        symbol: request.symbol,
        condition: request.condition,
        notification: request.notification,
        parameters: request.parameters,
        note: request.note,
        tags: request.tags,
        options: request.options,
        routing: request.routing,
        lifecycle,
        status,
        initial_price,
        created_at: now,
        armed_at: now,
        threshold_set_at: now,
        initial_price_set_at: price.set_at(now),
        rsi_side: None,
        triggered_at: None,
    };
    let entry = StatusChange {
        action: HistoryAction::Created,
        previous_status: None,
        new_status: HistoryStatus::Of(status),
    };
    Ok(ChangedAlert { alert, entry })
}

/// Pauses an active alert. A paused alert stays unchanged.
///
/// # Errors
/// [`TransitionError::CannotPause`] for an inactive or triggered alert, [`TransitionError::CannotPauseExpired`] for one that has
/// expired.
pub fn pause(alert: &Alert) -> Result<Transition, TransitionError> {
    match alert.status {
        Status::Active => Ok(changed(alert, HistoryAction::Paused, |after| {
            after.status = Status::Paused;
        })),
        Status::Paused => Ok(Transition::Unchanged),
        Status::Inactive if alert.has_expired() => Err(TransitionError::CannotPauseExpired),
        status @ (Status::Inactive | Status::Triggered) => Err(TransitionError::CannotPause(status)),
    }
}

/// Activates an alert with a new initial price. An active alert stays unchanged.
///
/// # Errors
/// [`TransitionError::NotVerified`] for an inactive alert whose owner is not verified, [`TransitionError::ReminderPassed`] for a
/// reminder whose moment has passed, and [`TransitionError::NoPrice`] if no price is known, or only an outdated one and the
/// condition is a percent change.
pub fn activate(
    alert: &Alert,
    owner: OwnerVerification,
    price: PriceAvailability,
    now: Timestamp,
) -> Result<Transition, TransitionError> {
    match (alert.status, owner) {
        (Status::Active, _) => return Ok(Transition::Unchanged),
        (Status::Inactive, OwnerVerification::Unverified) => return Err(TransitionError::NotVerified),
        (Status::Inactive | Status::Paused | Status::Triggered, _) => {}
    }
    check_moment(alert, now)?;
    if price == PriceAvailability::Unknown {
        return Err(TransitionError::NoPrice);
    }
    activated(alert, HistoryAction::Reactivated, price, now)
}

/// Activates a guest's alert after the address is verified. An active alert stays unchanged.
///
/// Unlike [`activate`], it requires a price only for percent changes, like [`create`]: a verification link works once, and its
/// recipient may open it when no price is available.
///
/// # Errors
/// [`TransitionError::CannotVerify`] for a paused or triggered alert, [`TransitionError::ReminderPassed`] for a reminder whose
/// moment has passed, and [`TransitionError::NoPrice`] without a price for a percent change.
pub fn verify(alert: &Alert, price: PriceAvailability, now: Timestamp) -> Result<Transition, TransitionError> {
    match alert.status {
        Status::Active => return Ok(Transition::Unchanged),
        Status::Inactive => {}
        status @ (Status::Paused | Status::Triggered) => {
            return Err(TransitionError::CannotVerify(status));
        }
    }
    check_moment(alert, now)?;
    activated(alert, HistoryAction::Verified, price, now)
}

/// Attaches a guest's alert to an account whose owner has verified the guest's address. An inactive alert becomes active, as
/// with [`verify`]. Any other alert only gets the next revision, so that decisions made for the guest's revision are no longer
/// committed.
///
/// # Errors
/// The same as [`verify`], for an inactive alert.
pub fn attach(alert: &Alert, price: PriceAvailability, now: Timestamp) -> Result<Transition, TransitionError> {
    match alert.status {
        Status::Inactive => verify(alert, price, now),
        Status::Active | Status::Paused | Status::Triggered => Ok(changed(alert, HistoryAction::Updated, |_| {})),
    }
}

/// Sets the initial price of an active alert that has none.
///
/// A percent change is evaluated from now on, not against earlier prices. Every other condition keeps its arming time.
pub fn set_initial_price(alert: &Alert, price: CurrentPrice, now: Timestamp) -> Transition {
    if alert.status != Status::Active || alert.initial_price.is_some() {
        return Transition::Unchanged;
    }
    let counts_from_it = alert.condition.uses_initial_price();
    changed(alert, HistoryAction::Adjusted, |after| {
        after.initial_price = Some(price.price());
        after.initial_price_set_at = price.observed_at().min(now);
        if counts_from_it {
            after.armed_at = now;
        } else {
            // The evaluation does not change, so a firing that is being committed stays valid.
            after.revision = alert.revision;
        }
    })
}

/// Triggers an alert whose condition is met. A daily reminder stays active, and so does an alert with a `lifecycle` that fires
/// again: `lifecycle` is its state after the firing.
///
/// # Errors
/// [`TransitionError::NotActive`]
pub fn fire(alert: &Alert, at: Timestamp, lifecycle: Option<&Lifecycle>) -> Result<Transition, TransitionError> {
    if alert.status != Status::Active {
        return Err(TransitionError::NotActive(alert.status));
    }
    Ok(changed(alert, HistoryAction::Triggered, |after| {
        after.triggered_at = Some(at);
        let fires_again = match lifecycle {
            Some(state) => after.options.last_firing().is_none_or(|last| state.firings < last),
            None => matches!(after.condition, Condition::DailyReminder(_)),
        };
        if !fires_again {
            after.status = Status::Triggered;
        }
        if let Some(state) = lifecycle {
            after.lifecycle = Some(Box::new(state.clone()));
        }
    }))
}

/// Ends an active alert that has expired.
///
/// # Errors
/// [`TransitionError::NotActive`]
pub fn expire(alert: &Alert) -> Result<Transition, TransitionError> {
    if alert.status != Status::Active {
        return Err(TransitionError::NotActive(alert.status));
    }
    Ok(changed(alert, HistoryAction::Expired, |after| {
        after.status = Status::Inactive;
    }))
}

/// Returns the history entry of a deletion. Every alert can be deleted.
#[must_use]
pub fn delete(alert: &Alert) -> StatusChange {
    StatusChange {
        action: HistoryAction::Deleted,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Deleted,
    }
}

/// Returns the alert after `change`, with the next revision unless `change` keeps it.
fn changed(alert: &Alert, action: HistoryAction, change: impl FnOnce(&mut Alert)) -> Transition {
    let mut after = alert.clone();
    after.revision = alert.revision.next();
    change(&mut after);
    let entry = StatusChange {
        action,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Of(after.status),
    };
    Transition::Changed(Box::new(ChangedAlert { alert: after, entry }))
}

fn activated(
    alert: &Alert,
    action: HistoryAction,
    price: PriceAvailability,
    now: Timestamp,
) -> Result<Transition, TransitionError> {
    let initial_price = price.for_condition(&alert.condition)?;
    Ok(changed(alert, action, |after| {
        after.status = Status::Active;
        after.initial_price = initial_price;
        after.initial_price_set_at = price.set_at(now);
        after.armed_at = now;
        after.rsi_side = None;
        after.lifecycle = armed_lifecycle(&after.condition, &after.options, now);
    }))
}

/// Returns the life cycle of an alert that becomes active; `None` if it has none. The engine adds the newest price.
fn armed_lifecycle(condition: &Condition, options: &AlertOptions, now: Timestamp) -> Option<Box<Lifecycle>> {
    let within = match condition {
        Condition::Expression(condition) => condition.within,
        _ => None,
    };
    let new = match condition {
        Condition::SocialBuzz(_) => Lifecycle::new_on_change(now),
        _ => Lifecycle::new(now, None, within),
    };
    Alert::has_lifecycle(condition, options).then(|| Box::new(new))
}

fn check_moment(alert: &Alert, now: Timestamp) -> Result<(), TransitionError> {
    if let Some(expiry) = alert.options.expires().filter(|&expiry| expiry <= now) {
        return Err(TransitionError::Expired(expiry));
    }
    match alert.condition {
        Condition::Reminder { at } if at < now => Err(TransitionError::ReminderPassed(at)),
        _ => Ok(()),
    }
}

//! # Transitions: what can be done with an alert, and what becomes of it
//!
//! Every function here takes an alert as it is and says what it would be afterwards; nothing is
//! written anywhere. A change comes as a [`Changed`]: the alert with its next revision, and the
//! [`Entry`] for its history, which have to be written in one transaction. What changes nothing is
//! [`Transition::Unchanged`] and leaves no trace. What cannot be done is [`Refused`], with its mend.
//!
//! | from | what | to |
//! |---|---|---|
//! | | [`create`] for an account | active |
//! | | [`create`] for a guest | inactive |
//! | inactive | [`verify`] | active, new initial price |
//! | active | [`pause`] | paused |
//! | active | [`fire`] | triggered |
//! | paused, triggered | [`activate`] | active, new initial price |
//! | inactive | [`activate`], the owner being verified | active, new initial price |
//! | inactive, of a guest | [`attach`] to an account | active, new initial price |
//! | any other, of a guest | [`attach`] to an account | the same |
//! | active | [`update`] | active, armed anew, same initial price |
//! | any other | [`update`] | the same |
//! | active, without an initial price | [`set_initial_price`] | active, with one |
//! | any | [`delete`] | gone |
//!
//! A daily reminder that fires stays active.

mod history;
mod start_price;

use jiff::Timestamp;
use market::{CurrentPrice, Price};

use crate::alert::{Alert, AlertId, NewAlert, Revision, Status};
use crate::condition::Condition;
use crate::request::AlertChange;

pub use history::{Entry, HistoryAction, HistoryStatus};
pub use start_price::StartPrice;

/// An alert that has changed.
#[derive(Clone, PartialEq, Debug)]
pub struct Changed {
    /// The alert as it is now.
    pub alert: Alert,
    /// What its history says about it.
    pub entry: Entry,
}

/// What was done.
#[derive(Clone, PartialEq, Debug)]
#[must_use = "a change has to be written"]
pub enum Transition {
    /// Nothing: the alert is already as it should be. It keeps its revision and gets no history.
    Unchanged,
    /// The alert has changed.
    Changed(Box<Changed>),
}

/// Whether the owner's address is known to be the owner's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// An account, or a guest who has opened the link in the mail.
    Verified,
    /// A guest who has not.
    Unverified,
}

/// Why something cannot be done with an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// No current price of the stock is available, and one is needed.
    #[error("no current price of this stock is available at the moment; try again in a few minutes")]
    NoPrice,
    /// Only an active alert can be paused.
    #[error(
        "only an active alert can be paused, and this one is {}; {}",
        .0.name(),
        mend_of_pause(*.0)
    )]
    CannotPause(Status),
    /// The guest's address has to be verified first.
    #[error("this alert waits for its address to be verified; open the link in the mail")]
    NotVerified,
    /// Only an inactive alert can be verified.
    #[error("only an inactive alert can be verified, and this one is {}; activate it", .0.name())]
    CannotVerify(Status),
    /// The moment of a reminder has passed.
    #[error("this reminder was set for {0:.0}, which is past; give it a date to come first")]
    ReminderPassed(Timestamp),
    /// Only an active alert fires.
    #[error("only an active alert can fire, and this one is {}", .0.name())]
    NotActive(Status),
}

const fn mend_of_pause(status: Status) -> &'static str {
    match status {
        Status::Inactive => "verify its address first",
        Status::Active | Status::Paused | Status::Triggered => "activate it first",
    }
}

/// Makes an alert: active, or inactive for a guest who has to verify the address first.
///
/// # Errors
/// [`Refused::NoPrice`] without a price for a percentage of it. Other conditions do without.
pub fn create(
    asked: NewAlert,
    id: AlertId,
    owner: Owner,
    price: StartPrice,
    now: Timestamp,
) -> Result<Changed, Refused> {
    let initial_price = price.for_condition(&asked.condition)?;
    let status = match owner {
        Owner::Verified => Status::Active,
        Owner::Unverified => Status::Inactive,
    };
    let alert = Alert {
        id,
        revision: Revision::default(),
        symbol: asked.symbol,
        condition: asked.condition,
        notification: asked.notification,
        parameters: asked.parameters,
        status,
        initial_price,
        created_at: now,
        armed_at: now,
        threshold_set_at: now,
        initial_price_set_at: price.set_at(now),
        rsi_side: None,
        triggered_at: None,
    };
    let entry = Entry {
        action: HistoryAction::Created,
        previous_status: None,
        new_status: HistoryStatus::Of(status),
    };
    Ok(Changed { alert, entry })
}

/// Puts an active alert aside. One that is aside already stays so.
///
/// # Errors
/// [`Refused::CannotPause`] for an alert that is not judged anyway.
pub fn pause(alert: &Alert) -> Result<Transition, Refused> {
    match alert.status {
        Status::Active => Ok(changed(alert, HistoryAction::Paused, |after| {
            after.status = Status::Paused;
        })),
        Status::Paused => Ok(Transition::Unchanged),
        status @ (Status::Inactive | Status::Triggered) => Err(Refused::CannotPause(status)),
    }
}

/// Makes an alert active with a new initial price. An active one stays as it is.
///
/// # Errors
/// [`Refused::NotVerified`] for an inactive alert whose owner is not verified,
/// [`Refused::ReminderPassed`] for a reminder that could only come too late, and
/// [`Refused::NoPrice`] if no price is known at all, or only an old one and the condition is a percentage of it.
pub fn activate(alert: &Alert, owner: Owner, price: StartPrice, now: Timestamp) -> Result<Transition, Refused> {
    match (alert.status, owner) {
        (Status::Active, _) => return Ok(Transition::Unchanged),
        (Status::Inactive, Owner::Unverified) => return Err(Refused::NotVerified),
        (Status::Inactive | Status::Paused | Status::Triggered, _) => {}
    }
    check_moment(&alert.condition, now)?;
    if price == StartPrice::Unknown {
        return Err(Refused::NoPrice);
    }
    let initial_price = price.for_condition(&alert.condition)?;
    Ok(changed(alert, HistoryAction::Reactivated, |after| {
        arm(after, (initial_price, price.set_at(now)), now);
    }))
}

/// Makes a guest's alert active once the address is verified. An active one stays as it is.
///
/// Unlike [`activate`], it asks for a price only if the condition cannot do without, like
/// [`create`]: the link in a mail works once, and a mail may be opened when no price is to be had.
///
/// # Errors
/// [`Refused::CannotVerify`] for a paused or triggered alert, [`Refused::ReminderPassed`] for a
/// reminder that could only come too late, and [`Refused::NoPrice`] without a price for a
/// percentage of it.
pub fn verify(alert: &Alert, price: StartPrice, now: Timestamp) -> Result<Transition, Refused> {
    match alert.status {
        Status::Active => return Ok(Transition::Unchanged),
        Status::Inactive => {}
        status @ (Status::Paused | Status::Triggered) => {
            return Err(Refused::CannotVerify(status));
        }
    }
    check_moment(&alert.condition, now)?;
    let initial_price = price.for_condition(&alert.condition)?;
    Ok(changed(alert, HistoryAction::Verified, |after| {
        arm(after, (initial_price, price.set_at(now)), now);
    }))
}

/// Gives a guest's alert to an account whose owner has shown that the guest's address is theirs. So an inactive one needs no
/// link any more and becomes active, as by [`verify`]. Any other stays as it is, one revision later: what was judged while it
/// was the guest's is not taken any more.
///
/// # Errors
/// As [`verify`], for an inactive alert.
pub fn attach(alert: &Alert, price: StartPrice, now: Timestamp) -> Result<Transition, Refused> {
    match alert.status {
        Status::Inactive => verify(alert, price, now),
        Status::Active | Status::Paused | Status::Triggered => Ok(changed(alert, HistoryAction::Updated, |_| {})),
    }
}

/// Takes over what an update asks for.
///
/// An active alert is armed anew, even if it is updated with what it has, and keeps its initial
/// price; one without an initial price takes `price`. Of any other alert only the fields change, and an update with equal values
/// changes nothing.
///
/// # Errors
/// [`Refused::NoPrice`] without a price for an active alert without an initial price that is to wait for a percentage of
/// it.
pub fn update(alert: &Alert, change: AlertChange, price: StartPrice, now: Timestamp) -> Result<Transition, Refused> {
    let is_active = alert.status == Status::Active;
    let initial_price = match alert.initial_price {
        None if is_active => price.for_condition(&change.condition)?,
        kept => kept,
    };
    let AlertChange {
        condition,
        notification,
        parameters,
    } = change;
    let differs = alert.condition != condition || alert.notification != notification || alert.parameters != parameters;
    if !is_active && !differs {
        return Ok(Transition::Unchanged);
    }
    Ok(changed(alert, HistoryAction::Updated, |after| {
        if after.condition != condition {
            after.threshold_set_at = now;
        }
        after.condition = condition;
        after.notification = notification;
        after.parameters = parameters;
        if after.initial_price != initial_price {
            after.initial_price = initial_price;
            after.initial_price_set_at = price.set_at(now);
        }
        if is_active {
            after.rsi_side = None;
            after.armed_at = now;
        }
    }))
}

/// Gives an active alert that has no initial price its first one.
///
/// A percentage is judged from now on, not by earlier prices. Every other condition stays armed as it was.
pub fn set_initial_price(alert: &Alert, price: CurrentPrice, now: Timestamp) -> Transition {
    if alert.status != Status::Active || alert.initial_price.is_some() {
        return Transition::Unchanged;
    }
    let counts_from_it = matches!(alert.condition, Condition::PriceChange { .. });
    changed(alert, HistoryAction::Adjusted, |after| {
        after.initial_price = Some(price.price());
        after.initial_price_set_at = price.observed_at().min(now);
        if counts_from_it {
            after.armed_at = now;
        } else {
            // Nothing is judged differently, so a firing that is being written stays valid.
            after.revision = alert.revision;
        }
    })
}

/// Notes that the condition was met. The alert is triggered; a daily reminder stays active.
///
/// # Errors
/// [`Refused::NotActive`]
pub fn fire(alert: &Alert, at: Timestamp) -> Result<Transition, Refused> {
    if alert.status != Status::Active {
        return Err(Refused::NotActive(alert.status));
    }
    Ok(changed(alert, HistoryAction::Triggered, |after| {
        after.triggered_at = Some(at);
        if !matches!(after.condition, Condition::DailyReminder(_)) {
            after.status = Status::Triggered;
        }
    }))
}

/// What the history says when the alert is deleted; that can be done at any time.
#[must_use]
pub fn delete(alert: &Alert) -> Entry {
    Entry {
        action: HistoryAction::Deleted,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Deleted,
    }
}

/// The alert after `change`, one revision later unless `change` keeps it.
fn changed(alert: &Alert, action: HistoryAction, change: impl FnOnce(&mut Alert)) -> Transition {
    let mut after = alert.clone();
    after.revision = alert.revision.next();
    change(&mut after);
    let entry = Entry {
        action,
        previous_status: Some(alert.status),
        new_status: HistoryStatus::Of(after.status),
    };
    Transition::Changed(Box::new(Changed { alert: after, entry }))
}

fn arm(alert: &mut Alert, (initial_price, set_at): (Option<Price>, Timestamp), now: Timestamp) {
    alert.status = Status::Active;
    alert.initial_price = initial_price;
    alert.initial_price_set_at = set_at;
    alert.armed_at = now;
    alert.rsi_side = None;
}

fn check_moment(condition: &Condition, now: Timestamp) -> Result<(), Refused> {
    match *condition {
        Condition::Reminder { at } if at < now => Err(Refused::ReminderPassed(at)),
        _ => Ok(()),
    }
}

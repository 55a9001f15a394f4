//! The state of an alert, and how requests, prices and moments change it.

use super::{Cents, Split};

/// The status of an alert.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum AlertStatus {
    /// Not created.
    Absent,
    Active,
    Paused,
    Triggered,
    /// Not active any more, as its expiry has passed.
    Expired,
    Deleted,
}

/// A requested change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Change {
    Create,
    Edit(Cents),
    Pause,
    Activate,
    Delete,
}

/// The answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    Succeeded,
    /// The alert does not permit the change.
    Rejected,
    NotFound,
    /// The plan does not permit one more active alert.
    OverQuota,
    /// The service refuses at the moment, and has changed nothing.
    Refused,
    /// The request failed: it has been executed or not.
    Failed,
}

/// A possible state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AlertState {
    pub(crate) status: AlertStatus,
    pub(crate) threshold: Cents,
    /// The level to which the price must return before the alert fires again. `None`: it fires once.
    pub(crate) returns_at: Option<Cents>,
    /// The number of firings after which the alert is triggered. `None`: one, or without a limit if it has a level of return.
    pub(crate) max_firings: Option<u32>,
    /// The number of firings since the activation.
    pub(crate) firings: u32,
    /// Whether the levels were set in the first session, and were not adjusted to a split since.
    pub(crate) is_in_old_shares: bool,
    /// Whether an alert that repeats waits until its price has returned to its level.
    pub(crate) waits_for_return: bool,
    /// The firings in their order: the price and the threshold that it reached.
    pub(crate) fired: Vec<(Cents, Cents)>,
}

impl AlertState {
    /// Whether the alert has fired for the last time since its activation, of a limited number.
    pub(crate) fn has_reached_limit(&self) -> bool {
        self.max_firings.is_some_and(|last| self.firings >= last)
    }

    /// Returns the answer to a change in this state, and the next state.
    pub(crate) fn apply(&self, change: Change) -> (Outcome, Self) {
        use AlertStatus::{Absent, Active, Deleted, Expired, Paused, Triggered};
        let to = |status| Self { status, ..self.clone() };
        let armed = Self {
            status: Active,
            firings: 0,
            waits_for_return: false,
            ..self.clone()
        };
        match (change, self.status) {
            (Change::Create, Absent) => (Outcome::Succeeded, armed),
            (_, Absent | Deleted) | (Change::Create, _) => (Outcome::NotFound, self.clone()),
            (Change::Edit(threshold), _) => {
                let edited = Self {
                    threshold,
                    is_in_old_shares: false,
                    ..self.clone()
                };
                (Outcome::Succeeded, edited)
            }
            (Change::Pause, Triggered | Expired) | (Change::Activate, Expired) => (Outcome::Rejected, self.clone()),
            (Change::Pause, Active | Paused) => (Outcome::Succeeded, to(Paused)),
            // It is active already.
            (Change::Activate, Active) => (Outcome::Succeeded, self.clone()),
            (Change::Activate, _) => (Outcome::Succeeded, armed),
            (Change::Delete, _) => (Outcome::Succeeded, to(Deleted)),
        }
    }

    /// Returns the state after a split of the stock, if it is another one.
    pub(super) fn adjust(&self, split: Split) -> Option<Self> {
        self.is_in_old_shares.then(|| Self {
            threshold: split.price(self.threshold),
            returns_at: self.returns_at.map(|level| split.price(level)),
            is_in_old_shares: false,
            ..self.clone()
        })
    }

    /// Returns the refusals that are possible in this state, beside the answer of [`apply`](Self::apply). They change nothing.
    pub(super) fn refusals(&self, change: Change, has_quota: bool, may_see_active: bool) -> Vec<Outcome> {
        use AlertStatus::{Absent, Paused, Triggered};
        let activates = matches!((change, self.status), (Change::Activate, Paused | Triggered));
        let creates = matches!((change, self.status), (Change::Create, Absent));
        let mut refusals = Vec::new();
        if (creates || activates) && has_quota {
            refusals.push(Outcome::OverQuota);
        }
        if activates && may_see_active {
            refusals.push(Outcome::Refused);
        }
        refusals
    }

    /// Returns the state after the moment of a reminder, if it is another one.
    pub(super) fn remind(&self) -> Option<Self> {
        let mut fired = self.fired.clone();
        fired.push((0, 0));
        (self.status == AlertStatus::Active).then(|| Self {
            status: AlertStatus::Triggered,
            fired,
            ..self.clone()
        })
    }

    /// Returns the state after the expiry, if it is another one.
    pub(super) fn expire(&self) -> Option<Self> {
        (self.status == AlertStatus::Active).then(|| Self {
            status: AlertStatus::Expired,
            ..self.clone()
        })
    }

    /// Returns the state after a price was judged, if it is another one.
    pub(super) fn judge(&self, is_above: bool, price: Cents) -> Option<Self> {
        let is_beyond = |level: Cents| if is_above { price >= level } else { price <= level };
        let has_returned = |level: Cents| if is_above { price <= level } else { price >= level };
        if self.status != AlertStatus::Active {
            return None;
        }
        if self.waits_for_return {
            let returned = Self {
                waits_for_return: false,
                ..self.clone()
            };
            return self.returns_at.is_some_and(has_returned).then_some(returned);
        }
        if !is_beyond(self.threshold) {
            return None;
        }
        let mut fired = self.fired.clone();
        fired.push((price, self.threshold));
        let firings = self.firings + 1;
        let is_last = self.returns_at.is_none() || self.max_firings.is_some_and(|last| firings >= last);
        let (status, waits_for_return) = if is_last {
            (AlertStatus::Triggered, false)
        } else {
            (AlertStatus::Active, true)
        };
        Some(Self {
            status,
            firings,
            waits_for_return,
            fired,
            ..self.clone()
        })
    }

    /// Whether a price fires the alert.
    pub(crate) fn fires(&self, is_above: bool, price: Cents) -> bool {
        let judged = self.judge(is_above, price);
        judged.is_some_and(|judged| judged.fired.len() > self.fired.len())
    }
}

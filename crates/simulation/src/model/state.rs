//! The state of an alert, and how requests, prices and moments change it.

use super::{Cents, Cooldown, Split};

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
    /// It is snoozed for a minute. The number is that of the snooze.
    Snooze(usize),
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

/// The phase of an alert that repeats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    /// It fires as soon as its level is reached.
    Armed,
    /// It has fired, and does not fire again before its cooldown has ended.
    Cooling { has_returned: bool },
    /// It waits until its price has returned.
    WaitsForReturn,
}

/// Whether the price of an alert with a hold is beyond its threshold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Hold {
    /// It is short of it, or has not been seen since the alert was armed.
    No,
    /// It is beyond it.
    Begun,
    /// It was beyond it for the hold: the next evaluation fires the alert.
    Over,
}

/// A possible state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AlertState {
    pub(crate) status: AlertStatus,
    pub(crate) threshold: Cents,
    /// The level to which the price must return before the alert fires again. `None`: it fires once, or the price must leave its level.
    pub(crate) returns_at: Option<Cents>,
    /// The cooldown after each firing. An alert that has neither this nor a level of return fires once.
    pub(crate) cooldown: Option<Cooldown>,
    /// The number of firings after which the alert is triggered. `None`: one, or without a limit if it repeats.
    pub(crate) max_firings: Option<u32>,
    /// The number of firings since the activation.
    pub(crate) firings: u32,
    /// Whether the levels were set in the first session, and were not adjusted to a split since.
    pub(crate) is_in_old_shares: bool,
    pub(crate) phase: Phase,
    /// The number of its last snooze.
    pub(crate) snooze: Option<usize>,
    /// Whether the snooze has not ended since the alert was armed.
    pub(crate) is_snoozed: bool,
    /// Of an alert that waits for a crossing: whether the last price that was seen is short of the threshold. `None`: it does not matter.
    pub(crate) was_short: Option<bool>,
    /// Of an alert that waits for two quotes in a row, which fires once: whether the last one since it was armed is beyond the threshold.
    /// `None`: it does not matter.
    pub(crate) was_beyond: Option<bool>,
    /// Of an alert that must hold, which fires once. `None`: it fires at once.
    pub(crate) hold: Option<Hold>,
    /// The number of holds that have begun.
    pub(crate) holds: usize,
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
            phase: Phase::Armed,
            is_snoozed: self.snooze.is_some(),
            was_beyond: self.was_beyond.map(|_| false),
            hold: self.hold.map(|_| Hold::No),
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
            (Change::Snooze(snooze), status) => {
                // An active alert is armed again, with as many firings.
                let snoozed = Self {
                    snooze: Some(snooze),
                    is_snoozed: true,
                    phase: if status == Active { Phase::Armed } else { self.phase },
                    ..self.clone()
                };
                (Outcome::Succeeded, snoozed)
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

    /// Returns the state that has seen a price without judging it.
    pub(super) fn after(&self, is_above: bool, price: Option<Cents>) -> Self {
        let is_short = price.is_some_and(|price| !is_beyond(is_above, price, self.threshold));
        Self {
            was_short: self.was_short.map(|_| is_short),
            ..self.clone()
        }
    }

    /// Returns the state after the price of a quote was judged, if it is another one.
    pub(super) fn judge(&self, is_above: bool, price: Cents) -> Option<Self> {
        if self.status != AlertStatus::Active {
            return None;
        }
        let after = self.after(is_above, Some(price));
        if self.is_snoozed {
            return (after != *self).then_some(after);
        }
        let is_beyond_now = is_beyond(is_above, price, self.threshold);
        // The quote before was short of a threshold to cross, and beyond one that needs two quotes.
        let may_fire = self.was_short != Some(false) && self.was_beyond != Some(false);
        let next = match self.phase {
            Phase::Armed if self.hold == Some(Hold::No) && is_beyond_now => Self {
                hold: Some(Hold::Begun),
                holds: self.holds + 1,
                ..after
            },
            Phase::Armed if self.hold.is_some() && !is_beyond_now => Self {
                hold: Some(Hold::No),
                ..after
            },
            Phase::Armed if self.hold == Some(Hold::Begun) => after,
            Phase::Armed if is_beyond_now && may_fire => after.fired(is_above, price),
            Phase::Armed => Self {
                was_beyond: self.was_beyond.map(|_| is_beyond_now),
                ..after
            },
            Phase::WaitsForReturn if self.has_returned(is_above, price) => Self {
                phase: Phase::Armed,
                ..after
            },
            Phase::Cooling { has_returned: false } => Self {
                phase: Phase::Cooling {
                    has_returned: self.has_returned(is_above, price),
                },
                ..after
            },
            Phase::Cooling { .. } | Phase::WaitsForReturn => after,
        };
        (next != *self).then_some(next)
    }

    /// Returns the state after a firing.
    fn fired(self, is_above: bool, price: Cents) -> Self {
        let mut next = self;
        next.firings += 1;
        next.fired.push((price, next.threshold));
        if !next.repeats() || next.has_reached_limit() {
            next.status = AlertStatus::Triggered;
        } else if next.cooldown.is_some() {
            let has_returned = next.has_returned(is_above, price);
            next.phase = Phase::Cooling { has_returned };
        } else {
            next.phase = Phase::WaitsForReturn;
        }
        next
    }

    fn repeats(&self) -> bool {
        self.returns_at.is_some() || self.cooldown.is_some()
    }

    /// Whether an alert that has fired may fire again at the price that comes next. A crossing is over at once.
    fn has_returned(&self, is_above: bool, price: Cents) -> bool {
        match self.returns_at {
            Some(level) => is_beyond(!is_above, price, level),
            None => self.was_short.is_some() || !is_beyond(is_above, price, self.threshold),
        }
    }

    /// Returns the state before the end of its last cooldown or snooze, if it may not have ended after all.
    pub(super) fn before_end_of_wait(&self) -> Vec<Self> {
        let mut before = Vec::new();
        let has_cooldown = self.cooldown.is_some() && !self.fired.is_empty();
        let has_returned = match self.phase {
            Phase::Armed => Some(true),
            Phase::WaitsForReturn => Some(false),
            Phase::Cooling { .. } => None,
        };
        before.extend(has_returned.filter(|_| has_cooldown).map(|has_returned| Self {
            phase: Phase::Cooling { has_returned },
            ..self.clone()
        }));
        if self.hold == Some(Hold::Over) {
            before.push(Self {
                hold: Some(Hold::Begun),
                ..self.clone()
            });
        }
        if self.snooze.is_some() && self.phase == Phase::Armed {
            before.push(Self {
                is_snoozed: true,
                ..self.clone()
            });
        }
        before
    }

    /// Returns the state after the end of the snooze, if it is another one.
    pub(super) fn after_snooze(&self) -> Option<Self> {
        self.is_snoozed.then(|| Self {
            is_snoozed: false,
            phase: Phase::Armed,
            was_beyond: self.was_beyond.map(|_| false),
            hold: self.hold.map(|_| Hold::No),
            ..self.clone()
        })
    }

    /// Returns the state after the end of the cooldown, if it is another one.
    pub(super) fn after_cooldown(&self) -> Option<Self> {
        let Phase::Cooling { has_returned } = self.phase else {
            return None;
        };
        let is_armed = has_returned || self.cooldown == Some(Cooldown::Minute { refires: true });
        Some(Self {
            phase: if is_armed { Phase::Armed } else { Phase::WaitsForReturn },
            ..self.clone()
        })
    }

    /// Returns the state after the hold, if it is another one.
    pub(super) fn after_hold(&self) -> Option<Self> {
        (self.hold == Some(Hold::Begun) && !self.is_snoozed).then(|| Self {
            hold: Some(Hold::Over),
            ..self.clone()
        })
    }

    /// Returns the state after an evaluation without a price that is current, if it is another one.
    pub(super) fn interrupt_hold(&self) -> Option<Self> {
        self.hold.filter(|hold| *hold != Hold::No).map(|_| Self {
            hold: Some(Hold::No),
            ..self.clone()
        })
    }

    /// Whether the state cannot last at a price: without a new quote, the alert fires or its hold begins.
    pub(super) fn cannot_last(&self, is_above: bool, price: Cents) -> bool {
        self.holds(is_above, price) || self.hold.is_some() && self.judge(is_above, price).is_some()
    }

    /// Whether a price fires the alert without a new quote. A crossing needs one, and so does an alert that waits for two.
    pub(crate) fn holds(&self, is_above: bool, price: Cents) -> bool {
        self.was_short.is_none() && self.was_beyond.is_none() && self.fires(is_above, price)
    }

    /// Whether a quote with a price fires the alert.
    pub(crate) fn fires(&self, is_above: bool, price: Cents) -> bool {
        let judged = self.judge(is_above, price);
        judged.is_some_and(|judged| judged.fired.len() > self.fired.len())
    }
}

/// Whether a price is at or beyond a level.
const fn is_beyond(is_above: bool, price: Cents, level: Cents) -> bool {
    if is_above { price >= level } else { price <= level }
}

//! An alert as a set of possible states.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::state::{AlertState, AlertStatus, Change, Hold, Outcome, Phase};
use super::times::AlertTimes;
use super::{Cents, Cooldown, RequestId, Split, WantedAlert};

/// A state with the open requests that have led to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Possible {
    pub(super) state: AlertState,
    /// The price at which the alert is judged without a new quote. `None`: the last price is too old.
    pub(super) price: Option<Cents>,
    pub(super) applied: BTreeMap<RequestId, Outcome>,
}

/// An open request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Open {
    Change {
        change: Change,
        /// Whether the alert may have been active at an instant since the request began. An activation that finds an active alert needs
        /// no price; if the alert is not active any more a moment later, it is refused.
        may_see_active: bool,
    },
    Quote {
        price: Cents,
        /// Whether a change of the alert was open at the same time. Then the firing of the quote may be refused, and the alert is
        /// evaluated again a moment later.
        meets_change: bool,
        /// Whether a split is applied before the quote is judged.
        needs_split: bool,
        /// Whether the alert has expired, so that the quote cannot fire it.
        is_too_late: bool,
    },
}

/// An alert.
#[derive(Clone, Debug)]
pub(crate) struct AlertModel {
    pub(crate) owner: usize,
    pub(crate) has_quota: bool,
    pub(crate) stock: usize,
    pub(crate) is_above: bool,
    /// Whether the price must cross the threshold.
    pub(crate) is_crossing: bool,
    /// Whether two quotes in a row must be beyond the threshold.
    pub(crate) needs_two_quotes: bool,
    /// Whether the price must be beyond the threshold for a minute.
    pub(crate) must_hold: bool,
    /// The split of the stock that may be applied.
    pub(super) split: Option<Split>,
    /// Whether it is judged as a rule: it waits for a crossing, for two quotes or for a hold, or its options are not the default, which
    /// fires once.
    pub(crate) is_rule: bool,
    /// The moment of a reminder. `None`: the alert waits for a price.
    pub(crate) moment: Option<Timestamp>,
    /// The instant from which the alert is not judged any more.
    pub(crate) expires_at: Option<Timestamp>,
    /// Whether the clock of the machine has reached the moment.
    pub(super) has_come: bool,
    /// Whether the clock of the machine has reached the expiry.
    has_expired: bool,
    /// Whether the service may take the expiry for past: its time stands still after the clock was set back.
    pub(super) may_have_expired: bool,
    pub(super) times: AlertTimes,
    pub(super) possible: BTreeSet<Possible>,
    pub(super) open: BTreeMap<RequestId, Open>,
}

impl AlertModel {
    /// Creates the model of an alert that does not exist yet, on a stock with one of these prices.
    pub(crate) fn new(owner: usize, has_quota: bool, wanted: WantedAlert, prices: &BTreeSet<Option<Cents>>) -> Self {
        let WantedAlert {
            stock,
            is_above,
            is_crossing,
            needs_two_quotes,
            must_hold,
            threshold,
            returns_at,
            cooldown,
            snoozed_until,
            moment,
            max_firings,
            expires_at,
        } = wanted;
        let mut times = AlertTimes::new(cooldown);
        let snooze = snoozed_until.map(|end| times.add_snooze_until(end));
        let state = AlertState {
            status: AlertStatus::Absent,
            threshold,
            returns_at,
            cooldown,
            max_firings,
            firings: 0,
            is_in_old_shares: false,
            phase: Phase::Armed,
            snooze,
            is_snoozed: false,
            was_short: is_crossing.then_some(false),
            was_beyond: needs_two_quotes.then_some(false),
            hold: must_hold.then_some(Hold::No),
            holds: 0,
            fired: Vec::new(),
        };
        let possible = prices.iter().map(|&price| Possible {
            state: state.clone(),
            price,
            applied: BTreeMap::new(),
        });
        Self {
            owner,
            has_quota,
            stock,
            is_above,
            split: None,
            is_crossing,
            needs_two_quotes,
            must_hold,
            is_rule: is_crossing
                || needs_two_quotes
                || must_hold
                || returns_at.is_some()
                || cooldown.is_some()
                || expires_at.is_some(),
            moment,
            expires_at,
            has_come: false,
            has_expired: false,
            may_have_expired: false,
            times,
            possible: possible.collect(),
            open: BTreeMap::new(),
        }
    }

    /// The cooldown after each firing.
    pub(crate) fn cooldown(&self) -> Option<Cooldown> {
        self.times.cooldown()
    }

    /// Whether only a new quote can fire the alert, not the last price.
    pub(super) const fn needs_quote(&self) -> bool {
        self.is_crossing || self.needs_two_quotes
    }

    /// Whether every possible state has this status.
    pub(crate) fn is_certainly(&self, status: AlertStatus) -> bool {
        self.possible.iter().all(|possible| possible.state.status == status)
    }

    /// The state of the alert and the price at which it is judged, if they are known.
    pub(crate) fn known(&self) -> Option<(&AlertState, Option<Cents>)> {
        let mut possible = self.possible.iter();
        let first = possible.next()?;
        let is_same = |other: &Possible| other.state == first.state && other.price == first.price;
        possible.all(is_same).then_some((&first.state, first.price))
    }

    /// Whether the alert may not exist.
    pub(super) fn may_be_absent(&self) -> bool {
        self.possible
            .iter()
            .any(|possible| possible.state.status == AlertStatus::Absent)
    }

    /// Whether an alert whose stock is split may not have been adjusted.
    pub(super) fn may_be_in_old_shares(&self) -> bool {
        self.possible.iter().any(|possible| possible.state.is_in_old_shares)
    }

    /// Whether a possible state is active.
    pub(crate) fn may_be_active(&self) -> bool {
        self.possible
            .iter()
            .any(|possible| possible.state.status == AlertStatus::Active)
    }

    /// The clock of the machine shows this time, and that of the service at most `latest`.
    pub(super) fn note_time(&mut self, now: Timestamp, latest: Timestamp) {
        self.has_come |= self.moment.is_some_and(|moment| moment <= now);
        self.has_expired |= self.expires_at.is_some_and(|expiry| expiry <= now);
        self.may_have_expired |= self.expires_at.is_some_and(|expiry| expiry <= latest);
        self.times.note_time(now, latest);
        for open in self.open.values() {
            if let Open::Change {
                change: Change::Snooze(snooze),
                ..
            } = open
            {
                self.times.extend_snooze(*snooze);
            }
        }
    }

    /// A request to snooze the alert begins now. Returns the change.
    pub(crate) fn snooze(&mut self) -> Change {
        Change::Snooze(self.times.add_snooze())
    }

    /// The end of its last snooze, or a time before it.
    pub(crate) fn end_of_last_snooze(&self) -> Option<Timestamp> {
        self.times.end_of_last_snooze()
    }

    /// The stock has this price.
    pub(super) fn set_price(&mut self, price: Option<Cents>) {
        let possible = std::mem::take(&mut self.possible).into_iter();
        self.possible = possible.map(|possible| Possible { price, ..possible }).collect();
    }

    /// The last price may be too old.
    pub(super) fn price_may_be_old(&mut self) {
        self.close();
        let of_old_price = |possible: &Possible| Possible {
            price: None,
            ..possible.clone()
        };
        let of_old_price: Vec<_> = self.possible.iter().map(of_old_price).collect();
        self.possible.extend(of_old_price);
    }

    /// The second session has begun: the last price is too old, and the levels are those of the first session.
    pub(super) fn night_passes(&mut self) {
        self.set_price(None);
        let possible = std::mem::take(&mut self.possible).into_iter().map(|mut possible| {
            possible.state.is_in_old_shares = true;
            possible
        });
        self.possible = possible.collect();
    }

    /// The split of the stock has been applied.
    pub(super) fn require_new_shares(&mut self) -> Result<(), String> {
        self.close();
        self.possible.retain(|possible| !possible.state.is_in_old_shares);
        Ok(())
    }

    /// The stock has one of these prices after a restart.
    pub(super) fn forget_price(&mut self, prices: &BTreeSet<Option<Cents>>) {
        let possible = std::mem::take(&mut self.possible).into_iter();
        let of_price = |possible: Possible| {
            let with = move |&price: &Option<Cents>| Possible {
                price,
                ..possible.clone()
            };
            prices.iter().map(with).collect::<Vec<_>>()
        };
        self.possible = possible.flat_map(of_price).collect();
    }

    pub(super) fn change_begins(&mut self, request: RequestId, change: Change) {
        self.close();
        for open in self.open.values_mut() {
            if let Open::Quote { meets_change, .. } = open {
                *meets_change = true;
            }
        }
        let open = Open::Change {
            change,
            may_see_active: false,
        };
        self.open.insert(request, open);
    }

    /// A quote is open while the alert is created, so it may be judged after the creation.
    pub(super) fn add_open_quote(&mut self, request: RequestId, price: Cents, needs_split: bool) {
        let quote = Open::Quote {
            price,
            meets_change: true,
            needs_split,
            is_too_late: false,
        };
        self.open.insert(request, quote);
    }

    /// The clock was set back: what is waited for may not have come, even if it had before.
    pub(super) fn clock_set_back(&mut self) {
        self.close();
        for open in self.open.values_mut() {
            if let Open::Quote { is_too_late, .. } = open {
                *is_too_late = false;
            }
        }
        let earlier = |possible: &Possible| {
            let states = possible.state.before_end_of_wait().into_iter();
            let possible = possible.clone();
            states.map(move |state| Possible {
                state,
                ..possible.clone()
            })
        };
        let earlier: Vec<_> = self.possible.iter().flat_map(earlier).collect();
        self.possible.extend(earlier);
    }

    pub(super) fn quote_begins(&mut self, request: RequestId, price: Cents, needs_split: bool, is_clock_true: bool) {
        self.close();
        self.end_waits(SignedDuration::ZERO);
        let meets_change = self.open.values().any(|open| matches!(open, Open::Change { .. }));
        let quote = Open::Quote {
            price,
            meets_change,
            needs_split,
            is_too_late: self.has_expired && is_clock_true,
        };
        self.open.insert(request, quote);
    }

    /// A request has been answered. Keeps the states that agree with the answer.
    pub(super) fn ends(&mut self, request: RequestId, outcome: Outcome) -> Result<(), String> {
        let Some(&open) = self.open.get(&request) else {
            return Ok(());
        };
        self.close();
        let before = self.possible.clone();
        match outcome {
            Outcome::Failed => {}
            // The moment of a reminder, or the expiry, has come before the alert was created.
            Outcome::Rejected
                if (self.has_come || self.has_expired)
                    && matches!(
                        open,
                        Open::Change {
                            change: Change::Create,
                            ..
                        }
                    ) =>
            {
                self.possible
                    .retain(|possible| !possible.applied.contains_key(&request));
            }
            // A late quote was not judged.
            Outcome::Refused if matches!(open, Open::Quote { .. }) => self
                .possible
                .retain(|possible| !possible.applied.contains_key(&request)),
            _ => self
                .possible
                .retain(|possible| possible.applied.get(&request) == Some(&outcome)),
        }
        self.interrupt(request);
        self.note();
        if self.possible.is_empty() {
            let states: Vec<_> = before.iter().map(|possible| &possible.state).collect();
            self.possible = before.iter().cloned().collect();
            self.interrupt(request);
            return Err(format!(
                "{open:?} was answered with {outcome:?}, but the alert can only be {states:?}"
            ));
        }
        Ok(())
    }

    /// A request will not be answered: it has been executed or not.
    pub(super) fn interrupt(&mut self, request: RequestId) {
        self.open.remove(&request);
        let possible = std::mem::take(&mut self.possible).into_iter().map(|mut possible| {
            possible.applied.remove(&request);
            possible
        });
        self.possible = possible.collect();
    }

    pub(super) fn interrupt_all(&mut self) {
        let requests: Vec<RequestId> = self.open.keys().copied().collect();
        requests.into_iter().for_each(|request| self.interrupt(request));
    }
}

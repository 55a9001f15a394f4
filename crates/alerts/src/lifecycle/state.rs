//! The stored state of an alert's life cycle.

use jiff::Timestamp;
use market::Price;
use market::split::SplitRatio;

use super::extremes::ArmedExtremes;
use super::judgement::Observation;
use crate::condition::Side;
use crate::expression::{Crossings, Within};
use crate::options::AlertOptions;

/// The state of an alert's life cycle between two judgements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifecycle {
    /// The start of the judgements: creation, activation, or the end of a snooze.
    pub armed_at: Timestamp,
    /// The phase.
    pub phase: Phase,
    /// The first of the judgements up to the last one, at all of which the condition was true; `None` if it was not true at the
    /// last. With [`TriggerPrice::TwoLasts`](crate::options::TriggerPrice::TwoLasts), a condition counts as true at the second
    /// of two observations.
    pub true_since: Option<Timestamp>,
    /// Whether the condition was true at the last judgement since arming, even if only at that one. With
    /// [`TriggerPrice::TwoLasts`](crate::options::TriggerPrice::TwoLasts), at the last observation.
    pub was_true: bool,
    /// The number of firings since creation or activation.
    pub firings: u32,
    /// The last firing.
    pub last_fired_at: Option<Timestamp>,
    /// The highest and the lowest price since arming; `None` before the first price.
    pub extremes: Option<ArmedExtremes>,
    /// The orders of the sides of each `crosses`, and the crossings since arming, for the option `within`.
    pub crossings: Crossings,
    /// Whether the alert fires only on a change: a condition that is true when the alert is armed, or after it was unknown, must be
    /// left first.
    pub fires_on_change: bool,
    /// The side of the threshold on which an RSI for both directions was last, until it reaches the other side and the alert fires.
    /// `None` without an RSI yet, while it is exactly at the threshold, and for every other condition.
    pub rsi_side: Option<Side>,
    /// Whether the extremes and the orders were found. They are stored, so that a restart does not begin them anew.
    pub figures: ArmedFigures,
}

/// Whether the extremes since arming and the orders of the sides of each `crosses` were found, even if there were none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ArmedFigures {
    /// Not yet, or the condition has neither.
    #[default]
    NotFound,
    /// At the moment of arming, which no judgement has followed.
    AtArming,
    /// At the moment of arming, and the alert was judged since.
    Judged,
}

/// The phase of an alert that is active.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The alert fires as soon as its condition has been true for the hold.
    Armed,
    /// The alert fired, and does not fire again before an instant.
    Cooling {
        /// The end of the cooldown.
        until: Timestamp,
        /// Whether the condition was left since the firing.
        was_left: bool,
    },
    /// The alert waits until its condition is left: it fired, or it fires on changes only and has not seen its condition false.
    WaitingToRearm,
}

impl Lifecycle {
    /// Returns the state of an alert that is created or activated, with the newest price of that moment.
    #[must_use]
    pub fn new(armed_at: Timestamp, newest_price: Option<Price>, within: Option<Within>) -> Self {
        Self {
            armed_at,
            phase: Phase::Armed,
            true_since: None,
            was_true: false,
            firings: 0,
            last_fired_at: None,
            extremes: newest_price.map(ArmedExtremes::new),
            crossings: Crossings::new(within),
            fires_on_change: false,
            rsi_side: None,
            figures: ArmedFigures::NotFound,
        }
    }

    /// Returns the state of an alert that is created or activated and fires only on a change of its condition.
    #[must_use]
    pub fn new_on_change(armed_at: Timestamp) -> Self {
        Self {
            phase: Phase::WaitingToRearm,
            fires_on_change: true,
            ..Self::new(armed_at, None, None)
        }
    }

    /// Returns the state at the end of a snooze: armed anew, with the same firings and the newest price of that moment.
    #[must_use]
    pub fn armed_anew(&self, at: Timestamp, newest_price: Option<Price>) -> Self {
        Self {
            phase: self.first_phase(),
            firings: self.firings,
            last_fired_at: self.last_fired_at,
            crossings: self.crossings.rearmed(),
            fires_on_change: self.fires_on_change,
            rsi_side: self.rsi_side,
            ..Self::new(at, newest_price, self.crossings.within())
        }
    }

    /// Returns the state for the evaluation of the condition at an observation: a snooze that is over has ended, the extremes
    /// include the price, and crossings that do not count any more are forgotten.
    ///
    /// An expression is evaluated with [`extremes`](Self::extremes) and [`crossings`](Self::crossings) of this state, which
    /// [`step`](super::step()) then continues. For other conditions `step` alone is enough.
    #[must_use]
    pub fn prepared(&self, options: &AlertOptions, observation: &Observation) -> Self {
        let at = observation.at;
        let mut next = match self.snoozed_until(options) {
            Some(end) if at < end => return self.clone(),
            Some(end) => {
                let is_later = observation.is_new && at > end;
                let at_end = if is_later {
                    observation.previous_price
                } else {
                    observation.price
                };
                self.armed_anew(end, at_end)
            }
            None => self.clone(),
        };
        next.add_price(observation.price);
        next.crossings.forget_ended(at);
        next
    }

    /// Returns the state of an alert that no judgement has followed without its extremes and orders at the moment of arming, to
    /// find them again: the engine lacked observations of that moment. Any other state is returned as it is.
    #[must_use]
    pub fn before_arming(&self) -> Self {
        if self.figures != ArmedFigures::AtArming {
            return self.clone();
        }
        Self {
            extremes: None,
            crossings: Crossings::new(self.crossings.within()),
            figures: ArmedFigures::NotFound,
            ..self.clone()
        }
    }

    /// Returns the state in the shares after a split.
    #[must_use]
    pub fn after_split(&self, ratio: SplitRatio) -> Self {
        Self {
            extremes: self.extremes.map(|extremes| extremes.after_split(ratio)),
            ..self.clone()
        }
    }

    /// Returns the end of a snooze that has not been followed by a judgement yet.
    pub(super) fn snoozed_until(&self, options: &AlertOptions) -> Option<Timestamp> {
        options.snoozed_until.filter(|&end| self.armed_at < end)
    }

    /// Records that the alert is armed again because its condition was left: everything since arming begins anew.
    pub(super) fn rearm(&mut self, newest_price: Option<Price>) {
        self.true_since = None;
        self.was_true = false;
        self.extremes = newest_price.map(ArmedExtremes::new);
        self.crossings = self.crossings.rearmed();
    }

    /// Returns whether the alert fires on changes only and has not fired since it was armed.
    pub(super) fn waits_for_first_change(&self) -> bool {
        self.fires_on_change && self.last_fired_at.is_none_or(|fired_at| fired_at < self.armed_at)
    }

    /// Returns the phase of an alert that is armed.
    const fn first_phase(&self) -> Phase {
        if self.fires_on_change {
            Phase::WaitingToRearm
        } else {
            Phase::Armed
        }
    }

    fn add_price(&mut self, price: Option<Price>) {
        if let Some(price) = price {
            self.extremes = Some(
                self.extremes
                    .map_or(ArmedExtremes::new(price), |extremes| extremes.with(price)),
            );
        }
    }
}

//! Indicators of a history that are computed once for each completed session.
//!
//! A recursive indicator such as an exponential average depends on all kept sessions. Its state after the last completed session is
//! computed when it is first used and shared by all readers until the sessions change. It is always computed from the oldest kept
//! session, so its value depends only on the kept sessions, whenever they were loaded.

use std::collections::VecDeque;
use std::sync::OnceLock;

use crate::bar::Bar;
use crate::indicators::{Atr, Deviation, Ema, Macd, Moments, Rsi};

/// The maximum number of indicators of each kind whose states are kept. More of them are computed at each use.
pub(crate) const MAX_TRACKED: usize = 64;

/// An indicator that is computed from completed sessions in their order.
pub trait SessionIndicator: Copy + PartialEq {
    /// Adds the next session.
    fn add(&mut self, bar: &Bar);

    #[doc(hidden)]
    fn tracked(all: &TrackedIndicators) -> &Vec<TrackedIndicator<Self>>;

    #[doc(hidden)]
    fn tracked_mut(all: &mut TrackedIndicators) -> &mut Vec<TrackedIndicator<Self>>;
}

/// An indicator whose state is kept.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct TrackedIndicator<S> {
    /// The indicator of an empty series, which identifies its kind and periods.
    empty: S,
    /// Its state after the last completed session, once it was used.
    state: OnceLock<S>,
}

/// The indicators whose states are kept.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct TrackedIndicators {
    emas: Vec<TrackedIndicator<Ema>>,
    macds: Vec<TrackedIndicator<Macd>>,
    rsis: Vec<TrackedIndicator<Rsi>>,
    atrs: Vec<TrackedIndicator<Atr>>,
    deviations: Vec<(u32, OnceLock<Deviation>)>,
}

/// Two histories with the same sessions are equal, whatever was computed from them.
impl PartialEq for TrackedIndicators {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl TrackedIndicators {
    /// Keeps the state of an indicator from now on.
    pub(crate) fn track<S: SessionIndicator>(&mut self, empty: S) {
        let tracked = S::tracked_mut(self);
        if tracked.len() < MAX_TRACKED && tracked.iter().all(|kept| kept.empty != empty) {
            let state = OnceLock::new();
            tracked.push(TrackedIndicator { empty, state });
        }
    }

    /// Returns an indicator after the last session.
    pub(crate) fn state<S: SessionIndicator>(&self, empty: S, bars: &VecDeque<Bar>) -> S {
        let compute = || {
            let mut state = empty;
            bars.iter().for_each(|bar| state.add(bar));
            state
        };
        match S::tracked(self).iter().find(|kept| kept.empty == empty) {
            Some(kept) => *kept.state.get_or_init(compute),
            None => compute(),
        }
    }

    /// Keeps the closes for a standard deviation from now on.
    pub(crate) fn track_deviation(&mut self, period: u32) {
        if self.deviations.len() < MAX_TRACKED && self.deviations.iter().all(|(kept, _)| *kept != period) {
            self.deviations.push((period, OnceLock::new()));
        }
    }

    /// Returns the moments of the last sessions and a provisional close.
    pub(crate) fn moments(&self, period: u32, close_micros: i64, bars: &VecDeque<Bar>) -> Option<Moments> {
        let compute = || Deviation::of(period, bars.iter().map(|bar| bar.close.micros()));
        match self.deviations.iter().find(|(kept, _)| *kept == period) {
            Some((_, state)) => state.get_or_init(compute).with(close_micros),
            None => compute().with(close_micros),
        }
    }

    /// Forgets all states, because the sessions have changed.
    pub(crate) fn forget(&mut self) {
        fn forget_each<S>(tracked: &mut [TrackedIndicator<S>]) {
            tracked.iter_mut().for_each(|kept| kept.state = OnceLock::new());
        }
        forget_each(&mut self.emas);
        forget_each(&mut self.macds);
        forget_each(&mut self.rsis);
        forget_each(&mut self.atrs);
        self.deviations
            .iter_mut()
            .for_each(|(_, state)| *state = OnceLock::new());
    }
}

macro_rules! session_indicator {
    ($indicator:ty, $list:ident, |$state:ident, $bar:ident| $add:expr) => {
        impl SessionIndicator for $indicator {
            fn add(&mut self, $bar: &Bar) {
                let $state = self;
                $add;
            }

            fn tracked(all: &TrackedIndicators) -> &Vec<TrackedIndicator<Self>> {
                &all.$list
            }

            fn tracked_mut(all: &mut TrackedIndicators) -> &mut Vec<TrackedIndicator<Self>> {
                &mut all.$list
            }
        }
    };
}

session_indicator!(Ema, emas, |state, bar| state.push(bar.close.micros()));
session_indicator!(Macd, macds, |state, bar| state.push(bar.close.micros()));
session_indicator!(Rsi, rsis, |state, bar| state.push(bar.close.micros()));
session_indicator!(Atr, atrs, |state, bar| state.push(bar));

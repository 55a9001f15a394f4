//! The periods in which an alert can be evaluated late: those in which its stocks are known.
//!
//! The state of a stock in the past is known from its last observation before the gap on, or from its first missed one if
//! the live engine has observed it since. So an alert over several stocks is evaluated only from the instant on from which
//! all of them are known. A stock without missed observations is known afterwards if the period was delivered for it too,
//! or while its last observation is not stale.

use std::collections::HashMap;
use std::fmt;

use ::alerts::metrics::MetricDependency;
use ::alerts::{Alert, AlertId};
use ::market::Symbol;
use jiff::{SignedDuration, Timestamp};

use super::inputs::AlertInputs;
use super::{Gap, MissedObservation};

/// A period whose missed observations could not be evaluated for an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnknownPeriod {
    /// The alert.
    pub(super) alert: AlertId,
    /// The first observation.
    pub(super) from: Timestamp,
    /// The last observation.
    pub(super) to: Timestamp,
    /// Why they could not be evaluated.
    pub(super) reason: UnknownReason,
}

/// The reason why missed observations could not be evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnknownReason {
    /// The price of a stock at that time is not known.
    Price(Symbol),
    /// The missed prices of a stock have no volume.
    Volume(Symbol),
    /// The missed prices of a stock have no bid and ask.
    BidAndAsk(Symbol),
    /// The missed prices of a stock have no volume-weighted average price.
    Vwap(Symbol),
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Price(symbol) => write!(f, "the price of {symbol} at that time is not known"),
            Self::Volume(symbol) => write!(f, "the missed prices of {symbol} have no volume"),
            Self::BidAndAsk(symbol) => write!(f, "the missed prices of {symbol} have no bid and ask"),
            Self::Vwap(symbol) => write!(f, "the missed prices of {symbol} have no volume-weighted average price"),
        }
    }
}

/// The gaps of a late evaluation by stock.
pub(super) struct GapsByStock<'a> {
    gaps: HashMap<Symbol, &'a Gap>,
    /// The time after an observation until which a stock counts as known.
    stale_after: SignedDuration,
}

impl Gap {
    /// Returns the instant from which the state of the stock is known.
    fn known_from(&self) -> Timestamp {
        let Some(session) = self.session else {
            return Timestamp::MIN;
        };
        let is_behind = |first: &&MissedObservation| first.at <= session.last_at;
        let first = self.observations.first().filter(is_behind);
        first.map_or(session.last_at, |first| first.at)
    }

    /// Returns the instant until which the state of the stock is known.
    fn known_until(&self, stale_after: SignedDuration) -> Timestamp {
        let last = self
            .session
            .filter(|_| !self.is_complete && self.observations.is_empty());
        let until = last.and_then(|session| session.last_at.checked_add(stale_after).ok());
        until.unwrap_or(Timestamp::MAX)
    }

    /// Whether the live engine has observed the stock after the gap.
    pub(super) fn is_behind(&self) -> bool {
        let last = self.observations.last().zip(self.session);
        last.is_some_and(|(last, session)| last.at < session.last_at)
    }
}

impl<'a> GapsByStock<'a> {
    pub(super) fn new(gaps: &'a [Gap], stale_after: SignedDuration) -> Self {
        Self {
            gaps: gaps.iter().map(|gap| (gap.symbol, gap)).collect(),
            stale_after,
        }
    }

    pub(super) fn get(&self, symbol: Symbol) -> Option<&'a Gap> {
        self.gaps.get(&symbol).copied()
    }

    /// Returns the instant from which an alert is evaluated, and the period before it that could not be evaluated.
    pub(super) fn evaluated_from(&self, alert: &Alert, inputs: &AlertInputs) -> (Timestamp, Option<UnknownPeriod>) {
        let start = first_instant(alert);
        let observed = || {
            let gaps = inputs.stocks().filter_map(|symbol| self.get(symbol));
            let all = gaps.flat_map(|gap| gap.observations.iter().map(|observation| observation.at));
            all.filter(move |at| *at >= start)
        };
        let last = observed().max();
        let (known_from, unknown) = match last.filter(|_| inputs.is_of_several_stocks()) {
            Some(last) => self.known_from(inputs, last),
            None => (Timestamp::MIN, None),
        };
        let unknown = unknown.and_then(|symbol| {
            let before = || observed().filter(|at| *at < known_from);
            let (from, to) = before().min().zip(before().max())?;
            Some((from, to, UnknownReason::Price(symbol)))
        });
        let unknown = unknown.or_else(|| self.without_figures(inputs, start));
        let unknown = unknown.map(|(from, to, reason)| UnknownPeriod {
            alert: alert.id,
            from,
            to,
            reason,
        });
        (start.max(known_from), unknown)
    }

    /// Returns the instant from which all stocks of an alert are known, with the one that is known last.
    fn known_from(&self, inputs: &AlertInputs, last: Timestamp) -> (Timestamp, Option<Symbol>) {
        let known_from = inputs.stocks().map(|symbol| {
            let known = self.get(symbol).filter(|gap| gap.known_until(self.stale_after) >= last);
            (known.map_or(Timestamp::MAX, Gap::known_from), Some(symbol))
        });
        known_from.max().unwrap_or((Timestamp::MIN, None))
    }

    /// Returns the missed observations of a stock if none of them has the volume, the bid and ask, or the average price that an alert needs.
    fn without_figures(&self, inputs: &AlertInputs, start: Timestamp) -> Option<(Timestamp, Timestamp, UnknownReason)> {
        type Has = fn(&MissedObservation) -> bool;
        type Reason = fn(Symbol) -> UnknownReason;
        let figures: [(MetricDependency, Has, Reason); 3] = [
            (
                MetricDependency::Volume,
                |observation| observation.volume.is_some(),
                UnknownReason::Volume,
            ),
            (
                MetricDependency::BidAsk,
                |observation| observation.bid.is_some() || observation.ask.is_some(),
                UnknownReason::BidAndAsk,
            ),
            (
                MetricDependency::Vwap,
                |observation| observation.vwap.is_some(),
                UnknownReason::Vwap,
            ),
        ];
        figures.into_iter().find_map(|(data, has, reason)| {
            inputs.stocks_with(data).find_map(|symbol| {
                let observations = &self.get(symbol)?.observations;
                let observed = || observations.iter().filter(|observation| observation.at >= start);
                let (first, last) = observed().next().zip(observed().next_back())?;
                (!observed().any(has)).then_some((first.at, last.at, reason(symbol)))
            })
        })
    }
}

/// Returns the first instant at which an alert can be evaluated: after it was armed, and after its last firing.
fn first_instant(alert: &Alert) -> Timestamp {
    let fired = alert.lifecycle.as_deref().and_then(|state| state.last_fired_at);
    let after = fired.and_then(|at| at.checked_add(SignedDuration::from_nanos(1)).ok());
    after.map_or(alert.armed_at, |after| after.max(alert.armed_at))
}

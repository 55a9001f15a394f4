//! A simulated year: alerts of every condition, replayed in a moment.
//!
//! Twenty invented companies over two simulated years. The first year only warms the indicators up; in the second one,
//! alerts of every condition are watched. The market is [`sources::simulated`]; the alerts are here.

mod watch;

use jiff::civil::{Date, date};
use market::Calendar;
use serde_json::Value;
use sources::folder::MarketData;
use sources::simulated;

use crate::replay::Span;

/// The first simulated day.
const FIRST_DAY: Date = date(2024, 1, 2);
/// The year that is replayed.
const REPLAYED: Span = Span {
    from: date(2025, 1, 2),
    to: date(2025, 12, 31),
};

/// Makes the market, the days to replay and the alerts to watch, as create-alert bodies.
#[must_use]
pub fn prepare(seed: u64, calendar: &Calendar) -> (MarketData, Span, Vec<Value>) {
    let data = simulated::record(seed, calendar, FIRST_DAY, REPLAYED.to);
    let bodies = watch::alerts(&data, REPLAYED.from);
    (data, REPLAYED, bodies)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

    use alerts::ConditionKind;

    use super::*;
    use crate::alerts_file::parse_bodies;
    use crate::replay::{Firing, Replay, Summary};

    fn run(seed: u64) -> (Summary, Vec<Firing>) {
        let calendar = Calendar::nyse();
        let (data, span, bodies) = prepare(seed, &calendar);
        let alerts = parse_bodies(&bodies, &calendar, span.start()).unwrap();
        let mut firings = Vec::new();
        let replay = Replay::new(&data, &calendar, span, alerts, |firing| {
            firings.push(firing);
            ControlFlow::Continue(())
        });
        (replay.run(|_| ()), firings)
    }

    #[test]
    fn the_same_seed_makes_the_same_year() {
        assert_eq!(run(7), run(7));
    }

    #[test]
    fn another_seed_makes_another_year() {
        assert_ne!(run(7).1, run(8).1);
    }

    #[test]
    fn every_condition_is_watched_and_fires_in_the_default_year() {
        let (summary, firings) = run(7);
        assert_eq!((summary.sessions, summary.observations), (250, 250 * 20 * 4));
        let fired: BTreeSet<_> = firings.iter().map(|firing| firing.condition).collect();
        let silent: Vec<_> = ConditionKind::ALL.iter().filter(|kind| !fired.contains(kind)).collect();
        assert!(silent.is_empty(), "{silent:?} did not fire");
    }

    #[test]
    fn every_simulated_bar_is_sound() {
        for seed in 0..20 {
            let (data, ..) = prepare(seed, &Calendar::nyse());
            assert_eq!(data.bars.len(), 20);
            for bar in data.bars.values().flat_map(|bars| &bars.daily) {
                assert_eq!(bar.checked(), Ok(*bar));
            }
        }
    }
}

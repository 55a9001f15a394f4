//! A simulated year with alerts of every condition, replayed in a few seconds.
//!
//! The market has twenty invented companies and two simulated years. The first year only warms up the indicators; in
//! the second one, alerts of every condition are watched. The market is [`sources::simulated`]; this module creates
//! the alerts.

mod alert_bodies;

use jiff::civil::{Date, date};
use market::Calendar;
use serde_json::Value;
use sources::folder::MarketData;
use sources::simulated;

use crate::replay::ReplayPeriod;

/// The first day of the simulated data.
const FIRST_DATA_DAY: Date = date(2024, 1, 2);
/// The year that is replayed.
const REPLAY_PERIOD: ReplayPeriod = ReplayPeriod {
    from: date(2025, 1, 2),
    to: date(2025, 12, 31),
};

/// Generates the market, the period to replay and the alerts as create-alert bodies.
#[must_use]
pub fn prepare(seed: u64, calendar: &Calendar) -> (MarketData, ReplayPeriod, Vec<Value>) {
    let data = simulated::generate_history(seed, calendar, FIRST_DATA_DAY, REPLAY_PERIOD.to);
    let bodies = alert_bodies::create_bodies(&data, REPLAY_PERIOD.from);
    (data, REPLAY_PERIOD, bodies)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

    use alerts::ConditionKind;

    use super::*;
    use crate::alerts_file::parse_bodies;
    use crate::replay::{Replay, ReplayFiring, ReplaySummary};

    fn run(seed: u64) -> (ReplaySummary, Vec<ReplayFiring>) {
        let calendar = Calendar::nyse();
        let (data, period, bodies) = prepare(seed, &calendar);
        let alerts = parse_bodies(&bodies, &calendar, period.start()).unwrap();
        let mut firings = Vec::new();
        let replay = Replay::new(&data, &calendar, period, alerts, |firing| {
            firings.push(firing);
            ControlFlow::Continue(())
        });
        (replay.run(|_| ()), firings)
    }

    #[test]
    fn same_seed_gives_the_same_year() {
        assert_eq!(run(7), run(7));
    }

    #[test]
    fn another_seed_gives_another_year() {
        assert_ne!(run(7).1, run(8).1);
    }

    #[test]
    fn every_condition_fires_in_the_default_year() {
        let (summary, firings) = run(7);
        assert_eq!((summary.sessions, summary.observations), (250, 250 * 20 * 4));
        let fired: BTreeSet<_> = firings.iter().map(|firing| firing.condition).collect();
        let silent: Vec<_> = ConditionKind::ALL.iter().filter(|kind| !fired.contains(kind)).collect();
        assert!(silent.is_empty(), "{silent:?} did not fire");
    }

    #[test]
    fn every_simulated_bar_is_valid() {
        for seed in 0..20 {
            let (data, ..) = prepare(seed, &Calendar::nyse());
            assert_eq!(data.bars.len(), 20);
            for bar in data.bars.values().flat_map(|bars| &bars.daily) {
                assert_eq!(bar.checked(), Ok(*bar));
            }
        }
    }
}

//! The faults of a round, planned from its seed.

use std::fmt;
use std::time::Duration;

use acceptance::Cut;

use crate::random::Random;

/// The roles of the nodes in a round.
pub(crate) const TOPOLOGY: [(&str, Part); 7] = [
    ("api-0", Part::Api),
    ("api-1", Part::Api),
    ("evaluator-0", Part::Evaluator),
    ("evaluator-1", Part::Evaluator),
    ("evaluator-2", Part::Evaluator),
    ("dispatcher-0", Part::Dispatcher),
    ("dispatcher-1", Part::Dispatcher),
];

/// The shortest and the longest time between two faults, in milliseconds.
const INTERVAL_MS: (i64, i64) = (2_000, 8_000);
/// The shortest and the longest time for which a process is stopped or cut off, in milliseconds.
const STOP_MS: (i64, i64) = (1_000, 8_000);
/// The shortest and the longest time from the kill of a process to its restart, in milliseconds.
const KILL_MS: (i64, i64) = (200, 6_000);

/// The shortest and the longest time from the loss of the primary to the promotion of its replica, in milliseconds.
const FAILOVER_MS: (i64, i64) = (1_000, 5_000);
/// One round in this number loses its primary.
const ROUNDS_PER_FAILOVER: u64 = 3;
/// The share of the faults of nodes that set a clock, in rounds that do, in percent.
const CLOCK_PERCENT: i64 = 30;
/// The shortest and the longest time for which the disk of the database is full, in milliseconds.
const FULL_DISK_MS: (i64, i64) = (1_000, 5_000);

/// A part of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Part {
    /// A node that takes requests.
    Api,
    /// A node that evaluates alerts.
    Evaluator,
    /// A node that sends webhooks.
    Dispatcher,
    /// A NATS server.
    Nats,
    /// The primary of the database.
    Database,
    /// The disk of the database.
    Disk,
}

impl Part {
    /// Returns the roles of its nodes.
    pub(crate) const fn roles(self) -> &'static str {
        match self {
            Self::Api => "api,jobs",
            Self::Evaluator => "evaluator",
            Self::Dispatcher => "dispatcher",
            Self::Nats | Self::Database | Self::Disk => "",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Api => "api",
            Self::Evaluator => "evaluator",
            Self::Dispatcher => "dispatcher",
            Self::Nats => "nats",
            Self::Database => "database",
            Self::Disk => "disk",
        })
    }
}

/// The servers of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Servers {
    Nats,
    Database,
    All,
}

impl fmt::Display for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nats => "NATS",
            Self::Database => "the database",
            Self::All => "all servers",
        })
    }
}

/// The fault of a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Action {
    /// It is killed, and started again later.
    Kill,
    /// It is stopped, and continued later.
    Stop,
    /// Its connections to these servers are cut.
    Cut(Servers, Cut),
    /// Its clock is set ahead, and set back later.
    ClockAhead,
    /// Its clock is set back, and set right later.
    ClockBehind,
    /// Nothing can be written to it.
    Fill,
}

impl Action {
    /// Whether the clock of a node is wrong.
    pub(crate) const fn is_of_clock(self) -> bool {
        matches!(self, Self::ClockAhead | Self::ClockBehind)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Cut(servers, Cut::BothWays) => return write!(f, "cut off from {servers}"),
            Self::Cut(servers, Cut::ToServer) => return write!(f, "cut on the way to {servers}"),
            Self::Cut(servers, Cut::FromServer) => return write!(f, "cut on the way from {servers}"),
            Self::ClockAhead => "clock ahead",
            Self::ClockBehind => "clock behind",
            Self::Fill => "fill",
        })
    }
}

/// A fault of one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// The time since the beginning of the load.
    pub(crate) at: Duration,
    pub(crate) part: Part,
    /// The number of the process among those of its part. If it is faulty already, the next one has the fault.
    pub(crate) index: usize,
    pub(crate) action: Action,
    /// The time until it is started again or continued.
    pub(crate) lasts: Duration,
}

/// Whether clocks are set in a round.
pub(crate) const fn has_clock_faults(seed: u64) -> bool {
    seed % 4 < 2
}

/// Whether the disk of the database is full for a while in a round.
const fn has_full_disk(seed: u64) -> bool {
    matches!(seed % 4, 1 | 2)
}

/// Returns the faults of a round that lasts for `length`.
pub(crate) fn plan(seed: u64, length: Duration) -> Vec<Fault> {
    let mut faults = faults_of_processes(seed, length);
    let mut random = Random::new(seed, 1);
    let mut add_once = |part, action, range| {
        faults.push(Fault {
            at: length.mul_f64(random.between(200, 800) as f64 / 1_000.0),
            part,
            index: 0,
            action,
            lasts: millis(&mut random, range),
        });
    };
    if seed.is_multiple_of(ROUNDS_PER_FAILOVER) {
        add_once(Part::Database, Action::Kill, FAILOVER_MS);
    }
    if has_full_disk(seed) {
        add_once(Part::Disk, Action::Fill, FULL_DISK_MS);
    }
    faults.sort_by_key(|fault| fault.at);
    faults
}

/// Returns the faults of nodes and NATS servers.
fn faults_of_processes(seed: u64, length: Duration) -> Vec<Fault> {
    let mut random = Random::new(seed, 0);
    let mut faults = Vec::new();
    let mut at = Duration::ZERO;
    loop {
        at += millis(&mut random, INTERVAL_MS);
        let part = random.one_of(&[
            Part::Api,
            Part::Api,
            Part::Evaluator,
            Part::Evaluator,
            Part::Evaluator,
            Part::Evaluator,
            Part::Evaluator,
            Part::Dispatcher,
            Part::Nats,
            Part::Nats,
        ]);
        let cut = random.one_of(&[Cut::BothWays, Cut::ToServer, Cut::FromServer]);
        let action = match part {
            Part::Nats => random.one_of(&[Action::Kill, Action::Stop]),
            Part::Database | Part::Disk => Action::Kill,
            Part::Api | Part::Evaluator | Part::Dispatcher
                if has_clock_faults(seed) && random.chance(CLOCK_PERCENT) =>
            {
                random.one_of(&[Action::ClockAhead, Action::ClockBehind])
            }
            Part::Api | Part::Evaluator | Part::Dispatcher => random.one_of(&[
                Action::Kill,
                Action::Kill,
                Action::Stop,
                Action::Stop,
                Action::Cut(Servers::Nats, cut),
                Action::Cut(Servers::Database, cut),
                Action::Cut(Servers::All, cut),
            ]),
        };
        let lasts = millis(
            &mut random,
            match action {
                Action::Kill => KILL_MS,
                _ => STOP_MS,
            },
        );
        let index = usize::try_from(random.between(0, 5)).unwrap();
        if at >= length {
            return faults;
        }
        faults.push(Fault {
            at,
            part,
            index,
            action,
            lasts,
        });
    }
}

fn millis(random: &mut Random, (least, most): (i64, i64)) -> Duration {
    Duration::from_millis(random.between(least, most).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_depends_on_its_seed_alone() {
        let length = Duration::from_secs(600);
        assert_eq!(plan(1, length), plan(1, length));
        assert_ne!(plan(1, length), plan(2, length));
    }

    #[test]
    fn every_third_round_loses_its_primary_once() {
        for seed in 1..=6 {
            let faults = plan(seed, Duration::from_secs(60));
            let lost = faults.iter().filter(|fault| fault.part == Part::Database).count();
            assert_eq!(lost, usize::from(seed % 3 == 0), "{seed}");
            assert!(faults.is_sorted_by_key(|fault| fault.at));
        }
    }

    #[test]
    fn clocks_are_set_and_the_disk_is_full_in_two_rounds_of_four() {
        for seed in 0..4 {
            let faults = plan(seed, Duration::from_secs(600));
            let is_set = faults.iter().any(|fault| fault.action.is_of_clock());
            let is_full = faults.iter().filter(|fault| fault.part == Part::Disk).count();
            assert_eq!(
                (is_set, is_full),
                (seed < 2, usize::from(seed == 1 || seed == 2)),
                "{seed}"
            );
        }
    }

    #[test]
    fn faults_follow_each_other_within_the_round() {
        let faults = faults_of_processes(4, Duration::from_secs(600));
        assert!(faults.len() > 60, "{}", faults.len());
        for pair in faults.windows(2) {
            let interval = pair[1].at - pair[0].at;
            assert!(
                (Duration::from_secs(2)..=Duration::from_secs(8)).contains(&interval),
                "{interval:?}"
            );
        }
        assert!(faults.iter().all(|fault| fault.at < Duration::from_secs(600)));
    }
}

//! The figures of a round.

use std::collections::BTreeMap;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::comparison::Comparison;
use crate::faults::AppliedFault;
use crate::load::{LoadResult, ReadFiring};
use crate::schedule::{Action, Part};

/// How long a fault has effects after it was repaired, at most.
const RECOVERY: SignedDuration = SignedDuration::from_secs(5);

/// The results of a round.
#[derive(Debug)]
pub(crate) struct RoundReport {
    pub(crate) seed: u64,
    pub(crate) nats_servers: usize,
    pub(crate) began: Timestamp,
    pub(crate) faults: Vec<AppliedFault>,
    pub(crate) clients: Vec<LoadResult>,
    pub(crate) comparison: Comparison,
}

impl RoundReport {
    /// Returns everything that must not happen.
    pub(crate) fn violations(&self) -> Vec<String> {
        let named =
            |name: &str, all: &[String]| -> Vec<String> { all.iter().map(|one| format!("{name}: {one}")).collect() };
        let mut violations = named("lost", &self.comparison.lost);
        violations.extend(named("doubled", &self.comparison.doubled));
        violations.extend(named("other", &self.comparison.other));
        for client in &self.clients {
            violations.extend(named("while the load ran", &client.violations));
        }
        violations
    }

    /// Whether a firing was lost or doubled.
    pub(crate) fn has_wrong_firings(&self) -> bool {
        !self.comparison.lost.is_empty() || !self.comparison.doubled.is_empty()
    }

    /// Returns the time from a fault to the first firing that a client has read. After the fault of an evaluator only alerts count
    /// that it had owned. Only pushes that began after the fault count, so the time is a little too long.
    fn first_firing(&self, fault: &AppliedFault) -> Option<SignedDuration> {
        let counts = |read: &&ReadFiring| {
            let is_owned = fault.part != Part::Evaluator || fault.owned.contains(&shard_of(&read.symbol));
            is_owned && read.pushed_at >= fault.at
        };
        let read = self.clients.iter().flat_map(|client| &client.read).filter(counts);
        read.map(|read| read.read_at.duration_since(fault.at)).min()
    }
}

impl AppliedFault {
    /// Whether no other fault had effects between this one and the first firing after it.
    fn is_alone(&self, others: &[Self], first: SignedDuration) -> bool {
        let overlaps = |other: &&Self| {
            let lasts = SignedDuration::try_from(other.lasts).unwrap_or(SignedDuration::MAX);
            other.at < self.at + first && other.at + lasts + RECOVERY > self.at
        };
        // One of them is this fault.
        others.iter().filter(overlaps).count() <= 1
    }
}

/// Returns the shard of a stock.
fn shard_of(symbol: &str) -> u8 {
    Sha256::digest(symbol)[0]
}

/// Times in order.
struct Times(Vec<SignedDuration>);

impl Times {
    fn new(mut times: Vec<SignedDuration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn percentile(&self, percent: usize) -> SignedDuration {
        let index = (self.0.len() * percent).div_ceil(100).max(1) - 1;
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, p99, most] = [50, 99, 100].map(|percent| self.percentile(percent).as_secs_f64());
        let count = self.0.len();
        write!(f, "median {median:.3} s, p99 {p99:.3} s, max {most:.3} s of {count}")
    }
}

impl fmt::Display for RoundReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |figure: fn(&LoadResult) -> usize| self.clients.iter().map(figure).sum::<usize>();
        let Comparison {
            expected,
            lost,
            doubled,
            other,
            deliveries,
            repeated_deliveries,
        } = &self.comparison;
        writeln!(
            f,
            "seed {}, {} NATS servers, {} faults",
            self.seed,
            self.nats_servers,
            self.faults.len()
        )?;
        let mut times: BTreeMap<(Part, Action, bool), Vec<SignedDuration>> = BTreeMap::new();
        for fault in &self.faults {
            let first = self.first_firing(fault);
            let at = fault.at.duration_since(self.began).as_secs_f64();
            let (action, name, lasts) = (fault.action, fault.name, fault.lasts.as_secs_f64());
            let shown = first.map_or("none".to_owned(), |first| format!("after {:.3} s", first.as_secs_f64()));
            let is_alone = first.is_some_and(|first| fault.is_alone(&self.faults, first));
            let alone = if is_alone { ", no other fault" } else { "" };
            writeln!(
                f,
                "  {at:7.3} s  {action} {name} for {lasts:.3} s; first firing {shown}{alone}"
            )?;
            let times = times.entry((fault.part, fault.action, is_alone)).or_default();
            times.extend(first);
        }
        let (pushes, repetitions) = (sum(|client| client.pushes), sum(|client| client.repetitions));
        let (alerts, old_prices) = (sum(|client| client.alerts.len()), sum(|client| client.old_prices));
        writeln!(f, "  {alerts} alerts, {pushes} pushes, {repetitions} attempts repeated")?;
        writeln!(
            f,
            "  {old_prices} activations with an earlier price than the last one that was pushed"
        )?;
        writeln!(f, "  {deliveries} deliveries, {repeated_deliveries} received again")?;
        for ((part, action, is_alone), times) in times.into_iter().filter(|(_, times)| !times.is_empty()) {
            let others = if is_alone {
                "no other fault"
            } else {
                "with other faults"
            };
            writeln!(
                f,
                "  first firing after {action} of {part}, {others}: {}",
                Times::new(times)
            )?;
        }
        // The instants come from the clocks of two nodes.
        let has_wrong_clocks = self.faults.iter().any(|fault| fault.action.is_of_clock());
        let judged = self.clients.iter().flat_map(|client| client.judged.iter().copied());
        if !has_wrong_clocks {
            let judged = Times::new(judged.collect());
            writeln!(f, "  created to fired, of alerts that hold already: {judged}")?;
        }
        let (lost, doubled, other) = (lost.len(), doubled.len(), other.len());
        let during = sum(|client| client.violations.len());
        write!(
            f,
            "  {expected} firings expected: {lost} lost, {doubled} doubled, {other} other differences, {during} while the load ran"
        )
    }
}

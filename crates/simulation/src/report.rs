//! The report of a simulation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Rare states that simulations must reach. A run of many seeds reports how often it has reached each.
pub const SOMETIMES: &[&str] = &[
    "a process was killed",
    "the power was cut",
    "a process ended during its start",
    "a process ended with an open request",
    "a process ended with an open quote",
    "a process ended after a sync",
    "a process ended after a write",
    "a process updated the schema",
    "a process ended while it updated the schema",
    "an update of the schema failed",
    "a power cut lost a write",
    "a power cut tore a write",
    "a power cut kept an unsynced write",
    "a disk operation failed",
    "a request failed",
    "a quote failed",
    "a process could not start",
    "the clock was stepped forward",
    "the clock was stepped back",
    "the clock drifted",
    "a quote met a change of its alert",
    "two changes of an alert were open together",
    "a change was rejected",
    "a change found no alert",
    "an alert was refused by the quota",
    "an alert was refused without a current price",
    "a late quote was rejected",
    "a quote was doubled",
    "a reminder was set",
    "a reminder fired",
    "another account was refused an alert",
    "an alert fired twice",
    "a deleted alert had fired",
    "an alert was paused at the end",
    "a delivery was repeated",
    "a receiver was slow",
    "a receiver refused",
    "a receiver lost its response",
    "a receiver never responded",
    "a receiver refused connections",
    "a receiver was unreachable",
    "a receiver had no name",
    "an alert in an unknown state was changed",
    "an alert that had fired was activated",
    "a paused alert was activated",
    "an active alert was activated",
    "a paused alert was edited",
    "an alert that had fired was edited",
    "an alert that had fired was paused",
    "a deleted alert was changed",
    "an alert was paused while it waited for its return",
    "an alert was deleted while it waited for its return",
    "a reminder was paused",
    "a reminder was deleted",
    "an alert held when it was created",
    "an alert held when it was edited",
    "an alert held when it was activated",
    "a quote reached a level of return exactly",
    "a quote was beyond the level of an alert that waited for its return",
    "a quote reached a level exactly",
    "a quote missed a level by a cent",
    "a quote reached the level of a paused alert",
    "a quote reached the level of a deleted alert",
    "a quote fired two alerts of an account",
    "a quote fired alerts of two accounts",
    "a process ended with an alert in an unknown state",
    "a process ended while an alert waited for its return",
    "a process ended while a reminder was set",
    "a reminder came due while no process ran",
    "the disk began to fail",
    "the disk became full",
    "the clock was stepped by minutes",
    "a quote crossed a threshold",
    "a quote was beyond a threshold that it had to cross",
    "an alert on a crossing was armed beyond its threshold",
    "a process ended while a price was short of a crossing",
    "a quote was the first in a row beyond a threshold",
    "a quote was the second in a row beyond a threshold",
    "a quote after the first was short of its threshold",
    "a process ended after the first of two quotes",
    "a quote interrupted a hold",
    "an alert was paused during its hold",
    "a process ended during a hold",
    "an alert fired after its hold",
    "a quote was beyond the level of an alert in its cooldown",
    "a quote was short of the level of an alert in its cooldown",
    "an alert was paused during its cooldown",
    "a process ended during a cooldown",
    "an alert with a cooldown fired twice",
    "an alert that fires once a day fired on two days",
    "a quote was beyond the level of a snoozed alert",
    "an armed alert was snoozed",
    "an alert was snoozed during its cooldown",
    "an alert was snoozed while it waited for its return",
    "an alert was paused during its snooze",
    "a process ended while an alert was snoozed",
    "a snooze ended while no process ran",
    "a night passed",
    "a split was announced",
    "a split was delivered on its day",
    "a split was delivered again",
    "a split was delivered after prices of new shares",
    "a split failed",
    "a process ended with an open split",
    "a process ended with a split to apply",
    "an alert of the first session was edited in the second one",
    "an alert was activated before the first price of the second session",
    "an alert that repeats was adjusted to a split",
    "an adjusted alert fired",
    "an alert reached its limit of firings",
    "an alert that reached its limit of firings was activated",
    "an alert expired",
    "an alert expired while no process ran",
    "an expired alert was paused",
    "a quote reached the level of an expired alert",
    "a process ended while an alert waited for its expiry",
    "a firing was acknowledged",
    "a firing was acknowledged again",
    "an acknowledgement failed",
    "a process ended with an open acknowledgement",
    "a stock was added to a watchlist",
    "a stock was removed from a watchlist",
    "a stock was on the watchlist already",
    "a stock was not on the watchlist",
    "a change of a watchlist failed",
    "a process ended with an open change of a watchlist",
    "an email was sent",
    "an email was sent again",
    "an email had several firings",
    "an email about an acknowledged firing was not sent",
    "an email was refused for good",
    "the mail server was slow",
    "the mail server refused",
    "the mail server lost its reply",
    "the mail server never replied",
    "the mail server refused connections",
    "the mail server was unreachable",
    "the mail server had no name",
];

/// The result of a simulation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SimulationReport {
    /// The seed.
    pub seed: u64,
    /// The events, in order, with its virtual time.
    pub events: Vec<String>,
    /// The violations of what must be true.
    pub violations: Vec<String>,
    /// The rare states that were reached, with their counts.
    pub sometimes: BTreeMap<String, u64>,
    /// Figures.
    pub figures: SimulationFigures,
}

/// SimulationFigures of one or several simulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SimulationFigures {
    /// Requests and quotes.
    pub requests: u64,
    /// Requests and quotes that were acknowledged.
    pub acknowledged: u64,
    /// Firings.
    pub firings: u64,
    /// Accepted deliveries.
    pub deliveries: u64,
    /// Ended processes.
    pub endings: u64,
    /// Failed disk operations.
    pub disk_faults: u64,
    /// Virtual time, in milliseconds.
    pub virtual_ms: u64,
    /// Processor time, in microseconds. It differs from run to run.
    pub processor_us: u64,
}

impl std::ops::AddAssign for SimulationFigures {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.acknowledged += other.acknowledged;
        self.firings += other.firings;
        self.deliveries += other.deliveries;
        self.endings += other.endings;
        self.disk_faults += other.disk_faults;
        self.virtual_ms += other.virtual_ms;
        self.processor_us += other.processor_us;
    }
}

impl SimulationReport {
    /// Whether nothing was violated.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.violations.is_empty()
    }
}

//! The evidence at the end: the database and the receivers, compared with the model and with each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{AlertModel, AlertStatus, Cents, Model};
use crate::network::cents;

/// A firing in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedFiring {
    pub(crate) price: Cents,
    pub(crate) reason: String,
    /// The number of its events.
    pub(crate) events: i64,
}

/// An alert in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedAlert {
    pub(crate) id: String,
    pub(crate) owner: usize,
    pub(crate) status: AlertStatus,
    pub(crate) threshold: Cents,
    /// The level of return of an alert that repeats.
    pub(crate) returns_at: Option<Cents>,
    /// The limit of firings in its options.
    pub(crate) max_firings: Option<u32>,
    /// The number of adjustments to splits.
    pub(crate) adjustments: i64,
    pub(crate) firings: Vec<RecordedFiring>,
    /// The number of its last revision.
    pub(crate) revision: i64,
    /// The number of entries in its history that raise the revision, with the first one.
    pub(crate) changes: i64,
}

/// A delivery that a receiver has got.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Delivered {
    pub(crate) receiver: usize,
    pub(crate) id: String,
    pub(crate) alert: String,
    pub(crate) price: Cents,
}

impl AlertModel {
    /// The reason of a firing: a rule explains its comparison, any other one its level.
    fn reason(&self, price: Cents, threshold: Cents) -> String {
        if self.moment.is_some() {
            return "the reminder's time has come".to_owned();
        }
        if self.is_rule {
            let relation = match (self.is_crossing, self.is_above) {
                (true, true) => "crosses above",
                (true, false) => "crosses below",
                (false, true) => ">=",
                (false, false) => "<=",
            };
            return format!("price {relation} {}: price is {}", shortest(threshold), shortest(price));
        }
        let relation = if self.is_above { "above" } else { "below" };
        format!("price {} is at or {relation} {}", dollars(price), dollars(threshold))
    }

    /// Whether the time that a reason names can be that of the beginning of a hold.
    fn may_be_held_since(&self, stated: Option<&str>) -> bool {
        let since = stated.map(|since| {
            since
                .parse()
                .is_ok_and(|since| self.times.hold_may_have_begun_at(since))
        });
        since == self.must_hold.then_some(true)
    }
}

fn dollars(cents: Cents) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn shortest(cents: Cents) -> String {
    dollars(cents).trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Model {
    /// Compares the alerts of the database, by the numbers in their requests, with the possible states.
    pub(crate) fn check_database(&mut self, recorded: &BTreeMap<usize, RecordedAlert>) {
        self.alerts.values_mut().for_each(AlertModel::close);
        for (slot, alert) in &self.alerts {
            let Some(recorded) = recorded.get(slot) else {
                if !alert.may_be_absent() {
                    self.violations.push(format!("alert {slot} is lost"));
                }
                continue;
            };
            if recorded.owner != alert.owner {
                self.violations
                    .push(format!("alert {slot} belongs to account {}", recorded.owner));
            }
            // Otherwise two changes were made from the same revision.
            if recorded.revision + 1 != recorded.changes {
                let (revision, changes) = (recorded.revision, recorded.changes);
                self.violations
                    .push(format!("alert {slot} has revision {revision} after {changes} changes"));
            }
            if recorded.adjustments > 1 {
                let count = recorded.adjustments;
                self.violations
                    .push(format!("alert {slot} was adjusted to a split {count} times"));
            }
            let mut fired = Vec::new();
            for firing in &recorded.firings {
                let (stated, held_since) = match firing.reason.split_once("; true since ") {
                    Some((stated, since)) => (stated, Some(since)),
                    None => (firing.reason.as_str(), None),
                };
                let threshold = match alert.moment {
                    Some(_) => Some(0),
                    None => threshold_in(stated),
                };
                let reason = threshold.map(|threshold| alert.reason(firing.price, threshold));
                if reason.as_deref() != Some(stated) || !alert.may_be_held_since(held_since) {
                    self.violations
                        .push(format!("alert {slot} fired with the reason {:?}", firing.reason));
                }
                if firing.events != 1 {
                    self.violations
                        .push(format!("alert {slot}: a firing has {} events", firing.events));
                }
                fired.push((firing.price, threshold.unwrap_or_default()));
            }
            if let Err(violation) = alert.observe(recorded, &fired) {
                self.violations.push(format!("alert {slot}: {violation}"));
            }
        }
        let unknown = recorded.keys().filter(|slot| !self.alerts.contains_key(slot));
        let unknown: Vec<String> = unknown
            .map(|slot| format!("alert {slot} was never requested"))
            .collect();
        self.violations.extend(unknown);
    }

    /// Compares the acknowledged firings of the database with the possible ones. Each has one entry in the history.
    pub(crate) fn check_acknowledgements(&mut self, acknowledged: &BTreeSet<String>, in_history: usize) {
        self.violations
            .extend(self.acknowledged.check("the acknowledgement of", acknowledged));
        let count = acknowledged.len();
        if count != in_history {
            let text = format!("{count} acknowledgements have {in_history} entries in the history");
            self.violations.push(text);
        }
    }

    /// Compares the users and stocks of the watchlists of the database with the possible ones.
    pub(crate) fn check_watchlists(&mut self, listed: &[(usize, usize)]) {
        let watched: BTreeSet<(usize, usize)> = listed.iter().copied().collect();
        if watched.len() < listed.len() {
            self.violations
                .push(format!("a watchlist has a stock twice: {listed:?}"));
        }
        let wrong = self
            .watched
            .check("the place on a watchlist of (user, stock)", &watched);
        self.violations.extend(wrong);
    }

    /// Compares the deliveries with the firings: each firing at least once at each receiver of its owner, under one id, and nothing else.
    pub(crate) fn check_deliveries(
        &mut self,
        recorded: &BTreeMap<usize, RecordedAlert>,
        delivered: &BTreeSet<Delivered>,
        receivers_of: impl Fn(usize) -> Vec<usize>,
    ) {
        self.violations
            .extend(missing_deliveries(recorded, delivered, &receivers_of));
        let mut firings: BTreeMap<(&str, Cents), (usize, usize)> = BTreeMap::new();
        for alert in recorded.values() {
            for firing in &alert.firings {
                let known = firings
                    .entry((alert.id.as_str(), firing.price))
                    .or_insert((alert.owner, 0));
                known.1 += 1;
            }
        }
        let mut ids: BTreeMap<(usize, &str, Cents), BTreeSet<&str>> = BTreeMap::new();
        for delivery in delivered {
            let of_firing = (delivery.receiver, delivery.alert.as_str(), delivery.price);
            ids.entry(of_firing).or_default().insert(&delivery.id);
        }
        for ((receiver, alert, price), ids) in ids {
            let (owner, count) = firings.get(&(alert, price)).copied().unwrap_or((usize::MAX, 0));
            if !receivers_of(owner).contains(&receiver) {
                self.violations.push(format!(
                    "receiver {receiver} got alert {alert} at {price}, which has not fired for it"
                ));
            } else if ids.len() > count {
                let text = format!(
                    "receiver {receiver} got alert {alert} at {price} under {} ids for {count} firings",
                    ids.len()
                );
                self.violations.push(text);
            }
        }
    }
}

/// Returns the firings that a receiver has not got.
pub(crate) fn missing_deliveries(
    recorded: &BTreeMap<usize, RecordedAlert>,
    delivered: &BTreeSet<Delivered>,
    receivers_of: &impl Fn(usize) -> Vec<usize>,
) -> Vec<String> {
    let mut missing = Vec::new();
    for (slot, alert) in recorded {
        for receiver in receivers_of(alert.owner) {
            let ids = delivered
                .iter()
                .filter(|delivery| delivery.receiver == receiver && delivery.alert == alert.id);
            let count = ids.map(|delivery| &delivery.id).collect::<BTreeSet<_>>().len();
            if count < alert.firings.len() {
                let due = alert.firings.len();
                missing.push(format!(
                    "receiver {receiver} got {count} of the {due} firings of alert {slot}"
                ));
            }
        }
    }
    missing
}

/// Returns the threshold that a reason names, in cents.
fn threshold_in(reason: &str) -> Option<Cents> {
    let comparison = reason.split(':').next()?;
    let level: f64 = comparison.rsplit(' ').next()?.parse().ok()?;
    Some(cents(level))
}

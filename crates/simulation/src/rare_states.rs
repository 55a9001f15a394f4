//! Rare states that follow from what the model knows when a request begins or a process ends.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{AlertModel, AlertState, AlertStatus, Cents, Change, Model};

/// Returns the rare states that a change of an alert reaches.
pub(crate) fn of_change(alert: &AlertModel, change: Change) -> Vec<&'static str> {
    let Some((state, price)) = alert.known() else {
        return vec!["an alert in an unknown state was changed"];
    };
    let mut reached = Vec::new();
    match (change, state.status) {
        (Change::Activate, AlertStatus::Triggered) => reached.push("an alert that had fired was activated"),
        (Change::Activate, AlertStatus::Paused) => reached.push("a paused alert was activated"),
        (Change::Activate, AlertStatus::Active) => reached.push("an active alert was activated"),
        (Change::Edit(_), AlertStatus::Paused) => reached.push("a paused alert was edited"),
        (Change::Edit(_), AlertStatus::Triggered) => reached.push("an alert that had fired was edited"),
        (Change::Pause, AlertStatus::Triggered) => reached.push("an alert that had fired was paused"),
        (_, AlertStatus::Deleted) => reached.push("a deleted alert was changed"),
        _ => {}
    }
    if state.status == AlertStatus::Active && state.waits_for_return {
        match change {
            Change::Pause => reached.push("an alert was paused while it waited for its return"),
            Change::Delete => reached.push("an alert was deleted while it waited for its return"),
            _ => {}
        }
    }
    if state.status == AlertStatus::Active && alert.moment.is_some() {
        match change {
            Change::Pause => reached.push("a reminder was paused"),
            Change::Delete => reached.push("a reminder was deleted"),
            _ => {}
        }
    }
    let (_, changed) = state.apply(change);
    if alert.moment.is_none() && state != &changed && changed.fires(alert.is_above, alert.returns_at, price) {
        reached.push(match change {
            Change::Create => "an alert held when it was created",
            Change::Edit(_) => "an alert held when it was edited",
            _ => "an alert held when it was activated",
        });
    }
    reached
}

/// Returns the rare states that a quote reaches.
pub(crate) fn of_quote(model: &Model, stock: usize, price: Cents) -> Vec<&'static str> {
    let mut reached = Vec::new();
    let mut fired: BTreeMap<usize, usize> = BTreeMap::new();
    let on_stock = model
        .alerts
        .values()
        .filter(|alert| alert.stock == stock && alert.moment.is_none());
    for alert in on_stock {
        let Some((state, _)) = alert.known() else {
            continue;
        };
        let fires = |state: &AlertState| state.fires(alert.is_above, alert.returns_at, price);
        let armed = AlertState {
            status: AlertStatus::Active,
            waits_for_return: false,
            ..state.clone()
        };
        match state.status {
            AlertStatus::Active if state.waits_for_return => {
                if alert.returns_at == Some(price) {
                    reached.push("a quote reached a level of return exactly");
                } else if fires(&armed) {
                    reached.push("a quote was beyond the level of an alert that waited for its return");
                }
            }
            AlertStatus::Active if fires(state) => {
                *fired.entry(alert.owner).or_default() += 1;
                if price == state.threshold {
                    reached.push("a quote reached a level exactly");
                }
            }
            AlertStatus::Active if price.abs_diff(state.threshold) == 1 => {
                reached.push("a quote missed a level by a cent");
            }
            AlertStatus::Paused if fires(&armed) => reached.push("a quote reached the level of a paused alert"),
            AlertStatus::Deleted if fires(&armed) => reached.push("a quote reached the level of a deleted alert"),
            _ => {}
        }
    }
    if fired.values().any(|count| *count > 1) {
        reached.push("a quote fired two alerts of an account");
    }
    if fired.len() > 1 {
        reached.push("a quote fired alerts of two accounts");
    }
    reached
}

/// Returns the rare states that the end of a process reaches.
pub(crate) fn of_ending(model: &Model) -> Vec<&'static str> {
    let mut reached = Vec::new();
    for alert in model.alerts.values() {
        match alert.known() {
            None => reached.push("a process ended with an alert in an unknown state"),
            Some((state, _)) if state.status == AlertStatus::Active && state.waits_for_return => {
                reached.push("a process ended while an alert waited for its return");
            }
            Some((state, _)) if state.status == AlertStatus::Active && alert.moment.is_some() => {
                reached.push("a process ended while a reminder was set");
            }
            Some(_) => {}
        }
    }
    reached
}

/// Returns the rare states that the time without a process reaches.
pub(crate) fn of_absence(model: &Model, from: Timestamp, to: Timestamp) -> Vec<&'static str> {
    let is_missed =
        |alert: &&AlertModel| alert.may_be_active() && alert.moment.is_some_and(|moment| from < moment && moment <= to);
    let missed = model.alerts.values().filter(is_missed);
    missed.map(|_| "a reminder came due while no process ran").collect()
}

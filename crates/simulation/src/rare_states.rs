//! Rare states that follow from what the model knows when a request begins or a process ends.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{AlertModel, AlertState, AlertStatus, Cents, Change, Hold, Model, Phase};

/// Returns the rare states that a change of an alert reaches.
pub(crate) fn of_change(alert: &AlertModel, change: Change) -> Vec<&'static str> {
    let Some((state, price)) = alert.known() else {
        return vec!["an alert in an unknown state was changed"];
    };
    let mut reached = Vec::new();
    if state.is_in_old_shares && matches!(change, Change::Edit(_)) {
        reached.push("an alert of the first session was edited in the second one");
    }
    if price.is_none() && change == Change::Activate && state.status != AlertStatus::Active {
        reached.push("an alert was activated before the first price of the second session");
    }
    match (change, state.status) {
        (Change::Activate, AlertStatus::Triggered) if state.has_reached_limit() => {
            reached.push("an alert that reached its limit of firings was activated");
        }
        (Change::Pause, AlertStatus::Expired) => reached.push("an expired alert was paused"),
        (Change::Activate, AlertStatus::Triggered) => reached.push("an alert that had fired was activated"),
        (Change::Activate, AlertStatus::Paused) => reached.push("a paused alert was activated"),
        (Change::Activate, AlertStatus::Active) => reached.push("an active alert was activated"),
        (Change::Edit(_), AlertStatus::Paused) => reached.push("a paused alert was edited"),
        (Change::Edit(_), AlertStatus::Triggered) => reached.push("an alert that had fired was edited"),
        (Change::Pause, AlertStatus::Triggered) => reached.push("an alert that had fired was paused"),
        (_, AlertStatus::Deleted) => reached.push("a deleted alert was changed"),
        _ => {}
    }
    if state.status == AlertStatus::Active && state.phase == Phase::WaitsForReturn {
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
    if state.status == AlertStatus::Active && matches!(state.phase, Phase::Cooling { .. }) && change == Change::Pause {
        reached.push("an alert was paused during its cooldown");
    }
    if state.status == AlertStatus::Active && matches!(change, Change::Snooze(_)) {
        reached.push(match state.phase {
            Phase::Armed => "an armed alert was snoozed",
            Phase::Cooling { .. } => "an alert was snoozed during its cooldown",
            Phase::WaitsForReturn => "an alert was snoozed while it waited for its return",
        });
    }
    if state.status == AlertStatus::Active && state.hold == Some(Hold::Begun) && change == Change::Pause {
        reached.push("an alert was paused during its hold");
    }
    if state.status == AlertStatus::Active && state.is_snoozed && change == Change::Pause {
        reached.push("an alert was paused during its snooze");
    }
    let (_, changed) = state.apply(change);
    let is_armed = changed.status == AlertStatus::Active && state.status != AlertStatus::Active;
    if alert.is_crossing && is_armed && price.is_some_and(|price| armed(state).fires(alert.is_above, price)) {
        reached.push("an alert on a crossing was armed beyond its threshold");
    }
    if alert.moment.is_none() && state != &changed && price.is_some_and(|price| changed.holds(alert.is_above, price)) {
        reached.push(match change {
            Change::Create => "an alert held when it was created",
            Change::Edit(_) => "an alert held when it was edited",
            _ => "an alert held when it was activated",
        });
    }
    reached
}

/// Returns the state of an alert that fires at the next price beyond its level.
fn armed(state: &AlertState) -> AlertState {
    AlertState {
        status: AlertStatus::Active,
        phase: Phase::Armed,
        is_snoozed: false,
        was_short: state.was_short.map(|_| true),
        was_beyond: state.was_beyond.map(|_| true),
        hold: state.hold.map(|_| Hold::Over),
        ..state.clone()
    }
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
        let fires = |state: &AlertState| state.fires(alert.is_above, price);
        let armed = armed(state);
        match state.status {
            AlertStatus::Active if state.is_snoozed && fires(&armed) => {
                reached.push("a quote was beyond the level of a snoozed alert");
            }
            AlertStatus::Active if state.is_snoozed => {}
            AlertStatus::Active if matches!(state.phase, Phase::Cooling { .. }) => {
                reached.push(if fires(&armed) {
                    "a quote was beyond the level of an alert in its cooldown"
                } else {
                    "a quote was short of the level of an alert in its cooldown"
                });
            }
            AlertStatus::Active if state.phase == Phase::WaitsForReturn => {
                if state.returns_at == Some(price) {
                    reached.push("a quote reached a level of return exactly");
                } else if fires(&armed) {
                    reached.push("a quote was beyond the level of an alert that waited for its return");
                }
            }
            AlertStatus::Active if fires(state) => {
                *fired.entry(alert.owner).or_default() += 1;
                if alert.is_crossing {
                    reached.push("a quote crossed a threshold");
                }
                if state.was_beyond.is_some() {
                    reached.push("a quote was the second in a row beyond a threshold");
                }
                if price == state.threshold {
                    reached.push("a quote reached a level exactly");
                }
            }
            AlertStatus::Active if alert.is_crossing && fires(&armed) => {
                reached.push("a quote was beyond a threshold that it had to cross");
            }
            AlertStatus::Active if state.hold == Some(Hold::Begun) && !fires(&armed) => {
                reached.push("a quote interrupted a hold");
            }
            AlertStatus::Active if state.was_beyond.is_some() && fires(&armed) => {
                reached.push("a quote was the first in a row beyond a threshold");
            }
            AlertStatus::Active if state.was_beyond == Some(true) => {
                reached.push("a quote after the first was short of its threshold");
            }
            AlertStatus::Active if price.abs_diff(state.threshold) == 1 => {
                reached.push("a quote missed a level by a cent");
            }
            AlertStatus::Expired if fires(&armed) => reached.push("a quote reached the level of an expired alert"),
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

/// Returns the rare states that the delivery of a split reaches.
pub(crate) fn of_split(model: &Model, stock: usize) -> Vec<&'static str> {
    let mut reached = vec![if model.is_second_session() {
        "a split was delivered on its day"
    } else {
        "a split was announced"
    }];
    if model.may_know_split(stock) {
        reached.push("a split was delivered again");
    }
    if model.prices_of(stock).iter().any(Option::is_some) && model.is_second_session() && !model.may_know_split(stock) {
        reached.push("a split was delivered after prices of new shares");
    }
    reached
}

/// Returns the rare states that the end of a process reaches.
pub(crate) fn of_ending(model: &Model) -> Vec<&'static str> {
    let mut reached = Vec::new();
    if model.waits_for_split() {
        reached.push("a process ended with a split to apply");
    }
    for alert in model.alerts.values() {
        match alert.known() {
            None => reached.push("a process ended with an alert in an unknown state"),
            Some((state, _)) if state.status == AlertStatus::Active && state.phase == Phase::WaitsForReturn => {
                reached.push("a process ended while an alert waited for its return");
            }
            Some((state, _)) if state.status == AlertStatus::Active && state.is_snoozed => {
                reached.push("a process ended while an alert was snoozed");
            }
            Some((state, _)) if state.status == AlertStatus::Active && matches!(state.phase, Phase::Cooling { .. }) => {
                reached.push("a process ended during a cooldown");
            }
            Some((state, _)) if state.status == AlertStatus::Active && state.was_short == Some(true) => {
                reached.push("a process ended while a price was short of a crossing");
            }
            Some((state, _)) if state.status == AlertStatus::Active && state.hold == Some(Hold::Begun) => {
                reached.push("a process ended during a hold");
            }
            Some((state, _)) if state.status == AlertStatus::Active && state.was_beyond == Some(true) => {
                reached.push("a process ended after the first of two quotes");
            }
            Some((state, _)) if state.status == AlertStatus::Active && alert.moment.is_some() => {
                reached.push("a process ended while a reminder was set");
            }
            Some((state, _)) if state.status == AlertStatus::Active && alert.expires_at.is_some() => {
                reached.push("a process ended while an alert waited for its expiry");
            }
            Some(_) => {}
        }
    }
    reached
}

/// Returns the rare states that the time without a process reaches.
pub(crate) fn of_absence(model: &Model, from: Timestamp, to: Timestamp) -> Vec<&'static str> {
    let is_missed = |moment: Option<Timestamp>| moment.is_some_and(|moment| from < moment && moment <= to);
    let mut reached = Vec::new();
    for alert in model.alerts.values().filter(|alert| alert.may_be_active()) {
        if is_missed(alert.moment) {
            reached.push("a reminder came due while no process ran");
        }
        if is_missed(alert.end_of_last_snooze()) {
            reached.push("a snooze ended while no process ran");
        }
        if is_missed(alert.expires_at) {
            reached.push("an alert expired while no process ran");
        }
    }
    reached
}

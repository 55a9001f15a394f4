//! Merges missed observations into the live engine.

use std::cmp::Ordering;
use std::collections::HashMap;

use ::alerts::engine::{AlertAction, Decision, Engine, Event, ObservedSession};
use ::alerts::options::TriggerPrice;
use ::alerts::{Alert, AlertId};
use ::market::Symbol;
use ::market::records::BarRow;
use jiff::Timestamp;

use super::rerun::RerunResult;
use crate::evaluator::late_decisions::LateDecisions;

/// Merges missed observations and their decisions into the live engine. Returns the stocks with a new last price,
/// and the decisions.
pub(super) fn merge(engine: &mut Engine, result: RerunResult, now: Timestamp) -> (Vec<Symbol>, LateDecisions) {
    let RerunResult {
        decisions,
        bars,
        sessions,
        mut alerts,
        unjudged_rules,
        unknown: _,
    } = result;
    let mut decisions = LateDecisions::of(decisions);
    // The second engine has evaluated them for the closes that a bar would let the live engine evaluate.
    let on_closes = suspend_rules_on_closes(engine, &alerts, now);
    for BarRow { symbol, bar } in bars {
        // A bar of a past session is always accepted.
        let _ = engine.process(Event::Bar { symbol, bar }, now, &mut decisions.in_time);
    }
    let mut symbols = Vec::with_capacity(sessions.len());
    for (symbol, missed) in sessions {
        if let Some(session) = merged_session(engine.observed_session(symbol), missed) {
            // The state of an observed session is always accepted.
            let _ = engine.process(Event::Resume { symbol, session }, now, &mut Vec::new());
            symbols.push(symbol);
        }
    }
    let is_known = |id: &&AlertId| {
        let revision = alerts.get(*id).map(|alert| alert.revision);
        revision.is_some() && engine.revision(**id) == revision
    };
    let rearmed: Vec<AlertId> = unjudged_rules.iter().filter(is_known).copied().collect();
    for alert in rearmed.iter().chain(&on_closes).filter_map(|id| alerts.get(id)) {
        // An armed alert is always accepted. Its state at arming is stored with the decisions in time.
        let _ = engine.process(Event::Armed(alert), now, &mut decisions.in_time);
    }
    for decision in decisions.in_order() {
        apply_decision(engine, decision, &mut alerts, now);
    }
    (symbols, decisions)
}

/// Disarms the evaluated rules on closes, unless the live engine has other revisions. Returns them.
fn suspend_rules_on_closes(engine: &mut Engine, alerts: &HashMap<AlertId, Alert>, now: Timestamp) -> Vec<AlertId> {
    let on_closes = alerts.values().filter(|alert| {
        let is_known = engine.revision(alert.id) == Some(alert.revision);
        is_known && alert.options.trigger == TriggerPrice::Close
    });
    let on_closes: Vec<AlertId> = on_closes.map(|alert| alert.id).collect();
    for &id in &on_closes {
        // An armed alert is always disarmed.
        let _ = engine.process(Event::Disarmed(id), now, &mut Vec::new());
    }
    on_closes
}

/// Returns the live session together with the missed one; `None` if the live engine has nothing to gain from it.
fn merged_session(live: Option<ObservedSession>, missed: ObservedSession) -> Option<ObservedSession> {
    let Some(live) = live else {
        return Some(missed);
    };
    match live.date.cmp(&missed.date) {
        // The bar of the missed session, which is still to come, applies to a session that has begun since.
        Ordering::Greater => None,
        Ordering::Less => Some(missed),
        Ordering::Equal => {
            let later = if live.last_at > missed.last_at { live } else { missed };
            Some(ObservedSession {
                // The missed session began with the state from before the gap.
                open: missed.open,
                high: missed.high.max(live.high),
                low: missed.low.min(live.low),
                volume: missed.volume.max(live.volume),
                ..later
            })
        }
    }
}

/// Applies a decision to the live engine: an alert that has fired is not evaluated any more, and a chosen RSI side or the state
/// of a life cycle is known. A later revision is kept.
fn apply_decision(engine: &mut Engine, decision: &Decision, alerts: &mut HashMap<AlertId, Alert>, now: Timestamp) {
    let id = decision.alert;
    if engine.revision(id) != Some(decision.revision) {
        return;
    }
    let mut arm = |change: &dyn Fn(&mut Alert)| {
        if let Some(alert) = alerts.get_mut(&id) {
            change(alert);
            // An armed alert is always accepted, and its side is decided.
            let _ = engine.process(Event::Armed(alert), now, &mut Vec::new());
        }
    };
    match &decision.action {
        // If the firing is rejected, the engine gets the alert's present state instead.
        AlertAction::Fire { .. } | AlertAction::FireRule { is_last: true, .. } | AlertAction::Expire { .. } => {
            let _ = engine.process(Event::Disarmed(id), now, &mut Vec::new());
        }
        AlertAction::SetRsiSide { side } => arm(&|alert| alert.rsi_side = Some(*side)),
        AlertAction::FireRule { state, .. } => arm(&|alert| {
            alert.lifecycle = Some(state.clone());
            alert.revision = decision.revision.next();
        }),
        AlertAction::SetLifecycle { state } => arm(&|alert| alert.lifecycle = Some(state.clone())),
        AlertAction::Adjust { .. } => {}
    }
}

//! The live engine learns what was missed.

use std::cmp::Ordering;
use std::collections::HashMap;

use ::alerts::engine::{AlertAction, Decision, Engine, Event, ObservedSession};
use ::alerts::{Alert, AlertId};
use ::market::Symbol;
use ::market::records::BarRow;
use jiff::Timestamp;

use super::rerun::Found;

/// Tells the live engine what was missed, and what was decided by it. Answers the stocks of which it did not know the last
/// price, and the decisions.
pub(super) fn rejoin(engine: &mut Engine, found: Found, now: Timestamp) -> (Vec<Symbol>, Vec<Decision>) {
    let Found {
        decisions,
        bars,
        sessions,
        mut alerts,
    } = found;
    for BarRow { symbol, bar } in bars {
        // A session of the past is always taken.
        let _ = engine.process(Event::Bar { symbol, bar }, now, &mut Vec::new());
    }
    let mut symbols = Vec::with_capacity(sessions.len());
    for (symbol, missed) in sessions {
        if let Some(session) = joined(engine.observed_session(symbol), missed) {
            // What was observed is always taken.
            let _ = engine.process(Event::Resume { symbol, session }, now, &mut Vec::new());
            symbols.push(symbol);
        }
    }
    for decision in &decisions {
        follow(engine, decision, &mut alerts, now);
    }
    (symbols, decisions)
}

/// What the live engine has seen, together with what was missed; `None` if that is nothing new to it.
fn joined(live: Option<ObservedSession>, missed: ObservedSession) -> Option<ObservedSession> {
    let Some(live) = live else {
        return Some(missed);
    };
    match live.date.cmp(&missed.date) {
        // A session that has begun since is judged by the bar of the one that was missed, which is still to come.
        Ordering::Greater => None,
        Ordering::Less => Some(missed),
        Ordering::Equal => {
            let later = if live.last_at > missed.last_at { live } else { missed };
            Some(ObservedSession {
                // What was missed began with what was known before it.
                open: missed.open,
                high: missed.high.max(live.high),
                low: missed.low.min(live.low),
                volume: missed.volume.max(live.volume),
                ..later
            })
        }
    }
}

/// The live engine does not judge what has fired, and knows what was decided. What it knows of a later revision stays.
fn follow(engine: &mut Engine, decision: &Decision, alerts: &mut HashMap<AlertId, Alert>, now: Timestamp) {
    let id = decision.alert;
    if engine.revision(id) != Some(decision.revision) {
        return;
    }
    match decision.action {
        // Should the firing not be taken, the engine is told what the alert is instead.
        AlertAction::Fire { .. } => drop(engine.process(Event::Disarmed(id), now, &mut Vec::new())),
        AlertAction::SetRsiSide { side } => {
            if let Some(alert) = alerts.get_mut(&id) {
                alert.rsi_side = Some(side);
                // An armed alert is always taken in, and its side is decided.
                let _ = engine.process(Event::Armed(alert), now, &mut Vec::new());
            }
        }
        AlertAction::Adjust { .. } => {}
    }
}

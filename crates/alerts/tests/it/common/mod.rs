//! Shared code of the engine's tests: event processing and alert construction.

pub(crate) mod comparison;
pub(crate) mod reasons;
pub(crate) mod scenario;

use alerts::condition::{Condition, Side};
use alerts::engine::{AlertAction, Decision, Engine, Event, EventError, Quote};
use alerts::lifecycle::Lifecycle;
use alerts::metrics::FundamentalFigures;
use alerts::{Alert, AlertId, Channel, Revision, Status};
use jiff::Timestamp;
use market::{Decimal, Price, Symbol};
use uuid::Uuid;

use crate::oracle::{Outcome, OutcomeKind, OwnedEvent};

/// Processes an event and returns the engine's decisions.
pub(crate) fn process_event(
    engine: &mut Engine,
    event: &OwnedEvent,
    now: Timestamp,
) -> (Vec<Decision>, Result<(), EventError>) {
    let mut decisions = Vec::new();
    let mut process = |engine: &mut Engine, event| engine.process(event, now, &mut decisions);
    let taken = match event {
        OwnedEvent::Snapshot(seen) => {
            let quotes: Vec<_> = seen
                .iter()
                .map(|seen| {
                    let quote = Quote::new(engine.stock(seen.symbol), seen.price);
                    seen.volume.map_or(quote, |volume| quote.with_volume(volume))
                })
                .collect();
            process(engine, Event::Snapshot(&quotes))
        }
        OwnedEvent::Bar(symbol, bar) => process(
            engine,
            Event::Bar {
                symbol: *symbol,
                bar: *bar,
            },
        ),
        OwnedEvent::Split(symbol, ratio) => process(
            engine,
            Event::Split {
                symbol: *symbol,
                ratio: *ratio,
            },
        ),
        OwnedEvent::Fundamentals(symbol, [trailing_eps, forward_eps]) => {
            let figures = FundamentalFigures {
                trailing_eps: *trailing_eps,
                forward_eps: *forward_eps,
                ..FundamentalFigures::default()
            };
            let symbol = *symbol;
            process(engine, Event::Fundamentals { symbol, figures })
        }
        OwnedEvent::Earnings(symbol, dates) => process(engine, Event::Earnings { symbol: *symbol, dates }),
        OwnedEvent::Dividends(symbol, dividends) => process(
            engine,
            Event::Dividends {
                symbol: *symbol,
                dividends,
            },
        ),
        OwnedEvent::Insiders(symbol, trades) => process(
            engine,
            Event::InsiderTrades {
                symbol: *symbol,
                trades,
            },
        ),
        OwnedEvent::InsiderTradesReplaced(symbol, trades) => process(
            engine,
            Event::InsiderTradesReplaced {
                symbol: *symbol,
                trades,
            },
        ),
        OwnedEvent::Mentions(symbol, hour, count) => {
            let (symbol, hour, count) = (*symbol, *hour, *count);
            process(engine, Event::Mentions { symbol, hour, count })
        }
        OwnedEvent::Clock => process(engine, Event::Clock),
        OwnedEvent::Evaluate => process(engine, Event::Evaluate),
        OwnedEvent::Armed(alert) => process(engine, Event::Armed(alert)),
        OwnedEvent::Disarmed(id) => process(engine, Event::Disarmed(*id)),
    };
    (decisions, taken)
}

/// Returns the sides that were determined for RSI alerts for both directions.
pub(crate) fn sides(decisions: &[Decision]) -> impl Iterator<Item = (AlertId, Side)> {
    decisions.iter().filter_map(|decision| match decision.action {
        AlertAction::SetRsiSide { side } => Some((decision.alert, side)),
        _ => None,
    })
}

/// Returns the states of rules that were decided.
pub(crate) fn states(decisions: &[Decision]) -> impl Iterator<Item = (AlertId, Lifecycle)> {
    decisions.iter().filter_map(|decision| match &decision.action {
        AlertAction::SetLifecycle { state } | AlertAction::FireRule { state, .. } => {
            Some((decision.alert, Lifecycle::clone(state)))
        }
        _ => None,
    })
}

/// Returns the decisions without their reasons, sorted. Decisions that only concern storage are omitted.
pub(crate) fn outcomes(decisions: &[Decision]) -> Vec<Outcome> {
    let outcome = |decision: &Decision| {
        let kind = match decision.action {
            AlertAction::Fire { price, .. } | AlertAction::FireRule { price, .. } => OutcomeKind::Fired { price },
            AlertAction::Adjust {
                threshold,
                initial_price,
            } => OutcomeKind::Adjusted {
                threshold,
                initial_price,
            },
            AlertAction::SetRsiSide { .. } | AlertAction::SetLifecycle { .. } | AlertAction::Expire { .. } => {
                return None;
            }
        };
        Some(Outcome {
            at: decision.at,
            alert: decision.alert,
            revision: decision.revision,
            kind,
        })
    };
    let mut outcomes: Vec<_> = decisions.iter().filter_map(outcome).collect();
    outcomes.sort_unstable();
    outcomes
}

pub(crate) fn id(number: u32) -> AlertId {
    AlertId(Uuid::from_u128(u128::from(number)))
}

/// Returns an active alert that was created at `armed_at`.
pub(crate) fn alert(number: u32, symbol: Symbol, condition: Condition, armed_at: Timestamp) -> Alert {
    Alert {
        id: id(number),
        revision: Revision(0),
        symbol,
        condition,
        notification: Channel::Email,
        parameters: None,
        note: None,
        tags: alerts::Tags::default(),
        options: alerts::options::AlertOptions::default(),
        routing: alerts::Routing::default(),
        lifecycle: None,
        status: Status::Active,
        initial_price: None,
        created_at: armed_at,
        armed_at,
        threshold_set_at: armed_at,
        initial_price_set_at: armed_at,
        rsi_side: None,
        triggered_at: None,
    }
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().expect("a price")
}

pub(crate) fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

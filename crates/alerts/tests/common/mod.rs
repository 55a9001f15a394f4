//! What the tests of the engine share: telling it things, and making alerts.

pub(crate) mod bench;
pub(crate) mod reasons;
pub(crate) mod world;

use alerts::condition::{Condition, Side};
use alerts::engine::{Decision, Engine, Event, NotTaken, Quote, Verdict};
use alerts::{Alert, AlertId, Channel, Revision, Status};
use jiff::Timestamp;
use market::{Decimal, Price, Symbol};
use uuid::Uuid;

use crate::oracle::{Outcome, Told, What};

/// Tells the engine, and answers what it decides.
pub(crate) fn tell(engine: &mut Engine, told: &Told, now: Timestamp) -> (Vec<Decision>, Result<(), NotTaken>) {
    let mut decisions = Vec::new();
    let mut process = |engine: &mut Engine, event| engine.process(event, now, &mut decisions);
    let taken = match told {
        Told::Snapshot(seen) => {
            let quotes: Vec<_> = seen
                .iter()
                .map(|seen| {
                    let quote = Quote::new(engine.stock(seen.symbol), seen.price);
                    seen.volume.map_or(quote, |volume| quote.with_volume(volume))
                })
                .collect();
            process(engine, Event::Snapshot(&quotes))
        }
        Told::Bar(symbol, bar) => process(
            engine,
            Event::Bar {
                symbol: *symbol,
                bar: *bar,
            },
        ),
        Told::Split(symbol, ratio) => process(
            engine,
            Event::Split {
                symbol: *symbol,
                ratio: *ratio,
            },
        ),
        Told::Fundamentals(symbol, [eps_ttm, eps_forward]) => {
            let (symbol, eps_ttm, eps_forward) = (*symbol, *eps_ttm, *eps_forward);
            process(
                engine,
                Event::Fundamentals {
                    symbol,
                    eps_ttm,
                    eps_forward,
                },
            )
        }
        Told::Earnings(symbol, dates) => process(engine, Event::Earnings { symbol: *symbol, dates }),
        Told::Dividends(symbol, dividends) => process(
            engine,
            Event::Dividends {
                symbol: *symbol,
                dividends,
            },
        ),
        Told::Insiders(symbol, trades) => process(
            engine,
            Event::InsiderTrades {
                symbol: *symbol,
                trades,
            },
        ),
        Told::InsidersAnew(symbol, trades) => process(
            engine,
            Event::InsiderTradesAnew {
                symbol: *symbol,
                trades,
            },
        ),
        Told::Mentions(symbol, hour, count) => {
            let (symbol, hour, count) = (*symbol, *hour, *count);
            process(engine, Event::Mentions { symbol, hour, count })
        }
        Told::Clock => process(engine, Event::Clock),
        Told::Evaluate => process(engine, Event::Evaluate),
        Told::Armed(alert) => process(engine, Event::Armed(alert)),
        Told::Disarmed(id) => process(engine, Event::Disarmed(*id)),
    };
    (decisions, taken)
}

/// The sides that were decided for RSI alerts for "the other side".
pub(crate) fn sides(decisions: &[Decision]) -> impl Iterator<Item = (AlertId, Side)> {
    decisions.iter().filter_map(|decision| match decision.verdict {
        Verdict::Decide { side } => Some((decision.alert, side)),
        _ => None,
    })
}

/// Decisions without their reasons, in an order of their own; what only the engine's keeper has to know is left out.
pub(crate) fn outcomes(decisions: &[Decision]) -> Vec<Outcome> {
    let outcome = |decision: &Decision| {
        let what = match decision.verdict {
            Verdict::Fire { price, .. } => What::Fired { price },
            Verdict::Adjust {
                threshold,
                initial_price,
            } => What::Adjusted {
                threshold,
                initial_price,
            },
            Verdict::Decide { .. } => return None,
        };
        Some(Outcome {
            at: decision.at,
            alert: decision.alert,
            revision: decision.revision,
            what,
        })
    };
    let mut outcomes: Vec<_> = decisions.iter().filter_map(outcome).collect();
    outcomes.sort_unstable();
    outcomes
}

pub(crate) fn id(number: u32) -> AlertId {
    AlertId(Uuid::from_u128(u128::from(number)))
}

/// An active alert made at `armed_at`.
pub(crate) fn alert(number: u32, symbol: Symbol, condition: Condition, armed_at: Timestamp) -> Alert {
    Alert {
        id: id(number),
        revision: Revision(0),
        symbol,
        condition,
        notification: Channel::Email,
        parameters: None,
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

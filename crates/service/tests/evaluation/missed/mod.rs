//! A stretch of the market that was missed is judged late.
//!
//! Unless a test says otherwise: the feed spoke at 15:00 UTC on Friday, half an hour after the open, and was dead until now,
//! 15:20.

mod firing;
mod sessions;
mod walks;

use alerts::{AlertId, HistoryAction};
use market::records::QuoteRow;
use serde_json::json;
use service::Actor;
use service::market::{Missed, MissedOutcome};

use super::support::{World, at, symbol};

/// A quote with its true time, `2024-03-08T15:05:00Z`.
pub(super) fn quote(stock: &str, price: &str, time: &str) -> QuoteRow {
    QuoteRow {
        symbol: symbol(stock),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(at(time)),
        bid: None,
        ask: None,
    }
}

/// A quote of AAPL at a time of the Friday, `15:05:00`.
pub(super) fn friday(price: &str, time: &str) -> QuoteRow {
    quote("AAPL", price, &format!("2024-03-08T{time}Z"))
}

pub(super) async fn judge(world: &World, quotes: &[QuoteRow]) -> MissedOutcome {
    judge_as(world, quotes, false).await
}

/// Judges what comes after later observations were taken in.
pub(super) async fn judge_behind(world: &World, quotes: &[QuoteRow]) -> MissedOutcome {
    judge_as(world, quotes, true).await
}

async fn judge_as(world: &World, quotes: &[QuoteRow], is_behind: bool) -> MissedOutcome {
    let missed = Missed {
        quotes: quotes.to_vec(),
        is_behind,
    };
    world.service.market_intake.judge_missed(missed).await.unwrap()
}

/// The firings of an alert: when, late or not, and when it crossed.
pub(super) async fn firings(world: &World, actor: &Actor, id: AlertId) -> Vec<(String, Option<String>)> {
    let rows = world.history(actor, id).await.into_iter();
    let fired = rows.filter(|row| row.entry.action == HistoryAction::Triggered);
    fired
        .map(|row| {
            let details = row.details.unwrap_or_default();
            let crossed = details.get("crossed_at").map(|at| at.as_str().unwrap().to_owned());
            assert_eq!(details.get("late"), crossed.as_ref().map(|_| &json!(true)));
            (format!("{:.0}", row.at), crossed)
        })
        .collect()
}

/// A firing that was late: now, and the time on Friday at which it crossed.
pub(super) fn late(time: &str) -> Vec<(String, Option<String>)> {
    vec![(
        "2024-03-08T15:20:00Z".to_owned(),
        Some(format!("2024-03-08T{time}.000Z")),
    )]
}

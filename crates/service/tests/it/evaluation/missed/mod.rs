//! Late evaluation of a missed period.
//!
//! Unless a test says otherwise, the feed stopped at 15:00 UTC on Friday, half an hour after the open, and it is
//! 15:20 now.

mod firing;
mod races;
mod rules;
mod sessions;
mod walks;

use alerts::{AlertId, HistoryAction};
use evaluation::market::MissedPeriodOutcome;
use foundation::Actor;
use market::records::QuoteRow;
use serde_json::json;
use sources::MissedQuotes;

use crate::support::{TestApp, at, symbol};

/// Returns a quote with its true time, `2024-03-08T15:05:00Z`.
pub(super) fn quote(stock: &str, price: &str, time: &str) -> QuoteRow {
    QuoteRow {
        symbol: symbol(stock),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(at(time)),
        bid: None,
        ask: None,
        vwap: None,
    }
}

/// Returns a quote of AAPL at a time of the Friday, `15:05:00`.
pub(super) fn friday(price: &str, time: &str) -> QuoteRow {
    quote("AAPL", price, &format!("2024-03-08T{time}Z"))
}

pub(super) async fn evaluate(app: &TestApp, quotes: &[QuoteRow]) -> MissedPeriodOutcome {
    evaluate_period(app, quotes, false).await
}

/// Evaluates a period after later quotes were ingested.
pub(super) async fn evaluate_behind(app: &TestApp, quotes: &[QuoteRow]) -> MissedPeriodOutcome {
    evaluate_period(app, quotes, true).await
}

async fn evaluate_period(app: &TestApp, quotes: &[QuoteRow], is_behind: bool) -> MissedPeriodOutcome {
    let missed = MissedQuotes {
        quotes: quotes.to_vec(),
        is_behind,
        complete: Vec::new(),
    };
    app.service.market_intake.evaluate_missed(missed).await.unwrap()
}

/// Returns the firings of an alert: when, whether late, and when the price crossed.
pub(super) async fn firings(app: &TestApp, actor: &Actor, id: AlertId) -> Vec<(String, Option<String>)> {
    let rows = app.history(actor, id).await.into_iter();
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

/// Returns a late firing: now, with the time on Friday of the crossing.
pub(super) fn late(time: &str) -> Vec<(String, Option<String>)> {
    vec![(
        "2024-03-08T15:20:00Z".to_owned(),
        Some(format!("2024-03-08T{time}.000Z")),
    )]
}

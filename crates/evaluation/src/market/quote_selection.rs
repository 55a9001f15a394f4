//! The quotes of a batch that are evaluated.

use std::collections::HashMap;

use ::market::records::Batch;
use ::market::{ObservedPrice, Symbol};
use jiff::Timestamp;

use super::RowRejection;
use super::batch_evaluation::SessionQuote;
use super::intake::MarketIntake;
use super::intake_state::IntakeState;
use super::last_quote::LastQuote;

/// The quotes to evaluate, by time.
pub(super) struct EvaluatedQuotes<'a> {
    /// Those of the open session.
    pub(super) quotes: Vec<SessionQuote<'a>>,
    /// Those of the present extended hours, of stocks with alerts that are judged by them.
    pub(super) extended: Vec<SessionQuote<'a>>,
    /// The last quote of each stock after their evaluation.
    pub(super) last_quotes: HashMap<Symbol, LastQuote>,
}

impl MarketIntake {
    /// Returns the quotes to evaluate. The price of any other quote is only displayed.
    pub(super) fn quotes_to_evaluate<'a>(
        &self,
        intake: &IntakeState,
        batch: &'a Batch,
        now: Timestamp,
        rejected: &mut Vec<RowRejection>,
    ) -> EvaluatedQuotes<'a> {
        let calendar = &self.settings.calendar;
        let open = calendar.session_at(now);
        let extended_hours = calendar.extended_hours_at(now);
        let waiting = self.evaluator.stocks_with_waiting_splits(now);
        let mut quotes = Vec::with_capacity(batch.quotes.len());
        let mut extended = Vec::new();
        let mut last_quotes = HashMap::with_capacity(batch.quotes.len());
        for (index, quote) in batch.quotes.iter().enumerate() {
            let next = LastQuote::new(quote.time.unwrap_or(now), now);
            let time = next.at;
            if waiting.contains(&quote.symbol) {
                rejected.push(RowRejection {
                    kind: "quotes",
                    index,
                    reason:
                        "the service's clock has jumped forward, and a split of the stock waits until the new time has \
                             held; deliver the quote again in a few minutes"
                            .to_owned(),
                });
                continue;
            }
            let last = last_quotes.entry(quote.symbol).or_insert_with(|| {
                // After a restart the last quote is known from the database.
                let stored = || {
                    let made_at = self.evaluator.last_quote_time(quote.symbol);
                    let made_at = made_at.filter(|made_at| *made_at <= now)?;
                    Some(LastQuote::new(made_at, now))
                };
                intake.last_quote(quote.symbol).or_else(stored).unwrap_or(next)
            });
            if let Some(known) = last.time_if_newer_than(next, now) {
                rejected.push(RowRejection {
                    kind: "quotes",
                    index,
                    reason: format!("a quote of {known:.3} is known already, and this one is older"),
                });
                continue;
            }
            *last = next;
            let row = SessionQuote {
                time,
                index,
                row: quote,
            };
            if open.is_some_and(|open| calendar.session_at(time).is_some_and(|at| at.date == open.date)) {
                quotes.push(row);
                continue;
            }
            let seen = ObservedPrice {
                price: quote.price,
                at: time,
            };
            self.evaluator.note_off_session_price(quote.symbol, seen);
            let is_extended = extended_hours.is_some() && calendar.extended_hours_at(time) == extended_hours;
            if is_extended
                && self
                    .evaluator
                    .read(|engine| engine.follows_extended_hours(quote.symbol))
            {
                extended.push(row);
            }
        }
        quotes.sort_by_key(|quote| quote.time);
        extended.sort_by_key(|quote| quote.time);
        EvaluatedQuotes {
            quotes,
            extended,
            last_quotes,
        }
    }
}

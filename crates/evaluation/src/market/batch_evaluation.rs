//! Converts a batch of market data to engine events, in the right order.

use std::collections::{BTreeMap, HashSet};

use ::alerts::engine::{Decision, Engine, Event, EventError, ExtendedQuote, Quote, QuoteDetails};
use ::market::Symbol;
use ::market::records::{BarRow, Batch, DividendRow, EarningsRow, FundamentalsRow, QuoteRow};
use jiff::Timestamp;

use super::RowRejection;
use crate::evaluator::{Evaluator, facts};

/// All earnings and dividend dates of the stocks for which a batch has some.
#[derive(Default)]
pub(super) struct KnownDates {
    pub(super) earnings: BTreeMap<Symbol, Vec<EarningsRow>>,
    pub(super) dividends: BTreeMap<Symbol, Vec<DividendRow>>,
}

/// A quote of the open session, or of the extended hours.
#[derive(Clone, Copy)]
pub(super) struct SessionQuote<'a> {
    /// The time at which the quote was made.
    pub(super) time: Timestamp,
    /// Its index in the batch.
    pub(super) index: usize,
    pub(super) row: &'a QuoteRow,
}

/// The evaluation of a batch.
pub(super) struct BatchEvaluation<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) engine: &'a mut Engine,
    pub(super) decisions: &'a mut Vec<Decision>,
    pub(super) at: Timestamp,
    /// The instant up to which alerts that wait for one are evaluated with the quotes. `None`: the next tick evaluates them.
    pub(super) clock: Option<Timestamp>,
    pub(super) not_taken: Vec<RowRejection>,
}

impl BatchEvaluation<'_> {
    pub(super) fn bars(&mut self, rows: &[BarRow]) {
        for (index, row) in rows.iter().enumerate() {
            let event = Event::Bar {
                symbol: row.symbol,
                bar: self.evaluator.in_todays_shares(row.symbol, row.bar),
            };
            match self.engine.process(event, self.at, self.decisions) {
                // A bar from before the engine's history is still stored as a candle.
                Ok(()) | Err(EventError::TooOld(_)) => {}
                Err(why) => self.not_taken.push(RowRejection {
                    kind: "bars",
                    index,
                    reason: format!("{why}; deliver the bar when its session has ended"),
                }),
            }
        }
    }

    pub(super) fn facts(&mut self, batch: &Batch, known: &KnownDates) {
        let mut latest: BTreeMap<Symbol, &FundamentalsRow> = BTreeMap::new();
        for row in &batch.fundamentals {
            let kept = latest.entry(row.symbol).or_insert(row);
            if kept.as_of <= row.as_of {
                *kept = row;
            }
        }
        for row in latest.into_values().filter(|row| self.evaluator.is_latest(row)) {
            self.process(self.evaluator.fundamentals_event(row));
        }
        for (&symbol, rows) in &known.earnings {
            let dates = &facts::earnings_dates(rows);
            self.process(Event::Earnings { symbol, dates });
        }
        for (&symbol, rows) in &known.dividends {
            let dividends = &facts::dividends(rows);
            self.process(Event::Dividends { symbol, dividends });
        }
        for row in &batch.mentions {
            self.process(Event::Mentions {
                symbol: row.symbol,
                hour: row.time,
                count: row.mentions,
            });
        }
    }

    /// Processes quotes of the session and of extended hours in snapshots: one instant and at most one quote of a stock in each.
    pub(super) fn quotes(&mut self, quotes: &[SessionQuote<'_>], extended: &[SessionQuote<'_>]) {
        // Alerts for an instant are due before the quotes of that instant.
        if let Some(clock) = self.clock {
            // The event is always accepted.
            let _ = self.engine.process(Event::Clock, clock, self.decisions);
        }
        let uses_details = self.engine.uses_quote_details();
        let mut snapshot: Vec<Quote> = Vec::with_capacity(quotes.len());
        let mut details: Vec<QuoteDetails> = Vec::new();
        let mut indexes: Vec<usize> = Vec::with_capacity(quotes.len());
        let mut seen = HashSet::with_capacity(quotes.len());
        for &SessionQuote { row, index, .. } in quotes {
            if !seen.insert(row.symbol) {
                self.snapshot(&snapshot, &details, &indexes);
                snapshot.clear();
                details.clear();
                indexes.clear();
                seen.clear();
                seen.insert(row.symbol);
            }
            let stock = self.engine.stock(row.symbol);
            let quote = Quote::new(stock, row.price);
            if uses_details && (row.bid.is_some() || row.ask.is_some() || row.vwap.is_some()) {
                details.push(QuoteDetails {
                    stock,
                    bid: row.bid,
                    ask: row.ask,
                    vwap: row.vwap,
                });
            }
            snapshot.push(row.volume.map_or(quote, |volume| quote.with_volume(volume)));
            indexes.push(index);
        }
        self.snapshot(&snapshot, &details, &indexes);
        self.extended_quotes(extended);
        self.process(Event::Evaluate);
    }

    fn extended_quotes(&mut self, quotes: &[SessionQuote<'_>]) {
        let mut snapshot: Vec<ExtendedQuote> = Vec::new();
        for SessionQuote { row, .. } in quotes {
            let quote = ExtendedQuote {
                stock: self.engine.stock(row.symbol),
                price: row.price,
                bid: row.bid,
                ask: row.ask,
            };
            if snapshot.iter().any(|earlier| earlier.stock == quote.stock) {
                self.process(Event::ExtendedSnapshot(&snapshot));
                snapshot.clear();
            }
            snapshot.push(quote);
        }
        if !snapshot.is_empty() {
            self.process(Event::ExtendedSnapshot(&snapshot));
        }
    }

    /// Processes quotes of one instant with their indexes in the batch. Quotes that the engine rejects are not stored
    /// either.
    fn snapshot(&mut self, quotes: &[Quote], details: &[QuoteDetails], indexes: &[usize]) {
        self.process(Event::QuoteDetails(details));
        if self
            .engine
            .process(Event::Snapshot(quotes), self.at, self.decisions)
            .is_ok()
        {
            return;
        }
        for (quote, &index) in quotes.iter().zip(indexes) {
            if let Err(why) = self.engine.check_observation(quote.stock(), self.at) {
                self.not_taken.push(RowRejection {
                    kind: "quotes",
                    index,
                    reason: rejection_reason(why).to_owned(),
                });
            }
        }
    }

    /// Processes an event. The engine may reject it.
    pub(super) fn process(&mut self, event: Event<'_>) {
        if let Err(why) = self.engine.process(event, self.at, self.decisions) {
            tracing::debug!(%why, "the engine rejected an event");
        }
    }
}

/// Returns the reason why a quote was rejected, for its sender.
const fn rejection_reason(why: EventError) -> &'static str {
    match why {
        EventError::MarketClosed => {
            "the quote was not evaluated: the service's clock is at a time when the market is closed"
        }
        _ => "the quote was not evaluated: its session has been completed by a bar or by a later quote",
    }
}

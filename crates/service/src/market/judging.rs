//! A delivery on its way into the engine: what becomes which event, and in which order.

use std::collections::{BTreeMap, HashSet};

use ::alerts::engine::{Decision, Engine, Event, EventError, Quote};
use ::market::Symbol;
use ::market::records::{BarRow, Batch, DividendRow, EarningsRow, FundamentalsRow, QuoteRow};
use jiff::Timestamp;

use super::NotIngested;
use crate::evaluator::{Evaluator, facts};

/// All dates of the stocks that a delivery has dates of.
#[derive(Default)]
pub(super) struct KnownDates {
    pub(super) earnings: BTreeMap<Symbol, Vec<EarningsRow>>,
    pub(super) dividends: BTreeMap<Symbol, Vec<DividendRow>>,
}

/// A quote of the session that is open.
#[derive(Clone, Copy)]
pub(super) struct InSession<'a> {
    /// When it was made.
    pub(super) time: Timestamp,
    /// Its place in the batch.
    pub(super) index: usize,
    pub(super) row: &'a QuoteRow,
}

/// A delivery on its way into the engine.
pub(super) struct Judging<'a> {
    pub(super) evaluator: &'a Evaluator,
    pub(super) engine: &'a mut Engine,
    pub(super) decisions: &'a mut Vec<Decision>,
    pub(super) at: Timestamp,
    pub(super) not_taken: Vec<NotIngested>,
}

impl Judging<'_> {
    pub(super) fn bars(&mut self, rows: &[BarRow]) {
        for (index, row) in rows.iter().enumerate() {
            let event = Event::Bar {
                symbol: row.symbol,
                bar: self.evaluator.in_todays_shares(row.symbol, row.bar),
            };
            match self.engine.process(event, self.at, self.decisions) {
                // One from before everything that is judged by is a candle all the same.
                Ok(()) | Err(EventError::TooOld(_)) => {}
                Err(why) => self.not_taken.push(NotIngested {
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
            self.tell(self.evaluator.fundamentals_event(row));
        }
        for (&symbol, rows) in &known.earnings {
            let dates = &facts::earnings_dates(rows);
            self.tell(Event::Earnings { symbol, dates });
        }
        for (&symbol, rows) in &known.dividends {
            let dividends = &facts::dividends(rows);
            self.tell(Event::Dividends { symbol, dividends });
        }
        for row in &batch.mentions {
            self.tell(Event::Mentions {
                symbol: row.symbol,
                hour: row.time,
                count: row.mentions,
            });
        }
    }

    /// Observations, snapshot by snapshot: one instant and at most one observation of a stock in each.
    pub(super) fn quotes(&mut self, quotes: &[InSession<'_>]) {
        // What waits for an instant is due before what is observed at it.
        self.tell(Event::Clock);
        let mut snapshot: Vec<Quote> = Vec::with_capacity(quotes.len());
        let mut indexes: Vec<usize> = Vec::with_capacity(quotes.len());
        let mut seen = HashSet::with_capacity(quotes.len());
        for &InSession { row, index, .. } in quotes {
            if !seen.insert(row.symbol) {
                self.snapshot(&snapshot, &indexes);
                snapshot.clear();
                indexes.clear();
                seen.clear();
                seen.insert(row.symbol);
            }
            let quote = Quote::new(self.engine.stock(row.symbol), row.price);
            snapshot.push(row.volume.map_or(quote, |volume| quote.with_volume(volume)));
            indexes.push(index);
        }
        self.snapshot(&snapshot, &indexes);
        self.tell(Event::Evaluate);
    }

    /// Observations of one instant with their places in the batch. Those that are not judged are not taken either.
    fn snapshot(&mut self, quotes: &[Quote], indexes: &[usize]) {
        if self
            .engine
            .process(Event::Snapshot(quotes), self.at, self.decisions)
            .is_ok()
        {
            return;
        }
        for (quote, &index) in quotes.iter().zip(indexes) {
            if let Err(why) = self.engine.check_observation(quote.stock(), self.at) {
                self.not_taken.push(NotIngested {
                    kind: "quotes",
                    index,
                    reason: not_judged(why).to_owned(),
                });
            }
        }
    }

    /// Tells the engine something that it takes, or that it is right to ignore.
    pub(super) fn tell(&mut self, event: Event<'_>) {
        if let Err(why) = self.engine.process(event, self.at, self.decisions) {
            tracing::debug!(%why, "not judged");
        }
    }
}

/// The reason why a quote was not judged, for its sender.
const fn not_judged(why: EventError) -> &'static str {
    match why {
        EventError::MarketClosed => {
            "the quote was not judged: the service's clock is at a time when the market is closed"
        }
        _ => "the quote was not judged: its session has been completed by a bar or by a later quote",
    }
}

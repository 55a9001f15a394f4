//! The facts that alerts depend on, at the times at which they were known.
//!
//! Fundamentals count from their day on, filings of insiders from the open of their day, mentions from the end of their hour.
//! The dates of earnings and dividends count for the whole period, because it is not stored when they became known.

use std::collections::{BTreeSet, VecDeque};

use ::alerts::engine::{Dividend, Event, InsiderTrade};
use ::alerts::metrics::{FundamentalFigures, MetricDependency};
use ::market::Symbol;
use ::market::calendar::{new_york, new_york_date};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use store::StoreError;

use super::inputs::AlertInputs;
use crate::evaluator::Evaluator;
use crate::evaluator::facts::{dividends, earnings_dates};
use crate::evaluator::load::MENTION_HISTORY_HOURS;

/// A fact about a stock.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    Fundamentals(FundamentalFigures),
    InsiderTrade(InsiderTrade),
    Mentions { hour: Timestamp, count: u32 },
    EarningsDates(Vec<Date>),
    Dividends(Vec<Dividend>),
}

/// Facts with the times at which they were known.
#[derive(Clone, Debug, Default)]
pub(super) struct FactTimeline(VecDeque<(Timestamp, Symbol, Fact)>);

impl FactTimeline {
    pub(super) fn new(mut facts: Vec<(Timestamp, Symbol, Fact)>) -> Self {
        // Stable: facts of one instant stay in their order.
        facts.sort_by_key(|&(at, ..)| at);
        Self(facts.into())
    }

    /// Removes and returns the next fact that was known by `at`.
    pub(super) fn next_until(&mut self, at: Timestamp) -> Option<(Symbol, Fact)> {
        self.0.front().filter(|(known_at, ..)| *known_at <= at)?;
        let (_, symbol, fact) = self.0.pop_front()?;
        Some((symbol, fact))
    }
}

impl Fact {
    /// Gives the fact to `process` as an event.
    pub(super) fn process(&self, symbol: Symbol, process: impl FnOnce(Event<'_>)) {
        match self {
            &Self::Fundamentals(figures) => process(Event::Fundamentals { symbol, figures }),
            Self::InsiderTrade(trade) => process(Event::InsiderTrades {
                symbol,
                trades: std::slice::from_ref(trade),
            }),
            &Self::Mentions { hour, count } => process(Event::Mentions { symbol, hour, count }),
            Self::EarningsDates(dates) => process(Event::Earnings { symbol, dates }),
            Self::Dividends(dividends) => process(Event::Dividends { symbol, dividends }),
        }
    }
}

impl Evaluator {
    /// Returns the facts that alerts depend on, as known from `from` on.
    pub(super) async fn facts_since(
        &self,
        from: Timestamp,
        inputs: &[AlertInputs],
    ) -> Result<FactTimeline, StoreError> {
        let stocks_with = |data| -> BTreeSet<Symbol> { inputs.iter().flat_map(|of| of.stocks_with(data)).collect() };
        let mut facts = Vec::new();
        self.add_fundamentals(from, &stocks_with(MetricDependency::Fundamentals), &mut facts)
            .await?;
        self.add_insider_trades(&stocks_with(MetricDependency::InsiderTrades), &mut facts);
        self.add_mentions(from, &stocks_with(MetricDependency::Mentions), &mut facts)
            .await?;
        let earnings = stocks_with(MetricDependency::EarningsDates);
        let dividends = stocks_with(MetricDependency::DividendDates);
        self.add_dates(from, &earnings, &dividends, &mut facts).await?;
        Ok(FactTimeline::new(facts))
    }

    async fn add_fundamentals(
        &self,
        from: Timestamp,
        stocks: &BTreeSet<Symbol>,
        facts: &mut Vec<(Timestamp, Symbol, Fact)>,
    ) -> Result<(), StoreError> {
        let asked: Vec<_> = stocks.iter().map(|&symbol| (symbol, new_york_date(from))).collect();
        let mut rows = self.store.fundamentals_since(&asked).await?;
        rows.sort_by_key(|row| row.as_of);
        facts.extend(rows.into_iter().map(|row| {
            let figures = FundamentalFigures::of(&self.per_todays_share(row));
            (new_york(row.as_of, 0, 0), row.symbol, Fact::Fundamentals(figures))
        }));
        Ok(())
    }

    fn add_insider_trades(&self, stocks: &BTreeSet<Symbol>, facts: &mut Vec<(Timestamp, Symbol, Fact)>) {
        let filings = self.filings();
        for &symbol in stocks {
            facts.extend(filings.of(symbol).into_iter().map(|trade| {
                let known_at = self.settings.calendar.daily_evaluation_time(trade.filed_on);
                (known_at, symbol, Fact::InsiderTrade(trade))
            }));
        }
    }

    async fn add_mentions(
        &self,
        from: Timestamp,
        stocks: &BTreeSet<Symbol>,
        facts: &mut Vec<(Timestamp, Symbol, Fact)>,
    ) -> Result<(), StoreError> {
        if stocks.is_empty() {
            return Ok(());
        }
        let history = SignedDuration::from_hours(MENTION_HISTORY_HOURS);
        let rows = self
            .store
            .mentions(from.saturating_sub(history).unwrap_or(from))
            .await?;
        let wanted = rows.into_iter().filter(|row| stocks.contains(&row.symbol));
        facts.extend(wanted.map(|row| {
            let (hour, count) = (row.time, row.mentions);
            (hour, row.symbol, Fact::Mentions { hour, count })
        }));
        Ok(())
    }

    async fn add_dates(
        &self,
        from: Timestamp,
        of_earnings: &BTreeSet<Symbol>,
        of_dividends: &BTreeSet<Symbol>,
        facts: &mut Vec<(Timestamp, Symbol, Fact)>,
    ) -> Result<(), StoreError> {
        if of_earnings.is_empty() && of_dividends.is_empty() {
            return Ok(());
        }
        for (symbol, known) in self.store.stock_facts(new_york_date(from)).await? {
            if of_earnings.contains(&symbol) {
                facts.push((from, symbol, Fact::EarningsDates(earnings_dates(&known.earnings))));
            }
            if of_dividends.contains(&symbol) {
                facts.push((from, symbol, Fact::Dividends(dividends(&known.dividends))));
            }
        }
        Ok(())
    }
}

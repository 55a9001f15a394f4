//! The stored market data of a few stocks, for a replay.

use jiff::civil::Date;
use market::calendar::new_york;
use market::{Bar, IntradayBar, Symbol};
use sources::folder::{MarketData, SymbolBars};

use super::whole_sessions::whole_sessions;
use crate::market::{completed_session, ended_session};
use crate::replay::bar_calendar;
use crate::stocks::Stocks;
use foundation::ServiceError;

/// The kinds of data that are read only if they are needed: they are stored for all stocks together, or are many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordedFacts {
    /// Insider trades.
    pub insiders: bool,
    /// Counts of mentions.
    pub mentions: bool,
    /// Intraday bars, from this day on.
    pub intraday_from: Option<Date>,
}

impl Stocks {
    /// Returns the stored bars of completed sessions from `from` on, in the shares of their days, and the facts of the same stocks.
    pub async fn recorded_market(
        &self,
        symbols: &[Symbol],
        from: Date,
        facts: RecordedFacts,
    ) -> Result<MarketData, ServiceError> {
        let store = &self.ports.store;
        let mut data = MarketData::default();
        for &symbol in symbols {
            let daily = self.completed_bars(symbol, from).await?;
            if !daily.is_empty() {
                let intraday = match facts.intraday_from {
                    Some(from) => self.intraday_bars(symbol, from, &daily).await?,
                    None => Vec::new(),
                };
                data.bars.insert(symbol, SymbolBars { daily, intraday });
            }
            data.splits.extend(store.splits_of(symbol).await?);
            if let Some(entry) = self.catalog.get(symbol) {
                data.earnings.extend(entry.facts.earnings.iter().copied());
                data.dividends.extend(entry.facts.dividends.iter().copied());
            }
        }
        let asked: Vec<_> = symbols.iter().map(|&symbol| (symbol, from)).collect();
        data.fundamentals = store.fundamentals_since(&asked).await?;
        if facts.insiders {
            data.insiders = store.insider_trades(from).await?;
            data.insiders.retain(|row| symbols.contains(&row.symbol));
        }
        if facts.mentions {
            data.mentions = store.mentions(new_york(from, 0, 0)).await?;
            data.mentions.retain(|row| symbols.contains(&row.symbol));
        }
        data.splits.sort_by_key(|row| (row.date, row.symbol));
        data.dividends.sort_by_key(|row| row.ex_date);
        data.earnings.sort_by_key(|row| (row.date, row.symbol));
        data.fundamentals.sort_by_key(|row| row.as_of);
        Ok(data)
    }

    /// Returns the stored intraday bars, from a day on, of the sessions that have these daily bars.
    async fn intraday_bars(&self, symbol: Symbol, from: Date, daily: &[Bar]) -> Result<Vec<IntradayBar>, ServiceError> {
        let Some(last) = daily.last() else {
            return Ok(Vec::new());
        };
        let until = new_york(last.date.tomorrow().unwrap_or(last.date), 0, 0);
        let bars = self.ports.store.intraday_bars(symbol, new_york(from, 0, 0), until);
        let calendar = bar_calendar(&self.prices.settings.calendar);
        Ok(whole_sessions(&bars.await?, daily, &calendar))
    }

    /// Returns the bars of completed sessions from `from` on. A session is stored shortly after its end.
    async fn completed_bars(&self, symbol: Symbol, from: Date) -> Result<Vec<Bar>, ServiceError> {
        let now = self.ports.clock.now();
        let mut bars = self.ports.store.bars(symbol, from).await?;
        let Some(completed) = completed_session(&self.prices.settings.calendar, now) else {
            return Ok(Vec::new());
        };
        bars.retain(|bar| bar.date <= completed);
        let tomorrow = completed.tomorrow().unwrap_or(completed);
        let ended = self
            .evaluator
            .read(|engine| ended_session(engine, symbol, tomorrow))
            .map(|row| row.bar);
        let newer = |bar: &Bar| bar.date <= completed && bars.last().is_none_or(|last| last.date < bar.date);
        bars.extend(ended.filter(newer));
        Ok(bars)
    }
}

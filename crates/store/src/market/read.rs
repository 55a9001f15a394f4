//! Reads market data.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{BarRow, DividendRow, EarningsRow, FundamentalsRow, InsiderRow, MentionRow, StockRow};
use market::{Bar, Price, Symbol};

use super::row::{
    StoredBar, StoredDividend, StoredEarnings, StoredFundamentals, StoredInsiderTrade, StoredMention, StoredQuote,
    StoredStock,
};
use crate::bulk::{Statement, query_many};
use crate::columns::{Table, days, values};
use crate::database::{query, stream};
use crate::model::{LatestQuote, StockFacts};
use crate::{Store, StoreError};

/// The figures known on a day, and those that became known later, for each stock.
const FUNDAMENTALS_SINCE: Statement = Statement {
    before: "WITH asked (symbol, day) AS (VALUES ",
    columns: 2,
    after: ") SELECT known.symbol, as_of, eps_ttm, eps_forward, market_cap, dividend_yield, dividend_amount, beta
             FROM asked JOIN fundamentals AS known ON known.symbol = asked.symbol
             WHERE as_of >= COALESCE((SELECT MAX(as_of) FROM fundamentals AS earlier
                                      WHERE earlier.symbol = asked.symbol AND earlier.as_of <= asked.day), as_of)",
};

impl Store {
    /// Returns the last instant for which the clock was processed.
    pub async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT at FROM marks WHERE name = 'clock'";
        let row = query!(fetch_optional(i64,), &self.pools, sql)?;
        Table("marks").optional_instant(row.map(|(at,)| at))
    }

    /// Returns a stock of the catalog.
    pub async fn stock(&self, symbol: Symbol) -> Result<Option<StockRow>, StoreError> {
        let sql = "SELECT symbol, name, kind, sector, industry, country, exchange, isin, is_active FROM stocks
                   WHERE symbol = $1";
        let row = query!(fetch_optional StoredStock, &self.pools, sql, symbol.as_str())?;
        row.map(StockRow::try_from).transpose()
    }

    /// Returns all stocks of the catalog, by symbol.
    pub async fn stocks(&self) -> Result<Vec<StockRow>, StoreError> {
        let sql = "SELECT symbol, name, kind, sector, industry, country, exchange, isin, is_active FROM stocks
                   ORDER BY symbol";
        values(query!(fetch_all StoredStock, &self.pools, sql)?)
    }

    /// Returns a stock's bars from `from` on, by date.
    pub async fn bars(&self, symbol: Symbol, from: Date) -> Result<Vec<Bar>, StoreError> {
        let sql = "SELECT symbol, date, open, high, low, close, volume FROM bars
                   WHERE symbol = $1 AND date >= $2 ORDER BY date";
        let rows = query!(fetch_all StoredBar, &self.pools, sql, symbol.as_str(), days(from))?;
        rows.into_iter()
            .map(|row| BarRow::try_from(row).map(|row| row.bar))
            .collect()
    }

    /// Returns a stock's closes from `from` on, by date. For sessions on or after `delivered_from`, only bars
    /// delivered by a source count: a bar made from observed prices may still be replaced.
    pub async fn closes(
        &self,
        symbol: Symbol,
        from: Date,
        delivered_from: Date,
    ) -> Result<Vec<(Date, Price)>, StoreError> {
        let sql = "SELECT symbol, date, open, high, low, close, volume FROM bars
                   WHERE symbol = $1 AND date >= $2 AND (observed = 0 OR date < $3) ORDER BY date";
        let rows = query!(fetch_all StoredBar, &self.pools, sql, symbol.as_str(), days(from), days(delivered_from))?;
        rows.into_iter()
            .map(|row| BarRow::try_from(row).map(|row| (row.bar.date, row.bar.close)))
            .collect()
    }

    /// Returns a stock's last bar on or before `date`, or else its first bar.
    pub async fn bar_at(&self, symbol: Symbol, date: Date) -> Result<Option<Bar>, StoreError> {
        let sql = "SELECT symbol, date, open, high, low, close, volume FROM bars
                   WHERE symbol = $1 AND date = COALESCE(
                       (SELECT MAX(date) FROM bars WHERE symbol = $1 AND date <= $2),
                       (SELECT MIN(date) FROM bars WHERE symbol = $1))";
        let row = query!(fetch_optional StoredBar, &self.pools, sql, symbol.as_str(), days(date))?;
        row.map(|row| BarRow::try_from(row).map(|row| row.bar)).transpose()
    }

    /// Reads all stocks' bars from `from` on, by symbol and date, in chunks. Omits an observed bar while nothing
    /// newer than its session is known: that session comes with [`Self::latest_quotes`], and late prices can still
    /// change it.
    pub async fn all_bars(&self, from: Date, take: &mut (dyn FnMut(Vec<BarRow>) + Send)) -> Result<(), StoreError> {
        let sql = "SELECT symbol, date, open, high, low, close, volume FROM bars
                   WHERE date >= $1 AND NOT (observed = 1
                     AND EXISTS (SELECT 1 FROM quotes WHERE quotes.symbol = bars.symbol AND quotes.session = bars.date)
                     AND NOT EXISTS (SELECT 1 FROM bars AS later
                                     WHERE later.symbol = bars.symbol AND later.date > bars.date))
                   ORDER BY symbol, date";
        stream!(StoredBar, &self.pools, take, sql, days(from))
    }

    /// Returns the latest quote of each stock, by symbol.
    pub async fn latest_quotes(&self) -> Result<Vec<LatestQuote>, StoreError> {
        let sql = "SELECT symbol, session, open, high, low, last, volume, at, made_at, bid, ask, vwap FROM quotes
                   ORDER BY symbol";
        values(query!(fetch_all StoredQuote, &self.pools, sql)?)
    }

    /// Returns the latest quote of a stock.
    pub async fn latest_quote(&self, symbol: Symbol) -> Result<Option<LatestQuote>, StoreError> {
        let sql = "SELECT symbol, session, open, high, low, last, volume, at, made_at, bid, ask, vwap FROM quotes
                   WHERE symbol = $1";
        let row = query!(fetch_optional StoredQuote, &self.pools, sql, symbol.as_str())?;
        row.map(TryInto::try_into).transpose()
    }

    /// Returns the known fundamentals, earnings and dividends of each stock, by symbol. Fundamentals dated after
    /// `today` do not count.
    pub async fn stock_facts(&self, today: Date) -> Result<Vec<(Symbol, StockFacts)>, StoreError> {
        let sql = "SELECT symbol, as_of, eps_ttm, eps_forward, market_cap, dividend_yield, dividend_amount, beta
                   FROM fundamentals AS known
                   WHERE as_of = (SELECT MAX(as_of) FROM fundamentals WHERE symbol = known.symbol AND as_of <= $1)";
        let fundamentals = query!(fetch_all StoredFundamentals, &self.pools, sql, days(today))?;
        let fundamentals: Vec<FundamentalsRow> = values(fundamentals)?;
        let sql = "SELECT symbol, date, time, eps_estimate FROM earnings ORDER BY symbol, date";
        let earnings: Vec<EarningsRow> = values(query!(fetch_all StoredEarnings, &self.pools, sql)?)?;
        let sql = "SELECT symbol, ex_date, payment_date, amount FROM dividends ORDER BY symbol, ex_date";
        let dividends: Vec<DividendRow> = values(query!(fetch_all StoredDividend, &self.pools, sql)?)?;

        let mut facts: BTreeMap<Symbol, StockFacts> = BTreeMap::new();
        for row in fundamentals {
            facts.entry(row.symbol).or_default().fundamentals = Some(row);
        }
        for row in earnings {
            facts.entry(row.symbol).or_default().earnings.push(row);
        }
        for row in dividends {
            facts.entry(row.symbol).or_default().dividends.push(row);
        }
        Ok(facts.into_iter().collect())
    }

    /// Returns for each stock the figures known on a day, if any, and those that became known later. In any order.
    pub async fn fundamentals_since(&self, asked: &[(Symbol, Date)]) -> Result<Vec<FundamentalsRow>, StoreError> {
        let rows = query_many!(
            StoredFundamentals,
            &self.pools,
            FUNDAMENTALS_SINCE,
            asked,
            |query, asked| query.bind(asked.0.as_str().to_owned()).bind(days(asked.1))
        );
        values(rows)
    }

    /// Returns insider trades filed on or after `from`, by filing date.
    pub async fn insider_trades(&self, from: Date) -> Result<Vec<InsiderRow>, StoreError> {
        let sql = "SELECT symbol, filed_on, traded_on, insider, code, side, shares, price FROM insider_trades
                   WHERE filed_on >= $1 ORDER BY filed_on, symbol, insider, traded_on, code, side, shares, price";
        values(query!(fetch_all StoredInsiderTrade, &self.pools, sql, days(from))?)
    }

    /// Returns hourly mention counts from `from` on, by hour.
    pub async fn mentions(&self, from: Timestamp) -> Result<Vec<MentionRow>, StoreError> {
        let sql = "SELECT symbol, time, mentions FROM mentions WHERE time >= $1 ORDER BY time, symbol";
        values(query!(fetch_all StoredMention, &self.pools, sql, from.as_microsecond())?)
    }
}

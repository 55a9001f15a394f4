//! Writes data that sources deliver.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use market::records::{BarRow, Batch, InsiderRow, StockRow};
use market::{Bar, Decimal, Price, Symbol};

use super::row::{NO_DATE, side_name, time_name};
use crate::bulk::{Statement, write_many};
use crate::columns::{days, text};
use crate::model::LatestQuote;
use crate::{StoreError, UnitOfWork};

/// Keeps a known name if the later record has none, and keeps fields that the later record leaves out.
const UPSERT_STOCKS: Statement = Statement {
    before: "INSERT INTO stocks
             (symbol, name, name_lower, kind, sector, industry, country, exchange, isin, is_active) VALUES ",
    columns: 10,
    after: " ON CONFLICT (symbol) DO UPDATE SET
             name = CASE WHEN excluded.name = excluded.symbol THEN stocks.name ELSE excluded.name END,
             name_lower = CASE WHEN excluded.name = excluded.symbol THEN stocks.name_lower ELSE excluded.name_lower END,
             kind = COALESCE(excluded.kind, stocks.kind), sector = COALESCE(excluded.sector, stocks.sector),
             industry = COALESCE(excluded.industry, stocks.industry),
             country = COALESCE(excluded.country, stocks.country),
             exchange = COALESCE(excluded.exchange, stocks.exchange), isin = COALESCE(excluded.isin, stocks.isin),
             is_active = excluded.is_active",
};

/// Stocks of which only the symbol is known.
const INSERT_SYMBOLS: Statement = Statement {
    before: "INSERT INTO stocks (symbol, name, name_lower, is_active)
             SELECT column1, column1, LOWER(column1), column2 FROM (VALUES ",
    columns: 2,
    after: ") AS known WHERE 1 = 1 ON CONFLICT (symbol) DO NOTHING",
};

const UPSERT_BARS: Statement = Statement {
    before: "INSERT INTO bars (symbol, date, open, high, low, close, volume) VALUES ",
    columns: 7,
    after: " ON CONFLICT (symbol, date) DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low,
             close = excluded.close, volume = excluded.volume, observed = 0",
};

/// Sets the high and low of a session of which each process may have observed a part.
macro_rules! set_extremes {
    ($table:literal, $is_same_session:literal) => {
        concat!(
            "high = CASE WHEN ",
            $is_same_session,
            " AND ",
            $table,
            ".high > excluded.high
             THEN ",
            $table,
            ".high ELSE excluded.high END,
             low = CASE WHEN ",
            $is_same_session,
            " AND ",
            $table,
            ".low < excluded.low
             THEN ",
            $table,
            ".low ELSE excluded.low END"
        )
    };
}

/// Sets columns to those of the later quote.
macro_rules! set_to_later {
    ($($column:literal),+) => {
        concat!($(", ", $column, " = CASE WHEN excluded.at >= quotes.at THEN excluded.", $column, " ELSE quotes.", $column, " END"),+)
    };
}

/// Bars made from observations. A delivered bar, possibly written by another process, takes precedence. A bar that another process has
/// made from its observations is completed.
const INSERT_OBSERVED_BARS: Statement = Statement {
    before: "INSERT INTO bars (symbol, date, open, high, low, close, volume, observed)
             SELECT column1, column2, column3, column4, column5, column6, column7, 1 FROM (VALUES ",
    columns: 7,
    after: concat!(
        ") AS known WHERE 1 = 1 ON CONFLICT (symbol, date) DO UPDATE SET ",
        set_extremes!("bars", "TRUE"),
        " WHERE bars.observed = 1"
    ),
};

/// Bars made from all observations. They replace bars made from fewer.
const UPSERT_OBSERVED_BARS: Statement = Statement {
    after: ") AS known WHERE 1 = 1 ON CONFLICT (symbol, date) DO UPDATE SET open = excluded.open, high = excluded.high,
             low = excluded.low, close = excluded.close, volume = excluded.volume WHERE bars.observed = 1",
    ..INSERT_OBSERVED_BARS
};

const UPSERT_QUOTES: Statement = Statement {
    before: "INSERT INTO quotes (symbol, session, open, high, low, last, volume, at, made_at, bid, ask, vwap) VALUES ",
    columns: 12,
    after: concat!(
        " ON CONFLICT (symbol) DO UPDATE SET ",
        set_extremes!("quotes", "quotes.session = excluded.session"),
        set_to_later!(
            "session", "open", "last", "volume", "at", "made_at", "bid", "ask", "vwap"
        ),
        " WHERE excluded.at >= quotes.at OR (quotes.session = excluded.session
          AND (excluded.high > quotes.high OR excluded.low < quotes.low))"
    ),
};

const UPSERT_FUNDAMENTALS: Statement = Statement {
    before: "INSERT INTO fundamentals
             (symbol, as_of, eps_ttm, eps_forward, market_cap, dividend_yield, dividend_amount, beta) VALUES ",
    columns: 8,
    after: " ON CONFLICT (symbol, as_of) DO UPDATE SET eps_ttm = excluded.eps_ttm, eps_forward = excluded.eps_forward,
             market_cap = excluded.market_cap, dividend_yield = excluded.dividend_yield,
             dividend_amount = excluded.dividend_amount, beta = excluded.beta",
};

const UPSERT_EARNINGS: Statement = Statement {
    before: "INSERT INTO earnings (symbol, date, time, eps_estimate) VALUES ",
    columns: 4,
    after: " ON CONFLICT (symbol, date) DO UPDATE SET time = excluded.time, eps_estimate = excluded.eps_estimate",
};

const UPSERT_DIVIDENDS: Statement = Statement {
    before: "INSERT INTO dividends (symbol, ex_date, payment_date, amount) VALUES ",
    columns: 4,
    after: " ON CONFLICT (symbol, ex_date) DO UPDATE SET payment_date = excluded.payment_date, amount = excluded.amount",
};

const INSERT_INSIDER_TRADES: Statement = Statement {
    before: "INSERT INTO insider_trades
             (symbol, filed_on, traded_on, insider, code, side, shares, price, ordinal) VALUES ",
    columns: 9,
    after: " ON CONFLICT DO NOTHING",
};

const UPSERT_MENTIONS: Statement = Statement {
    before: "INSERT INTO mentions (symbol, time, mentions) VALUES ",
    columns: 3,
    after: " ON CONFLICT (time, symbol) DO UPDATE SET mentions = excluded.mentions",
};

/// The last row of each key, sorted by key. A statement must not write a row twice, and all transactions write rows
/// in the same order.
pub(super) fn last_of_each<Row, Key: Ord>(rows: &[Row], key: impl Fn(&Row) -> Key) -> Vec<&Row> {
    let last: BTreeMap<Key, &Row> = rows.iter().map(|row| (key(row), row)).collect();
    last.into_values().collect()
}

/// Numbers trades that look the same.
fn with_ordinals(trades: &[InsiderRow]) -> Vec<(&InsiderRow, i64)> {
    let mut seen: BTreeMap<_, i64> = BTreeMap::new();
    let mut numbered = Vec::with_capacity(trades.len());
    for trade in trades {
        let who = (trade.symbol, &trade.insider, trade.filed_on, trade.traded_on);
        let what = (trade.code, side_name(trade.side), trade.shares, trade.price);
        let number = seen.entry((who, what)).or_default();
        *number += 1;
        numbered.push((trade, *number));
    }
    numbered
}

fn batch_symbols(batch: &Batch) -> BTreeSet<Symbol> {
    let mut symbols = BTreeSet::new();
    symbols.extend(batch.quotes.iter().map(|row| row.symbol));
    symbols.extend(batch.bars.iter().map(|row| row.symbol));
    symbols.extend(batch.intraday_bars.iter().map(|row| row.symbol));
    symbols.extend(batch.fundamentals.iter().map(|row| row.symbol));
    symbols.extend(batch.earnings.iter().map(|row| row.symbol));
    symbols.extend(batch.dividends.iter().map(|row| row.symbol));
    symbols.extend(batch.splits.iter().map(|row| row.symbol));
    symbols.extend(batch.insider_transactions.iter().map(|row| row.symbol));
    symbols.extend(batch.mentions.iter().map(|row| row.symbol));
    symbols
}

impl UnitOfWork {
    /// Writes a delivered batch except quotes and splits. Later figures with the same key replace earlier ones, and
    /// withdrawn filings are deleted. All stocks of the batch are added to the catalog, including those of its
    /// quotes and splits. A stock known by its symbol only takes over a name; fields that a record leaves out
    /// remain.
    pub async fn record_market(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let changed = self.first_changed_sessions(batch).await?;
        self.record_stocks(&batch.stocks, &batch_symbols(batch)).await?;
        let bars: Vec<(Symbol, Bar)> = last_of_each(&batch.bars, |row| (row.symbol, row.bar.date))
            .into_iter()
            .map(|row| (row.symbol, row.bar))
            .collect();
        self.write_bars(&bars).await?;
        self.write_intraday_bars(&batch.intraday_bars).await?;
        self.record_facts(batch).await?;

        self.withdraw_filings(&batch.withdrawn_filings).await?;
        let trades = with_ordinals(&batch.insider_transactions);
        write_many!(self, INSERT_INSIDER_TRADES, &trades, |query, trade| {
            let (row, ordinal) = trade;
            query
                .bind(row.symbol.as_str().to_owned())
                .bind(days(row.filed_on))
                .bind(row.traded_on.map_or(NO_DATE, days))
                .bind(text(&row.insider))
                .bind(text(&row.code.to_string()))
                .bind(side_name(row.side))
                .bind(row.shares.micros())
                .bind(row.price.micros())
                .bind(*ordinal)
        });

        let mentions = last_of_each(&batch.mentions, |row| (row.time, row.symbol));
        write_many!(self, UPSERT_MENTIONS, &mentions, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(row.time.as_microsecond())
                .bind(i64::from(row.mentions))
        });
        self.invalidate_progress(&changed).await
    }

    /// Writes bars of finished sessions from observations. Delivered bars remain, observed ones are completed.
    pub async fn record_observed_bars(&mut self, bars: &[BarRow]) -> Result<(), StoreError> {
        self.record_observed(INSERT_OBSERVED_BARS, bars).await
    }

    /// Writes bars of finished sessions from all observations. Replaces observed bars; delivered bars remain.
    pub async fn replace_observed_bars(&mut self, bars: &[BarRow]) -> Result<(), StoreError> {
        self.record_observed(UPSERT_OBSERVED_BARS, bars).await
    }

    async fn record_observed(&mut self, statement: Statement, bars: &[BarRow]) -> Result<(), StoreError> {
        let batch = Batch {
            bars: bars.to_vec(),
            ..Batch::default()
        };
        let changed = self.first_changed_sessions(&batch).await?;
        self.record_stocks(&[], &batch_symbols(&batch)).await?;
        let bars: Vec<(Symbol, Bar)> = last_of_each(bars, |row| (row.symbol, row.bar.date))
            .into_iter()
            .map(|row| (row.symbol, row.bar))
            .collect();
        self.write_bars_with(statement, &bars).await?;
        self.invalidate_progress(&changed).await
    }

    async fn record_stocks(&mut self, stocks: &[StockRow], symbols: &BTreeSet<Symbol>) -> Result<(), StoreError> {
        let stocks = last_of_each(stocks, |row| row.symbol);
        write_many!(self, UPSERT_STOCKS, &stocks, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(text(&row.name))
                .bind(text(&row.name.to_lowercase()))
                .bind(row.kind.as_deref().map(text))
                .bind(row.sector.as_deref().map(text))
                .bind(row.industry.as_deref().map(text))
                .bind(row.country.as_deref().map(text))
                .bind(row.exchange.as_deref().map(text))
                .bind(row.isin.as_deref().map(text))
                .bind(row.is_active)
        });
        let symbols: Vec<Symbol> = symbols.iter().copied().collect();
        write_many!(self, INSERT_SYMBOLS, &symbols, |query, symbol| {
            query.bind(symbol.as_str()).bind(true)
        });
        Ok(())
    }

    async fn record_facts(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let fundamentals = last_of_each(&batch.fundamentals, |row| (row.symbol, row.as_of));
        write_many!(self, UPSERT_FUNDAMENTALS, &fundamentals, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(days(row.as_of))
                .bind(row.eps_ttm.map(Decimal::micros))
                .bind(row.eps_forward.map(Decimal::micros))
                .bind(row.market_cap.map(Decimal::micros))
                .bind(row.dividend_yield.map(Decimal::micros))
                .bind(row.dividend_amount.map(Decimal::micros))
                .bind(row.beta.map(Decimal::micros))
        });
        let earnings = last_of_each(&batch.earnings, |row| (row.symbol, row.date));
        write_many!(self, UPSERT_EARNINGS, &earnings, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(days(row.date))
                .bind(time_name(row.time))
                .bind(row.eps_estimate.map(Decimal::micros))
        });
        let dividends = last_of_each(&batch.dividends, |row| (row.symbol, row.ex_date));
        write_many!(self, UPSERT_DIVIDENDS, &dividends, |query, row| {
            query
                .bind(row.symbol.as_str())
                .bind(days(row.ex_date))
                .bind(row.payment_date.map(days))
                .bind(row.amount.map(Decimal::micros))
        });
        Ok(())
    }

    /// Upserts bars. There must be one per stock and day.
    pub(super) async fn write_bars(&mut self, bars: &[(Symbol, Bar)]) -> Result<(), StoreError> {
        self.write_bars_with(UPSERT_BARS, bars).await
    }

    async fn write_bars_with(&mut self, statement: Statement, bars: &[(Symbol, Bar)]) -> Result<(), StoreError> {
        write_many!(self, statement, bars, |query, row| {
            let (symbol, bar) = row;
            query
                .bind(symbol.as_str())
                .bind(days(bar.date))
                .bind(bar.open.micros())
                .bind(bar.high.micros())
                .bind(bar.low.micros())
                .bind(bar.close.micros())
                .bind(bar.volume)
        });
        Ok(())
    }

    /// Stores latest quotes unless a later one is stored.
    pub async fn record_quotes(&mut self, quotes: &[LatestQuote]) -> Result<(), StoreError> {
        let mut latest: BTreeMap<Symbol, &LatestQuote> = BTreeMap::new();
        for quote in quotes {
            let kept = latest.entry(quote.symbol).or_insert(quote);
            if quote.at >= kept.at {
                *kept = quote;
            }
        }
        let quotes: Vec<&LatestQuote> = latest.into_values().collect();
        write_many!(self, UPSERT_QUOTES, &quotes, |query, quote| {
            query
                .bind(quote.symbol.as_str())
                .bind(days(quote.session))
                .bind(Price::micros(quote.open))
                .bind(Price::micros(quote.high))
                .bind(Price::micros(quote.low))
                .bind(Price::micros(quote.last))
                .bind(quote.volume)
                .bind(Timestamp::as_microsecond(quote.at))
                .bind(quote.made_at.map(Timestamp::as_microsecond))
                .bind(quote.bid.map(Price::micros))
                .bind(quote.ask.map(Price::micros))
                .bind(quote.vwap.map(Price::micros))
        });
        Ok(())
    }
}

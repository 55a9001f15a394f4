//! The columns of all tables except bars.

use market::records::{DividendRow, EarningsRow, FundamentalsRow, InsiderRow, MentionRow, SplitRow, StockRow};

use super::header::{Column, Header};
use super::rejected::RowError;
use super::rows::Columns;
use super::text;
use super::values::Row;

/// The columns of `splits.csv`.
pub(super) struct SplitColumns {
    symbol: Column,
    date: Column,
    ratio: Column,
}

impl Columns for SplitColumns {
    type Row = SplitRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            date: header.required("date"),
            ratio: header.required("ratio"),
        }
    }

    fn read(&self, row: &Row) -> Result<SplitRow, RowError> {
        Ok(SplitRow {
            symbol: row.required(self.symbol, text::symbol)?,
            date: row.required(self.date, text::date)?,
            ratio: row.required(self.ratio, text::ratio)?,
        })
    }
}

/// The columns of `dividends.csv`.
pub(super) struct DividendColumns {
    symbol: Column,
    ex_date: Column,
    payment_date: Option<Column>,
    amount: Option<Column>,
}

impl Columns for DividendColumns {
    type Row = DividendRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            ex_date: header.required("ex_date"),
            payment_date: header.optional("payment_date"),
            amount: header.optional("amount"),
        }
    }

    fn read(&self, row: &Row) -> Result<DividendRow, RowError> {
        Ok(DividendRow {
            symbol: row.required(self.symbol, text::symbol)?,
            ex_date: row.required(self.ex_date, text::date)?,
            payment_date: row.optional(self.payment_date, text::date)?,
            amount: row.optional(self.amount, text::amount)?,
        })
    }
}

/// The columns of `earnings.csv`.
pub(super) struct EarningsColumns {
    symbol: Column,
    date: Column,
    time: Option<Column>,
    eps_estimate: Option<Column>,
}

impl Columns for EarningsColumns {
    type Row = EarningsRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            date: header.required("date"),
            time: header.optional("time"),
            eps_estimate: header.optional("eps_estimate"),
        }
    }

    fn read(&self, row: &Row) -> Result<EarningsRow, RowError> {
        Ok(EarningsRow {
            symbol: row.required(self.symbol, text::symbol)?,
            date: row.required(self.date, text::date)?,
            time: row.optional(self.time, text::earnings_time)?.unwrap_or_default(),
            eps_estimate: row.optional(self.eps_estimate, text::decimal)?,
        })
    }
}

/// The columns of `fundamentals.csv`.
pub(super) struct FundamentalsColumns {
    symbol: Column,
    as_of: Column,
    eps_ttm: Option<Column>,
    eps_forward: Option<Column>,
    market_cap: Option<Column>,
    dividend_yield: Option<Column>,
    dividend_amount: Option<Column>,
    beta: Option<Column>,
}

impl Columns for FundamentalsColumns {
    type Row = FundamentalsRow;

    fn find(header: &mut Header) -> Self {
        let symbol = header.required("symbol");
        let as_of = header.required("as_of");
        let [eps_ttm, eps_forward] = header.at_least_one(["eps_ttm", "eps_forward"]);
        Self {
            symbol,
            as_of,
            eps_ttm,
            eps_forward,
            market_cap: header.optional("market_cap"),
            dividend_yield: header.optional("dividend_yield"),
            dividend_amount: header.optional("dividend_amount"),
            beta: header.optional("beta"),
        }
    }

    fn read(&self, row: &Row) -> Result<FundamentalsRow, RowError> {
        Ok(FundamentalsRow {
            symbol: row.required(self.symbol, text::symbol)?,
            as_of: row.required(self.as_of, text::date)?,
            eps_ttm: row.optional(self.eps_ttm, text::decimal)?,
            eps_forward: row.optional(self.eps_forward, text::decimal)?,
            market_cap: row.optional(self.market_cap, text::market_cap)?.flatten(),
            dividend_yield: row.optional(self.dividend_yield, text::amount)?,
            dividend_amount: row.optional(self.dividend_amount, text::amount)?,
            beta: row.optional(self.beta, text::decimal)?,
        })
    }
}

/// The columns of `insiders.csv`.
pub(super) struct InsiderColumns {
    symbol: Column,
    filed_on: Column,
    traded_on: Option<Column>,
    insider: Column,
    code: Column,
    side: Column,
    shares: Column,
    price: Column,
}

impl Columns for InsiderColumns {
    type Row = InsiderRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            filed_on: header.required("filed_on"),
            traded_on: header.optional("traded_on"),
            insider: header.required("insider"),
            code: header.required("code"),
            side: header.required("side"),
            shares: header.required("shares"),
            price: header.required("price"),
        }
    }

    fn read(&self, row: &Row) -> Result<InsiderRow, RowError> {
        Ok(InsiderRow {
            symbol: row.required(self.symbol, text::symbol)?,
            filed_on: row.required(self.filed_on, text::date)?,
            traded_on: row.optional(self.traded_on, text::date)?,
            insider: row.required(self.insider, text::string)?,
            code: row.required(self.code, text::code)?,
            side: row.required(self.side, text::side)?,
            shares: row.required(self.shares, text::amount)?,
            price: row.required(self.price, text::amount)?,
        })
    }
}

/// The columns of `mentions.csv`.
pub(super) struct MentionColumns {
    symbol: Column,
    time: Column,
    mentions: Column,
}

impl Columns for MentionColumns {
    type Row = MentionRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            time: header.required("time"),
            mentions: header.required("mentions"),
        }
    }

    fn read(&self, row: &Row) -> Result<MentionRow, RowError> {
        Ok(MentionRow {
            symbol: row.required(self.symbol, text::symbol)?,
            time: row.required(self.time, text::time)?,
            mentions: row.required(self.mentions, text::count)?,
        })
    }
}

/// The columns of `stocks.csv`.
pub(super) struct StockColumns {
    symbol: Column,
    name: Column,
    kind: Option<Column>,
    sector: Option<Column>,
    industry: Option<Column>,
    country: Option<Column>,
    exchange: Option<Column>,
    isin: Option<Column>,
    is_active: Option<Column>,
}

impl Columns for StockColumns {
    type Row = StockRow;

    fn find(header: &mut Header) -> Self {
        Self {
            symbol: header.required("symbol"),
            name: header.required("name"),
            kind: header.optional("type"),
            sector: header.optional("sector"),
            industry: header.optional("industry"),
            country: header.optional("country"),
            exchange: header.optional("exchange"),
            isin: header.optional("isin"),
            is_active: header.optional("is_active"),
        }
    }

    fn read(&self, row: &Row) -> Result<StockRow, RowError> {
        Ok(StockRow {
            symbol: row.required(self.symbol, text::symbol)?,
            name: row.required(self.name, text::string)?,
            kind: row.optional(self.kind, text::string)?,
            sector: row.optional(self.sector, text::string)?,
            industry: row.optional(self.industry, text::string)?,
            country: row.optional(self.country, text::string)?,
            exchange: row.optional(self.exchange, text::string)?,
            isin: row.optional(self.isin, text::string)?,
            is_active: row.optional(self.is_active, text::boolean)?.unwrap_or(true),
        })
    }
}

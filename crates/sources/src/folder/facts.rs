//! The columns of all tables except bars.

use market::records::{DividendRow, EarningsRow, FundamentalsRow, InsiderRow, MentionRow, SplitRow, StockRow};

use super::header::{Column, Header};
use super::rejected::RowError;
use super::rows::Columns;
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
            symbol: row.symbol(self.symbol)?,
            date: row.date(self.date)?,
            ratio: row.ratio(self.ratio)?,
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
            symbol: row.symbol(self.symbol)?,
            ex_date: row.date(self.ex_date)?,
            payment_date: row.optional(self.payment_date, Row::date)?,
            amount: row.optional(self.amount, Row::amount)?,
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
            symbol: row.symbol(self.symbol)?,
            date: row.date(self.date)?,
            time: row.optional(self.time, Row::earnings_time)?.unwrap_or_default(),
            eps_estimate: row.optional(self.eps_estimate, Row::decimal)?,
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
            symbol: row.symbol(self.symbol)?,
            as_of: row.date(self.as_of)?,
            eps_ttm: row.optional(self.eps_ttm, Row::decimal)?,
            eps_forward: row.optional(self.eps_forward, Row::decimal)?,
            market_cap: row.optional(self.market_cap, Row::market_cap)?.flatten(),
            dividend_yield: row.optional(self.dividend_yield, Row::amount)?,
            dividend_amount: row.optional(self.dividend_amount, Row::amount)?,
            beta: row.optional(self.beta, Row::decimal)?,
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
            symbol: row.symbol(self.symbol)?,
            filed_on: row.date(self.filed_on)?,
            traded_on: row.optional(self.traded_on, Row::date)?,
            insider: row.text(self.insider)?,
            code: row.code(self.code)?,
            side: row.side(self.side)?,
            shares: row.amount(self.shares)?,
            price: row.amount(self.price)?,
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
            symbol: row.symbol(self.symbol)?,
            time: row.time(self.time)?,
            mentions: row.count(self.mentions)?,
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
            symbol: row.symbol(self.symbol)?,
            name: row.text(self.name)?,
            kind: row.optional(self.kind, Row::text)?,
            sector: row.optional(self.sector, Row::text)?,
            industry: row.optional(self.industry, Row::text)?,
            country: row.optional(self.country, Row::text)?,
            exchange: row.optional(self.exchange, Row::text)?,
            isin: row.optional(self.isin, Row::text)?,
            is_active: row.optional(self.is_active, Row::boolean)?.unwrap_or(true),
        })
    }
}

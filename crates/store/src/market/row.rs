//! Market data rows.

use market::records::{
    BarRow, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, MentionRow, StockRow, TransactionSide,
};
use market::{Bar, Decimal, IntradayBar};

use crate::StoreError;
use crate::columns::Table;
use crate::model::{LatestExtendedPrice, LatestQuote};

/// The date of a trade without a known date: the primary key must not contain nulls.
pub(super) const NO_DATE: i64 = i32::MIN as i64;

/// Defines a row and its conversion to a record.
macro_rules! row {
    ($row:ident { $($column:ident: $type:ty),* $(,)? } of $table:literal => $record:ty,
     |$this:ident, $named:ident| $value:expr) => {
        crate::sqlite::row! {
            pub(super) struct $row { $($column: $type,)* }
        }

        impl TryFrom<$row> for $record {
            type Error = StoreError;

            fn try_from($this: $row) -> Result<Self, StoreError> {
                let $named = Table($table);
                Ok($value)
            }
        }
    };
}

row!(StoredStock {
    symbol: String, name: String, kind: Option<String>, sector: Option<String>, industry: Option<String>,
    country: Option<String>, exchange: Option<String>, isin: Option<String>, is_active: bool,
} of "stocks" => StockRow, |row, table| StockRow {
    symbol: table.symbol(&row.symbol)?,
    name: row.name,
    kind: row.kind,
    sector: row.sector,
    industry: row.industry,
    country: row.country,
    exchange: row.exchange,
    isin: row.isin,
    is_active: row.is_active,
});

row!(StoredIntradayBar {
    time: i64, open: i64, high: i64, low: i64, close: i64, volume: i64,
} of "intraday_bars" => IntradayBar, |row, table| IntradayBar {
    time: table.instant(row.time)?,
    open: table.price(row.open)?,
    high: table.price(row.high)?,
    low: table.price(row.low)?,
    close: table.price(row.close)?,
    volume: row.volume,
});

row!(StoredBar {
    symbol: String, date: i64, open: i64, high: i64, low: i64, close: i64, volume: i64,
} of "bars" => BarRow, |row, table| BarRow {
    symbol: table.symbol(&row.symbol)?,
    bar: Bar {
        date: table.date(row.date)?,
        open: table.price(row.open)?,
        high: table.price(row.high)?,
        low: table.price(row.low)?,
        close: table.price(row.close)?,
        volume: row.volume,
    },
});

row!(StoredQuote {
    symbol: String, session: i64, open: i64, high: i64, low: i64, last: i64, volume: Option<i64>, at: i64,
    made_at: Option<i64>, bid: Option<i64>, ask: Option<i64>, vwap: Option<i64>,
} of "quotes" => LatestQuote, |row, table| LatestQuote {
    symbol: table.symbol(&row.symbol)?,
    session: table.date(row.session)?,
    open: table.price(row.open)?,
    high: table.price(row.high)?,
    low: table.price(row.low)?,
    last: table.price(row.last)?,
    volume: row.volume,
    at: table.instant(row.at)?,
    made_at: table.optional_instant(row.made_at)?,
    bid: row.bid.map(|bid| table.price(bid)).transpose()?,
    ask: row.ask.map(|ask| table.price(ask)).transpose()?,
    vwap: row.vwap.map(|vwap| table.price(vwap)).transpose()?,
});

row!(StoredExtendedPrice {
    symbol: String, session: i64, price: i64, at: i64, bid: Option<i64>, ask: Option<i64>,
} of "extended_prices" => LatestExtendedPrice, |row, table| LatestExtendedPrice {
    symbol: table.symbol(&row.symbol)?,
    session: table.date(row.session)?,
    price: table.price(row.price)?,
    at: table.instant(row.at)?,
    bid: row.bid.map(|bid| table.price(bid)).transpose()?,
    ask: row.ask.map(|ask| table.price(ask)).transpose()?,
});

row!(StoredFundamentals {
    symbol: String, as_of: i64, eps_ttm: Option<i64>, eps_forward: Option<i64>, market_cap: Option<i64>,
    dividend_yield: Option<i64>, dividend_amount: Option<i64>, beta: Option<i64>,
} of "fundamentals" => FundamentalsRow, |row, table| FundamentalsRow {
    symbol: table.symbol(&row.symbol)?,
    as_of: table.date(row.as_of)?,
    eps_ttm: row.eps_ttm.map(Decimal::from_micros),
    eps_forward: row.eps_forward.map(Decimal::from_micros),
    market_cap: row.market_cap.map(Decimal::from_micros),
    dividend_yield: row.dividend_yield.map(Decimal::from_micros),
    dividend_amount: row.dividend_amount.map(Decimal::from_micros),
    beta: row.beta.map(Decimal::from_micros),
});

row!(StoredEarnings {
    symbol: String, date: i64, time: String, eps_estimate: Option<i64>,
} of "earnings" => EarningsRow, |row, table| EarningsRow {
    symbol: table.symbol(&row.symbol)?,
    date: table.date(row.date)?,
    time: table.parse("time", &row.time, parse_time)?,
    eps_estimate: row.eps_estimate.map(Decimal::from_micros),
});

row!(StoredDividend {
    symbol: String, ex_date: i64, payment_date: Option<i64>, amount: Option<i64>,
} of "dividends" => DividendRow, |row, table| DividendRow {
    symbol: table.symbol(&row.symbol)?,
    ex_date: table.date(row.ex_date)?,
    payment_date: row.payment_date.map(|date| table.date(date)).transpose()?,
    amount: row.amount.map(Decimal::from_micros),
});

row!(StoredInsiderTrade {
    symbol: String, filed_on: i64, traded_on: i64, insider: String, code: String, side: String, shares: i64, price: i64,
} of "insider_trades" => InsiderRow, |row, table| InsiderRow {
    symbol: table.symbol(&row.symbol)?,
    filed_on: table.date(row.filed_on)?,
    traded_on: Some(row.traded_on).filter(|date| *date != NO_DATE).map(|date| table.date(date)).transpose()?,
    insider: row.insider,
    code: table.parse("code", &row.code, |code| code.parse().ok())?,
    side: table.parse("side", &row.side, parse_side)?,
    shares: Decimal::from_micros(row.shares),
    price: Decimal::from_micros(row.price),
});

row!(StoredMention {
    symbol: String, time: i64, mentions: i64,
} of "mentions" => MentionRow, |row, table| MentionRow {
    symbol: table.symbol(&row.symbol)?,
    time: table.instant(row.time)?,
    mentions: table.narrow("mentions", row.mentions)?,
});

/// The column value of a time of day.
pub(super) const fn time_name(time: EarningsTime) -> &'static str {
    match time {
        EarningsTime::BeforeOpen => "before_open",
        EarningsTime::AfterClose => "after_close",
        EarningsTime::Unknown => "unknown",
    }
}

fn parse_time(name: &str) -> Option<EarningsTime> {
    let all = [
        EarningsTime::BeforeOpen,
        EarningsTime::AfterClose,
        EarningsTime::Unknown,
    ];
    all.into_iter().find(|time| time_name(*time) == name)
}

/// The column value of a side.
pub(super) const fn side_name(side: TransactionSide) -> &'static str {
    match side {
        TransactionSide::Buy => "buy",
        TransactionSide::Sell => "sell",
    }
}

fn parse_side(name: &str) -> Option<TransactionSide> {
    [TransactionSide::Buy, TransactionSide::Sell]
        .into_iter()
        .find(|side| side_name(*side) == name)
}

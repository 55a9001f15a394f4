//! Conversion of the elements of each kind to records.

use jiff::civil::Date;
use market::calendar::new_york_date;
use market::price::MAX_VOLUME;
use market::records::{
    BarRow, DividendRow, EarningsRow, FundamentalsRow, InsiderRow, IntradayRow, MentionRow, QuoteRow, SplitRow,
    StockRow,
};
use market::{Bar, Decimal, IntradayBar, Symbol};

use super::members::Members;
use crate::folder::{FieldError, text};

/// The maximum absolute value of a figure such as earnings per share or beta. A larger value indicates a wrong unit.
const MAX_FIGURE: i64 = 10_000_000;

/// A record that can be read from an element.
pub(super) trait FromElement: Sized {
    /// Reads the record. The error says what is wrong with the element.
    fn read(members: &Members) -> Result<Self, String>;
}

fn symbol(members: &Members) -> Result<Symbol, String> {
    members.required("symbol", text::symbol)
}

/// Reads a figure of either sign within the limit.
fn figure(text: &str) -> Result<Decimal, FieldError> {
    let figure = text::decimal(text)?;
    let most = Decimal::from_units(MAX_FIGURE).unwrap_or_default();
    if figure.micros().unsigned_abs() > most.micros().unsigned_abs() {
        return Err(FieldError::TooLarge(MAX_FIGURE));
    }
    Ok(figure)
}

/// Reads a volume in shares.
fn volume(text: &str) -> Result<i64, FieldError> {
    match text::integer(text)? {
        volume if volume < 0 => Err(FieldError::Negative),
        volume if volume > MAX_VOLUME => Err(FieldError::TooLarge(MAX_VOLUME)),
        volume => Ok(volume),
    }
}

impl FromElement for StockRow {
    fn read(members: &Members) -> Result<Self, String> {
        let details = members.nested("details");
        let detail = |name: &str| Ok::<_, String>(members.name(name)?.or(details.name(name)?));
        Ok(Self {
            symbol: symbol(members)?,
            name: members.name("name")?.ok_or("name is missing; send it")?,
            kind: members.name("type")?,
            sector: detail("sector")?,
            industry: detail("industry")?,
            country: detail("country")?,
            exchange: detail("exchange")?,
            isin: detail("isin")?,
            is_active: members.optional("is_active", text::boolean)?.unwrap_or(true),
        })
    }
}

impl FromElement for QuoteRow {
    fn read(members: &Members) -> Result<Self, String> {
        let time = members.optional("time", text::time)?;
        Ok(Self {
            symbol: symbol(members)?,
            price: members.required("price", text::price)?,
            volume: members.optional("volume", volume)?,
            time: time.map(|time| members.past_time("time", time)).transpose()?,
            bid: members.optional("bid", text::price)?,
            ask: members.optional("ask", text::price)?,
            vwap: members.optional("vwap", text::price)?,
        })
    }
}

impl FromElement for BarRow {
    fn read(members: &Members) -> Result<Self, String> {
        let date = members.optional("date", text::date)?;
        let date = date.ok_or("date is missing; send it, and bars of minutes as intraday_bars")?;
        let bar = bar_of(members, members.known_date("date", date)?)?;
        let symbol = symbol(members)?;
        Ok(Self { symbol, bar })
    }
}

impl FromElement for IntradayRow {
    fn read(members: &Members) -> Result<Self, String> {
        let time = members.required("time", text::time)?;
        let time = members.past_time("time", time)?;
        let bar = bar_of(members, new_york_date(time))?;
        Ok(Self {
            symbol: symbol(members)?,
            bar: IntradayBar::of(&bar, time),
        })
    }
}

/// Reads the prices and the volume of a bar on a date.
fn bar_of(members: &Members, date: Date) -> Result<Bar, String> {
    let bar = Bar {
        date,
        open: members.required("open", text::price)?,
        high: members.required("high", text::price)?,
        low: members.required("low", text::price)?,
        close: members.required("close", text::price)?,
        volume: members.optional("volume", volume)?.unwrap_or(0),
    };
    bar.checked().map_err(|error| error.to_string())
}

impl FromElement for FundamentalsRow {
    fn read(members: &Members) -> Result<Self, String> {
        let as_of = members.optional("as_of", text::date)?.unwrap_or(members.today());
        let market_cap = members.optional("market_cap", text::market_cap)?;
        let row = Self {
            symbol: symbol(members)?,
            as_of: members.known_date("as_of", as_of)?,
            eps_ttm: members.optional("eps_ttm", figure)?,
            eps_forward: members.optional("eps_forward", figure)?,
            market_cap: market_cap.flatten(),
            dividend_yield: members.optional("dividend_yield", text::amount)?,
            dividend_amount: members.optional("dividend_amount", text::amount)?,
            beta: members.optional("beta", figure)?,
        };
        let figures = [
            row.eps_ttm,
            row.eps_forward,
            row.dividend_yield,
            row.dividend_amount,
            row.beta,
        ];
        // A market capitalisation that is too large to be stored still counts as a figure.
        if market_cap.is_none() && figures.iter().all(Option::is_none) {
            return Err("has no figures; send at least one such as eps_ttm or eps_forward".into());
        }
        Ok(row)
    }
}

impl FromElement for EarningsRow {
    fn read(members: &Members) -> Result<Self, String> {
        let date = members.required("date", text::date)?;
        Ok(Self {
            symbol: symbol(members)?,
            date: members.announced_date("date", date)?,
            time: members.optional("time", text::earnings_time)?.unwrap_or_default(),
            eps_estimate: members.optional("eps_estimate", figure)?,
        })
    }
}

impl FromElement for DividendRow {
    fn read(members: &Members) -> Result<Self, String> {
        let ex_date = members.required("ex_date", text::date)?;
        let payment_date = members.optional("payment_date", text::date)?;
        Ok(Self {
            symbol: symbol(members)?,
            ex_date: members.announced_date("ex_date", ex_date)?,
            payment_date: payment_date
                .map(|date| members.announced_date("payment_date", date))
                .transpose()?,
            amount: members.optional("amount", text::amount)?,
        })
    }
}

impl FromElement for SplitRow {
    fn read(members: &Members) -> Result<Self, String> {
        let date = members.required("date", text::date)?;
        Ok(Self {
            symbol: symbol(members)?,
            date: members.announced_date("date", date)?,
            ratio: members.required("ratio", text::ratio)?,
        })
    }
}

impl FromElement for InsiderRow {
    fn read(members: &Members) -> Result<Self, String> {
        let filed_on = members.required("filed_on", text::date)?;
        let traded_on = members.optional("traded_on", text::date)?;
        Ok(Self {
            symbol: symbol(members)?,
            filed_on: members.known_date("filed_on", filed_on)?,
            traded_on: traded_on
                .map(|date| members.known_date("traded_on", date))
                .transpose()?,
            insider: members.name("insider")?.ok_or("insider is missing; send a name")?,
            code: members.required("code", text::code)?,
            side: members.required("side", text::side)?,
            shares: members.required("shares", text::amount)?,
            price: members.required("price", text::amount)?,
        })
    }
}

impl FromElement for MentionRow {
    fn read(members: &Members) -> Result<Self, String> {
        let time = members.required("time", text::time)?;
        Ok(Self {
            symbol: symbol(members)?,
            time: members.past_time("time", time)?,
            mentions: members.required("mentions", text::count)?,
        })
    }
}

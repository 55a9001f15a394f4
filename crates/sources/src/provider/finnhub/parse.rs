//! Finnhub's answers as records. All but the catalog and the calendar are about the one symbol that was asked for.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use market::records::{
    BarRow, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, InsiderRow, MentionRow, QuoteRow, Side, SplitRow,
    StockRow,
};
use market::{Bar, Decimal, Symbol};
use serde_json::value::RawValue;

use super::NAME;
use super::models::{
    Candles, Data, Dividend, Earnings, EarningsCalendar, InsiderTransaction, Metrics, Quote, Sentiment, Split,
    StockSymbol,
};
use crate::folder::{IntradayBar, text};
use crate::provider::asked::Asked;
use crate::provider::json::{self, Num, Row};
use crate::provider::symbols::Style;
use crate::provider::{Answer, BarsAre, Days, Fault, MinuteBar, ProviderError};

/// The symbols that the one name stands for.
fn of(asked: &Asked) -> &[Symbol] {
    asked.of(asked.first())
}

pub(super) fn catalog(body: &[u8]) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in elements {
        let Some(stock) = answer
            .faults
            .keep(json::element::<StockSymbol<'_>>("a symbol", element))
        else {
            continue;
        };
        // Units, warrants and the like are written with signs that no ticker here has.
        let Some(symbol) = Style::Dot.read(&stock.symbol) else {
            continue;
        };
        let some = |text: &Option<std::borrow::Cow<'_, str>>| {
            text.as_deref()
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        answer.batch.stocks.push(StockRow {
            kind: some(&stock.kind),
            exchange: some(&stock.mic),
            isin: some(&stock.isin),
            ..StockRow::named(symbol, some(&stock.description).unwrap_or_else(|| symbol.to_string()))
        });
    }
    Ok(answer)
}

pub(super) fn quote(body: &[u8], asked: &Asked) -> Result<Answer, ProviderError> {
    let quote: Quote<'_> = json::body(NAME, body)?;
    let row = Row { of: asked.first() };
    let mut answer = Answer::default();
    let is_nothing = |number: Option<Num<'_>>| number.is_none_or(|number| matches!(number.text(), "0" | "null"));
    if is_nothing(quote.c) && is_nothing(quote.t) {
        answer.unknown = of(asked).to_vec();
        return Ok(answer);
    }
    let read = row
        .price("c", quote.c)
        .and_then(|price| Ok((price, row.epoch("t", quote.t, 1)?)));
    if let Some((price, time)) = answer.faults.keep(read) {
        answer.batch.quotes = of(asked)
            .iter()
            .map(|&symbol| QuoteRow {
                symbol,
                price,
                volume: None,
                time: Some(time),
                bid: None,
                ask: None,
            })
            .collect();
    }
    Ok(answer)
}

/// Candles as minutes, or as days.
pub(super) fn candles(
    body: &[u8],
    asked: &Asked,
    is_kept: impl Fn(Timestamp) -> bool,
    as_days: bool,
) -> Result<Answer, ProviderError> {
    let candles: Candles<'_> = json::body(NAME, body)?;
    let mut answer = Answer {
        bars: if as_days {
            BarsAre::AdjustedForSplits
        } else {
            BarsAre::AsTraded
        },
        ..Answer::default()
    };
    if candles.s != "ok" {
        return Ok(answer);
    }
    for place in 0..candles.t.len() {
        let Some((bar, time)) = answer.faults.keep(candle(&candles, place, asked.first())) else {
            continue;
        };
        if !is_kept(time) {
            continue;
        }
        for &symbol in of(asked) {
            if as_days {
                answer.batch.bars.push(BarRow { symbol, bar });
            } else {
                let bar = IntradayBar {
                    time,
                    open: bar.open,
                    high: bar.high,
                    low: bar.low,
                    close: bar.close,
                    volume: bar.volume,
                };
                answer.minutes.push(MinuteBar { symbol, bar });
            }
        }
    }
    Ok(answer)
}

fn candle(candles: &Candles<'_>, place: usize, name: &str) -> Result<(Bar, Timestamp), Fault> {
    let (row, at) = (Row { of: name }, |column: &[_]| column.get(place).copied());
    let time = row.epoch("t", at(&candles.t), 1)?;
    let bar = Bar {
        // A day begins at midnight UTC here, as its number of seconds tells.
        date: time.to_zoned(jiff::tz::TimeZone::UTC).date(),
        open: row.price("o", at(&candles.o))?,
        high: row.price("h", at(&candles.h))?,
        low: row.price("l", at(&candles.l))?,
        close: row.price("c", at(&candles.c))?,
        volume: row.shares("v", at(&candles.v))?,
    };
    let bar = bar
        .checked()
        .map_err(|error| Fault::said(name, "candle", &time.to_string(), error.to_string()))?;
    Ok((bar, time))
}

pub(super) fn metrics(body: &[u8], asked: &Asked, today: Date) -> Result<Answer, ProviderError> {
    let Metrics { metric } = json::body(NAME, body)?;
    let row = Row { of: asked.first() };
    let millions = |cap: Decimal| cap.micros().checked_mul(1_000_000).map(Decimal::from_micros);
    let figures = |symbol| FundamentalsRow {
        symbol,
        as_of: today,
        eps_ttm: row
            .figure(metric.eps_ttm)
            .or_else(|| row.figure(metric.eps_incl_extra_ttm)),
        eps_forward: None,
        market_cap: row.figure(metric.market_cap).and_then(millions),
        dividend_yield: row.figure(metric.dividend_yield),
        dividend_amount: row.figure(metric.dividend),
        beta: row.figure(metric.beta),
    };
    let says_something = |row: &FundamentalsRow| {
        let all = [
            row.eps_ttm,
            row.market_cap,
            row.dividend_yield,
            row.dividend_amount,
            row.beta,
        ];
        all.iter().any(Option::is_some)
    };
    let mut answer = Answer::default();
    for &symbol in of(asked) {
        match Some(figures(symbol)).filter(says_something) {
            Some(row) => answer.batch.fundamentals.push(row),
            None => answer.unknown.push(symbol),
        }
    }
    Ok(answer)
}

pub(super) fn earnings(body: &[u8], asked: &Asked, days: Days) -> Result<Answer, ProviderError> {
    let calendar: EarningsCalendar<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in calendar.earnings_calendar.unwrap_or_default() {
        let Some(report) = answer.faults.keep(json::element::<Earnings<'_>>("a report", element)) else {
            continue;
        };
        let symbols = asked.of(&report.symbol);
        if symbols.is_empty() {
            continue;
        }
        let row = Row { of: &report.symbol };
        let date = answer.faults.keep(row.date("date", report.date.as_deref()));
        let Some(date) = date.filter(|&date| days.has(date)) else {
            continue;
        };
        let time = match report.hour.as_deref() {
            Some("bmo") => EarningsTime::BeforeOpen,
            Some("amc") => EarningsTime::AfterClose,
            _ => EarningsTime::Unknown,
        };
        let eps_estimate = row.figure(report.eps_estimate);
        answer.batch.earnings.extend(symbols.iter().map(|&symbol| EarningsRow {
            symbol,
            date,
            time,
            eps_estimate,
        }));
    }
    Ok(answer)
}

pub(super) fn dividends(body: &[u8], asked: &Asked, days: Days) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let (row, mut answer) = (Row { of: asked.first() }, Answer::default());
    for element in elements {
        let read = json::element::<Dividend<'_>>(row.of, element).and_then(|dividend| {
            let ex_date = row.date("date", dividend.date.as_deref())?;
            let paid = dividend
                .pay_date
                .as_deref()
                .and_then(|date| row.date("payDate", Some(date)).ok());
            Ok((ex_date, paid, row.amount("amount", dividend.amount)?))
        });
        let Some((ex_date, payment_date, amount)) = answer.faults.keep(read).filter(|read| days.has(read.0)) else {
            continue;
        };
        answer
            .batch
            .dividends
            .extend(of(asked).iter().map(|&symbol| DividendRow {
                symbol,
                ex_date,
                payment_date,
                amount: Some(amount),
            }));
    }
    Ok(answer)
}

pub(super) fn splits(body: &[u8], asked: &Asked, days: Days) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let (row, mut answer) = (Row { of: asked.first() }, Answer::default());
    for element in elements {
        let read = json::element::<Split<'_>>(row.of, element).and_then(|split| {
            let date = row.date("date", split.date.as_deref())?;
            Ok((
                date,
                row.ratio(["toFactor", "fromFactor"], split.to_factor, split.from_factor)?,
            ))
        });
        let Some((date, ratio)) = answer.faults.keep(read).filter(|read| days.has(read.0)) else {
            continue;
        };
        answer
            .batch
            .splits
            .extend(of(asked).iter().map(|&symbol| SplitRow { symbol, date, ratio }));
    }
    Ok(answer)
}

pub(super) fn insiders(body: &[u8], asked: &Asked, days: Days) -> Result<Answer, ProviderError> {
    let data: Data<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in data.data {
        for &symbol in of(asked) {
            let row = answer.faults.keep(insider(asked.first(), symbol, element)).flatten();
            answer
                .batch
                .insider_transactions
                .extend(row.filter(|row| days.has(row.filed_on)));
        }
    }
    Ok(answer)
}

/// A trade of shares; `None` for one of options and the like.
fn insider(name: &str, symbol: Symbol, element: &RawValue) -> Result<Option<InsiderRow>, Fault> {
    let row = Row { of: name };
    let trade: InsiderTransaction<'_> = json::element(name, element)?;
    if trade.is_derivative {
        return Ok(None);
    }
    let code = trade.transaction_code.as_deref().unwrap_or_default();
    let code = text::code(code).map_err(|problem| Fault::new(name, "transactionCode", code, &problem))?;
    let change = row.figure(trade.change).unwrap_or_default();
    let side = match code {
        'P' => Side::Buy,
        'S' => Side::Sell,
        _ if change < Decimal::ZERO => Side::Sell,
        _ => Side::Buy,
    };
    Ok(Some(InsiderRow {
        symbol,
        filed_on: row.date("filingDate", trade.filing_date.as_deref())?,
        traded_on: trade
            .transaction_date
            .as_deref()
            .and_then(|date| row.date("transactionDate", Some(date)).ok()),
        insider: trade.name.chars().filter(|c| !c.is_control()).take(200).collect(),
        code,
        side,
        shares: Decimal::from_micros(change.micros().saturating_abs()),
        price: row
            .figure(trade.transaction_price)
            .unwrap_or_default()
            .max(Decimal::ZERO),
    }))
}

pub(super) fn sentiment(body: &[u8], asked: &Asked) -> Result<Answer, ProviderError> {
    let data: Data<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    let mut hours: BTreeMap<Timestamp, u32> = BTreeMap::new();
    for element in data.data.iter().chain(&data.reddit).chain(&data.twitter) {
        if let Some((hour, mentions)) = answer.faults.keep(mentions(asked.first(), element)) {
            let sum = hours.entry(hour).or_default();
            *sum = sum.saturating_add(mentions);
        }
    }
    for &symbol in of(asked) {
        let rows = hours
            .iter()
            .map(|(&time, &mentions)| MentionRow { symbol, time, mentions });
        answer.batch.mentions.extend(rows);
    }
    Ok(answer)
}

fn mentions(name: &str, element: &RawValue) -> Result<(Timestamp, u32), Fault> {
    let row = Row { of: name };
    let hour: Sentiment<'_> = json::element(name, element)?;
    let at = hour.at_time.as_deref().unwrap_or_default();
    let time = at
        .replace(' ', "T")
        .parse::<DateTime>()
        .ok()
        .and_then(|time| time.in_tz("UTC").ok());
    let time = time
        .ok_or_else(|| Fault::said(name, "atTime", at, "is no hour"))?
        .timestamp();
    let mentions = row.whole("mention", hour.mention)?;
    let mentions = u32::try_from(mentions).map_err(|_| Fault::said(name, "mention", "", "is no count"))?;
    Ok((time, mentions))
}

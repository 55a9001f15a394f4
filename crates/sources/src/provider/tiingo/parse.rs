//! Tiingo's answers as records.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{BarRow, DividendRow, FundamentalsRow, QuoteRow, SplitRow};
use market::{Bar, Decimal, SplitRatio};
use serde_json::value::RawValue;

use super::NAME;
use super::models::{DailyFigures, Iex, Prices, Statement};
use crate::folder::IntradayBar;
use crate::provider::asked::Asked;
use crate::provider::json::{self, Row};
use crate::provider::{Answer, Days, Fault, MinuteBar, ProviderError, Times};

pub(super) fn quotes(body: &[u8], asked: &Asked) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let (mut answer, mut known) = (Answer::default(), BTreeSet::new());
    for element in elements {
        let Some(iex) = answer.faults.keep(json::element::<Iex<'_>>("a price", element)) else {
            continue;
        };
        let name = iex.ticker.to_ascii_uppercase();
        let row = Row { of: &name };
        let time = iex.last_sale_timestamp.as_deref().or(iex.timestamp.as_deref());
        let read = row
            .price("last", iex.last.or(iex.tngo_last))
            .and_then(|price| Ok((price, row.time("timestamp", time)?)));
        if let Some((price, time)) = answer.faults.keep(read) {
            answer
                .batch
                .quotes
                .extend(asked.of(&name).iter().map(|&symbol| QuoteRow {
                    symbol,
                    price,
                    volume: None,
                    time: Some(time),
                    bid: row.price_if_any(iex.bid_price),
                    ask: row.price_if_any(iex.ask_price),
                }));
        }
        known.insert(name);
    }
    answer.unknown = asked.missing(|name| known.contains(name));
    Ok(answer)
}

pub(super) fn minutes(body: &[u8], asked: &Asked, times: Times) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let (row, mut answer) = (Row { of: asked.first() }, Answer::default());
    for element in elements {
        let read = json::element::<Prices<'_>>(row.of, element).and_then(|prices| {
            let time = row.time("date", prices.date.as_deref())?;
            Ok((bar(row, &prices, market::calendar::new_york_date(time))?, time))
        });
        let Some((bar, time)) = answer.faults.keep(read).filter(|read| times.has(read.1)) else {
            continue;
        };
        answer.minutes.extend(asked.of(row.of).iter().map(|&symbol| MinuteBar {
            symbol,
            bar: minute(&bar, time),
        }));
    }
    Ok(answer)
}

fn minute(bar: &Bar, time: Timestamp) -> IntradayBar {
    IntradayBar {
        time,
        open: bar.open,
        high: bar.high,
        low: bar.low,
        close: bar.close,
        volume: bar.volume,
    }
}

fn bar(row: Row<'_>, prices: &Prices<'_>, date: Date) -> Result<Bar, Fault> {
    let bar = Bar {
        date,
        open: row.price("open", prices.open)?,
        high: row.price("high", prices.high)?,
        low: row.price("low", prices.low)?,
        close: row.price("close", prices.close)?,
        // The exchange's minutes have none unless it is asked for.
        volume: row.shares_if_any(prices.volume).unwrap_or(0),
    };
    bar.checked()
        .map_err(|error| Fault::said(row.of, "prices", &date.to_string(), error.to_string()))
}

/// What of a day's row is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Bars,
    Splits,
    Dividends,
}

pub(super) fn daily(body: &[u8], asked: &Asked, days: Days, part: Part) -> Result<Answer, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let (row, mut answer) = (Row { of: asked.first() }, Answer::default());
    for element in elements {
        let Some(prices) = answer.faults.keep(json::element::<Prices<'_>>(row.of, element)) else {
            continue;
        };
        let date = answer.faults.keep(row.date("date", prices.date.as_deref()));
        let Some(date) = date.filter(|&date| days.has(date)) else {
            continue;
        };
        let symbols = asked.of(row.of);
        match part {
            Part::Bars => {
                if let Some(bar) = answer.faults.keep(bar(row, &prices, date)) {
                    answer
                        .batch
                        .bars
                        .extend(symbols.iter().map(|&symbol| BarRow { symbol, bar }));
                }
            }
            Part::Splits => {
                let factor = row.figure(prices.split_factor).unwrap_or_default();
                let is_split = factor > Decimal::ZERO && factor.micros() != market::MICROS_PER_UNIT;
                if let Some(ratio) = SplitRatio::try_from(factor).ok().filter(|_| is_split) {
                    answer
                        .batch
                        .splits
                        .extend(symbols.iter().map(|&symbol| SplitRow { symbol, date, ratio }));
                }
            }
            Part::Dividends => {
                let cash = row.figure(prices.div_cash).filter(|&cash| cash > Decimal::ZERO);
                answer
                    .batch
                    .dividends
                    .extend(symbols.iter().filter(|_| cash.is_some()).map(|&symbol| DividendRow {
                        symbol,
                        ex_date: date,
                        payment_date: None,
                        amount: cash,
                    }));
            }
        }
    }
    Ok(answer)
}

/// The newest market capitalisation, with the day it is known from.
pub(super) fn market_cap(body: &[u8], name: &str) -> Result<Option<(Date, Decimal)>, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let row = Row { of: name };
    let read = elements.iter().filter_map(|element| {
        let figures = json::element::<DailyFigures<'_>>(name, element).ok()?;
        Some((
            row.date("date", figures.date.as_deref()).ok()?,
            row.figure(figures.market_cap)?,
        ))
    });
    Ok(read.max_by_key(|(date, _)| *date))
}

/// The sum of the last four quarters' diluted EPS, with the day it is known from; `None` with fewer quarters, or a gap
/// between them.
pub(super) fn trailing_eps(body: &[u8], name: &str) -> Result<Option<(Date, Decimal)>, ProviderError> {
    let elements: Vec<&RawValue> = json::body(NAME, body)?;
    let row = Row { of: name };
    let mut quarters: BTreeMap<(i32, u8), (Date, Decimal)> = BTreeMap::new();
    for element in elements {
        let Ok(statement) = json::element::<Statement<'_>>(name, element) else {
            continue;
        };
        let items = &statement.statement_data.income_statement;
        let value = |code: &str| row.figure(items.iter().find(|item| item.data_code == code)?.value);
        let eps = value("epsDil").or_else(|| value("eps"));
        let date = row.date("date", statement.date.as_deref()).ok();
        if let (1..=4, Some(eps), Some(date)) = (statement.quarter, eps, date) {
            quarters.insert((statement.year, statement.quarter), (date, eps));
        }
    }
    let last: Vec<_> = quarters.iter().rev().take(4).collect();
    let number = |(year, quarter): (i32, u8)| year * 4 + i32::from(quarter);
    let are_a_year = match (last.first(), last.get(3)) {
        (Some((newest, _)), Some((oldest, _))) => number(**newest) - number(**oldest) == 3,
        _ => false,
    };
    let sum = last
        .iter()
        .map(|(_, (_, eps))| eps.micros())
        .fold(0, i64::saturating_add);
    let known_from = last.iter().map(|(_, (date, _))| *date).max();
    Ok(known_from
        .filter(|_| are_a_year)
        .map(|date| (date, Decimal::from_micros(sum))))
}

/// The figures as records.
pub(super) fn fundamentals(asked: &Asked, eps: Option<(Date, Decimal)>, cap: Option<(Date, Decimal)>) -> Answer {
    let mut answer = Answer::default();
    let known_from = [eps, cap].into_iter().flatten().map(|(date, _)| date).max();
    if let Some(as_of) = known_from {
        answer
            .batch
            .fundamentals
            .extend(asked.of(asked.first()).iter().map(|&symbol| FundamentalsRow {
                symbol,
                as_of,
                eps_ttm: eps.map(|(_, eps)| eps),
                eps_forward: None,
                market_cap: cap.map(|(_, cap)| cap),
                dividend_yield: None,
                dividend_amount: None,
                beta: None,
            }));
    }
    answer
}

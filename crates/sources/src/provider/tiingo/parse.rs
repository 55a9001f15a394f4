//! Parser of Tiingo's responses.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::records::{BarRow, DividendRow, FundamentalsRow, QuoteRow, SplitRow};
use market::{Bar, Decimal, IntradayBar, SplitRatio};
use serde_json::value::RawValue;

use super::NAME;
use super::models::{DailyFigures, Iex, PriceBar, Statement};
use crate::provider::json::{self, RowReader};
use crate::provider::request::BarRange;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::{DataResponse, DateRange, InvalidRow, ProviderError, TimeRange};

pub(super) fn quotes(body: &[u8], requested: &RequestedSymbols) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let (mut response, mut known) = (DataResponse::default(), BTreeSet::new());
    for element in elements {
        let Some(iex) = response.parse::<Iex<'_>>("a price", element) else {
            continue;
        };
        let name = iex.ticker.to_ascii_uppercase();
        let row = RowReader { label: &name };
        let time = iex.last_sale_timestamp.as_deref().or(iex.timestamp.as_deref());
        let read = row
            .price("last", iex.last.or(iex.tngo_last))
            .and_then(|price| Ok((price, row.time("timestamp", time)?)));
        if let Some((price, time)) = response.invalid_rows.keep_valid(read) {
            let rows = requested.symbols_for(&name).iter().map(|&symbol| QuoteRow {
                symbol,
                price,
                volume: None,
                time: Some(time),
                bid: row.optional_price(iex.bid_price),
                ask: row.optional_price(iex.ask_price),
                vwap: None,
            });
            response.batch.quotes.extend(rows);
        }
        known.insert(name);
    }
    response.unknown = requested.missing(|name| known.contains(name));
    Ok(response)
}

pub(super) fn minutes(
    body: &[u8],
    requested: &RequestedSymbols,
    times: TimeRange,
) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let row = RowReader {
        label: requested.first_name(),
    };
    let mut response = DataResponse::default();
    for element in elements {
        let read = json::parse_element::<PriceBar<'_>>(row.label, element).and_then(|prices| {
            let time = row.time("date", prices.date.as_deref())?;
            let bar = bar(row, &prices, market::calendar::new_york_date(time))?;
            Ok(IntradayBar::of(&bar, time))
        });
        response.add_bar(requested.symbols_for(row.label), read, BarRange::Minute(times));
    }
    Ok(response)
}

fn bar(row: RowReader<'_>, prices: &PriceBar<'_>, date: Date) -> Result<Bar, InvalidRow> {
    let bar = Bar {
        date,
        open: row.price("open", prices.open)?,
        high: row.price("high", prices.high)?,
        low: row.price("low", prices.low)?,
        close: row.price("close", prices.close)?,
        // Minute bars of the exchange have no volume unless it is requested.
        volume: row.optional_shares(prices.volume).unwrap_or(0),
    };
    bar.checked()
        .map_err(|error| InvalidRow::with_message(row.label, "prices", &date.to_string(), error.to_string()))
}

/// The part of a daily row that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DailyDataKind {
    Bars,
    Splits,
    Dividends,
}

pub(super) fn daily(
    body: &[u8],
    requested: &RequestedSymbols,
    days: DateRange,
    part: DailyDataKind,
) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let row = RowReader {
        label: requested.first_name(),
    };
    let mut response = DataResponse::default();
    for element in elements {
        let Some(prices) = response.parse::<PriceBar<'_>>(row.label, element) else {
            continue;
        };
        let date = response
            .invalid_rows
            .keep_valid(row.date("date", prices.date.as_deref()));
        let Some(date) = date.filter(|&date| days.contains(date)) else {
            continue;
        };
        let symbols = requested.symbols_for(row.label);
        match part {
            DailyDataKind::Bars => {
                if let Some(bar) = response.invalid_rows.keep_valid(bar(row, &prices, date)) {
                    let rows = symbols.iter().map(|&symbol| BarRow { symbol, bar });
                    response.batch.bars.extend(rows);
                }
            }
            DailyDataKind::Splits => {
                let factor = row.optional_decimal(prices.split_factor).unwrap_or_default();
                let is_split = factor > Decimal::ZERO && factor.micros() != market::MICROS_PER_UNIT;
                if let Some(ratio) = SplitRatio::try_from(factor).ok().filter(|_| is_split) {
                    let rows = symbols.iter().map(|&symbol| SplitRow { symbol, date, ratio });
                    response.batch.splits.extend(rows);
                }
            }
            DailyDataKind::Dividends => {
                let cash = row.optional_decimal(prices.div_cash);
                if let Some(cash) = cash.filter(|&cash| cash > Decimal::ZERO) {
                    let rows = symbols.iter().map(|&symbol| DividendRow {
                        symbol,
                        ex_date: date,
                        payment_date: None,
                        amount: Some(cash),
                    });
                    response.batch.dividends.extend(rows);
                }
            }
        }
    }
    Ok(response)
}

/// Returns the newest market capitalisation and its date.
pub(super) fn market_cap(body: &[u8], name: &str) -> Result<Option<(Date, Decimal)>, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let row = RowReader { label: name };
    let read = elements.iter().filter_map(|element| {
        let figures = json::parse_element::<DailyFigures<'_>>(name, element).ok()?;
        Some((
            row.date("date", figures.date.as_deref()).ok()?,
            row.optional_decimal(figures.market_cap)?,
        ))
    });
    Ok(read.max_by_key(|(date, _)| *date))
}

/// Returns the sum of the last four quarters' diluted EPS and the date from which it is known; `None` with fewer quarters or a gap
/// between them.
pub(super) fn trailing_eps(body: &[u8], name: &str) -> Result<Option<(Date, Decimal)>, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let row = RowReader { label: name };
    let mut quarters: BTreeMap<(i32, u8), (Date, Decimal)> = BTreeMap::new();
    for element in elements {
        let Ok(statement) = json::parse_element::<Statement<'_>>(name, element) else {
            continue;
        };
        let items = &statement.statement_data.income_statement;
        let value = |code: &str| row.optional_decimal(items.iter().find(|item| item.data_code == code)?.value);
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

/// Combines the figures into fundamentals records. They are dated with the later of the two dates.
pub(super) fn fundamentals(
    requested: &RequestedSymbols,
    eps: Option<(Date, Decimal)>,
    cap: Option<(Date, Decimal)>,
) -> DataResponse {
    let mut response = DataResponse::default();
    let known_from = [eps, cap].into_iter().flatten().map(|(date, _)| date).max();
    if let Some(as_of) = known_from {
        let symbols = requested.symbols_for(requested.first_name()).iter();
        let rows = symbols.map(|&symbol| FundamentalsRow {
            symbol,
            as_of,
            eps_ttm: eps.map(|(_, eps)| eps),
            eps_forward: None,
            market_cap: cap.map(|(_, cap)| cap),
            dividend_yield: None,
            dividend_amount: None,
            beta: None,
        });
        response.batch.fundamentals.extend(rows);
    }
    response
}

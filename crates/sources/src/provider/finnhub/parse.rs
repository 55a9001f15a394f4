//! Parser of Finnhub's responses. Except for the catalog and the calendar, each response is about the one requested symbol.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{BarRow, DividendRow, EarningsRow, EarningsTime, FundamentalsRow, QuoteRow, SplitRow, StockRow};
use market::{Bar, Decimal, IntradayBar, Symbol};
use serde_json::value::RawValue;

use super::NAME;
use super::models::{Candles, Dividend, Earnings, EarningsCalendar, Metrics, Quote, Split, StockSymbol};
use crate::provider::json::{self, JsonNumber, RowReader};
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataResponse, DateRange, InvalidRow, MinuteBar, PriceAdjustment, ProviderError};

/// Returns the requested symbols of the only name.
pub(super) fn symbols_of(requested: &RequestedSymbols) -> &[Symbol] {
    requested.symbols_for(requested.first_name())
}

pub(super) fn catalog(body: &[u8]) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in elements {
        let Some(stock) = response
            .invalid_rows
            .keep_valid(json::parse_element::<StockSymbol<'_>>("a symbol", element))
        else {
            continue;
        };
        // Units, warrants and similar securities have spellings that are not supported.
        let Some(symbol) = TickerStyle::Dot.read(&stock.symbol) else {
            continue;
        };
        let some = |text: &Option<std::borrow::Cow<'_, str>>| {
            text.as_deref()
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        response.batch.stocks.push(StockRow {
            kind: some(&stock.kind),
            exchange: some(&stock.mic),
            isin: some(&stock.isin),
            ..StockRow::named(symbol, some(&stock.description).unwrap_or_else(|| symbol.to_string()))
        });
    }
    Ok(response)
}

pub(super) fn quote(body: &[u8], requested: &RequestedSymbols) -> Result<DataResponse, ProviderError> {
    let quote: Quote<'_> = json::parse_body(NAME, body)?;
    let row = RowReader {
        label: requested.first_name(),
    };
    let mut response = DataResponse::default();
    let is_nothing = |number: Option<JsonNumber<'_>>| number.is_none_or(|number| matches!(number.text(), "0" | "null"));
    if is_nothing(quote.c) && is_nothing(quote.t) {
        response.unknown = symbols_of(requested).to_vec();
        return Ok(response);
    }
    let read = row
        .price("c", quote.c)
        .and_then(|price| Ok((price, row.epoch("t", quote.t, 1)?)));
    if let Some((price, time)) = response.invalid_rows.keep_valid(read) {
        response.batch.quotes = symbols_of(requested)
            .iter()
            .map(|&symbol| QuoteRow {
                symbol,
                price,
                volume: None,
                time: Some(time),
                bid: None,
                ask: None,
                vwap: None,
            })
            .collect();
    }
    Ok(response)
}

/// Parses candles: daily bars if `as_days`, minute bars otherwise.
pub(super) fn candles(
    body: &[u8],
    requested: &RequestedSymbols,
    is_kept: impl Fn(Timestamp) -> bool,
    as_days: bool,
) -> Result<DataResponse, ProviderError> {
    let candles: Candles<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse {
        price_adjustment: if as_days {
            PriceAdjustment::AdjustedForSplits
        } else {
            PriceAdjustment::AsTraded
        },
        ..DataResponse::default()
    };
    if candles.s != "ok" {
        return Ok(response);
    }
    for index in 0..candles.t.len() {
        let Some((bar, time)) = response
            .invalid_rows
            .keep_valid(candle(&candles, index, requested.first_name()))
        else {
            continue;
        };
        if !is_kept(time) {
            continue;
        }
        for &symbol in symbols_of(requested) {
            if as_days {
                response.batch.bars.push(BarRow { symbol, bar });
            } else {
                let bar = IntradayBar {
                    time,
                    open: bar.open,
                    high: bar.high,
                    low: bar.low,
                    close: bar.close,
                    volume: bar.volume,
                };
                response.minutes.push(MinuteBar { symbol, bar });
            }
        }
    }
    Ok(response)
}

fn candle(candles: &Candles<'_>, index: usize, name: &str) -> Result<(Bar, Timestamp), InvalidRow> {
    let (row, at) = (RowReader { label: name }, |column: &[_]| column.get(index).copied());
    let time = row.epoch("t", at(&candles.t), 1)?;
    let bar = Bar {
        // A daily candle is stamped with midnight UTC.
        date: time.to_zoned(jiff::tz::TimeZone::UTC).date(),
        open: row.price("o", at(&candles.o))?,
        high: row.price("h", at(&candles.h))?,
        low: row.price("l", at(&candles.l))?,
        close: row.price("c", at(&candles.c))?,
        volume: row.shares("v", at(&candles.v))?,
    };
    let bar = bar
        .checked()
        .map_err(|error| InvalidRow::with_message(name, "candle", &time.to_string(), error.to_string()))?;
    Ok((bar, time))
}

pub(super) fn metrics(body: &[u8], requested: &RequestedSymbols, today: Date) -> Result<DataResponse, ProviderError> {
    let Metrics { metric } = json::parse_body(NAME, body)?;
    let row = RowReader {
        label: requested.first_name(),
    };
    let millions = |cap: Decimal| cap.micros().checked_mul(1_000_000).map(Decimal::from_micros);
    let figures = |symbol| FundamentalsRow {
        symbol,
        as_of: today,
        eps_ttm: row
            .optional_decimal(metric.eps_ttm)
            .or_else(|| row.optional_decimal(metric.eps_incl_extra_ttm)),
        eps_forward: None,
        market_cap: row.optional_decimal(metric.market_cap).and_then(millions),
        dividend_yield: row.optional_decimal(metric.dividend_yield),
        dividend_amount: row.optional_decimal(metric.dividend),
        beta: row.optional_decimal(metric.beta),
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
    let mut response = DataResponse::default();
    for &symbol in symbols_of(requested) {
        match Some(figures(symbol)).filter(says_something) {
            Some(row) => response.batch.fundamentals.push(row),
            None => response.unknown.push(symbol),
        }
    }
    Ok(response)
}

pub(super) fn earnings(
    body: &[u8],
    requested: &RequestedSymbols,
    days: DateRange,
) -> Result<DataResponse, ProviderError> {
    let calendar: EarningsCalendar<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in calendar.earnings_calendar.unwrap_or_default() {
        let Some(report) = response
            .invalid_rows
            .keep_valid(json::parse_element::<Earnings<'_>>("a report", element))
        else {
            continue;
        };
        let symbols = requested.symbols_for(&report.symbol);
        if symbols.is_empty() {
            continue;
        }
        let row = RowReader { label: &report.symbol };
        let date = response
            .invalid_rows
            .keep_valid(row.date("date", report.date.as_deref()));
        let Some(date) = date.filter(|&date| days.contains(date)) else {
            continue;
        };
        let time = match report.hour.as_deref() {
            Some("bmo") => EarningsTime::BeforeOpen,
            Some("amc") => EarningsTime::AfterClose,
            _ => EarningsTime::Unknown,
        };
        let eps_estimate = row.optional_decimal(report.eps_estimate);
        response
            .batch
            .earnings
            .extend(symbols.iter().map(|&symbol| EarningsRow {
                symbol,
                date,
                time,
                eps_estimate,
            }));
    }
    Ok(response)
}

pub(super) fn dividends(
    body: &[u8],
    requested: &RequestedSymbols,
    days: DateRange,
) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let (row, mut response) = (
        RowReader {
            label: requested.first_name(),
        },
        DataResponse::default(),
    );
    for element in elements {
        let read = json::parse_element::<Dividend<'_>>(row.label, element).and_then(|dividend| {
            let ex_date = row.date("date", dividend.date.as_deref())?;
            let paid = dividend
                .pay_date
                .as_deref()
                .and_then(|date| row.date("payDate", Some(date)).ok());
            Ok((ex_date, paid, row.amount("amount", dividend.amount)?))
        });
        let Some((ex_date, payment_date, amount)) = response
            .invalid_rows
            .keep_valid(read)
            .filter(|read| days.contains(read.0))
        else {
            continue;
        };
        response
            .batch
            .dividends
            .extend(symbols_of(requested).iter().map(|&symbol| DividendRow {
                symbol,
                ex_date,
                payment_date,
                amount: Some(amount),
            }));
    }
    Ok(response)
}

pub(super) fn splits(
    body: &[u8],
    requested: &RequestedSymbols,
    days: DateRange,
) -> Result<DataResponse, ProviderError> {
    let elements: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let (row, mut response) = (
        RowReader {
            label: requested.first_name(),
        },
        DataResponse::default(),
    );
    for element in elements {
        let read = json::parse_element::<Split<'_>>(row.label, element).and_then(|split| {
            let date = row.date("date", split.date.as_deref())?;
            Ok((
                date,
                row.split_ratio(["toFactor", "fromFactor"], split.to_factor, split.from_factor)?,
            ))
        });
        let Some((date, ratio)) = response
            .invalid_rows
            .keep_valid(read)
            .filter(|read| days.contains(read.0))
        else {
            continue;
        };
        response.batch.splits.extend(
            symbols_of(requested)
                .iter()
                .map(|&symbol| SplitRow { symbol, date, ratio }),
        );
    }
    Ok(response)
}

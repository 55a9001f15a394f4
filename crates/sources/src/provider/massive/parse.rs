//! Parser of Massive's responses.

use jiff::civil::Date;
use market::records::{DividendRow, FundamentalsRow, QuoteRow, SplitRow, StockRow};
use url::Url;

use super::NAME;
use super::models::{self, Dividend, Results, SingleResult, Snapshot, Snapshots, Split, Ticker};
use crate::provider::json::{self, JsonNumber, RowReader};
use crate::provider::paged_request::Page;
use crate::provider::request::BarRange;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataResponse, DateRange, InvalidRow, ProviderError};
use market::IntradayBar;

/// Returns the path and query of the next page, without its host.
fn next_page_path(page: &Results<'_>) -> Option<String> {
    let url = Url::parse(page.next_url.as_deref()?).ok()?;
    Some(format!("{}?{}", url.path(), url.query().unwrap_or_default()))
}

pub(super) fn catalog(body: &[u8]) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in &page.results {
        let Some(ticker) = response.parse::<Ticker<'_>>("a ticker", element) else {
            continue;
        };
        // Preferred shares and warrants have spellings that are not supported.
        let Some(symbol) = TickerStyle::Dot.read(&ticker.ticker) else {
            continue;
        };
        response.batch.stocks.push(StockRow {
            kind: ticker.kind.as_deref().map(str::to_owned),
            exchange: ticker.primary_exchange.as_deref().map(str::to_owned),
            is_active: ticker.active.unwrap_or(true),
            ..StockRow::named(symbol, ticker.name.as_deref().unwrap_or(&ticker.ticker))
        });
    }
    let next_page = next_page_path(&page);
    Ok(Page { response, next_page })
}

pub(super) fn overview(body: &[u8], requested: &RequestedSymbols, today: Date) -> Result<DataResponse, ProviderError> {
    let SingleResult { results } = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    let Some(ticker) = response.parse::<Ticker<'_>>(requested.first_name(), results) else {
        return Ok(response);
    };
    let Some(market_cap) = (RowReader { label: &ticker.ticker }).optional_decimal(ticker.market_cap) else {
        return Ok(response);
    };
    let symbols = requested.symbols_for(&ticker.ticker).iter();
    let rows = symbols.map(|&symbol| FundamentalsRow {
        symbol,
        as_of: today,
        eps_ttm: None,
        eps_forward: None,
        market_cap: Some(market_cap),
        dividend_yield: None,
        dividend_amount: None,
        beta: None,
    });
    response.batch.fundamentals.extend(rows);
    Ok(response)
}

pub(super) fn snapshots(body: &[u8], requested: &RequestedSymbols) -> Result<DataResponse, ProviderError> {
    let snapshots: Snapshots<'_> = json::parse_body(NAME, body)?;
    let (mut response, mut known) = (DataResponse::default(), std::collections::BTreeSet::new());
    for element in snapshots.tickers {
        let Some(snapshot) = response.parse::<Snapshot<'_>>("a snapshot", element) else {
            continue;
        };
        let symbols = requested.symbols_for(&snapshot.ticker);
        if symbols.is_empty() {
            continue;
        }
        known.insert(snapshot.ticker.to_string());
        let Some(row) = response.invalid_rows.keep_valid(quote(&snapshot, symbols[0])).flatten() else {
            continue;
        };
        response
            .batch
            .quotes
            .extend(symbols.iter().map(|&symbol| QuoteRow { symbol, ..row }));
    }
    response.unknown = requested.missing(|name| known.contains(name));
    Ok(response)
}

/// Returns the last trade, else the last minute's close, else the day's close; `None` before the first trade.
fn quote(snapshot: &Snapshot<'_>, symbol: market::Symbol) -> Result<Option<QuoteRow>, InvalidRow> {
    let row = RowReader {
        label: &snapshot.ticker,
    };
    let is_there = |number: Option<JsonNumber<'_>>| number.is_some_and(|number| !matches!(number.text(), "0" | "null"));
    let (trade, minute, day) = (&snapshot.last_trade, &snapshot.min, &snapshot.day);
    let (price, time) = match (trade, minute, day) {
        (Some(trade), ..) if is_there(trade.p) => (
            row.price("lastTrade.p", trade.p)?,
            row.epoch("lastTrade.t", trade.t, 1_000_000_000)?,
        ),
        (_, Some(minute), _) if is_there(minute.c) => {
            (row.price("min.c", minute.c)?, row.epoch("min.t", minute.t, 1_000)?)
        }
        (.., Some(day)) if is_there(day.c) => (
            row.price("day.c", day.c)?,
            row.epoch("updated", snapshot.updated, 1_000_000_000)?,
        ),
        _ => return Ok(None),
    };
    let (bid, ask) = snapshot
        .last_quote
        .as_ref()
        .map_or((None, None), |quote| (quote.p, quote.ask));
    let minute_volume = minute.as_ref().and_then(|minute| row.optional_shares(minute.av));
    Ok(Some(QuoteRow {
        symbol,
        price,
        volume: day
            .as_ref()
            .and_then(|day| row.optional_shares(day.v))
            .max(minute_volume),
        time: Some(time),
        bid: row.optional_price(bid),
        ask: row.optional_price(ask),
        vwap: row.optional_price(day.as_ref().and_then(|day| day.vw)),
    }))
}

fn bar(name: &str, bar: &models::Bar<'_>) -> Result<IntradayBar, InvalidRow> {
    let row = RowReader { label: name };
    let time = row.epoch("t", bar.t, 1_000)?;
    row.bar(time, [bar.o, bar.h, bar.l, bar.c], bar.v)
}

/// Parses a page of bars. Bars without a ticker belong to the requested symbol.
pub(super) fn bars(body: &[u8], requested: &RequestedSymbols, range: BarRange) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in &page.results {
        let Some(model) = response.parse::<models::Bar<'_>>(requested.first_name(), element) else {
            continue;
        };
        let name = model.ticker.as_deref().unwrap_or(requested.first_name());
        let symbols = requested.symbols_for(name);
        if !symbols.is_empty() {
            response.add_bar(symbols, bar(name, &model), range);
        }
    }
    let next_page = next_page_path(&page);
    Ok(Page { response, next_page })
}

pub(super) fn splits(body: &[u8], requested: &RequestedSymbols, days: DateRange) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in &page.results {
        let Some(split) = response.parse::<Split<'_>>("a split", element) else {
            continue;
        };
        let (symbols, row) = (requested.symbols_for(&split.ticker), RowReader { label: &split.ticker });
        if symbols.is_empty() {
            continue;
        }
        let date = row.date("execution_date", split.execution_date.as_deref());
        let read = date.and_then(|date| {
            let ratio = row.split_ratio(["split_to", "split_from"], split.split_to, split.split_from)?;
            Ok((date, ratio))
        });
        let read = response.invalid_rows.keep_valid(read);
        if let Some((date, ratio)) = read.filter(|(date, _)| days.contains(*date)) {
            let rows = symbols.iter().map(|&symbol| SplitRow { symbol, date, ratio });
            response.batch.splits.extend(rows);
        }
    }
    let next_page = next_page_path(&page);
    Ok(Page { response, next_page })
}

pub(super) fn dividends(body: &[u8], requested: &RequestedSymbols, days: DateRange) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in &page.results {
        let Some(dividend) = response.parse::<Dividend<'_>>("a dividend", element) else {
            continue;
        };
        let symbols = requested.symbols_for(&dividend.ticker);
        let row = RowReader {
            label: &dividend.ticker,
        };
        if symbols.is_empty() {
            continue;
        }
        let ex_date = row.date("ex_dividend_date", dividend.ex_dividend_date.as_deref());
        let read = ex_date.and_then(|date| Ok((date, row.amount("cash_amount", dividend.cash_amount)?)));
        let read = response.invalid_rows.keep_valid(read);
        if let Some((ex_date, amount)) = read.filter(|(date, _)| days.contains(*date)) {
            let payment_date = row.date("pay_date", dividend.pay_date.as_deref()).ok();
            let rows = symbols.iter().map(|&symbol| DividendRow {
                symbol,
                ex_date,
                payment_date,
                amount: Some(amount),
            });
            response.batch.dividends.extend(rows);
        }
    }
    let next_page = next_page_path(&page);
    Ok(Page { response, next_page })
}

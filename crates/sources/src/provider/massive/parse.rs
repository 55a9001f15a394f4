//! Massive's answers as records.

use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{BarRow, DividendRow, FundamentalsRow, QuoteRow, SplitRow, StockRow};
use url::Url;

use super::NAME;
use super::models::{self, Dividend, One, Results, Snapshot, Snapshots, Split, Ticker};
use crate::folder::IntradayBar;
use crate::provider::asked::Asked;
use crate::provider::errand::Page;
use crate::provider::json::{self, Num, Row};
use crate::provider::span_bars::{self, as_day};
use crate::provider::symbols::Style;
use crate::provider::{Answer, Days, Fault, MinuteBar, ProviderError};

/// The path and the query of the next page, wherever it says that is.
fn next(page: &Results<'_>) -> Option<String> {
    let url = Url::parse(page.next_url.as_deref()?).ok()?;
    Some(format!("{}?{}", url.path(), url.query().unwrap_or_default()))
}

pub(super) fn catalog(body: &[u8]) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in &page.results {
        let Some(ticker) = answer.faults.keep(json::element::<Ticker<'_>>("a ticker", element)) else {
            continue;
        };
        // Preferred shares and warrants are written in ways that no ticker here has.
        let Some(symbol) = Style::Dot.read(&ticker.ticker) else {
            continue;
        };
        answer.batch.stocks.push(StockRow {
            kind: ticker.kind.as_deref().map(str::to_owned),
            exchange: ticker.primary_exchange.as_deref().map(str::to_owned),
            is_active: ticker.active.unwrap_or(true),
            ..StockRow::named(symbol, ticker.name.as_deref().unwrap_or(&ticker.ticker))
        });
    }
    let next = next(&page);
    Ok(Page { answer, next })
}

pub(super) fn overview(body: &[u8], asked: &Asked, today: Date) -> Result<Answer, ProviderError> {
    let One { results } = json::body(NAME, body)?;
    let mut answer = Answer::default();
    let Some(ticker) = answer.faults.keep(json::element::<Ticker<'_>>(asked.first(), results)) else {
        return Ok(answer);
    };
    let Some(market_cap) = (Row { of: &ticker.ticker }).figure(ticker.market_cap) else {
        return Ok(answer);
    };
    answer
        .batch
        .fundamentals
        .extend(asked.of(&ticker.ticker).iter().map(|&symbol| FundamentalsRow {
            symbol,
            as_of: today,
            eps_ttm: None,
            eps_forward: None,
            market_cap: Some(market_cap),
            dividend_yield: None,
            dividend_amount: None,
            beta: None,
        }));
    Ok(answer)
}

pub(super) fn snapshots(body: &[u8], asked: &Asked) -> Result<Answer, ProviderError> {
    let snapshots: Snapshots<'_> = json::body(NAME, body)?;
    let (mut answer, mut known) = (Answer::default(), std::collections::BTreeSet::new());
    for element in snapshots.tickers {
        let Some(snapshot) = answer.faults.keep(json::element::<Snapshot<'_>>("a snapshot", element)) else {
            continue;
        };
        let symbols = asked.of(&snapshot.ticker);
        if symbols.is_empty() {
            continue;
        }
        known.insert(snapshot.ticker.to_string());
        let Some(row) = answer.faults.keep(quote(&snapshot, symbols[0])).flatten() else {
            continue;
        };
        answer
            .batch
            .quotes
            .extend(symbols.iter().map(|&symbol| QuoteRow { symbol, ..row }));
    }
    answer.unknown = asked.missing(|name| known.contains(name));
    Ok(answer)
}

/// The last trade; without it the last minute's close, or the day's. `None` before anything was traded.
fn quote(snapshot: &Snapshot<'_>, symbol: market::Symbol) -> Result<Option<QuoteRow>, Fault> {
    let row = Row { of: &snapshot.ticker };
    let is_there = |number: Option<Num<'_>>| number.is_some_and(|number| !matches!(number.text(), "0" | "null"));
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
    let minute_volume = minute.as_ref().and_then(|minute| row.shares_if_any(minute.av));
    Ok(Some(QuoteRow {
        symbol,
        price,
        volume: day.as_ref().and_then(|day| row.shares_if_any(day.v)).max(minute_volume),
        time: Some(time),
        bid: row.price_if_any(bid),
        ask: row.price_if_any(ask),
    }))
}

fn bar(name: &str, bar: &models::Bar<'_>) -> Result<IntradayBar, Fault> {
    let row = Row { of: name };
    let bar = IntradayBar {
        time: row.epoch("t", bar.t, 1_000)?,
        open: row.price("o", bar.o)?,
        high: row.price("h", bar.h)?,
        low: row.price("l", bar.l)?,
        close: row.price("c", bar.c)?,
        volume: row.shares("v", bar.v)?,
    };
    span_bars::checked(name, bar)
}

/// A page of bars: of days, or else of minutes; of the symbol that is asked for, or of those they name.
pub(super) fn bars(
    body: &[u8],
    asked: &Asked,
    is_kept: impl Fn(Timestamp) -> bool,
    as_days: bool,
) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in &page.results {
        let Some(model) = answer
            .faults
            .keep(json::element::<models::Bar<'_>>(asked.first(), element))
        else {
            continue;
        };
        let name = model.ticker.as_deref().unwrap_or(asked.first());
        let symbols = asked.of(name);
        if symbols.is_empty() {
            continue;
        }
        let Some(bar) = answer.faults.keep(bar(name, &model)).filter(|bar| is_kept(bar.time)) else {
            continue;
        };
        for &symbol in symbols {
            if as_days {
                let bar = as_day(&bar);
                answer.batch.bars.push(BarRow { symbol, bar });
            } else {
                answer.minutes.push(MinuteBar { symbol, bar });
            }
        }
    }
    let next = next(&page);
    Ok(Page { answer, next })
}

pub(super) fn splits(body: &[u8], asked: &Asked, days: Days) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in &page.results {
        let Some(split) = answer.faults.keep(json::element::<Split<'_>>("a split", element)) else {
            continue;
        };
        let (symbols, row) = (asked.of(&split.ticker), Row { of: &split.ticker });
        if symbols.is_empty() {
            continue;
        }
        let read = row
            .date("execution_date", split.execution_date.as_deref())
            .and_then(|date| {
                Ok((
                    date,
                    row.ratio(["split_to", "split_from"], split.split_to, split.split_from)?,
                ))
            });
        if let Some((date, ratio)) = answer.faults.keep(read).filter(|read| days.has(read.0)) {
            answer
                .batch
                .splits
                .extend(symbols.iter().map(|&symbol| SplitRow { symbol, date, ratio }));
        }
    }
    let next = next(&page);
    Ok(Page { answer, next })
}

pub(super) fn dividends(body: &[u8], asked: &Asked, days: Days) -> Result<Page, ProviderError> {
    let page: Results<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in &page.results {
        let Some(dividend) = answer.faults.keep(json::element::<Dividend<'_>>("a dividend", element)) else {
            continue;
        };
        let (symbols, row) = (asked.of(&dividend.ticker), Row { of: &dividend.ticker });
        if symbols.is_empty() {
            continue;
        }
        let read = row
            .date("ex_dividend_date", dividend.ex_dividend_date.as_deref())
            .and_then(|date| {
                let paid = dividend
                    .pay_date
                    .as_deref()
                    .and_then(|date| row.date("pay_date", Some(date)).ok());
                Ok((date, paid, row.amount("cash_amount", dividend.cash_amount)?))
            });
        if let Some((ex_date, payment_date, amount)) = answer.faults.keep(read).filter(|read| days.has(read.0)) {
            answer.batch.dividends.extend(symbols.iter().map(|&symbol| DividendRow {
                symbol,
                ex_date,
                payment_date,
                amount: Some(amount),
            }));
        }
    }
    let next = next(&page);
    Ok(Page { answer, next })
}

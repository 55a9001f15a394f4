//! Parser of Alpaca's responses.

use jiff::{SignedDuration, Timestamp};
use market::records::{DividendRow, QuoteRow, SplitRow, StockRow};
use market::{IntradayBar, Price, Symbol};
use serde_json::value::RawValue;

use super::NAME;
use super::conditions::updates_last_price;
use super::models::{Actions, Asset, Bars, CashDividend, Snapshot, Snapshots, Split};
use crate::provider::json::{self, RowReader};
use crate::provider::paged_request::Page;
use crate::provider::request::BarRange;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataResponse, DateRange, InvalidRow, ProviderError};

/// The length of a minute bar.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// Parses quotes from snapshots. Volumes are kept if `has_market_volume`.
pub(super) fn snapshots(
    body: &[u8],
    requested: &RequestedSymbols,
    has_market_volume: bool,
) -> Result<DataResponse, ProviderError> {
    let snapshots: Snapshots<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for (name, snapshot) in &snapshots {
        let Some(snapshot) = snapshot else { continue };
        let row = quote(name, snapshot, has_market_volume);
        if let Some(row) = response.invalid_rows.keep_valid(row).flatten() {
            let symbols = requested.symbols_for(name).iter();
            let rows = symbols.map(|&symbol| QuoteRow { symbol, ..row });
            response.batch.quotes.extend(rows);
        }
    }
    response.unknown = requested.missing(|name| snapshots.get(name).is_some_and(Option::is_some));
    Ok(response)
}

/// Parses a snapshot's quote; `None` if the stock has never traded on the feed.
fn quote(name: &str, snapshot: &RawValue, has_market_volume: bool) -> Result<Option<QuoteRow>, InvalidRow> {
    let row = RowReader { label: name };
    let snapshot: Snapshot<'_> = json::parse_element(name, snapshot)?;
    let Some((price, time)) = last_price(row, &snapshot)? else {
        return Ok(None);
    };
    // The volume-weighted average price of one exchange is not that of the market.
    let day = snapshot.daily_bar.as_ref().filter(|_| has_market_volume);
    let volume = day.and_then(|bar| row.optional_shares(bar.v));
    let (bid, ask) = snapshot.latest_quote.map_or((None, None), |quote| (quote.bp, quote.ap));
    Ok(Some(QuoteRow {
        symbol: symbol(name)?,
        price,
        volume,
        time: Some(time),
        bid: row.optional_price(bid),
        ask: row.optional_price(ask),
        vwap: row.optional_price(day.and_then(|bar| bar.vw)),
    }))
}

/// Returns the price and time of the latest trade. If that trade is not eligible, returns the close of the last minute.
fn last_price(row: RowReader<'_>, snapshot: &Snapshot<'_>) -> Result<Option<(Price, Timestamp)>, InvalidRow> {
    let Some(trade) = &snapshot.latest_trade else {
        return Ok(None);
    };
    let time = row.time("latestTrade.t", trade.t.as_deref())?;
    let conditions = trade.c.iter().flatten().flat_map(|condition| condition.bytes());
    if updates_last_price(conditions, trade.z.as_deref().unwrap_or_default().as_bytes()) {
        return Ok(Some((row.price("latestTrade.p", trade.p)?, time)));
    }
    let Some(minute) = &snapshot.minute_bar else {
        return Ok(None);
    };
    let end = row.time("minuteBar.t", minute.t.as_deref())?.saturating_add(MINUTE);
    Ok(Some((
        row.price("minuteBar.c", minute.c)?,
        end.unwrap_or(time).min(time),
    )))
}

fn symbol(name: &str) -> Result<Symbol, InvalidRow> {
    TickerStyle::Dot
        .read(name)
        .ok_or_else(|| InvalidRow::with_message(name, "symbol", name, "is not a supported ticker"))
}

/// Parses a page of bars.
pub(super) fn bars(body: &[u8], requested: &RequestedSymbols, range: BarRange) -> Result<Page, ProviderError> {
    let page: Bars<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for (name, bars) in page.bars.iter().flatten() {
        for bar in bars {
            response.add_bar(requested.symbols_for(name), bar_of(name, bar), range);
        }
    }
    let next_page = page.next_page_token.filter(|token| !token.is_empty());
    Ok(Page { response, next_page })
}

fn bar_of(name: &str, bar: &RawValue) -> Result<IntradayBar, InvalidRow> {
    let row = RowReader { label: name };
    let bar: super::models::Bar<'_> = json::parse_element(name, bar)?;
    let time = row.time("t", bar.t.as_deref())?;
    row.bar(time, [bar.o, bar.h, bar.l, bar.c], bar.v)
}

/// Parses a page of corporate actions.
pub(super) fn actions(body: &[u8], requested: &RequestedSymbols, days: DateRange) -> Result<Page, ProviderError> {
    let page: Actions<'_> = json::parse_body(NAME, body)?;
    let lists = page.corporate_actions;
    let mut response = DataResponse::default();
    for element in lists.forward_splits.iter().chain(&lists.reverse_splits) {
        let split = response.invalid_rows.keep_valid(split(element));
        if let Some((name, row)) = split.filter(|(_, row)| days.contains(row.date)) {
            let symbols = requested.symbols_for(&name).iter();
            let rows = symbols.map(|&symbol| SplitRow { symbol, ..row });
            response.batch.splits.extend(rows);
        }
    }
    for element in &lists.cash_dividends {
        let dividend = response.invalid_rows.keep_valid(dividend(element));
        if let Some((name, row)) = dividend.filter(|(_, row)| days.contains(row.ex_date)) {
            let symbols = requested.symbols_for(&name).iter();
            let rows = symbols.map(|&symbol| DividendRow { symbol, ..row });
            response.batch.dividends.extend(rows);
        }
    }
    let next_page = page.next_page_token.filter(|token| !token.is_empty());
    Ok(Page { response, next_page })
}

fn split(element: &RawValue) -> Result<(String, SplitRow), InvalidRow> {
    let model: Split<'_> = json::parse_element("a split", element)?;
    let row = RowReader { label: &model.symbol };
    let split = SplitRow {
        symbol: symbol(&model.symbol)?,
        date: row.date("ex_date", model.ex_date.as_deref())?,
        ratio: row.split_ratio(["new_rate", "old_rate"], model.new_rate, model.old_rate)?,
    };
    Ok((model.symbol.to_string(), split))
}

fn dividend(element: &RawValue) -> Result<(String, DividendRow), InvalidRow> {
    let model: CashDividend<'_> = json::parse_element("a dividend", element)?;
    let row = RowReader { label: &model.symbol };
    let dividend = DividendRow {
        symbol: symbol(&model.symbol)?,
        ex_date: row.date("ex_date", model.ex_date.as_deref())?,
        payment_date: model
            .payable_date
            .as_deref()
            .and_then(|date| row.date("payable_date", Some(date)).ok()),
        amount: Some(row.amount("rate", model.rate)?),
    };
    Ok((model.symbol.to_string(), dividend))
}

/// Parses the catalog. Over-the-counter stocks are skipped, because the feeds have no prices for them.
pub(super) fn assets(body: &[u8]) -> Result<DataResponse, ProviderError> {
    let assets: Vec<&RawValue> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in assets {
        let Some(asset) = response.parse::<Asset<'_>>("an asset", element) else {
            continue;
        };
        let exchange = asset.exchange.as_deref().filter(|exchange| !exchange.is_empty());
        if exchange == Some("OTC") {
            continue;
        }
        let Some(symbol) = response.invalid_rows.keep_valid(symbol(&asset.symbol)) else {
            continue;
        };
        let name = asset.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        response.batch.stocks.push(StockRow {
            exchange: exchange.map(str::to_owned),
            is_active: asset.status.as_deref() != Some("inactive"),
            ..StockRow::named(symbol, name.unwrap_or(&asset.symbol))
        });
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_lot_falls_back_to_the_last_minute_close() {
        let price = |minute: &str| {
            let body = format!(
                r#"{{"AAPL":{{"latestTrade":{{"t":"2024-03-08T15:30:02Z","p":999,"c":["@","I"],"z":"C"}},"minuteBar":{minute}}}}}"#
            );
            let requested = RequestedSymbols::new(&["AAPL".parse().unwrap()], TickerStyle::Dot);
            let quotes = snapshots(body.as_bytes(), &requested, true).unwrap().batch.quotes;
            quotes
                .first()
                .map(|quote| format!("{} {}", quote.price, quote.time.unwrap()))
        };
        let minute = r#"{"t":"2024-03-08T15:28:00Z","o":1,"h":2,"l":1,"c":1.5,"v":5}"#;
        assert_eq!(price(minute).as_deref(), Some("1.5 2024-03-08T15:29:00Z"));
        assert_eq!(price("null"), None);
    }
}

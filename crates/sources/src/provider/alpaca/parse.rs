//! Alpaca's answers as records.

use jiff::{SignedDuration, Timestamp};
use market::records::{BarRow, DividendRow, QuoteRow, SplitRow, StockRow};
use market::{Price, Symbol};
use serde_json::value::RawValue;

use super::NAME;
use super::conditions::makes_last_price;
use super::models::{Actions, Asset, Bars, CashDividend, Snapshot, Snapshots, Split};
use crate::folder::IntradayBar;
use crate::provider::asked::Asked;
use crate::provider::errand::Page;
use crate::provider::json::{self, Row};
use crate::provider::span_bars::{self, as_day};
use crate::provider::symbols::Style;
use crate::provider::{Answer, Days, Fault, MinuteBar, ProviderError};

/// How long a minute's bar is.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// The newest prices; `whole_volume` if the feed's volumes are the market's.
pub(super) fn snapshots(body: &[u8], asked: &Asked, whole_volume: bool) -> Result<Answer, ProviderError> {
    let snapshots: Snapshots<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for (name, snapshot) in &snapshots {
        let Some(snapshot) = snapshot else { continue };
        let row = quote(name, snapshot, whole_volume);
        if let Some(row) = answer.faults.keep(row).flatten() {
            answer
                .batch
                .quotes
                .extend(asked.of(name).iter().map(|&symbol| QuoteRow { symbol, ..row }));
        }
    }
    answer.unknown = asked.missing(|name| snapshots.get(name).is_some_and(Option::is_some));
    Ok(answer)
}

/// A snapshot's quote; `None` of a stock that was never traded there.
fn quote(name: &str, snapshot: &RawValue, whole_volume: bool) -> Result<Option<QuoteRow>, Fault> {
    let row = Row { of: name };
    let snapshot: Snapshot<'_> = json::element(name, snapshot)?;
    let Some((price, time)) = last_price(row, &snapshot)? else {
        return Ok(None);
    };
    let volume = snapshot
        .daily_bar
        .filter(|_| whole_volume)
        .and_then(|bar| row.shares_if_any(bar.v));
    let (bid, ask) = snapshot.latest_quote.map_or((None, None), |quote| (quote.bp, quote.ap));
    Ok(Some(QuoteRow {
        symbol: symbol(name)?,
        price,
        volume,
        time: Some(time),
        bid: row.price_if_any(bid),
        ask: row.price_if_any(ask),
    }))
}

/// The last trade's price; if that makes none, the last minute's close, which was made before it.
fn last_price(row: Row<'_>, snapshot: &Snapshot<'_>) -> Result<Option<(Price, Timestamp)>, Fault> {
    let Some(trade) = &snapshot.latest_trade else {
        return Ok(None);
    };
    let time = row.time("latestTrade.t", trade.t.as_deref())?;
    let conditions = trade.c.iter().flatten().flat_map(|condition| condition.bytes());
    if makes_last_price(conditions, trade.z.as_deref().unwrap_or_default().as_bytes()) {
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

fn symbol(name: &str) -> Result<Symbol, Fault> {
    Style::Dot
        .read(name)
        .ok_or_else(|| Fault::said(name, "symbol", name, "is no ticker here"))
}

/// A page of bars: of days, or else of minutes.
pub(super) fn bars(
    body: &[u8],
    asked: &Asked,
    is_kept: impl Fn(Timestamp) -> bool,
    as_days: bool,
) -> Result<Page, ProviderError> {
    let page: Bars<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for (name, bars) in page.bars.iter().flatten() {
        for bar in bars {
            let Some(bar) = answer.faults.keep(bar_of(name, bar)) else {
                continue;
            };
            if !is_kept(bar.time) {
                continue;
            }
            for &symbol in asked.of(name) {
                if as_days {
                    answer.batch.bars.push(BarRow {
                        symbol,
                        bar: as_day(&bar),
                    });
                } else {
                    answer.minutes.push(MinuteBar { symbol, bar });
                }
            }
        }
    }
    let next = page.next_page_token.filter(|token| !token.is_empty());
    Ok(Page { answer, next })
}

fn bar_of(name: &str, bar: &RawValue) -> Result<IntradayBar, Fault> {
    let row = Row { of: name };
    let bar: super::models::Bar<'_> = json::element(name, bar)?;
    let bar = IntradayBar {
        time: row.time("t", bar.t.as_deref())?,
        open: row.price("o", bar.o)?,
        high: row.price("h", bar.h)?,
        low: row.price("l", bar.l)?,
        close: row.price("c", bar.c)?,
        volume: row.shares("v", bar.v)?,
    };
    span_bars::checked(name, bar)
}

/// A page of corporate actions, and where the next one is.
pub(super) fn actions(body: &[u8], asked: &Asked, days: Days) -> Result<Page, ProviderError> {
    let page: Actions<'_> = json::body(NAME, body)?;
    let lists = page.corporate_actions;
    let mut answer = Answer::default();
    for element in lists.forward_splits.iter().chain(&lists.reverse_splits) {
        if let Some((name, row)) = answer.faults.keep(split(element)).filter(|(_, row)| days.has(row.date)) {
            let rows = asked.of(&name).iter().map(|&symbol| SplitRow { symbol, ..row });
            answer.batch.splits.extend(rows);
        }
    }
    for element in &lists.cash_dividends {
        if let Some((name, row)) = answer
            .faults
            .keep(dividend(element))
            .filter(|(_, row)| days.has(row.ex_date))
        {
            let rows = asked.of(&name).iter().map(|&symbol| DividendRow { symbol, ..row });
            answer.batch.dividends.extend(rows);
        }
    }
    let next = page.next_page_token.filter(|token| !token.is_empty());
    Ok(Page { answer, next })
}

fn split(element: &RawValue) -> Result<(String, SplitRow), Fault> {
    let model: Split<'_> = json::element("a split", element)?;
    let row = Row { of: &model.symbol };
    let split = SplitRow {
        symbol: symbol(&model.symbol)?,
        date: row.date("ex_date", model.ex_date.as_deref())?,
        ratio: row.ratio(["new_rate", "old_rate"], model.new_rate, model.old_rate)?,
    };
    Ok((model.symbol.to_string(), split))
}

fn dividend(element: &RawValue) -> Result<(String, DividendRow), Fault> {
    let model: CashDividend<'_> = json::element("a dividend", element)?;
    let row = Row { of: &model.symbol };
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

/// The catalog. What is traded over the counter is left out: the feeds have no prices of it.
pub(super) fn assets(body: &[u8]) -> Result<Answer, ProviderError> {
    let assets: Vec<&RawValue> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in assets {
        let Some(asset) = answer.faults.keep(json::element::<Asset<'_>>("an asset", element)) else {
            continue;
        };
        let exchange = asset.exchange.as_deref().filter(|exchange| !exchange.is_empty());
        if exchange == Some("OTC") {
            continue;
        }
        let Some(symbol) = answer.faults.keep(symbol(&asset.symbol)) else {
            continue;
        };
        let name = asset.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        answer.batch.stocks.push(StockRow {
            exchange: exchange.map(str::to_owned),
            is_active: asset.status.as_deref() != Some("inactive"),
            ..StockRow::named(symbol, name.unwrap_or(&asset.symbol))
        });
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_lot_makes_no_last_price_so_the_minute_before_it_does() {
        let price = |minute: &str| {
            let body = format!(
                r#"{{"AAPL":{{"latestTrade":{{"t":"2024-03-08T15:30:02Z","p":999,"c":["@","I"],"z":"C"}},"minuteBar":{minute}}}}}"#
            );
            let asked = Asked::new(&["AAPL".parse().unwrap()], Style::Dot);
            let quotes = snapshots(body.as_bytes(), &asked, true).unwrap().batch.quotes;
            quotes
                .first()
                .map(|quote| format!("{} {}", quote.price, quote.time.unwrap()))
        };
        let minute = r#"{"t":"2024-03-08T15:28:00Z","o":1,"h":2,"l":1,"c":1.5,"v":5}"#;
        assert_eq!(price(minute).as_deref(), Some("1.5 2024-03-08T15:29:00Z"));
        assert_eq!(price("null"), None);
    }
}

//! Pushed market data: accepted elements, rejected elements with their messages, and rejected bodies.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use jiff::Timestamp;
use jiff::civil::date;
use market::records::{Batch, EarningsTime, TransactionSide};
use serde_json::{Value, json};
use sources::FeedKind;
use sources::ingest::{IngestError, IngestResult, parse};

/// A Friday, 10:00 in New York.
pub(crate) fn now() -> Timestamp {
    "2024-03-08T15:00:00Z".parse().unwrap()
}

fn ingest(body: &Value) -> IngestResult {
    parse(body.to_string().as_bytes(), now()).unwrap()
}

/// The batch of a body whose elements are all valid.
fn batch(body: &Value) -> Batch {
    let ingested = ingest(body);
    assert_eq!(ingested.rejected, []);
    ingested.batch
}

/// The reason why the only element of `kind` is rejected.
fn reason(kind: &str, element: Value) -> String {
    let ingested = ingest(&json!({ kind: [element] }));
    assert!(ingested.batch.is_empty());
    assert_eq!(ingested.accepted[kind], 0);
    let [rejected] = &ingested.rejected[..] else {
        panic!("{:?}", ingested.rejected);
    };
    assert_eq!((rejected.kind, rejected.index), (kind, 0));
    rejected.reason.clone()
}

/// `element` with one member replaced.
fn with(mut element: Value, name: &str, value: Value) -> Value {
    element[name] = value;
    element
}

fn quote() -> Value {
    json!({"symbol": "AAPL", "price": 189.2})
}

fn bar() -> Value {
    json!({"symbol": "AAPL", "date": "2024-03-07", "open": 10, "high": 12, "low": 9, "close": 11, "volume": 100})
}

fn insider() -> Value {
    json!({"symbol": "AAPL", "filed_on": "2024-03-07", "traded_on": "2024-03-05", "insider": "Jo Doe", "code": "p",
           "side": "buy", "shares": 1000, "price": 12.5})
}

#[test]
fn accepts_every_kind() {
    let body = json!({
        "stocks": [{"symbol": "aapl", "name": "Apple", "type": "stock", "details": {"sector": "Technology", "isin": "US0378331005"}},
                   {"symbol": "OLD", "name": "Old", "country": "US", "is_active": false}],
        "quotes": [{"symbol": "AAPL", "price": "189.20", "volume": 1.5e6, "time": "2024-03-08T14:59:59Z", "bid": 189.1, "ask": 189.3, "vwap": 188.123456}],
        "bars": [bar()],
        "fundamentals": [{"symbol": "AAPL", "as_of": "2024-02-01", "eps_ttm": -1.25, "market_cap": 2.9e12},
                         {"symbol": "AAPL", "eps_forward": 7}],
        "earnings": [{"symbol": "AAPL", "date": "2024-05-02", "time": "after_close", "eps_estimate": 1.5}],
        "dividends": [{"symbol": "AAPL", "ex_date": "2024-05-10", "payment_date": null, "amount": "0.24"}],
        "splits": [{"symbol": "AAPL", "date": "2024-06-10", "ratio": 4}],
        "insider_transactions": [insider()],
        "mentions": [{"symbol": "AAPL", "time": "2024-03-08T14:00:00Z", "mentions": 12}],
        "gossip": "is ignored",
    });
    let ingested = ingest(&body);
    assert_eq!(ingested.rejected, []);
    let counts: Vec<_> = FeedKind::ALL
        .iter()
        .map(|kind| ingested.accepted[kind.name()])
        .collect();
    assert_eq!(counts, [2, 1, 1, 2, 1, 1, 1, 1, 1]);

    let batch = ingested.batch;
    assert_eq!(batch.stocks[0].symbol.as_str(), "AAPL");
    assert_eq!(batch.stocks[0].sector.as_deref(), Some("Technology"));
    assert_eq!(batch.stocks[0].isin.as_deref(), Some("US0378331005"));
    assert!(batch.stocks[0].is_active && !batch.stocks[1].is_active);
    assert_eq!(batch.stocks[1].country.as_deref(), Some("US"));
    let quote = batch.quotes[0];
    assert_eq!((quote.price.micros(), quote.volume), (189_200_000, Some(1_500_000)));
    assert_eq!(quote.time, Some("2024-03-08T14:59:59Z".parse().unwrap()));
    assert_eq!(
        (quote.bid.unwrap().micros(), quote.ask.unwrap().micros()),
        (189_100_000, 189_300_000)
    );
    assert_eq!(quote.vwap.unwrap().micros(), 188_123_456);
    assert_eq!(batch.bars[0].bar.date, date(2024, 3, 7));
    assert_eq!(batch.fundamentals[0].eps_ttm.unwrap().micros(), -1_250_000);
    assert_eq!(batch.fundamentals[1].as_of, date(2024, 3, 8));
    assert_eq!(batch.earnings[0].time, EarningsTime::AfterClose);
    assert_eq!(
        (
            batch.dividends[0].payment_date,
            batch.dividends[0].amount.unwrap().micros()
        ),
        (None, 240_000)
    );
    assert_eq!(batch.splits[0].ratio.micros(), 4_000_000);
    let trade = &batch.insider_transactions[0];
    assert_eq!(
        (trade.code, trade.side, trade.insider.as_str()),
        ('P', TransactionSide::Buy, "Jo Doe")
    );
    assert_eq!(batch.mentions[0].mentions, 12);
}

#[test]
fn numbers_and_numeric_strings_are_exact_to_six_decimals() {
    let price = |value: Value| {
        batch(&json!({"quotes": [with(quote(), "price", value)]})).quotes[0]
            .price
            .micros()
    };
    for (value, micros) in [
        (json!(198.66), 198_660_000),
        (json!("198.66"), 198_660_000),
        (json!(0.000001), 1),
        (json!(1e2), 100_000_000),
        (json!(123_456_789.123_456), 123_456_789_123_456),
        (json!(" 5 "), 5_000_000),
    ] {
        assert_eq!(price(value.clone()), micros, "{value}");
    }
}

#[test]
fn invalid_element_is_rejected_with_its_index() {
    let ingested = ingest(&json!({
        "quotes": [quote(), {"symbol": "AAPL"}, 5, quote()],
        "splits": [{"symbol": "AAPL", "date": "2024-06-10", "ratio": 0}],
    }));
    assert_eq!((ingested.accepted["quotes"], ingested.accepted["splits"]), (2, 0));
    let rejected: Vec<_> = ingested
        .rejected
        .iter()
        .map(|row| format!("{}[{}]: {}", row.kind, row.index, row.reason))
        .collect();
    assert_eq!(
        rejected,
        [
            "quotes[1]: price is missing; send it",
            "quotes[2]: must be an object",
            "splits[0]: ratio \"0\" is out of range; a split ratio is new shares per old share, 0.0001 to 10000",
        ]
    );
}

#[test]
fn rejects_invalid_prices() {
    let not_above_zero = "is not above zero; a price must be at least 0.000001";
    let no_number = "is not a number; write it like 198.66";
    for (value, expected) in [
        (json!(0), format!("price \"0\" {not_above_zero}")),
        (json!(-1.5), format!("price \"-1.5\" {not_above_zero}")),
        (json!("NaN"), format!("price \"NaN\" {no_number}")),
        (json!("inf"), format!("price \"inf\" {no_number}")),
        (json!(true), format!("price \"true\" {no_number}")),
        (json!(""), "price \"\" is empty; write a value".into()),
        (
            json!(2e9),
            "price \"2000000000.0\" is above the maximum price of 1000000000".into(),
        ),
        (json!([1]), "price must be a single value, not an array".into()),
        (json!({}), "price must be a single value, not an object".into()),
        (Value::Null, "price is missing; send it".into()),
    ] {
        assert_eq!(reason("quotes", with(quote(), "price", value)), expected);
    }
}

#[test]
fn volume_is_a_whole_number_up_to_the_limit() {
    let volume = |value: Value| with(quote(), "volume", value);
    assert_eq!(batch(&json!({"quotes": [volume(json!(0))]})).quotes[0].volume, Some(0));
    let most = batch(&json!({"quotes": [volume(json!(1_000_000_000_000_000_u64))]}));
    assert_eq!(most.quotes[0].volume, Some(1_000_000_000_000_000));
    assert_eq!(
        reason("quotes", volume(json!(-1))),
        "volume \"-1\" is below zero; write 0 or more"
    );
    assert_eq!(
        reason("quotes", volume(json!(0.5))),
        "volume \"0.5\" is not a whole number; write it without decimals"
    );
    assert_eq!(
        reason("quotes", volume(json!(1_000_000_000_000_001_u64))),
        "volume \"1000000000000001\" is too large; the limit is 1000000000000000"
    );
}

#[test]
fn quote_may_be_at_most_five_minutes_ahead() {
    let quote_at = |time: &str| with(quote(), "time", json!(time));
    batch(&json!({"quotes": [quote_at("2024-03-08T15:05:00Z"), quote_at("2024-03-08T10:05:00-05:00")]}));
    assert_eq!(
        reason("quotes", quote_at("2024-03-08T15:05:00.001Z")),
        "time 2024-03-08T15:05:00.001Z lies more than 5 minutes in the future; are the clock and the offset right?"
    );
    assert_eq!(
        reason("quotes", quote_at("2024-03-08T15:00:00")),
        "time \"2024-03-08T15:00:00\" is not a time; write it like 2024-03-08T14:30:00Z or 2024-03-08T09:30:00-05:00"
    );
    assert_eq!(
        reason(
            "mentions",
            json!({"symbol": "A", "time": "2024-03-08T16:00:00Z", "mentions": 1})
        ),
        "time 2024-03-08T16:00:00Z lies more than 5 minutes in the future; are the clock and the offset right?"
    );
    assert_eq!(
        reason("quotes", quote_at("1899-12-31T12:00:00Z")),
        "time 1899-12-31 lies before 1900; is the year right?"
    );
}

#[test]
fn rejects_bars_and_filings_of_tomorrow() {
    batch(&json!({"bars": [with(bar(), "date", json!("2024-03-08"))]}));
    assert_eq!(
        reason("bars", with(bar(), "date", json!("2024-03-09"))),
        "date 2024-03-09 lies in the future; send it when that day has come"
    );
    assert_eq!(
        reason("insider_transactions", with(insider(), "filed_on", json!("2024-03-09"))),
        "filed_on 2024-03-09 lies in the future; send it when that day has come"
    );
    assert_eq!(
        reason(
            "fundamentals",
            json!({"symbol": "A", "as_of": "2024-03-09", "eps_ttm": 1})
        ),
        "as_of 2024-03-09 lies in the future; send it when that day has come"
    );
}

#[test]
fn announced_date_is_at_most_1000_days_ahead() {
    batch(&json!({"earnings": [{"symbol": "A", "date": "2026-12-03"}]}));
    assert_eq!(
        reason("earnings", json!({"symbol": "A", "date": "2026-12-04"})),
        "date 2026-12-04 lies more than 1000 days ahead; is the year right?"
    );
    assert_eq!(
        reason(
            "dividends",
            json!({"symbol": "A", "ex_date": "2024-04-01", "payment_date": "2204-04-15"})
        ),
        "payment_date 2204-04-15 lies more than 1000 days ahead; is the year right?"
    );
}

#[test]
fn intraday_bar_begins_at_its_time() {
    let mut intraday = bar();
    intraday.as_object_mut().unwrap().remove("date");
    intraday["time"] = json!("2024-03-08T14:30:00Z");
    let batch = batch(&json!({"bars": [bar()], "intraday_bars": [intraday]}));
    let found = batch.intraday_bars[0].bar;
    assert_eq!(found.time, "2024-03-08T14:30:00Z".parse().unwrap());
    assert_eq!(found.with_date(batch.bars[0].bar.date), batch.bars[0].bar);
    assert_eq!(reason("intraday_bars", bar()), "time is missing; send it");
}

#[test]
fn rejects_contradictory_bars_and_bars_without_date() {
    assert_eq!(
        reason("bars", with(bar(), "high", json!(8))),
        "high 8 is below low 9; are the columns in order?"
    );
    let mut within = bar();
    within.as_object_mut().unwrap().remove("date");
    within["time"] = json!("2024-03-08T14:30:00Z");
    assert_eq!(
        reason("bars", within),
        "date is missing; send it, and bars of minutes as intraday_bars"
    );
}

#[test]
fn figures_may_be_negative_but_not_missing_or_too_large() {
    let fundamentals = |name: &str, value: Value| json!({"symbol": "A", name: value});
    batch(&json!({"fundamentals": [fundamentals("eps_ttm", json!(-10_000_000)), fundamentals("beta", json!(-0.5))]}));
    assert_eq!(
        reason("fundamentals", fundamentals("eps_ttm", json!(10_000_001))),
        "eps_ttm \"10000001\" is too large; the limit is 10000000"
    );
    assert_eq!(
        reason("fundamentals", fundamentals("market_cap", json!(-1))),
        "market_cap \"-1\" is below zero; write 0 or more"
    );
    assert_eq!(
        reason("fundamentals", fundamentals("eps", json!(1))),
        "has no figures; send at least one such as eps_ttm or eps_forward"
    );
}

#[test]
fn market_cap_that_is_too_large_is_dropped_from_its_row() {
    let read = |row: Value| batch(&json!({"fundamentals": [row]})).fundamentals[0];
    let kept = read(json!({"symbol": "A", "market_cap": 9_000_000_000_000_i64}));
    assert_eq!(kept.market_cap, "9000000000000".parse().ok());
    for too_large in [json!(9.3e12), json!("12000000000000"), json!(1e30)] {
        let kept = read(json!({"symbol": "A", "market_cap": too_large, "eps_ttm": 6.5}));
        assert_eq!((kept.market_cap, kept.eps_ttm), (None, "6.5".parse().ok()));
        assert_eq!(read(json!({"symbol": "A", "market_cap": too_large})).market_cap, None);
    }
    let below = json!({"symbol": "A", "market_cap": -9.3e12});
    assert!(reason("fundamentals", below).contains("too large"));
}

#[test]
fn name_is_plain_text_of_bounded_length() {
    let stock = |name: Value| json!({"symbol": "A", "name": name});
    batch(&json!({"stocks": [stock(json!("é".repeat(200)))]}));
    assert_eq!(
        reason("stocks", stock(json!("é".repeat(201)))),
        "name is longer than 200 characters; shorten it"
    );
    assert_eq!(
        reason("stocks", stock(json!("a\u{1b}[31m"))),
        "name has control characters; send plain text"
    );
    assert_eq!(reason("stocks", json!({"symbol": "A"})), "name is missing; send it");
    assert_eq!(
        reason("insider_transactions", with(insider(), "side", json!("up"))),
        "side \"up\" is not known; write buy or sell"
    );
}

#[test]
fn rejects_bodies_that_are_not_objects_of_arrays() {
    let refusal = |body: &str| parse(body.as_bytes(), now()).unwrap_err();
    assert!(matches!(refusal("{\"quotes\": ["), IngestError::NotJson(_)));
    assert!(matches!(
        refusal("{\"quotes\": [{\"price\": 1e999}]}"),
        IngestError::NotJson(_)
    ));
    assert!(matches!(refusal(&"[".repeat(10_000)), IngestError::NotJson(_)));
    assert_eq!(refusal("[]"), IngestError::NotAnObject);
    assert_eq!(refusal("{\"bars\": {}}"), IngestError::NotAnArray { kind: "bars" });
    assert_eq!(
        refusal("{\"bars\": {}}").to_string(),
        "bars must be an array of objects"
    );
}

#[test]
fn body_without_kinds_is_empty() {
    for body in [json!({}), json!({"quotes": null}), json!({"quote": [quote()]})] {
        assert_eq!(ingest(&body), IngestResult::default());
    }
    assert_eq!(ingest(&json!({"quotes": []})).accepted["quotes"], 0);
}

//! Batches with records of all kinds.

use ::market::Decimal;
use ::market::records::{EarningsTime, StockRow, TransactionSide};
use jiff::civil::date;

use super::*;

/// A batch with a record of each other kind, each with all of its members.
const RECORDS: &str = concat!(
    r#"{"origin":"67e55044-10b1-426f-9247-bb680e5fe0c8","sequence":7,"settled":5,"batch":{"position":41,"batch":{"#,
    r#""stocks":[{"symbol":"AAPL","name":"Apple Inc.","kind":"stock","sector":"Technology","industry":"Consumer Electronics","#,
    r#""country":"US","exchange":"NASDAQ","isin":"US0378331005","is_active":false}],"#,
    r#""bars":[{"symbol":"AAPL","bar":{"date":"2024-03-07","open":169000000,"high":170500000,"low":168250000,"close":169750000,"volume":71765100}}],"#,
    r#""intraday_bars":[{"symbol":"AAPL","bar":{"time":"2024-03-07T14:30:00Z","open":169000000,"high":169500000,"low":168900000,"close":169250000,"volume":9000}}],"#,
    r#""fundamentals":[{"symbol":"AAPL","as_of":"2024-02-02","eps_ttm":6430000,"eps_forward":6580000,"market_cap":2610000000000000000,"dividend_yield":560000,"dividend_amount":960000,"beta":1290000}],"#,
    r#""earnings":[{"symbol":"AAPL","date":"2024-05-02","time":"after_close","eps_estimate":1500000}],"#,
    r#""dividends":[{"symbol":"AAPL","ex_date":"2024-02-09","payment_date":"2024-02-15","amount":240000}],"#,
    r#""splits":[{"symbol":"AAPL","date":"2020-08-31","ratio":4000000}],"#,
    r#""withdrawn_filings":[{"symbol":"AAPL","insider":"DOE JANE","filed_on":"2024-03-05","traded_from":"2024-03-01","amended_on":"2024-03-07"}],"#,
    r#""insider_transactions":[{"symbol":"AAPL","filed_on":"2024-03-07","traded_on":"2024-03-04","insider":"DOE JANE","code":"S","side":"sell","shares":1500000000,"price":169000000}],"#,
    r#""mentions":[{"symbol":"AAPL","time":"2024-03-08T14:00:00Z","mentions":37}]}}}"#
);

/// As [`RECORDS`], without the members that are optional.
const SMALLEST_RECORDS: &str = r#"{
    "origin":"67e55044-10b1-426f-9247-bb680e5fe0c8","sequence":7,"batch":{"position":41,"batch":{
    "stocks":[{"symbol":"AAPL","name":"Apple Inc."}],
    "quotes":[{"symbol":"AAPL","price":190250000}],
    "fundamentals":[{"symbol":"AAPL","as_of":"2024-02-02"}],
    "earnings":[{"symbol":"AAPL","date":"2024-05-02"}],
    "dividends":[{"symbol":"AAPL","ex_date":"2024-02-09"}],
    "withdrawn_filings":[{"symbol":"AAPL","insider":"DOE JANE","amended_on":"2024-03-07"}],
    "insider_transactions":[{"symbol":"AAPL","filed_on":"2024-03-07","insider":"DOE JANE","code":"P","side":"buy","shares":0,"price":0}]}}}"#;

#[test]
fn records_of_all_kinds_have_the_form_of_the_released_version() {
    let read: MarketMessage = read(RECORDS);
    assert_eq!(String::from_utf8(encode(&read).unwrap()).unwrap(), RECORDS);
    let Content::Batch(received) = read.content else {
        panic!("it is no batch: {read:?}");
    };
    let batch = received.batch;
    assert_eq!((received.position, batch.len()), (41, 10));
    assert_eq!(
        (batch.stocks[0].name.as_str(), batch.stocks[0].is_active),
        ("Apple Inc.", false)
    );
    assert_eq!(batch.bars[0].bar.close, price(169_750_000));
    assert_eq!(batch.intraday_bars[0].bar.time, at("2024-03-07T14:30:00Z"));
    assert_eq!(batch.fundamentals[0].eps_ttm, Some(Decimal::from_micros(6_430_000)));
    assert_eq!(batch.earnings[0].time, EarningsTime::AfterClose);
    assert_eq!(batch.dividends[0].payment_date, Some(date(2024, 2, 15)));
    assert_eq!(batch.splits[0].date, date(2020, 8, 31));
    assert_eq!(batch.withdrawn_filings[0].amended_on, date(2024, 3, 7));
    assert_eq!(batch.insider_transactions[0].side, TransactionSide::Sell);
    assert_eq!(batch.mentions[0].mentions, 37);
}

#[test]
fn optional_members_may_be_missing() {
    let read: MarketMessage = read(SMALLEST_RECORDS);
    assert_eq!((read.sequence, read.settled), (7, 0));
    let Content::Batch(received) = read.content else {
        panic!("it is no batch: {read:?}");
    };
    let batch = received.batch;
    assert_eq!(batch.len(), 7);
    assert_eq!(batch.stocks, [StockRow::named(symbol("AAPL"), "Apple Inc.")]);
    assert_eq!(batch.quotes, [untimed_quote()]);
    assert_eq!(
        (batch.earnings[0].time, batch.earnings[0].eps_estimate),
        (EarningsTime::Unknown, None)
    );
    assert_eq!(
        (batch.dividends[0].payment_date, batch.dividends[0].amount),
        (None, None)
    );
    assert_eq!(batch.withdrawn_filings[0].filed_on, None);
    assert_eq!(batch.insider_transactions[0].traded_on, None);
}

#[test]
fn unknown_time_of_earnings_is_read_as_unknown() {
    let later = RECORDS.replace("after_close", "during_the_session");
    let Content::Batch(received) = read::<MarketMessage>(&later).content else {
        panic!("it is no batch: {later}");
    };
    assert_eq!(received.batch.earnings[0].time, EarningsTime::Unknown);
}

#[test]
fn unknown_members_of_records_are_ignored() {
    let later: MarketMessage = read(&with_unknown_members(RECORDS));
    assert_eq!(later, read(RECORDS));
}

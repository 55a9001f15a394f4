//! Reading validates values, takes defaults for missing members and ignores unknown members.

use market::records::{
    BarRow, Batch, EarningsRow, EarningsTime, InsiderRow, IntradayRow, QuoteRow, SplitRow, StockRow,
};
use market::{Decimal, Price};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(form: Value) -> T {
    serde_json::from_value(form).unwrap()
}

fn error<T: DeserializeOwned + std::fmt::Debug>(form: Value) -> String {
    serde_json::from_value::<T>(form).unwrap_err().to_string()
}

fn quote(symbol: &str, price: i64) -> Value {
    json!({"symbol": symbol, "price": price})
}

#[test]
fn quote_is_written_with_integers_of_millionths_and_without_empty_members() {
    let batch = Batch {
        quotes: vec![QuoteRow {
            symbol: "BRK.B".parse().unwrap(),
            price: "412.56".parse().unwrap(),
            volume: Some(1_200),
            time: Some("2024-03-08T15:00:00.25Z".parse().unwrap()),
            bid: None,
            ask: None,
            vwap: None,
        }],
        ..Batch::default()
    };
    assert_eq!(
        serde_json::to_string(&batch).unwrap(),
        r#"{"quotes":[{"symbol":"BRK.B","price":412560000,"volume":1200,"time":"2024-03-08T15:00:00.25Z"}]}"#
    );
}

#[test]
fn empty_batch_is_an_empty_object() {
    assert_eq!(serde_json::to_string(&Batch::default()).unwrap(), "{}");
    assert_eq!(read::<Batch>(json!({})), Batch::default());
}

#[test]
fn known_name_of_a_stock_is_all_that_is_written() {
    let stock = StockRow::named("AAPL".parse().unwrap(), "Apple");
    let form = json!({"symbol": "AAPL", "name": "Apple"});
    assert_eq!(serde_json::to_value(&stock).unwrap(), form);
    assert_eq!(read::<StockRow>(form), stock);
    let inactive = json!({"symbol": "AAPL", "name": "Apple", "is_active": false});
    assert!(!read::<StockRow>(inactive).is_active);
}

#[test]
fn rejects_an_invalid_symbol() {
    let wrong = error::<QuoteRow>(quote("AA PL", 1));
    assert_eq!(wrong, "a symbol consists of A-Z, 0-9, '.' and '-', but not ' '");
    assert!(error::<QuoteRow>(quote("", 1)).contains("must not be empty"));
    assert!(error::<QuoteRow>(quote("ABCDEFGHIJK", 1)).contains("at most 10 characters"));
    assert!(error::<QuoteRow>(json!({"symbol": 7, "price": 1})).contains("a ticker such as"));
    assert_eq!(read::<QuoteRow>(quote("ABCDEFGHIJ", 1)).symbol.as_str(), "ABCDEFGHIJ");
}

#[test]
fn reads_the_lowest_and_highest_price_and_rejects_those_beyond() {
    let highest = 1_000_000_000_000_000;
    for micros in [1, highest] {
        let read = read::<QuoteRow>(quote("AAPL", micros));
        assert_eq!(read.price, Price::from_micros(micros).unwrap());
    }
    let zero = error::<QuoteRow>(quote("AAPL", 0));
    assert_eq!(zero, "price 0 is not above zero; a price must be at least 0.000001");
    assert!(error::<QuoteRow>(quote("AAPL", -1)).contains("not above zero"));
    assert!(error::<QuoteRow>(quote("AAPL", highest + 1)).contains("above the maximum price"));
    let bid = json!({"symbol": "AAPL", "price": 1, "bid": 0});
    assert!(error::<QuoteRow>(bid).contains("not above zero"));
}

#[test]
fn rejects_a_price_that_is_not_an_integer() {
    for price in [
        json!(1.5),
        json!("1"),
        json!(null),
        json!(9_223_372_036_854_775_808_u64),
    ] {
        let form = json!({"symbol": "AAPL", "price": price});
        assert!(serde_json::from_value::<QuoteRow>(form).is_err(), "{price}");
    }
}

#[test]
fn rejects_a_split_ratio_out_of_range() {
    let split = |ratio: i64| json!({"symbol": "AAPL", "date": "2024-03-08", "ratio": ratio});
    assert_eq!(read::<SplitRow>(split(100)).ratio.micros(), 100);
    assert!(error::<SplitRow>(split(99)).contains("split ratio 0.000099 is out of range"));
    assert!(error::<SplitRow>(split(0)).contains("out of range"));
}

#[test]
fn rejects_an_inconsistent_bar() {
    let prices = |high: i64| json!({"open": 5, "high": high, "low": 4, "close": 5, "volume": 0});
    let daily = |high| {
        let mut bar = prices(high);
        bar["date"] = json!("2024-03-08");
        json!({"symbol": "AAPL", "bar": bar})
    };
    let part = |high| {
        let mut bar = prices(high);
        bar["time"] = json!("2024-03-08T15:00:00Z");
        json!({"symbol": "AAPL", "bar": bar})
    };
    assert_eq!(read::<BarRow>(daily(5)).bar.high.micros(), 5);
    assert_eq!(read::<IntradayRow>(part(5)).bar.high.micros(), 5);
    assert!(error::<BarRow>(daily(3)).contains("below low"));
    assert!(error::<IntradayRow>(part(3)).contains("below low"));
    assert!(error::<IntradayRow>(part(4)).contains("open 0.000005 lies outside"));
}

#[test]
fn missing_members_have_their_defaults_and_unknown_members_are_ignored() {
    let batch: Batch = read(json!({
        "quotes": [{"symbol": "AAPL", "price": 5, "trades": 7, "venue": {"name": "XNAS"}}],
        "halts": [{"symbol": "AAPL"}],
    }));
    assert_eq!(batch.len(), 1);
    let quote = batch.quotes[0];
    assert_eq!((quote.volume, quote.time), (None, None));
    assert_eq!((quote.bid, quote.ask, quote.vwap), (None, None, None));
}

#[test]
fn missing_required_member_is_an_error() {
    assert!(error::<QuoteRow>(json!({"symbol": "AAPL"})).contains("missing field `price`"));
}

#[test]
fn missing_or_unknown_time_of_earnings_is_unknown() {
    let mut form = json!({"symbol": "AAPL", "date": "2024-03-08"});
    assert_eq!(read::<EarningsRow>(form.clone()).time, EarningsTime::Unknown);
    form["time"] = json!("after_close");
    assert_eq!(read::<EarningsRow>(form.clone()).time, EarningsTime::AfterClose);
    form["time"] = json!("at_noon");
    assert_eq!(read::<EarningsRow>(form).time, EarningsTime::Unknown);
}

#[test]
fn unknown_side_of_a_transaction_is_an_error() {
    let form = |side: &str| {
        json!({"symbol": "AAPL", "filed_on": "2024-03-08", "insider": "DOE JANE", "code": "P", "side": side,
            "shares": 1_500_000, "price": -1})
    };
    let row: InsiderRow = read(form("buy"));
    assert_eq!(
        (row.shares, row.price),
        (Decimal::from_micros(1_500_000), Decimal::from_micros(-1))
    );
    assert!(error::<InsiderRow>(form("swap")).contains("unknown variant `swap`"));
}

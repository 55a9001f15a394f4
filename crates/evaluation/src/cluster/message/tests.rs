//! Messages as the released version writes them. Nodes of that version and of this one understand each other during an upgrade, so these
//! texts never change: a new version adds optional members, and new texts beside these.

mod records;

use ::market::records::QuoteRow;
use ::market::{Price, Symbol};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

const ORIGIN: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

fn origin() -> Uuid {
    ORIGIN.parse().unwrap()
}

fn symbol(text: &str) -> Symbol {
    text.parse().unwrap()
}

fn price(micros: i64) -> Price {
    Price::from_micros(micros).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A quote that has only a price.
fn untimed_quote() -> QuoteRow {
    QuoteRow {
        symbol: symbol("AAPL"),
        price: price(190_250_000),
        volume: None,
        time: None,
        bid: None,
        ask: None,
        vwap: None,
    }
}

fn message(sequence: u64, settled: u64, content: Content) -> MarketMessage {
    MarketMessage {
        origin: origin(),
        sequence,
        settled,
        content,
    }
}

fn batch_message(batch: Batch) -> MarketMessage {
    message(7, 5, Content::Batch(Box::new(ReceivedBatch { position: 41, batch })))
}

#[track_caller]
fn read<T: DeserializeOwned>(json: &str) -> T {
    decode(json.as_bytes()).unwrap_or_else(|| panic!("this message cannot be read: {json}"))
}

/// Asserts that a message is written as the released version writes it, and is read as it.
#[track_caller]
fn assert_form<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(released: &str, message: &T) {
    assert_eq!(&read::<T>(released), message);
    let written = String::from_utf8(encode(message).unwrap()).unwrap();
    assert_eq!(written, released);
}

/// Adds a member to each object in a message, as a later version may.
fn with_unknown_members(message: &str) -> String {
    fn add(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.values_mut().for_each(add);
                members.insert("of_a_later_version".to_owned(), json!({"nested": [1, null, "text"]}));
            }
            Value::Array(items) => items.iter_mut().for_each(add),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(message).unwrap();
    add(&mut value);
    value.to_string()
}

const QUOTES: &str = concat!(
    r#"{"origin":"67e55044-10b1-426f-9247-bb680e5fe0c8","sequence":7,"settled":5,"#,
    r#""batch":{"position":41,"batch":{"quotes":[{"symbol":"AAPL","price":190250000},"#,
    r#"{"symbol":"BRK.B","price":412560000,"volume":1200,"time":"2024-03-08T15:00:00.25Z","#,
    r#""bid":412550000,"ask":412570000,"vwap":411000000}]}}}"#
);

fn quotes() -> MarketMessage {
    let full = QuoteRow {
        symbol: symbol("BRK.B"),
        price: price(412_560_000),
        volume: Some(1_200),
        time: Some(at("2024-03-08T15:00:00.25Z")),
        bid: Some(price(412_550_000)),
        ask: Some(price(412_570_000)),
        vwap: Some(price(411_000_000)),
    };
    batch_message(Batch {
        quotes: vec![untimed_quote(), full],
        ..Batch::default()
    })
}

const MISSED: &str = concat!(
    r#"{"origin":"67e55044-10b1-426f-9247-bb680e5fe0c8","sequence":8,"settled":7,"#,
    r#""missed":{"position":42,"missed":{"quotes":[{"symbol":"AAPL","price":190250000,"time":"2024-03-08T14:59:00Z"}],"#,
    r#""is_behind":true,"complete":["AAPL","MSFT"]}}}"#
);

fn missed() -> MarketMessage {
    let quote = QuoteRow {
        time: Some(at("2024-03-08T14:59:00Z")),
        ..untimed_quote()
    };
    let missed = MissedQuotes {
        quotes: vec![quote],
        is_behind: true,
        complete: vec![symbol("AAPL"), symbol("MSFT")],
    };
    message(8, 7, Content::Missed(ReceivedPeriod { position: 42, missed }))
}

const BEAT: &str = r#"{"origin":"67e55044-10b1-426f-9247-bb680e5fe0c8","sequence":8,"settled":7,"beat":314}"#;
/// Of an earlier version, without rejected quotes.
const FORMER_ACKNOWLEDGEMENT: &str = r#"{"sequence":8,"shards":[0,63,64,255]}"#;
const ACKNOWLEDGEMENT: &str =
    r#"{"sequence":8,"shards":[0,63,64,255],"rejected":[{"index":3,"reason":"this one is older"}]}"#;
const REQUEST: &str = r#"{"from":3,"until":9}"#;
const HINT: &str = "[3,129]";

fn shards(numbers: &[u8]) -> ShardSet {
    numbers.to_vec().into()
}

#[test]
fn quotes_have_the_form_of_the_released_version() {
    assert_form(QUOTES, &quotes());
}

#[test]
fn missed_period_has_the_form_of_the_released_version() {
    assert_form(MISSED, &missed());
}

#[test]
fn beat_has_the_form_of_the_released_version() {
    assert_form(BEAT, &message(8, 7, Content::Beat(314)));
}

fn acknowledgement(rejected: Option<Vec<RejectedQuote>>) -> Acknowledgement {
    Acknowledgement {
        sequence: 8,
        shards: shards(&[0, 63, 64, 255]),
        rejected,
    }
}

#[test]
fn acknowledgement_of_an_earlier_version_can_be_read() {
    assert_eq!(read::<Acknowledgement>(FORMER_ACKNOWLEDGEMENT), acknowledgement(None));
}

#[test]
fn acknowledgement_can_be_read_by_an_earlier_version() {
    let reason = "this one is older".to_owned();
    let rejected = vec![RejectedQuote { index: 3, reason }];
    assert_form(ACKNOWLEDGEMENT, &acknowledgement(Some(rejected)));
    /// The members of that version.
    #[derive(serde::Deserialize)]
    struct Earlier {
        sequence: u64,
        shards: ShardSet,
    }
    let read: Earlier = read(ACKNOWLEDGEMENT);
    assert_eq!((read.sequence, read.shards), (8, shards(&[0, 63, 64, 255])));
}

#[test]
fn request_for_missed_messages_has_the_form_of_the_released_version() {
    assert_form(REQUEST, &MissedMessages { from: 3, until: 9 });
}

#[test]
fn hint_of_changed_alerts_has_the_form_of_the_released_version() {
    assert_form(HINT, &shards(&[3, 129]));
}

#[test]
fn content_may_be_empty() {
    let of_origin = |content: &str| format!(r#"{{"origin":"{ORIGIN}","sequence":1,{content}}}"#);
    let empty: MarketMessage = read(&of_origin(r#""batch":{"position":0,"batch":{}}"#));
    let batch = Batch::default();
    let expected = Content::Batch(Box::new(ReceivedBatch { position: 0, batch }));
    assert_eq!(empty, message(1, 0, expected));
    let empty: MarketMessage = read(&of_origin(r#""missed":{"position":0,"missed":{}}"#));
    let missed = MissedQuotes::default();
    assert_eq!(
        empty,
        message(1, 0, Content::Missed(ReceivedPeriod { position: 0, missed }))
    );
    assert_eq!(
        read::<MarketMessage>(&of_origin(r#""beat":0"#)),
        message(1, 0, Content::Beat(0))
    );
}

#[test]
fn unknown_members_are_ignored() {
    for released in [QUOTES, MISSED, BEAT] {
        let later: MarketMessage = read(&with_unknown_members(released));
        assert_eq!(later, read(released), "{released}");
    }
    let later: Acknowledgement = read(&with_unknown_members(ACKNOWLEDGEMENT));
    assert_eq!(later, read(ACKNOWLEDGEMENT));
    let later: MissedMessages = read(&with_unknown_members(REQUEST));
    assert_eq!(later, read(REQUEST));
}

#[test]
fn message_that_cannot_be_read_is_left_out() {
    let of_origin = |content: &str| format!(r#"{{"origin":"{ORIGIN}","sequence":1,{content}}}"#);
    for unreadable in [
        of_origin(r#""of_a_later_version":{"position":0}"#),
        of_origin(r#""batch":{"position":0,"batch":{"quotes":[{"symbol":"AAPL","price":-1}]}}"#),
        "{}".to_owned(),
        "not JSON".to_owned(),
    ] {
        assert_eq!(decode::<MarketMessage>(unreadable.as_bytes()), None, "{unreadable}");
    }
    assert_eq!(decode::<Acknowledgement>(br#"{"sequence":1,"shards":[256]}"#), None);
}

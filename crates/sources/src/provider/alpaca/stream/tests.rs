use super::*;

fn stream() -> AlpacaStream {
    let key = ProviderKey::new("key").unwrap();
    let config = AlpacaConfig::free(key.clone(), key);
    AlpacaStream::new(
        &config,
        &ProviderUrl::websocket("stream_url", &config.stream_url).unwrap(),
    )
}

fn outcome(message: &str) -> (StreamMessageOutcome, Vec<Tick>) {
    let mut ticks = Vec::new();
    let outcome = stream().parse_message(message.as_bytes(), &mut ticks);
    (outcome, ticks)
}

fn trade(members: &str) -> (StreamMessageOutcome, Vec<Tick>) {
    outcome(&format!(
        r#"[{{"T":"t","i":96921,"S":"AAPL","x":"D","s":100,"t":"2021-02-22T15:51:44.208Z",{members},"z":"C"}}]"#
    ))
}

#[test]
fn parses_a_trade() {
    let (_, ticks) = trade(r#""p":126.55,"c":["@"]"#);
    let expected = Tick::Trade {
        symbol: "AAPL".parse().unwrap(),
        price: "126.55".parse().unwrap(),
        time: "2021-02-22T15:51:44.208Z".parse().unwrap(),
    };
    assert_eq!(ticks, [expected]);
}

#[test]
fn odd_lot_is_skipped() {
    let (outcome, ticks) = trade(r#""p":126.55,"c":["@","I"]"#);
    assert_eq!((outcome.skipped_trades, ticks.len()), (1, 0));
}

#[test]
fn invalid_price_is_counted_as_unreadable() {
    for price in ["0", "-1", "null", "\"NaN\"", "1e300"] {
        let (outcome, ticks) = trade(&format!(r#""p":{price},"c":["@"]"#));
        assert_eq!((outcome.unreadable, ticks.len()), (1, 0), "{price}");
    }
}

#[test]
fn minute_close_is_stamped_with_the_end_of_the_minute() {
    let (_, ticks) = outcome(
        r#"[{"T":"b","S":"SPY","o":388.985,"h":389.13,"l":388.975,"c":389.12,"v":49378,"t":"2021-02-22T19:15:00Z"}]"#,
    );
    let [Tick::Trade { price, time, .. }] = ticks[..] else {
        panic!("{ticks:?}");
    };
    assert_eq!(
        (price.to_string().as_str(), time.to_string().as_str()),
        ("389.12", "2021-02-22T19:16:00Z")
    );
}

#[test]
fn zero_is_no_bid() {
    let (_, ticks) = outcome(
        r#"[{"T":"q","S":"AAPL","bx":"U","bp":0,"bs":0,"ax":"Q","ap":87.68,"as":4,"t":"2021-02-22T15:51:45.3355677Z"}]"#,
    );
    let [Tick::TopOfBook { bid, ask, .. }] = ticks[..] else {
        panic!("{ticks:?}");
    };
    assert_eq!((bid, ask.map(|ask| ask.to_string())), (None, Some("87.68".into())));
}

#[test]
fn volume_of_one_exchange_is_ignored() {
    let (outcome, ticks) =
        outcome(r#"[{"T":"d","S":"AAPL","o":1,"h":1,"l":1,"c":1,"v":5,"t":"2021-02-22T05:00:00Z"}]"#);
    assert_eq!((outcome, ticks.len()), (StreamMessageOutcome::default(), 0));
}

#[test]
fn login_is_confirmed_by_authenticated_message() {
    assert!(!outcome(r#"[{"T":"success","msg":"connected"}]"#).0.is_authenticated);
    assert!(outcome(r#"[{"T":"success","msg":"authenticated"}]"#).0.is_authenticated);
}

#[test]
fn maps_error_messages() {
    let (outcome, _) = outcome(r#"[{"T":"error","code":406,"msg":"connection limit exceeded"}]"#);
    assert_eq!(outcome.error, Some(StreamError::TooManyConnections));
}

#[test]
fn unsubscribes_before_subscribing() {
    let symbols = |texts: &[&str]| -> Vec<Symbol> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    assert_eq!(
        stream().subscribe(&symbols(&["AAPL", "BRK-B"]), &symbols(&["MSFT"])),
        [
            r#"{"action":"unsubscribe","trades":["MSFT"]}"#,
            r#"{"action":"subscribe","trades":["AAPL","BRK.B"]}"#
        ]
    );
}

use crate::provider::stream::StreamError;

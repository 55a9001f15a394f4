use super::*;

fn stream() -> AlpacaStream {
    let key = Key::new("key").unwrap();
    let config = Config::free(key.clone(), key);
    AlpacaStream::new(&config, &Address::websocket(&config.stream_url).unwrap())
}

fn heard(message: &str) -> (Heard, Vec<Tick>) {
    let mut ticks = Vec::new();
    let heard = stream().hear(message.as_bytes(), &mut ticks);
    (heard, ticks)
}

fn trade(members: &str) -> (Heard, Vec<Tick>) {
    heard(&format!(
        r#"[{{"T":"t","i":96921,"S":"AAPL","x":"D","s":100,"t":"2021-02-22T15:51:44.208Z",{members},"z":"C"}}]"#
    ))
}

#[test]
fn a_trade_is_a_price_and_its_time() {
    let (_, ticks) = trade(r#""p":126.55,"c":["@"]"#);
    let expected = Tick::Trade {
        symbol: "AAPL".parse().unwrap(),
        price: "126.55".parse().unwrap(),
        time: "2021-02-22T15:51:44.208Z".parse().unwrap(),
    };
    assert_eq!(ticks, [expected]);
}

#[test]
fn an_odd_lot_makes_no_last_price() {
    let (heard, ticks) = trade(r#""p":126.55,"c":["@","I"]"#);
    assert_eq!((heard.passed_over, ticks.len()), (1, 0));
}

#[test]
fn a_price_that_is_none_is_counted() {
    for price in ["0", "-1", "null", "\"NaN\"", "1e300"] {
        let (heard, ticks) = trade(&format!(r#""p":{price},"c":["@"]"#));
        assert_eq!((heard.unreadable, ticks.len()), (1, 0), "{price}");
    }
}

#[test]
fn a_minutes_close_was_made_at_its_end() {
    let (_, ticks) = heard(
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
    let (_, ticks) = heard(
        r#"[{"T":"q","S":"AAPL","bx":"U","bp":0,"bs":0,"ax":"Q","ap":87.68,"as":4,"t":"2021-02-22T15:51:45.3355677Z"}]"#,
    );
    let [Tick::Book { bid, ask, .. }] = ticks[..] else {
        panic!("{ticks:?}");
    };
    assert_eq!((bid, ask.map(|ask| ask.to_string())), (None, Some("87.68".into())));
}

#[test]
fn the_volume_of_one_exchange_is_not_told() {
    let (heard, ticks) = heard(r#"[{"T":"d","S":"AAPL","o":1,"h":1,"l":1,"c":1,"v":5,"t":"2021-02-22T05:00:00Z"}]"#);
    assert_eq!((heard, ticks.len()), (Heard::default(), 0));
}

#[test]
fn it_knows_who_asks_once_it_says_so() {
    assert!(!heard(r#"[{"T":"success","msg":"connected"}]"#).0.ready);
    assert!(heard(r#"[{"T":"success","msg":"authenticated"}]"#).0.ready);
}

#[test]
fn a_complaint_is_heard() {
    let (heard, _) = heard(r#"[{"T":"error","code":406,"msg":"connection limit exceeded"}]"#);
    assert_eq!(heard.fault, Some(StreamFault::Crowded));
}

#[test]
fn what_changes_is_said_and_room_is_made_first() {
    let symbols = |texts: &[&str]| -> Vec<Symbol> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    assert_eq!(
        stream().subscribe(&symbols(&["AAPL", "BRK-B"]), &symbols(&["MSFT"])),
        [
            r#"{"action":"unsubscribe","trades":["MSFT"]}"#,
            r#"{"action":"subscribe","trades":["AAPL","BRK.B"]}"#
        ]
    );
}

use crate::provider::stream::StreamFault;

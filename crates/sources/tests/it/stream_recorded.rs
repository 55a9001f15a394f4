//! Closes of years in the format of each stream: all are parsed exactly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use clock::ManualClock;
use jiff::Timestamp;
use market::calendar::new_york;
use market::{Calendar, Price, Symbol};
use sources::folder;
use sources::provider::http::AdapterSetup;
use sources::provider::stream::Tick;
use sources::provider::{Provider, ProviderKey, alpaca, finnhub, massive};
use testdata::TestMarketData;

/// A close as a trade.
type Trade = (Symbol, Price, Timestamp);

/// All closes of the stocks as they were traded.
fn closes(source: &TestMarketData) -> Vec<Trade> {
    let (data, _) = folder::read(&source.path("unadjusted"), &Calendar::nyse(), |_| {}).unwrap();
    let closes = data.bars.iter().flat_map(|(&symbol, bars)| {
        let trade = move |bar: &market::Bar| (symbol, bar.close, new_york(bar.date, 16, 0));
        bars.daily.iter().map(trade)
    });
    closes.collect()
}

fn setup() -> AdapterSetup {
    AdapterSetup::new(Arc::new(ManualClock::new("2024-03-08T15:30:00Z".parse().unwrap())), 1)
}

fn key() -> ProviderKey {
    ProviderKey::new("key").unwrap()
}

/// Sends all trades, fifty in a message, and checks that each of them is parsed exactly.
fn are_heard(provider: &dyn Provider, message: impl Fn(&[Trade]) -> String) {
    let source = TestMarketData::find();
    let trades = closes(&source);
    let mut stream = provider.stream().unwrap();
    let mut ticks = Vec::new();
    for some in trades.chunks(50) {
        let heard = stream.parse_message(message(some).as_bytes(), &mut ticks);
        assert_eq!(heard, Default::default());
    }
    let expected: Vec<Tick> = trades
        .iter()
        .map(|&(symbol, price, time)| Tick::Trade { symbol, price, time })
        .collect();
    assert!(ticks == expected, "{} of {} were heard", ticks.len(), expected.len());
    assert!(expected.len() > source.pick(50_000, 2_500));
}

fn joined(trades: &[Trade], one: impl Fn(&Trade) -> String) -> String {
    trades.iter().map(one).collect::<Vec<_>>().join(",")
}

#[test]
fn alpaca_stream_parses_recorded_prices_exactly() {
    let provider = alpaca::Alpaca::new(alpaca::AlpacaConfig::free(key(), key()), &setup()).unwrap();
    are_heard(&provider, |trades| {
        let one = |(symbol, price, time): &Trade| {
            format!(r#"{{"T":"t","i":1,"S":"{symbol}","x":"V","p":{price},"s":100,"t":"{time}","c":["@"],"z":"C"}}"#)
        };
        format!("[{}]", joined(trades, one))
    });
}

#[test]
fn finnhub_stream_parses_recorded_prices_exactly() {
    let provider = finnhub::Finnhub::new(finnhub::FinnhubConfig::free(key()), &setup()).unwrap();
    are_heard(&provider, |trades| {
        let one = |(symbol, price, time): &Trade| {
            let millis = time.as_millisecond();
            format!(r#"{{"c":["1"],"p":{price},"s":"{symbol}","t":{millis},"v":100}}"#)
        };
        format!(r#"{{"data":[{}],"type":"trade"}}"#, joined(trades, one))
    });
}

#[test]
fn massive_stream_parses_recorded_prices_exactly() {
    let config = massive::MassiveConfig::new(key(), massive::MassivePlan::RealTime);
    let provider = massive::Massive::new(config, &setup()).unwrap();
    are_heard(&provider, |trades| {
        let one = |(symbol, price, time): &Trade| {
            let millis = time.as_millisecond();
            format!(
                r#"{{"ev":"T","sym":"{symbol}","x":4,"i":"1","z":3,"p":{price},"s":100,"c":[14],"t":{millis},"q":1}}"#
            )
        };
        format!("[{}]", joined(trades, one))
    });
}

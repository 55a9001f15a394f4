//! Finnhub's stream: trades.
//!
//! ```text
//! → {"type":"subscribe","symbol":"AAPL"}
//! ← {"data":[{"c":["1"],"p":171.2,"s":"AAPL","t":1709911800123,"v":100}],"type":"trade"}
//! ← {"type":"ping"}
//! ```
//!
//! It knows who asks by the address. It answers a wrong key with 401 and too many connections with 429, before there is a stream.

use jiff::Timestamp;
use market::Symbol;
use serde_json::json;
use url::Url;

use super::{Config, NAME};
use crate::provider::http::Address;
use crate::provider::stream::{Broken, Heard, Protocol, Scan, StreamFault, Tick, Value};
use crate::provider::symbols::Style;

/// How one talks with Finnhub's stream.
pub struct FinnhubStream {
    url: Url,
    most_symbols: Option<usize>,
}

impl FinnhubStream {
    /// With this account.
    pub(super) fn new(config: &Config, stream: &Address) -> Self {
        Self {
            url: stream.at(&[], &[("token", config.key.expose())]),
            most_symbols: config
                .stream_symbols
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }
}

impl Protocol for FinnhubStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn greet(&mut self) -> (Vec<String>, bool) {
        (Vec::new(), true)
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        let about = |action: &'static str| {
            move |&symbol: &Symbol| json!({"type": action, "symbol": Style::Dot.write(symbol)}).to_string()
        };
        remove
            .iter()
            .map(about("unsubscribe"))
            .chain(add.iter().map(about("subscribe")))
            .collect()
    }

    fn hear(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> Heard {
        let mut heard = Heard::default();
        if read(message, ticks, &mut heard).is_err() {
            heard.unreadable += 1;
        }
        heard
    }

    fn most_symbols(&self) -> Option<usize> {
        self.most_symbols
    }
}

fn read(message: &[u8], ticks: &mut Vec<Tick>, heard: &mut Heard) -> Result<(), Broken> {
    let mut scan = Scan::new(message);
    scan.open_object()?;
    let (mut kind, mut data, mut msg, mut is_first): (&[u8], &[u8], &[u8], bool) = (b"", b"", b"", true);
    while let Some((name, value)) = scan.next_member(&mut is_first)? {
        match name {
            b"type" => kind = value.bytes(),
            b"data" => data = value.bytes(),
            b"msg" => msg = value.bytes(),
            _ => {}
        }
    }
    match kind {
        b"trade" => trades(data, ticks, heard),
        b"error" => {
            heard.fault = Some(fault(msg));
            Ok(())
        }
        // A ping needs no answer.
        b"ping" => Ok(()),
        _ => Err(Broken),
    }
}

/// The documentation shows no errors; these words are in those that people report.
fn fault(message: &[u8]) -> StreamFault {
    let says = |words: &[u8]| {
        message
            .windows(words.len())
            .any(|window| window.eq_ignore_ascii_case(words))
    };
    if says(b"api key") || says(b"token") {
        StreamFault::Unauthorized
    } else if says(b"too many") {
        StreamFault::TooManySymbols
    } else {
        StreamFault::Other(0)
    }
}

fn trades(data: &[u8], ticks: &mut Vec<Tick>, heard: &mut Heard) -> Result<(), Broken> {
    let (mut scan, mut is_first) = (Scan::new(data), true);
    while scan.next_object(&mut is_first)? {
        let (mut symbol, mut price, mut time, mut is_first) = (None, None, None, true);
        while let Some((name, value)) = scan.next_member(&mut is_first)? {
            match name {
                b"s" => symbol = value.symbol(),
                b"p" => price = value.price(),
                b"t" => time = millis(value),
                _ => {}
            }
        }
        match (symbol, price, time) {
            (Some(symbol), Some(price), Some(time)) => ticks.push(Tick::Trade { symbol, price, time }),
            _ => heard.unreadable += 1,
        }
    }
    Ok(())
}

/// An instant in milliseconds since 1970.
pub(in crate::provider) fn millis(value: Value<'_>) -> Option<Timestamp> {
    Timestamp::from_millisecond(value.whole()?).ok()
}

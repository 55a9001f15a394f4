//! Finnhub's stream: trades.
//!
//! ```text
//! → {"type":"subscribe","symbol":"AAPL"}
//! ← {"data":[{"c":["1"],"p":171.2,"s":"AAPL","t":1709911800123,"v":100}],"type":"trade"}
//! ← {"type":"ping"}
//! ```
//!
//! The URL contains the key. A wrong key fails the handshake with 401, and too many connections with 429.

use market::Symbol;
use serde_json::json;
use url::Url;

use super::{FinnhubConfig, NAME};
use crate::provider::http::ProviderUrl;
use crate::provider::stream::{JsonScanner, MalformedJson, StreamError, StreamMessageOutcome, StreamProtocol, Tick};
use crate::provider::ticker_style::TickerStyle;

/// The protocol of Finnhub's stream.
pub struct FinnhubStream {
    url: Url,
    max_symbols: Option<usize>,
}

impl FinnhubStream {
    /// Creates the protocol for the configured stream URL.
    pub(super) fn new(config: &FinnhubConfig, stream: &ProviderUrl) -> Self {
        Self {
            url: stream.join(&[], &[("token", config.key.expose())]),
            max_symbols: config
                .stream_symbols
                .map(|max| usize::try_from(max).unwrap_or(usize::MAX)),
        }
    }
}

impl StreamProtocol for FinnhubStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn login_messages(&mut self) -> (Vec<String>, bool) {
        (Vec::new(), true)
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        let message = |action: &'static str| {
            move |&symbol: &Symbol| json!({"type": action, "symbol": TickerStyle::Dot.write(symbol)}).to_string()
        };
        remove
            .iter()
            .map(message("unsubscribe"))
            .chain(add.iter().map(message("subscribe")))
            .collect()
    }

    fn parse_message(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> StreamMessageOutcome {
        let mut outcome = StreamMessageOutcome::default();
        if read(message, ticks, &mut outcome).is_err() {
            outcome.unreadable += 1;
        }
        outcome
    }

    fn max_symbols(&self) -> Option<usize> {
        self.max_symbols
    }
}

fn read(message: &[u8], ticks: &mut Vec<Tick>, outcome: &mut StreamMessageOutcome) -> Result<(), MalformedJson> {
    let mut scan = JsonScanner::new(message);
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
        b"trade" => trades(data, ticks, outcome),
        b"error" => {
            outcome.error = Some(error_kind(msg));
            Ok(())
        }
        // A ping needs no reply.
        b"ping" => Ok(()),
        _ => Err(MalformedJson),
    }
}

/// Maps an error message. Errors are undocumented; these words occur in user reports.
fn error_kind(message: &[u8]) -> StreamError {
    let contains = |words: &[u8]| {
        message
            .windows(words.len())
            .any(|window| window.eq_ignore_ascii_case(words))
    };
    if contains(b"api key") || contains(b"token") {
        StreamError::Unauthorized
    } else if contains(b"too many") {
        StreamError::TooManySymbols
    } else {
        StreamError::Other(0)
    }
}

fn trades(data: &[u8], ticks: &mut Vec<Tick>, outcome: &mut StreamMessageOutcome) -> Result<(), MalformedJson> {
    let (mut scan, mut is_first) = (JsonScanner::new(data), true);
    while scan.next_object(&mut is_first)? {
        let (mut symbol, mut price, mut time, mut is_first) = (None, None, None, true);
        while let Some((name, value)) = scan.next_member(&mut is_first)? {
            match name {
                b"s" => symbol = value.symbol(),
                b"p" => price = value.price(),
                b"t" => time = value.epoch_millis(),
                _ => {}
            }
        }
        match (symbol, price, time) {
            (Some(symbol), Some(price), Some(time)) => ticks.push(Tick::Trade { symbol, price, time }),
            _ => outcome.unreadable += 1,
        }
    }
    Ok(())
}

//! Massive's stream: trades, and minute bars with the session's volume so far.
//!
//! ```text
//! ← [{"ev":"status","status":"connected","message":"Connected Successfully"}]
//! → {"action":"auth","params":"…"}
//! ← [{"ev":"status","status":"auth_success","message":"authenticated"}]
//! → {"action":"subscribe","params":"T.AAPL,AM.AAPL"}
//! ← [{"ev":"T","sym":"MSFT","x":4,"i":"12345","z":3,"p":114.125,"s":100,"c":[0,12],"t":1536036818784,"q":3681328}]
//! ```
//!
//! Trade conditions are numbers from the glossary "Conditions & Indicators". Trades with a condition that excludes them from the last
//! price on the tapes are skipped, except those of extended hours (12): they are the prices of these hours.

use market::Symbol;
use serde_json::json;
use url::Url;

use super::{MassiveConfig, NAME};
use crate::provider::ProviderKey;
use crate::provider::http::ProviderUrl;
use crate::provider::stream::{
    JsonScanner, MalformedJson, ScannedValue, StreamError, StreamMessageOutcome, StreamProtocol, Tick,
};
use crate::provider::ticker_style::TickerStyle;

/// Average price, cash sale, derivatively priced, extended hours sold out of sequence, official close, official open, next day, price
/// variation, prior reference price, seller, sold out of sequence, odd lot, contingent, qualified contingent.
const EXCLUDED_CONDITIONS: &[i64] = &[2, 7, 10, 13, 15, 16, 20, 21, 22, 29, 33, 37, 52, 53];

/// Number of symbols per subscription message.
const SYMBOLS_PER_MESSAGE: usize = 500;

/// The protocol of Massive's stream.
pub struct MassiveStream {
    url: Url,
    key: ProviderKey,
}

impl MassiveStream {
    /// Creates the protocol for `{stream}/stocks`.
    pub(super) fn new(config: &MassiveConfig, stream: &ProviderUrl) -> Self {
        Self {
            url: stream.join(&["stocks"], &[]),
            key: config.key.clone(),
        }
    }
}

impl StreamProtocol for MassiveStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn login_messages(&mut self) -> (Vec<String>, bool) {
        (
            vec![json!({"action": "auth", "params": self.key.expose()}).to_string()],
            false,
        )
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        let channel_messages = |action: &'static str, symbols: &[Symbol]| {
            let names = |symbols: &[Symbol]| {
                let each = symbols.iter().map(|&symbol| TickerStyle::Dot.write(symbol));
                each.map(|name| format!("T.{name},AM.{name}"))
                    .collect::<Vec<_>>()
                    .join(",")
            };
            let message = |symbols| json!({"action": action, "params": names(symbols)}).to_string();
            symbols.chunks(SYMBOLS_PER_MESSAGE).map(message).collect::<Vec<_>>()
        };
        [
            channel_messages("unsubscribe", remove),
            channel_messages("subscribe", add),
        ]
        .concat()
    }

    fn parse_message(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> StreamMessageOutcome {
        let mut outcome = StreamMessageOutcome::default();
        if read(message, ticks, &mut outcome).is_err() {
            outcome.unreadable += 1;
        }
        outcome
    }
}

/// The relevant fields of a message.
#[derive(Default)]
struct MessageFields<'a> {
    kind: &'a [u8],
    symbol: Option<ScannedValue<'a>>,
    p: Option<ScannedValue<'a>>,
    t: Option<ScannedValue<'a>>,
    /// The conditions of a trade, or the close of a minute.
    c: Option<ScannedValue<'a>>,
    end: Option<ScannedValue<'a>>,
    volume: Option<ScannedValue<'a>>,
    status: &'a [u8],
}

fn read(message: &[u8], ticks: &mut Vec<Tick>, outcome: &mut StreamMessageOutcome) -> Result<(), MalformedJson> {
    let (mut scan, mut is_first) = (JsonScanner::new(message), true);
    while scan.next_object(&mut is_first)? {
        let (mut members, mut is_first) = (MessageFields::default(), true);
        while let Some((name, value)) = scan.next_member(&mut is_first)? {
            match name {
                b"ev" => members.kind = value.bytes(),
                b"sym" => members.symbol = Some(value),
                b"p" => members.p = Some(value),
                b"t" => members.t = Some(value),
                b"c" => members.c = Some(value),
                b"e" => members.end = Some(value),
                b"av" => members.volume = Some(value),
                b"status" => members.status = value.bytes(),
                _ => {}
            }
        }
        members.apply(ticks, outcome);
    }
    Ok(())
}

impl MessageFields<'_> {
    fn apply(&self, ticks: &mut Vec<Tick>, outcome: &mut StreamMessageOutcome) {
        let is_read = match self.kind {
            b"T" if !self.updates_last_price() => {
                outcome.skipped_trades += 1;
                true
            }
            b"T" => self.trade(self.p, self.t, ticks).is_some(),
            b"AM" => self.minute(ticks).is_some(),
            b"status" => {
                self.status(outcome);
                true
            }
            // Other events are ignored. A message without an event is unreadable.
            other => !other.is_empty(),
        };
        outcome.unreadable += u64::from(!is_read);
    }

    fn updates_last_price(&self) -> bool {
        let Some(ScannedValue::Nested(conditions)) = self.c else {
            return true;
        };
        let numbers = conditions
            .split(|byte| !byte.is_ascii_digit())
            .filter(|digits| !digits.is_empty());
        !numbers
            .filter_map(|digits| ScannedValue::Bare(digits).integer())
            .any(|number| EXCLUDED_CONDITIONS.contains(&number))
    }

    fn trade(
        &self,
        price: Option<ScannedValue<'_>>,
        time: Option<ScannedValue<'_>>,
        ticks: &mut Vec<Tick>,
    ) -> Option<()> {
        ticks.push(Tick::Trade {
            symbol: self.symbol?.symbol()?,
            price: price?.price()?,
            time: time?.epoch_millis()?,
        });
        Some(())
    }

    fn minute(&self, ticks: &mut Vec<Tick>) -> Option<()> {
        let (symbol, volume) = (self.symbol?.symbol()?, self.volume?.shares()?);
        self.trade(self.c, self.end, ticks)?;
        ticks.push(Tick::Volume { symbol, volume });
        Some(())
    }

    fn status(&self, outcome: &mut StreamMessageOutcome) {
        match self.status {
            b"auth_success" => outcome.is_authenticated = true,
            b"auth_failed" => outcome.error = Some(StreamError::Unauthorized),
            b"max_connections" => outcome.error = Some(StreamError::TooManyConnections),
            b"not_authorized" => outcome.error = Some(StreamError::Forbidden),
            // Other status messages, such as "connected", are ignored.
            _ => {}
        }
    }
}

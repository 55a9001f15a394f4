//! Massive's stream: trades, and minutes with the session's volume so far.
//!
//! ```text
//! ← [{"ev":"status","status":"connected","message":"Connected Successfully"}]
//! → {"action":"auth","params":"…"}
//! ← [{"ev":"status","status":"auth_success","message":"authenticated"}]
//! → {"action":"subscribe","params":"T.AAPL,AM.AAPL"}
//! ← [{"ev":"T","sym":"MSFT","x":4,"i":"12345","z":3,"p":114.125,"s":100,"c":[0,12],"t":1536036818784,"q":3681328}]
//! ```
//!
//! Conditions of trades are numbers, by the glossary "Conditions & Indicators"; those that make no last price on the tapes are
//! left out.

use market::Symbol;
use serde_json::json;
use url::Url;

use super::{Config, NAME};
use crate::provider::Key;
use crate::provider::finnhub::millis;
use crate::provider::http::Address;
use crate::provider::stream::{Broken, Heard, Protocol, Scan, StreamFault, Tick, Value};
use crate::provider::symbols::Style;

/// Average price, cash sale, derivatively priced, form T, extended hours, official close, official open, next day, price
/// variation, prior reference price, seller, sold out of sequence, odd lot, contingent, qualified contingent.
const NO_LAST_PRICE: &[i64] = &[2, 7, 10, 12, 13, 15, 16, 20, 21, 22, 29, 33, 37, 52, 53];

/// So many symbols are named in one message.
const SYMBOLS_A_MESSAGE: usize = 500;

/// How one talks with Massive's stream.
pub struct MassiveStream {
    url: Url,
    key: Key,
}

impl MassiveStream {
    /// With this account, at `{stream}/stocks`.
    pub(super) fn new(config: &Config, stream: &Address) -> Self {
        Self {
            url: stream.at(&["stocks"], &[]),
            key: config.key.clone(),
        }
    }
}

impl Protocol for MassiveStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn greet(&mut self) -> (Vec<String>, bool) {
        (
            vec![json!({"action": "auth", "params": self.key.expose()}).to_string()],
            false,
        )
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        let about = |action: &'static str, symbols: &[Symbol]| {
            let names = |symbols: &[Symbol]| {
                let each = symbols.iter().map(|&symbol| Style::Dot.write(symbol));
                each.map(|name| format!("T.{name},AM.{name}"))
                    .collect::<Vec<_>>()
                    .join(",")
            };
            let message = |symbols| json!({"action": action, "params": names(symbols)}).to_string();
            symbols.chunks(SYMBOLS_A_MESSAGE).map(message).collect::<Vec<_>>()
        };
        [about("unsubscribe", remove), about("subscribe", add)].concat()
    }

    fn hear(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> Heard {
        let mut heard = Heard::default();
        if read(message, ticks, &mut heard).is_err() {
            heard.unreadable += 1;
        }
        heard
    }
}

/// The members of a message that matter.
#[derive(Default)]
struct Members<'a> {
    kind: &'a [u8],
    symbol: Option<Value<'a>>,
    p: Option<Value<'a>>,
    t: Option<Value<'a>>,
    /// Of trades the conditions, of minutes the close.
    c: Option<Value<'a>>,
    end: Option<Value<'a>>,
    volume: Option<Value<'a>>,
    status: &'a [u8],
}

fn read(message: &[u8], ticks: &mut Vec<Tick>, heard: &mut Heard) -> Result<(), Broken> {
    let (mut scan, mut is_first) = (Scan::new(message), true);
    while scan.next_object(&mut is_first)? {
        let (mut members, mut is_first) = (Members::default(), true);
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
        members.take(ticks, heard);
    }
    Ok(())
}

impl Members<'_> {
    fn take(&self, ticks: &mut Vec<Tick>, heard: &mut Heard) {
        let is_read = match self.kind {
            b"T" if !self.makes_last_price() => {
                heard.passed_over += 1;
                true
            }
            b"T" => self.trade(self.p, self.t, ticks).is_some(),
            b"AM" => self.minute(ticks).is_some(),
            b"status" => {
                self.status(heard);
                true
            }
            // Other events are of no interest; none at all is no message.
            other => !other.is_empty(),
        };
        heard.unreadable += u64::from(!is_read);
    }

    fn makes_last_price(&self) -> bool {
        let Some(Value::Nested(conditions)) = self.c else {
            return true;
        };
        let numbers = conditions
            .split(|byte| !byte.is_ascii_digit())
            .filter(|digits| !digits.is_empty());
        !numbers
            .filter_map(|digits| Value::Bare(digits).whole())
            .any(|number| NO_LAST_PRICE.contains(&number))
    }

    fn trade(&self, price: Option<Value<'_>>, time: Option<Value<'_>>, ticks: &mut Vec<Tick>) -> Option<()> {
        ticks.push(Tick::Trade {
            symbol: self.symbol?.symbol()?,
            price: price?.price()?,
            time: millis(time?)?,
        });
        Some(())
    }

    fn minute(&self, ticks: &mut Vec<Tick>) -> Option<()> {
        let (symbol, volume) = (self.symbol?.symbol()?, self.volume?.shares()?);
        self.trade(self.c, self.end, ticks)?;
        ticks.push(Tick::Volume { symbol, volume });
        Some(())
    }

    fn status(&self, heard: &mut Heard) {
        match self.status {
            b"auth_success" => heard.ready = true,
            b"auth_failed" => heard.fault = Some(StreamFault::Unauthorized),
            b"max_connections" => heard.fault = Some(StreamFault::Crowded),
            b"not_authorized" => heard.fault = Some(StreamFault::Forbidden),
            // "Connected", "subscribed to": good to know.
            _ => {}
        }
    }
}

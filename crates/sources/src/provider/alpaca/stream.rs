//! Alpaca's stream: trades, bids and asks, bars.
//!
//! ```text
//! ← [{"T":"success","msg":"connected"}]
//! → {"action":"auth","key":"…","secret":"…"}
//! ← [{"T":"success","msg":"authenticated"}]
//! → {"action":"subscribe","trades":["AAPL"],"dailyBars":["AAPL"]}
//! ← [{"T":"subscription","trades":["AAPL"],…}]
//! ← [{"T":"t","S":"AAPL","p":126.55,"s":1,"t":"2021-02-22T15:51:44.208Z","c":["@","I"],…}]
//! ```
//!
//! Trades that make no last price (`conditions`) are left out.

use market::Symbol;
use serde_json::{Map, Value as Json, json};
use url::Url;

use super::conditions::makes_last_price;
use super::error::stream_fault;
use super::{Config, NAME};
use crate::provider::Key;
use crate::provider::http::Address;
use crate::provider::stream::{Broken, Heard, Protocol, Scan, Tick, Value};
use crate::provider::symbols::Style;

/// What is subscribed for each symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// Each trade.
    pub trades: bool,
    /// Each change of bid and ask: many times as many messages.
    pub quotes: bool,
    /// Each minute's close.
    pub minute_bars: bool,
}

impl Channels {
    /// Trades.
    pub const TRADES: Self = Self {
        trades: true,
        quotes: false,
        minute_bars: false,
    };
    /// Minutes only: a price a minute, for any number of symbols.
    pub const MINUTE_BARS: Self = Self {
        trades: false,
        quotes: false,
        minute_bars: true,
    };
}

/// How one talks with Alpaca's stream.
pub struct AlpacaStream {
    url: Url,
    key_id: Key,
    secret: Key,
    channels: Channels,
    most_symbols: Option<usize>,
    whole_volume: bool,
}

impl AlpacaStream {
    /// With this account, at `{stream}/v2/{feed}`.
    pub(super) fn new(config: &Config, stream: &Address) -> Self {
        let most = config
            .stream_symbols
            .filter(|_| config.channels.trades || config.channels.quotes);
        Self {
            url: stream.at(&["v2", config.feed.name()], &[]),
            key_id: config.key_id.clone(),
            secret: config.secret.clone(),
            channels: config.channels,
            most_symbols: most.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            whole_volume: config.feed.has_whole_volume(),
        }
    }

    fn channels(&self) -> impl Iterator<Item = &'static str> {
        let Channels {
            trades,
            quotes,
            minute_bars,
        } = self.channels;
        let all = [
            (trades, "trades"),
            (quotes, "quotes"),
            (minute_bars, "bars"),
            (self.whole_volume, "dailyBars"),
        ];
        all.into_iter().filter_map(|(is_on, name)| is_on.then_some(name))
    }

    fn about(&self, action: &str, symbols: &[Symbol]) -> Option<String> {
        if symbols.is_empty() {
            return None;
        }
        let names: Vec<String> = symbols.iter().map(|&symbol| Style::Dot.write(symbol)).collect();
        let mut message = Map::from_iter([("action".to_owned(), Json::from(action))]);
        message.extend(
            self.channels()
                .map(|channel| (channel.to_owned(), Json::from(names.clone()))),
        );
        Some(Json::Object(message).to_string())
    }
}

impl Protocol for AlpacaStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn greet(&mut self) -> (Vec<String>, bool) {
        let auth = json!({"action": "auth", "key": self.key_id.expose(), "secret": self.secret.expose()});
        (vec![auth.to_string()], false)
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        // First room, then who is to have it: the plan's number of symbols holds at each instant.
        [self.about("unsubscribe", remove), self.about("subscribe", add)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn hear(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> Heard {
        let (mut heard, mut scan, mut is_first) = (Heard::default(), Scan::new(message), true);
        loop {
            match scan.next_object(&mut is_first).and_then(|is_there| {
                if is_there {
                    Members::read(&mut scan).map(Some)
                } else {
                    Ok(None)
                }
            }) {
                Ok(Some(members)) => self.take(&members, ticks, &mut heard),
                Ok(None) => return heard,
                Err(Broken) => {
                    heard.unreadable += 1;
                    return heard;
                }
            }
        }
    }

    fn most_symbols(&self) -> Option<usize> {
        self.most_symbols
    }
}

/// The members of a message that matter.
#[derive(Default)]
struct Members<'a> {
    kind: &'a [u8],
    symbol: Option<Value<'a>>,
    /// Of trades the price, of bars nothing.
    p: Option<Value<'a>>,
    t: Option<Value<'a>>,
    /// Of trades the conditions, of bars the close.
    c: Option<Value<'a>>,
    v: Option<Value<'a>>,
    bid: Option<Value<'a>>,
    ask: Option<Value<'a>>,
    tape: &'a [u8],
    msg: &'a [u8],
    code: Option<Value<'a>>,
}

impl<'a> Members<'a> {
    fn read(scan: &mut Scan<'a>) -> Result<Self, Broken> {
        let (mut members, mut is_first) = (Self::default(), true);
        while let Some((name, value)) = scan.next_member(&mut is_first)? {
            match name {
                b"T" => members.kind = value.bytes(),
                b"S" => members.symbol = Some(value),
                b"p" => members.p = Some(value),
                b"t" => members.t = Some(value),
                b"c" => members.c = Some(value),
                b"v" => members.v = Some(value),
                b"bp" => members.bid = Some(value),
                b"ap" => members.ask = Some(value),
                b"z" => members.tape = value.bytes(),
                b"msg" => members.msg = value.bytes(),
                b"code" => members.code = Some(value),
                _ => {}
            }
        }
        Ok(members)
    }

    /// Whether the trade makes a last price.
    fn makes_last_price(&self) -> bool {
        let Some(Value::Nested(conditions)) = self.c else {
            return true;
        };
        makes_last_price(conditions.iter().copied(), self.tape)
    }

    fn trade(&self, price: Option<Value<'_>>, later_s: i64) -> Option<Tick> {
        let time = self.t?.time()?;
        Some(Tick::Trade {
            symbol: self.symbol?.symbol()?,
            price: price?.price()?,
            time: time.checked_add(jiff::SignedDuration::from_secs(later_s)).ok()?,
        })
    }

    fn book(&self) -> Option<Tick> {
        Some(Tick::Book {
            symbol: self.symbol?.symbol()?,
            // Zero is no bid.
            bid: self.bid?.price(),
            ask: self.ask?.price(),
        })
    }

    fn volume(&self) -> Option<Tick> {
        Some(Tick::Volume {
            symbol: self.symbol?.symbol()?,
            volume: self.v?.shares()?,
        })
    }
}

impl AlpacaStream {
    fn take(&self, members: &Members<'_>, ticks: &mut Vec<Tick>, heard: &mut Heard) {
        let tick = match members.kind {
            b"t" if !members.makes_last_price() => {
                heard.passed_over += 1;
                return;
            }
            b"t" => members.trade(members.p, 0),
            b"q" => members.book(),
            // A bar is told by the instant at which its minute began; its close was made at its end.
            b"b" => members.trade(members.c, 60),
            b"d" if self.whole_volume => members.volume(),
            b"success" => {
                heard.ready |= members.msg == b"authenticated";
                return;
            }
            b"error" => {
                let code = members
                    .code
                    .and_then(Value::whole)
                    .and_then(|code| u16::try_from(code).ok());
                heard.fault = Some(stream_fault(code.unwrap_or_default()));
                return;
            }
            // Confirmed subscriptions, status of trading, corrections: nothing to do.
            b"" => None,
            _ => return,
        };
        match tick {
            Some(tick) => ticks.push(tick),
            None => heard.unreadable += 1,
        }
    }
}

#[cfg(test)]
mod tests;

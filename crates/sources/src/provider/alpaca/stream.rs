//! Alpaca's stream: trades, quotes and bars.
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
//! Trades that are not eligible to update the last price (`conditions`) are skipped.

use market::Symbol;
use serde_json::{Map, Value as Json, json};
use url::Url;

use super::conditions::updates_last_price;
use super::error::stream_error;
use super::{AlpacaConfig, NAME};
use crate::provider::ProviderKey;
use crate::provider::http::ProviderUrl;
use crate::provider::stream::{JsonScanner, MalformedJson, ScannedValue, StreamMessageOutcome, StreamProtocol, Tick};
use crate::provider::ticker_style::TickerStyle;

/// The channels to subscribe for each symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlpacaChannels {
    /// Every trade.
    pub trades: bool,
    /// Every change of bid and ask; many times the number of messages.
    pub quotes: bool,
    /// The close of every minute.
    pub minute_bars: bool,
}

impl AlpacaChannels {
    /// Trades only.
    pub const TRADES: Self = Self {
        trades: true,
        quotes: false,
        minute_bars: false,
    };
    /// Minute bars only: one price a minute, for any number of symbols.
    pub const MINUTE_BARS: Self = Self {
        trades: false,
        quotes: false,
        minute_bars: true,
    };
}

/// The protocol of Alpaca's stream.
pub struct AlpacaStream {
    url: Url,
    key_id: ProviderKey,
    secret: ProviderKey,
    channels: AlpacaChannels,
    max_symbols: Option<usize>,
    has_market_volume: bool,
}

impl AlpacaStream {
    /// Creates the protocol for `{stream}/v2/{feed}`.
    pub(super) fn new(config: &AlpacaConfig, stream: &ProviderUrl) -> Self {
        let max_symbols = config
            .stream_symbols
            .filter(|_| config.channels.trades || config.channels.quotes);
        Self {
            url: stream.join(&["v2", config.feed.name()], &[]),
            key_id: config.key_id.clone(),
            secret: config.secret.clone(),
            channels: config.channels,
            max_symbols: max_symbols.map(|max| usize::try_from(max).unwrap_or(usize::MAX)),
            has_market_volume: config.feed.has_market_volume(),
        }
    }

    fn channels(&self) -> impl Iterator<Item = &'static str> {
        let AlpacaChannels {
            trades,
            quotes,
            minute_bars,
        } = self.channels;
        let all = [
            (trades, "trades"),
            (quotes, "quotes"),
            (minute_bars, "bars"),
            (self.has_market_volume, "dailyBars"),
        ];
        all.into_iter().filter_map(|(is_on, name)| is_on.then_some(name))
    }

    fn channel_message(&self, action: &str, symbols: &[Symbol]) -> Option<String> {
        if symbols.is_empty() {
            return None;
        }
        let names: Vec<String> = symbols.iter().map(|&symbol| TickerStyle::Dot.write(symbol)).collect();
        let mut message = Map::from_iter([("action".to_owned(), Json::from(action))]);
        message.extend(
            self.channels()
                .map(|channel| (channel.to_owned(), Json::from(names.clone()))),
        );
        Some(Json::Object(message).to_string())
    }
}

impl StreamProtocol for AlpacaStream {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn url(&self) -> Url {
        self.url.clone()
    }

    fn login_messages(&mut self) -> (Vec<String>, bool) {
        let auth = json!({"action": "auth", "key": self.key_id.expose(), "secret": self.secret.expose()});
        (vec![auth.to_string()], false)
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        // Unsubscribe first, so that the plan's limit holds at every instant.
        [
            self.channel_message("unsubscribe", remove),
            self.channel_message("subscribe", add),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn parse_message(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> StreamMessageOutcome {
        let mut outcome = StreamMessageOutcome::default();
        if self.read(message, ticks, &mut outcome).is_err() {
            outcome.unreadable += 1;
        }
        outcome
    }

    fn max_symbols(&self) -> Option<usize> {
        self.max_symbols
    }
}

/// The relevant fields of a message.
#[derive(Default)]
struct MessageFields<'a> {
    kind: &'a [u8],
    symbol: Option<ScannedValue<'a>>,
    /// The price of a trade.
    p: Option<ScannedValue<'a>>,
    t: Option<ScannedValue<'a>>,
    /// The conditions of a trade, or the close of a bar.
    c: Option<ScannedValue<'a>>,
    v: Option<ScannedValue<'a>>,
    bid: Option<ScannedValue<'a>>,
    ask: Option<ScannedValue<'a>>,
    tape: &'a [u8],
    msg: &'a [u8],
    code: Option<ScannedValue<'a>>,
}

impl<'a> MessageFields<'a> {
    fn read(scan: &mut JsonScanner<'a>) -> Result<Self, MalformedJson> {
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

    /// Returns whether the trade updates the last price.
    fn updates_last_price(&self) -> bool {
        let Some(ScannedValue::Nested(conditions)) = self.c else {
            return true;
        };
        updates_last_price(conditions.iter().copied(), self.tape)
    }

    fn trade(&self, price: Option<ScannedValue<'_>>, delay_seconds: i64) -> Option<Tick> {
        let time = self.t?.time()?;
        Some(Tick::Trade {
            symbol: self.symbol?.symbol()?,
            price: price?.price()?,
            time: time.checked_add(jiff::SignedDuration::from_secs(delay_seconds)).ok()?,
        })
    }

    fn top_of_book(&self) -> Option<Tick> {
        Some(Tick::TopOfBook {
            symbol: self.symbol?.symbol()?,
            // A price of zero means that there is no bid or ask.
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
    fn read(
        &self,
        message: &[u8],
        ticks: &mut Vec<Tick>,
        outcome: &mut StreamMessageOutcome,
    ) -> Result<(), MalformedJson> {
        let (mut scan, mut is_first) = (JsonScanner::new(message), true);
        while scan.next_object(&mut is_first)? {
            let members = MessageFields::read(&mut scan)?;
            self.apply_message(&members, ticks, outcome);
        }
        Ok(())
    }

    fn apply_message(&self, members: &MessageFields<'_>, ticks: &mut Vec<Tick>, outcome: &mut StreamMessageOutcome) {
        let tick = match members.kind {
            b"t" if !members.updates_last_price() => {
                outcome.skipped_trades += 1;
                return;
            }
            b"t" => members.trade(members.p, 0),
            b"q" => members.top_of_book(),
            // A bar is stamped with the start of its minute; its close is at the end.
            b"b" => members.trade(members.c, 60),
            b"d" if self.has_market_volume => members.volume(),
            b"success" => {
                outcome.is_authenticated |= members.msg == b"authenticated";
                return;
            }
            b"error" => {
                let code = members
                    .code
                    .and_then(ScannedValue::integer)
                    .and_then(|code| u16::try_from(code).ok());
                outcome.error = Some(stream_error(code.unwrap_or_default()));
                return;
            }
            // Subscription confirmations, trading status and corrections are ignored.
            b"" => None,
            _ => return,
        };
        match tick {
            Some(tick) => ticks.push(tick),
            None => outcome.unreadable += 1,
        }
    }
}

#[cfg(test)]
mod tests;

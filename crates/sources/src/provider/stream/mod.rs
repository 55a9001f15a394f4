//! # Price streams
//!
//! A provider's stream is a WebSocket: the client logs in, subscribes symbols and receives prices. The message formats are the
//! provider's ([`StreamProtocol`]). Everything else is common to all providers and is done by one task ([`start`]):
//!
//! * **Subscriptions.** The task follows the set of watched symbols and sends only the changes.
//! * **Slow consumer.** Incoming prices are conflated: for each symbol the buffer keeps the lowest, the highest and the newest unread
//!   price. Memory is bounded by the number of symbols, no threshold crossing is missed, the provider never sees a slow reader, and
//!   dropped trades are counted ([`StreamReport::conflated`]).
//! * **Idle connection.** After half of the idle timeout a ping is sent; after all of it the connection is dropped.
//! * **Lost connection.** The task reconnects with exponential backoff and subscribes everything again. It reports the time range in
//!   between ([`StreamUpdate::gap`]), and the consumer fetches minute bars for it, so that no crossing in it is missed.
//! * **Too many symbols.** The provider does not name the symbols it refuses. Symbols without a trade on the connection therefore
//!   count as refused ([`PriceStream::refused`]) until a trade arrives, and the consumer polls them.
//! * **Rejected key.** The task ends. A retry cannot succeed, and providers lock out clients that keep trying.
//!
//! Streams do not use proxies.

mod conflation;
mod connector;
mod error;
mod json_scanner;
mod price_stream;
mod session;
mod worker;

use jiff::Timestamp;
use market::{Price, Symbol};
use url::Url;

pub(super) use conflation::canonical_symbol;
pub use connector::WebSocketConnector;
pub use error::StreamError;
pub(super) use json_scanner::{JsonScanner, MalformedJson, ScannedValue};
pub use price_stream::{PriceStream, StreamReport, StreamState, StreamUpdate, WantedSymbols};
pub use worker::{StreamConfig, StreamTask, start};

/// Data about a stock from a stream message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// A trade that is eligible to update the last price.
    Trade {
        /// The stock's symbol in canonical spelling.
        symbol: Symbol,
        /// The price of the trade.
        price: Price,
        /// The time of the trade.
        time: Timestamp,
    },
    /// The best bid and ask.
    TopOfBook {
        /// The stock's symbol in canonical spelling.
        symbol: Symbol,
        /// The best bid.
        bid: Option<Price>,
        /// The best ask.
        ask: Option<Price>,
    },
    /// The volume of the session so far.
    Volume {
        /// The stock's symbol in canonical spelling.
        symbol: Symbol,
        /// The number of shares.
        volume: i64,
    },
}

/// The result of parsing a message, besides its ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamMessageOutcome {
    /// Whether the message confirms the login. Symbols can then be subscribed.
    pub is_authenticated: bool,
    /// The error that the provider reports.
    pub error: Option<StreamError>,
    /// The number of unreadable messages or elements.
    pub unreadable: u64,
    /// The number of trades that are not eligible to update the last price.
    pub skipped_trades: u64,
}

/// A provider's stream protocol. It builds and parses messages, and does no I/O.
pub trait StreamProtocol: Send {
    /// Returns the provider's name.
    fn provider(&self) -> &'static str;

    /// Returns the WebSocket URL. It may contain a key, so it must not be printed.
    fn url(&self) -> Url;

    /// Returns the login messages for a new connection, and whether the login needs no reply. Otherwise
    /// [`StreamMessageOutcome::is_authenticated`] reports the reply.
    fn login_messages(&mut self) -> (Vec<String>, bool);

    /// Returns the messages that subscribe `add` and unsubscribe `remove`.
    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String>;

    /// Parses a message and appends its data to `ticks`.
    fn parse_message(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> StreamMessageOutcome;

    /// Returns the maximum number of subscribed symbols; `None` if unlimited.
    fn max_symbols(&self) -> Option<usize> {
        None
    }
}

//! # Prices that come by themselves
//!
//! A provider's stream is a WebSocket: one greets, proves who one is, says which symbols one wants, and prices come in. What is
//! said and how is the provider's ([`Protocol`]); everything else is the same for all and is done here by one task ([`start`]):
//!
//! * *Symbols.* It follows the set of symbols that somebody watches, and tells the provider only what changed.
//! * *A consumer that is slow.* What comes in lands on a board with one place for each symbol, for the lowest, the
//!   highest and the newest price; the consumer takes the board's news whenever it has the time. So memory is bounded by the symbols
//!   and not by the messages, no crossing is missed, the provider never sees a slow reader, and what lay between is counted
//!   ([`Report::conflated`]).
//! * *A connection that is silent.* After half of the time that is allowed it is pinged, after all of it dropped.
//! * *A connection that is lost.* It is made anew, later and later if that fails, and everything is subscribed again. The stretch
//!   in between is told to the consumer ([`News::gap`]), who fetches it as bars: what happened in it must not be missed.
//! * *Too many symbols.* The provider does not say which symbols it refuses. So those without a trade on the connection count as
//!   refused ([`Prices::refused`]) until a trade comes, and are to be polled.
//! * *A key that is refused.* That ends the task: asking again would not help, and providers lock out those who insist.
//!
//! Streams use no proxy.

mod board;
mod dial;
mod fault;
mod prices;
mod run;
mod scan;
mod session;

use jiff::Timestamp;
use market::{Price, Symbol};
use url::Url;

pub(super) use board::canonical;
pub use dial::Dial;
pub use fault::StreamFault;
pub use prices::{News, Prices, Report, State, Wanted};
pub use run::{Settings, Task, start};
pub(super) use scan::{Broken, Scan, Value};

/// What a message says about a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// It was traded, in a trade that makes a last price.
    Trade {
        /// The stock, in canonical form.
        symbol: Symbol,
        /// At what price.
        price: Price,
        /// When.
        time: Timestamp,
    },
    /// What buyers offer and sellers ask.
    Book {
        /// The stock, in canonical form.
        symbol: Symbol,
        /// The best bid.
        bid: Option<Price>,
        /// The best ask.
        ask: Option<Price>,
    },
    /// So many shares were traded in the session so far.
    Volume {
        /// The stock, in canonical form.
        symbol: Symbol,
        /// How many.
        volume: i64,
    },
}

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// The provider knows now who asks: symbols can be subscribed.
    pub ready: bool,
    /// What the provider complains of.
    pub fault: Option<StreamFault>,
    /// How many things were said that make no sense.
    pub unreadable: u64,
    /// How many trades were left out because they make no last price.
    pub passed_over: u64,
}

/// How one talks with a provider's stream. It is told everything and does nothing.
pub trait Protocol: Send {
    /// Who.
    fn provider(&self) -> &'static str;

    /// Where. The address may have a key in it, so it is not printed.
    fn url(&self) -> Url;

    /// What to say first on a new connection. Whether the provider waits for an answer to it, [`Heard::ready`] tells;
    /// `true` beside it if not.
    fn greet(&mut self) -> (Vec<String>, bool);

    /// What to say so that `add` come in and `remove` do not any more.
    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String>;

    /// What a message says; what it says about stocks is put behind `ticks`.
    fn hear(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> Heard;

    /// How many symbols can be subscribed, if that is limited.
    fn most_symbols(&self) -> Option<usize> {
        None
    }
}

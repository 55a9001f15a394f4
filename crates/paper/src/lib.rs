//! # Paper trades: what following a watchlist would have earned
//!
//! An item of a watchlist is an intention, to buy or to sell, and a paper trade tries the intention out: 1,000 US
//! dollars put on it at the price of the moment. This room keeps such trades and says what became of them. Values come
//! in, values go out: it knows the market's nouns, no database, no HTTP and no clock.
//!
//! * [`Trade`]: long or short, from an entry to an exit; splits move its shares, dividends are paid to longs and
//!   charged to shorts. [`Shares`] are fractions, so that no split moves a value.
//! * [`Item`] and [`Book`]: which trade an item has. An active item has exactly one that is open (or awaits the stock's
//!   first price), an inactive one none.
//! * [`Tracker`]: takes one session after the other and answers each with the day's return on all the trades. Its state
//!   is small and can be stored, so that nothing is ever computed from the beginning again.
//! * [`performance()`]: the days of a range chained, next to a benchmark.
//! * [`scorecard()`]: what a stock did after an alert fired.
//!
//! Dollars are integers in millionths, as in `market`; returns are ratios and floats. The conventions, with formulas
//! and a worked example, are in `docs/paper-trades.md`.

mod book;
mod closes;
mod direction;
mod events;
mod holding;
mod item;
mod performance;
mod scorecard;
mod shares;
mod tracker;
mod trade;
mod wire;

pub use book::{Book, BookError};
pub use closes::Closes;
pub use direction::{Direction, UnknownDirection};
pub use events::{Event, Events};
pub use item::{Change, Item, Position, Quote};
pub use performance::{Benchmark, Performance, Point, Range, Summary, UnknownRange, performance};
pub use scorecard::{Firing, HORIZONS, Horizon, Move, Record, Scorecard, scorecard};
pub use shares::{Shares, SharesError};
pub use tracker::{DayReturn, Tracker, TrackerError};
pub use trade::{Closed, Fill, NOTIONAL, Settlement, Trade};

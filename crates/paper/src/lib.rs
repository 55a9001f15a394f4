//! # Paper trades: the hypothetical result of following a watchlist
//!
//! Every watchlist item has an intention, to buy or to sell. A paper trade tests it: 1,000 US dollars at the price of
//! that moment. This crate computes such trades and their performance. It uses only the types of `market` and does
//! not depend on a database, HTTP or a clock.
//!
//! * [`Trade`]: long or short, from an entry to an exit. Splits change its shares; dividends are paid to longs and
//!   charged to shorts. [`Shares`] are fractions, so a split never changes a value.
//! * [`TradedItem`]: a watchlist item and its trade. An active item has exactly one trade (open, or awaiting the stock's
//!   first price), an inactive one none.
//! * [`ReturnTracker`]: records one session after another and returns the day's return on all trades. Its state is
//!   small and can be stored, so returns are never recomputed from the beginning.
//! * [`performance()`]: the chained returns over a range, with a benchmark.
//! * [`scorecard()`]: the moves of a stock after an alert fired.
//!
//! Dollars are integers in millionths, as in `market`; returns are ratios and floats. `docs/paper-trades.md` has the
//! conventions, with formulas and a worked example.

mod corporate_actions;
mod daily_closes;
mod direction;
mod holding;
mod item;
mod performance;
mod return_tracker;
mod scorecard;
mod serde_market;
mod shares;
mod trade;

pub use corporate_actions::{CorporateAction, CorporateActions};
pub use daily_closes::{DailyCloses, PriceHistory};
pub use direction::{Direction, UnknownDirectionError};
pub use item::{Position, PriceSnapshot, TradeChange, TradedItem};
pub use performance::{Performance, PerformanceRange, ReturnSummary, SeriesPoint, UnknownRangeError, performance};
pub use return_tracker::{DayReturn, ReturnTracker, ReturnTrackerError};
pub use scorecard::{FiredAlertRecord, HORIZON_SESSIONS, Horizon, PriceMove, Scorecard, scorecard};
pub use shares::{Shares, SharesError};
pub use trade::{Adjustments, AlreadyClosedError, Fill, TRADE_NOTIONAL, Trade};

//! # Market: symbols, prices, bars, the trading calendar and indicators
//!
//! This crate contains the types that all other crates use. It does not depend on alerts and does no I/O.
//!
//! * [`Symbol`], [`Price`], [`Decimal`], [`SplitRatio`], [`Bar`]: exact values that are valid by construction. Money and
//!   ratios are integers in millionths; floats appear only where an indicator is defined by them.
//! * [`records`]: facts about stocks, as sources deliver them.
//! * [`calendar`]: the sessions of the New York Stock Exchange, by rules that hold for years to come.
//! * [`current_price`]: the rule for which prices are current and which are too old.
//! * [`indicators`] and [`history`]: averages, Wilder's RSI and 52-week extremes, updated bar by bar. Each takes a
//!   *provisional price* that stands in for today's close, so "the average now" does not need a completed day.

pub mod bar;
pub mod calendar;
pub mod current_price;
pub mod day;
pub mod decimal;
pub mod display;
pub mod history;
pub mod indicators;
pub mod intraday;
pub mod price;
pub mod price_change;
pub mod records;
mod serialization;
pub mod split;
pub mod symbol;
mod tracked;

pub use bar::{Bar, BarError};
pub use calendar::{Calendar, Session};
pub use current_price::{CurrentPrice, ObservedPrice, PriceFreshness};
pub use decimal::{Decimal, DecimalError, MICROS_PER_UNIT};
pub use history::History;
pub use intraday::{IntradayBar, intraday_kept_from};
pub use price::{Price, PriceError};
pub use price_change::PriceChange;
pub use split::{SplitRatio, SplitRatioError};
pub use symbol::{Symbol, SymbolError};
pub use tracked::SessionIndicator;

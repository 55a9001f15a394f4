//! # The market: what is traded, at what price, on which days, and what its history says
//!
//! This room holds the nouns that everything else speaks in. It knows no alert and does no I/O: values come in,
//! values go out.
//!
//! * [`Symbol`], [`Price`], [`Decimal`], [`SplitRatio`], [`Bar`]: exact values that cannot be wrong once they exist.
//!   Money and ratios are integers in millionths; a float appears only where the definition of an indicator asks for
//!   one.
//! * [`records`]: what becomes known about a stock, fact by fact.
//! * [`calendar`]: when the New York Stock Exchange is open, by rules that hold for years to come.
//! * [`current_price`]: which prices are current, and which are too old for anything to start from.
//! * [`indicators`] and [`history`]: averages, Wilder's RSI, 52-week extremes, kept up to date bar by bar. Each
//!   takes a *provisional price* that stands in for today's close, so that "the average now" needs no finished day.

pub mod bar;
pub mod calendar;
pub mod change;
pub mod current_price;
pub mod day;
pub mod decimal;
pub mod display;
pub mod history;
pub mod indicators;
pub mod price;
pub mod records;
pub mod split;
pub mod symbol;

pub use bar::{Bar, BarError};
pub use calendar::{Calendar, Session};
pub use change::Change;
pub use current_price::{CurrentPrice, ObservedPrice, PriceFreshness};
pub use decimal::{Decimal, DecimalError, MICROS_PER_UNIT};
pub use history::History;
pub use price::{Price, PriceError};
pub use split::{SplitRatio, SplitRatioError};
pub use symbol::{Symbol, SymbolError};

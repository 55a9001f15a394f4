//! Incremental indicators, updated close by close.
//!
//! Each indicator contains completed sessions only. "The average now" and "the RSI now" take a *provisional price*,
//! which stands in for the close of the running session and changes nothing. A thousand observations of one session
//! cost a thousand reads; one close costs one update.
//!
//! Sums of prices are integers and therefore exact: averages are compared without rounding, and a tie is a tie. Indicators
//! that divide on every session or need a root are floats: the RSI, the EMA, the MACD, the ATR and the deviation. Conditions
//! use [`Rsi::micros_at`], which rounds the RSI to a millionth of a point.

mod atr;
mod bollinger;
mod deviation;
mod ema;
mod extremes;
mod macd;
mod rsi;
mod window;

pub use atr::{Atr, atr};
pub use bollinger::BollingerBands;
pub use deviation::{Deviation, Moments, moments};
pub use ema::{Ema, ema};
pub use extremes::{Extreme, RollingExtreme};
pub use macd::{Macd, MacdValue, macd};
pub use rsi::{RSI_PERIOD, Rsi};
pub use window::WindowSum;

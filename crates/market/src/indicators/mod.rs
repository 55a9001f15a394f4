//! Incremental indicators, updated close by close.
//!
//! Each indicator contains completed sessions only. "The average now" and "the RSI now" take a *provisional price*,
//! which stands in for the close of the running session and changes nothing. A thousand observations of one session
//! cost a thousand reads; one close costs one update.
//!
//! Sums of prices are integers and therefore exact: averages are compared without rounding, and a tie is a tie. Only
//! the RSI is a float, because its smoothing divides by fourteen on every session. Conditions use [`Rsi::micros_at`],
//! which rounds it to a millionth of a point.

mod extremes;
mod rsi;
mod window;

pub use extremes::{Extreme, RollingExtreme};
pub use rsi::{RSI_PERIOD, Rsi};
pub use window::WindowSum;

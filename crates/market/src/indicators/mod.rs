//! Indicators that are kept up to date close by close.
//!
//! Each of them remembers completed sessions only. "The average now" or "the RSI now" is asked for with a
//! *provisional price*, which stands in for the close of the session that is going on; asking changes nothing. So a
//! thousand observations of one session cost a thousand questions, and one close costs one update.
//!
//! Sums of prices are integers and therefore exact: two averages are compared without rounding, and a tie is a tie.
//! Only the RSI is a float, because its smoothing divides by fourteen on every session; judge it by [`Rsi::micros_at`],
//! which rounds it to a millionth of a point.

mod extremes;
mod rsi;
mod window;

pub use extremes::{Extreme, RollingExtreme};
pub use rsi::{RSI_PERIOD, Rsi};
pub use window::WindowSum;

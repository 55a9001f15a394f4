//! Bollinger bands.
//!
//! The bands are k standard deviations of the population above and below the simple average. Source: John Bollinger,
//! *Bollinger on Bollinger Bands* (2001); TA-Lib's `BBANDS` with a simple average.

use super::deviation::Moments;

/// The bands, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BollingerBands {
    /// The upper band.
    pub upper: f64,
    /// The lower band.
    pub lower: f64,
}

impl BollingerBands {
    /// Returns the bands that are `width` deviations away from the mean.
    #[must_use]
    pub fn new(moments: Moments, width: f64) -> Self {
        let distance = width * moments.deviation;
        Self {
            upper: moments.mean + distance,
            lower: moments.mean - distance,
        }
    }
}

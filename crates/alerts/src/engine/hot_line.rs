//! What the inner loop needs of a stock: its quiet band, in one cache line.

use jiff::Timestamp;

use super::event::Quote;
use super::group::Band;

/// No session.
pub(super) const NO_DAY: i32 = i32::MIN;

/// What the inner loop needs of a stock, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct HotLine {
    /// See [`Band`].
    pub(super) lo: i64,
    pub(super) hi: i64,
    pub(super) volume_hi: i64,
    /// The last observed price; 0 before the first one.
    pub(super) last: i64,
    /// The extremes and the volume of the session so far.
    pub(super) high: i64,
    pub(super) low: i64,
    pub(super) volume: i64,
    /// The session that `high`, `low` and `volume` are of; [`NO_DAY`] when none is going on.
    pub(super) day: i32,
    /// When `last` was observed, in seconds since 1970.
    pub(super) seen_s: u32,
}

impl HotLine {
    pub(super) const NEW: Self = Self {
        lo: i64::MAX,
        hi: i64::MIN,
        volume_hi: i64::MIN,
        last: 0,
        high: i64::MIN,
        low: i64::MAX,
        volume: -1,
        day: NO_DAY,
        seen_s: 0,
    };

    /// Takes the observation in if nothing can happen at it. The whole product's speed is in these few comparisons.
    #[inline]
    pub(super) fn stays_quiet(&mut self, quote: &Quote, day: i32, now_s: u32) -> bool {
        let price = quote.price.micros();
        let quiet = self.day == day && price > self.lo && price < self.hi && quote.volume < self.volume_hi;
        if quiet {
            self.last = price;
            self.high = self.high.max(price);
            self.low = self.low.min(price);
            self.volume = self.volume.max(quote.volume);
            self.seen_s = now_s;
        }
        quiet
    }

    /// When the last price was observed, to the second.
    pub(super) fn last_at(&self) -> Timestamp {
        Timestamp::from_second(i64::from(self.seen_s)).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(super) fn set_band(&mut self, band: Band) {
        (self.lo, self.hi, self.volume_hi) = (band.lo, band.hi, band.volume_hi);
    }

    /// The next observation is looked at closely, whatever it is.
    pub(super) fn unsettle(&mut self) {
        self.set_band(Band::EMPTY);
    }
}

/// Seconds since 1970; outside 1970–2106 the nearest there is.
pub(super) fn seconds(at: Timestamp) -> u32 {
    u32::try_from(at.as_second()).unwrap_or(if at.as_second() < 0 { 0 } else { u32::MAX })
}

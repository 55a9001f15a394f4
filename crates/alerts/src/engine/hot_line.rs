//! The data of a stock that an observation compares and changes: its quiet band and its session, in one cache line.

use jiff::Timestamp;

use super::event::Quote;
use super::group::Band;

/// The value of [`HotLine::day`] without a session.
pub(super) const NO_DAY: i32 = i32::MIN;

/// The data of a stock that an observation compares and changes, in one cache line. [`HotLines`](super::hot_lines::HotLines) has a
/// part of it in a shorter line.
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
    /// The day of the session of `high`, `low` and `volume`; [`NO_DAY`] if no session is running.
    pub(super) day: i32,
    /// The time at which `last` was observed, in seconds since 1970.
    pub(super) observed_at_s: u32,
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
        observed_at_s: 0,
    };

    /// Records the observation if it is inside the quiet band.
    #[inline]
    pub(super) fn stays_quiet(&mut self, quote: &Quote, day: i32, now_s: u32) -> bool {
        let price = quote.price.micros();
        let quiet = self.day == day && price > self.lo && price < self.hi && quote.volume < self.volume_hi;
        if quiet {
            self.last = price;
            self.high = self.high.max(price);
            self.low = self.low.min(price);
            self.volume = self.volume.max(quote.volume);
            self.observed_at_s = now_s;
        }
        quiet
    }

    /// Returns the time of the last observation, to the second.
    pub(super) fn last_at(&self) -> Timestamp {
        Timestamp::from_second(i64::from(self.observed_at_s)).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub(super) fn set_band(&mut self, band: Band) {
        (self.lo, self.hi, self.volume_hi) = (band.lo, band.hi, band.volume_hi);
    }

    /// Returns whether the band is empty.
    pub(super) fn is_unsettled(&self) -> bool {
        (self.lo, self.hi) == (Band::EMPTY.lo, Band::EMPTY.hi)
    }

    /// Empties the band, so that the next observation is fully evaluated.
    pub(super) fn unsettle(&mut self) {
        self.set_band(Band::EMPTY);
    }
}

/// Returns the seconds since 1970. Times outside 1970–2106 are clamped.
pub(super) fn seconds(at: Timestamp) -> u32 {
    u32::try_from(at.as_second()).unwrap_or(if at.as_second() < 0 { 0 } else { u32::MAX })
}

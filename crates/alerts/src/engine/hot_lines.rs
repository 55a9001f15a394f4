//! The hot lines of all stocks, with what a quiet observation touches in half a cache line a stock.
//!
//! A [`QuietLine`] is derived from a [`HotLine`], as a quiet band is from its alerts: it may be too narrow, which costs an exact
//! comparison with the hot line, and it is never too wide. It contains only prices between the session's extremes, so an
//! observation within it leaves them as they are, and the hot line is neither read nor written.

use super::event::Quote;
use super::hot_line::{HotLine, NO_DAY};

/// The shares in a unit of [`QuietLine::volume_limit`], as a power of two: 32 bits hold every volume that occurs.
const VOLUME_UNIT_BITS: u32 = 10;

/// The largest distance of a quiet price from the last price, in millionths, so that distances fit in 32 bits.
const MAX_DISTANCE: i64 = (u32::MAX / 2) as i64;

/// The hot lines of all stocks.
#[derive(Clone, Debug)]
pub(super) struct HotLines {
    quiet: Vec<QuietLine>,
    /// All data, but last price, volume and time are those of the last observation that left the quiet line.
    full: Vec<HotLine>,
    /// The day of the sessions for which quiet lines have a width. One check a snapshot replaces one a quote.
    day: i32,
}

/// The quiet prices and volumes of a stock between the extremes of its session, and its last price, volume and time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct QuietLine {
    /// The lowest quiet price.
    floor: i64,
    /// See [`HotLine::volume`].
    volume: i64,
    /// The number of quiet prices, from `floor` on.
    width: u32,
    /// The last observed price, above `floor`.
    offset: u32,
    /// A volume is quiet if it is below the limit, both in whole units of [`VOLUME_UNIT_BITS`].
    volume_limit: u32,
    /// See [`HotLine::observed_at_s`].
    observed_at_s: u32,
}

impl QuietLine {
    /// Derives the line. It has no width if the session of `hot` is not that of `day`.
    fn of(hot: &HotLine, day: i32) -> Self {
        let floor = hot.low.max(hot.lo.saturating_add(1)).max(hot.last - MAX_DISTANCE);
        let top = hot.high.min(hot.hi.saturating_sub(1)).min(hot.last + MAX_DISTANCE);
        let line = Self {
            floor: hot.last,
            volume: hot.volume,
            width: 0,
            offset: 0,
            volume_limit: 0,
            observed_at_s: hot.observed_at_s,
        };
        if day == NO_DAY || hot.day != day || floor > hot.last || hot.last > top || hot.volume_hi < 0 {
            return line;
        }
        let (Ok(width), Ok(offset)) = (u32::try_from(top - floor + 1), u32::try_from(hot.last - floor)) else {
            return line;
        };
        Self {
            floor,
            width,
            offset,
            volume_limit: u32::try_from(hot.volume_hi >> VOLUME_UNIT_BITS).unwrap_or(u32::MAX),
            ..line
        }
    }

    /// Records the observation if it is within the line. The speed of the whole product depends on these two comparisons.
    #[inline]
    fn stays_quiet(&mut self, quote: &Quote, now_s: u32) -> bool {
        // A price below the floor becomes a very high one.
        let offset = quote.price.micros().wrapping_sub(self.floor).cast_unsigned();
        let quiet = offset < u64::from(self.width) && (quote.volume >> VOLUME_UNIT_BITS) < i64::from(self.volume_limit);
        if quiet {
            #[expect(clippy::cast_possible_truncation, reason = "it is below a width of 32 bits")]
            let offset = offset as u32;
            self.offset = offset;
            self.volume = self.volume.max(quote.volume);
            self.observed_at_s = now_s;
        }
        quiet
    }

    /// Brings the hot line up to date.
    fn copy_to(&self, hot: &mut HotLine) {
        hot.last = self.floor + i64::from(self.offset);
        hot.volume = self.volume;
        hot.observed_at_s = self.observed_at_s;
    }
}

impl HotLines {
    pub(super) const fn new() -> Self {
        Self {
            quiet: Vec::new(),
            full: Vec::new(),
            day: NO_DAY,
        }
    }

    /// Adds a stock.
    pub(super) fn push(&mut self) {
        self.full.push(HotLine::NEW);
        self.quiet.push(QuietLine::of(&HotLine::NEW, self.day));
    }

    /// Returns the hot line of a stock, if there is such a stock.
    pub(super) fn find(&self, at: usize) -> Option<HotLine> {
        let (quiet, mut hot) = (self.quiet.get(at)?, *self.full.get(at)?);
        quiet.copy_to(&mut hot);
        Some(hot)
    }

    /// Returns the hot line of a stock.
    ///
    /// # Panics
    /// Panics without such a stock.
    pub(super) fn get(&self, at: usize) -> HotLine {
        self.find(at).expect("each stock has a hot line")
    }

    /// Returns the hot lines in the order of the stocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = HotLine> {
        (0..self.full.len()).map(|at| self.get(at))
    }

    /// Changes the hot line of a stock.
    ///
    /// # Panics
    /// Panics without such a stock.
    #[inline]
    pub(super) fn update<T>(&mut self, at: usize, change: impl FnOnce(&mut HotLine) -> T) -> T {
        let (quiet, hot) = (&mut self.quiet[at], &mut self.full[at]);
        quiet.copy_to(hot);
        let result = change(hot);
        *quiet = QuietLine::of(hot, self.day);
        result
    }

    /// Records the observations at the beginning of a snapshot that are inside their quiet bands. Returns the first one that is
    /// outside, and the observations after it. Observations of unknown stocks are skipped.
    ///
    /// It is not inlined, so that the loop keeps all its variables in registers.
    #[inline(never)]
    pub(super) fn record_quiet<'a>(
        &mut self,
        quotes: &'a [Quote],
        day: i32,
        now_s: u32,
    ) -> Option<(&'a Quote, &'a [Quote])> {
        if self.day != day {
            self.day = day;
            self.quiet.iter_mut().for_each(|line| line.width = 0);
        }
        let (lines, full) = (self.quiet.as_mut_slice(), self.full.as_mut_slice());
        let mut rest = quotes.iter();
        for quote in &mut rest {
            let Some(line) = lines.get_mut(quote.stock.0 as usize) else {
                continue;
            };
            if !line.stays_quiet(quote, now_s) && !stays_quiet_exactly(line, full, quote, day, now_s) {
                return Some((quote, rest.as_slice()));
            }
        }
        None
    }

    /// Returns the memory of the lines, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.full.capacity() * size_of::<HotLine>() + self.quiet.capacity() * size_of::<QuietLine>()
    }
}

/// Records an observation that left the quiet line, if it is inside the quiet band: nearly always a new extreme of the session.
#[cold]
#[inline(never)]
fn stays_quiet_exactly(line: &mut QuietLine, full: &mut [HotLine], quote: &Quote, day: i32, now_s: u32) -> bool {
    let Some(hot) = full.get_mut(quote.stock.0 as usize) else {
        return false;
    };
    line.copy_to(hot);
    let quiet = hot.stays_quiet(quote, day, now_s);
    if quiet {
        *line = QuietLine::of(hot, day);
    }
    quiet
}

#[cfg(test)]
mod tests {
    use super::super::event::StockIndex;
    use super::super::group::Band;
    use super::*;
    use market::Price;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        SetBand(Band),
        BeginSession(i32),
        Observe { price: i64, volume: i64, day: i32 },
    }

    /// Returns prices whose distances are below, at and above what a quiet line can hold, most of them close to each other.
    fn prices() -> impl Strategy<Value = i64> {
        let middle = 10_000_000_000;
        prop_oneof![
            8 => middle - 20..middle + 20,
            1 => (-20_i64..20).prop_map(move |by| middle + MAX_DISTANCE + by),
            1 => (-20_i64..20).prop_map(move |by| middle - MAX_DISTANCE + by),
            1 => Just(1),
            1 => Just(market::price::MAX_PRICE_MICROS),
        ]
    }

    fn volumes() -> impl Strategy<Value = i64> {
        let unit = 1 << VOLUME_UNIT_BITS;
        prop_oneof![
            Just(-1),
            0..3 * unit,
            (-2_i64..2).prop_map(move |by| (i64::from(u32::MAX) + by) * unit),
            Just(market::price::MAX_VOLUME),
        ]
    }

    fn bands() -> impl Strategy<Value = Band> {
        let lo = prop_oneof![prices(), Just(i64::MIN)];
        let hi = prop_oneof![prices(), Just(i64::MAX)];
        let volume_hi = prop_oneof![volumes(), Just(i64::MAX)];
        let band = (lo, hi, volume_hi).prop_map(|(lo, hi, volume_hi)| Band { lo, hi, volume_hi });
        prop_oneof![6 => band, 3 => Just(Band::WIDE), 1 => Just(Band::EMPTY)]
    }

    /// Mostly the day of the session, as a change of the day clears the quiet lines.
    fn days() -> impl Strategy<Value = i32> {
        prop_oneof![15 => Just(0), 1 => Just(1)]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let observe =
            (prices(), volumes(), days()).prop_map(|(price, volume, day)| Step::Observe { price, volume, day });
        let begin = prop_oneof![4 => days(), 1 => Just(NO_DAY)].prop_map(Step::BeginSession);
        let step = prop_oneof![20 => observe, 3 => bands().prop_map(Step::SetBand), 1 => begin];
        prop::collection::vec(step, 0..200)
    }

    fn state(hot: &HotLine) -> [i64; 6] {
        let times = i64::from(hot.observed_at_s);
        [hot.last, hot.high, hot.low, hot.volume, i64::from(hot.day), times]
    }

    #[test]
    fn observation_between_the_extremes_leaves_the_hot_line_as_it_is() {
        let mut lines = HotLines::new();
        lines.push();
        lines.update(0, |hot| {
            hot.day = 0;
            hot.set_band(Band::WIDE);
        });
        let quote = |price| Quote::new(StockIndex(0), Price::from_micros(price).unwrap()).with_volume(7);
        let extremes = [quote(100_000_000), quote(120_000_000), quote(110_000_000)];
        assert_eq!(lines.record_quiet(&extremes, 0, 1), None);
        let before = state(&lines.full[0]);
        assert_eq!(lines.record_quiet(&[quote(119_999_999)], 0, 2), None);
        assert_eq!(state(&lines.full[0]), before);
        assert_eq!(lines.get(0).last, 119_999_999);
    }

    proptest! {
        #[test]
        fn quiet_lines_record_what_plain_hot_lines_record(steps in steps()) {
            let (mut lines, mut plain) = (HotLines::new(), HotLine::NEW);
            lines.push();
            for (now_s, step) in (0..).zip(steps) {
                match step {
                    Step::SetBand(band) => {
                        lines.update(0, |hot| hot.set_band(band));
                        plain.set_band(band);
                    }
                    Step::BeginSession(day) => {
                        let begin = |hot: &mut HotLine| {
                            (hot.day, hot.high, hot.low, hot.volume) = (day, i64::MIN, i64::MAX, -1);
                        };
                        lines.update(0, begin);
                        begin(&mut plain);
                    }
                    Step::Observe { price, volume, day } => {
                        let quote = Quote::new(StockIndex(0), Price::from_micros(price).unwrap()).with_volume(volume);
                        let unknown = Quote { stock: StockIndex(1), ..quote };
                        let snapshot = [unknown, quote];
                        let outside = lines.record_quiet(&snapshot, day, now_s);
                        let is_outside = !plain.stays_quiet(&quote, day, now_s);
                        prop_assert_eq!(outside.map(|(quote, _)| *quote), is_outside.then_some(quote));
                    }
                }
                prop_assert_eq!(state(&lines.get(0)), state(&plain));
            }
        }
    }
}

//! A stream that answers pings but brings no prices.
//!
//! Illiquid stocks may go without a trade for long. So a stream counts as silent only if the market is open and one of its stocks
//! is liquid: the benchmark, or one with a high average volume. Then prices are polled until the stream brings one, and the
//! silent stretch is fetched as minutes.

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use super::{Prices, told_then};
use crate::live::streaming::Streaming;
use crate::provider::{Capability, Times};

/// A stream that has brought no price for so long is silent.
const SILENCE_LIMIT: SignedDuration = SignedDuration::from_mins(2);
/// A stock with at least so many shares a day is liquid: also a feed that has a fortieth of all trades brings several a minute.
const LIQUID_SHARES_PER_DAY: i64 = 5_000_000;

impl Prices {
    /// Notices that the stream has fallen silent: prices are polled from now on, and what was missed is asked for.
    pub(super) fn note_silent_stream(&mut self, now: Timestamp) {
        if let Some(streaming) = &mut self.streaming
            && !streaming.is_connected()
        {
            // A stream that is being connected is not silent; the limit begins when it is back.
            streaming.expect_from(now);
        }
        let Some(quiet_since) = self.quiet_since(now) else {
            return;
        };
        if now.duration_since(quiet_since) <= SILENCE_LIMIT || !self.expects_trades() {
            return;
        }
        if let Some(streaming) = &mut self.streaming {
            streaming.fall_silent(quiet_since);
        }
        tracing::warn!(%quiet_since, "the stream answers but brings no prices; they are polled until it does");
        let symbols = self.streamed();
        let missed = Times {
            from: quiet_since,
            to: now,
        };
        self.open_gap(&symbols, told_then(missed, self.delay(Capability::Stream)), false);
        self.next_round = now;
    }

    /// When the stream falls silent if it brings nothing until then.
    pub(super) fn silence_due(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = SILENCE_LIMIT.saturating_add(SignedDuration::from_millis(1));
        let due = self.quiet_since(now)?.saturating_add(limit).ok()?;
        (due > now).then_some(due)
    }

    /// Since when a connected stream has brought nothing in the session that is open. None if it is known to be silent.
    fn quiet_since(&self, now: Timestamp) -> Option<Timestamp> {
        let session = self.desk.options.calendar.session_at(now)?;
        let streaming = self.streaming.as_ref().filter(|streaming| streaming.is_live())?;
        // A delayed stream brings the open later.
        let first_due = session.open.saturating_add(self.delay(Capability::Stream)).ok()?;
        Some(streaming.last_price_at().max(first_due))
    }

    fn expects_trades(&self) -> bool {
        let options = &self.desk.options;
        let is_liquid = |symbol: &Symbol| {
            let shares = || self.desk.memory.average_volume(*symbol);
            *symbol == options.benchmark || shares().is_some_and(|shares| shares >= LIQUID_SHARES_PER_DAY)
        };
        let delivered = self.streaming.as_ref().map(Streaming::delivered).unwrap_or_default();
        delivered.iter().any(is_liquid)
    }
}

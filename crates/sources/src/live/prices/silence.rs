//! Detection of a stream that answers pings but delivers no prices.
//!
//! Illiquid stocks may not be traded for a long time. So a stream counts as silent only if the market is open and one of
//! its stocks is liquid: the benchmark, or a stock with a high average volume. Then prices are polled until the stream
//! delivers one, and the silent period is fetched as minute bars.

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use super::{PriceTask, shifted_back};
use crate::live::gap_log::GapCause;
use crate::live::price_stream::LivePriceStream;
use crate::provider::{Capability, TimeRange};

/// The time without a price after which a stream is silent.
const SILENCE_LIMIT: SignedDuration = SignedDuration::from_mins(2);
/// The average volume of a liquid stock, in shares a day. Even a feed with a fortieth of all trades delivers several of its
/// trades a minute.
const LIQUID_SHARES_PER_DAY: i64 = 5_000_000;

impl PriceTask {
    /// Detects a silent stream. Prices are polled from then on, and the silent period is requested as minute bars.
    pub(super) fn detect_silent_stream(&mut self, now: Timestamp) {
        if let Some(stream) = &mut self.stream
            && !stream.is_connected()
        {
            // A stream without a connection is not silent; the limit applies from the connection on.
            stream.restart_silence_timer(now);
        }
        let Some(quiet_since) = self.quiet_since(now) else {
            return;
        };
        if now.duration_since(quiet_since) <= SILENCE_LIMIT || !self.has_liquid_stock() {
            return;
        }
        if let Some(stream) = &mut self.stream {
            stream.mark_silent(quiet_since);
        }
        tracing::warn!(%quiet_since, "the stream is connected but delivers no prices; prices are polled until it does");
        let symbols = self.streamed();
        let missed = TimeRange {
            from: quiet_since,
            to: now,
        };
        let missed = shifted_back(missed, self.delay(Capability::Stream));
        self.open_gap(&symbols, missed, GapCause::StreamSilent, false);
        self.next_round = now;
    }

    /// Returns when the stream becomes silent if it delivers nothing until then.
    pub(super) fn silence_due(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = SILENCE_LIMIT.saturating_add(SignedDuration::from_millis(1));
        let due = self.quiet_since(now)?.saturating_add(limit).ok()?;
        (due > now).then_some(due)
    }

    /// Returns since when a connected stream has delivered nothing in the open session; `None` if the stream is known to be
    /// silent.
    fn quiet_since(&self, now: Timestamp) -> Option<Timestamp> {
        let session = self.context.config.calendar.session_at(now)?;
        let stream = self.stream.as_ref().filter(|stream| stream.is_live())?;
        // A delayed stream delivers the open later.
        let first_due = session.open.saturating_add(self.delay(Capability::Stream)).ok()?;
        Some(stream.last_price_at().max(first_due))
    }

    fn has_liquid_stock(&self) -> bool {
        let config = &self.context.config;
        let is_liquid = |symbol: &Symbol| {
            let shares = || self.context.market_state.average_volume(*symbol);
            *symbol == config.benchmark || shares().is_some_and(|shares| shares >= LIQUID_SHARES_PER_DAY)
        };
        let delivered = self.stream.as_ref().map(LivePriceStream::served).unwrap_or_default();
        delivered.iter().any(is_liquid)
    }
}

//! Gaps in the received market data.

use alerts::engine::Feed;
use evaluation::feed::{GapCause, GapReport, GapState};
use jiff::Timestamp;

use super::first_stocks;

/// A period without prices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GapLine {
    /// The first stocks.
    pub symbols: String,
    /// The number of further stocks.
    pub more: usize,
    /// The beginning.
    pub from: Timestamp,
    /// The end.
    pub to: Timestamp,
    /// The id of the cause's text.
    pub cause: &'static str,
    /// The state.
    pub state: GapState,
}

impl GapLine {
    /// Formats a gap.
    #[must_use]
    pub fn of(gap: &GapReport) -> Self {
        let (symbols, more) = first_stocks(gap.symbols.iter().copied());
        Self {
            symbols,
            more,
            from: gap.times.from,
            to: gap.times.to,
            cause: match gap.cause {
                GapCause::NotRunning => "gap-not-running",
                GapCause::StreamLost => "gap-stream-lost",
                GapCause::StreamSilent => "gap-stream-silent",
                GapCause::PollsFailed => "gap-polls-failed",
                GapCause::SessionClosed => "gap-session-closed",
            },
            state: gap.state,
        }
    }

    pub(super) const fn state_text(&self) -> &'static str {
        match self.state {
            GapState::Open { .. } => "gap-open",
            GapState::Filled(_) => "gap-filled",
            GapState::GivenUp(_) => "gap-given-up",
            GapState::NoProvider => "gap-no-provider",
        }
    }

    /// Returns the symbol and the style, which a state shares with states of alerts.
    const fn mark_and_style(&self) -> (&'static str, &'static str) {
        match self.state {
            GapState::Open { .. } => ("◌", "waiting"),
            GapState::Filled(_) => ("✓", "active"),
            GapState::GivenUp(_) | GapState::NoProvider => ("✕", "blind"),
        }
    }

    pub(super) const fn mark(&self) -> &'static str {
        self.mark_and_style().0
    }

    pub(super) const fn style(&self) -> &'static str {
        self.mark_and_style().1
    }

    /// Returns the time of the state: that of the next request, or of the end.
    pub(super) const fn state_at(&self) -> Option<Timestamp> {
        match self.state {
            GapState::Open { next_request_at, .. } => Some(next_request_at),
            GapState::Filled(at) | GapState::GivenUp(at) => Some(at),
            GapState::NoProvider => None,
        }
    }

    /// Returns the number of failed requests.
    pub(super) const fn failures(&self) -> u32 {
        match self.state {
            GapState::Open { failures, .. } => failures,
            GapState::Filled(_) | GapState::GivenUp(_) | GapState::NoProvider => 0,
        }
    }
}

/// Returns the names of kinds of data that no source delivers.
pub(super) fn feed_names(feeds: &[Feed]) -> Vec<&'static str> {
    feeds.iter().map(|feed| feed.name()).collect()
}

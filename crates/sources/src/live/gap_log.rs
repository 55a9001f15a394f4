//! The latest gaps in the received prices, and what became of them, for operators.

use std::collections::VecDeque;

use jiff::Timestamp;
use market::Symbol;

use super::gaps::{Gap, GapId};
use crate::provider::TimeRange;

/// The number of ended gaps that are kept.
const MAX_ENDED_GAPS: usize = 100;

/// Why prices are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapCause {
    /// The program did not run.
    NotRunning,
    /// The stream was lost.
    StreamLost,
    /// The stream was connected and delivered nothing.
    StreamSilent,
    /// No poll succeeded.
    PollsFailed,
    /// The session closed after the last poll.
    SessionClosed,
}

/// The state of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapState {
    /// It is requested when the minute bars are available, or again after failures.
    Open {
        /// The number of requests that failed.
        failures: u32,
        /// The earliest time of the next request.
        next_request_at: Timestamp,
    },
    /// Its minute bars were evaluated.
    Filled(Timestamp),
    /// It was too old for another request.
    GivenUp(Timestamp),
    /// No provider of minute bars is configured.
    NoProvider,
}

/// A gap in the prices of some stocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapReport {
    /// The stocks.
    pub symbols: Vec<Symbol>,
    /// The period.
    pub times: TimeRange,
    /// Why prices are missing.
    pub cause: GapCause,
    /// The state.
    pub state: GapState,
}

/// The open gaps, and the latest ended ones.
#[derive(Debug, Default)]
pub(super) struct GapLog {
    open: Vec<(GapId, GapReport)>,
    ended: VecDeque<GapReport>,
}

impl GapLog {
    /// Adds an open gap, or one that was requested without success.
    pub(super) fn opened(&mut self, gap: &Gap, cause: GapCause) {
        let report = GapReport {
            symbols: gap.symbols.clone(),
            times: gap.times,
            cause,
            state: gap.state(),
        };
        self.open.push((gap.id, report));
    }

    /// Records a request that failed.
    pub(super) fn failed(&mut self, gap: &Gap) {
        if let Some((_, report)) = self.open.iter_mut().find(|(id, _)| *id == gap.id) {
            report.state = gap.state();
        }
    }

    /// Records the end of an open gap.
    pub(super) fn ended(&mut self, id: GapId, state: GapState) {
        if let Some(index) = self.open.iter().position(|(open, _)| *open == id) {
            let (_, report) = self.open.remove(index);
            self.keep(GapReport { state, ..report });
        }
    }

    /// Adds an ended gap.
    pub(super) fn keep(&mut self, report: GapReport) {
        self.ended.truncate(MAX_ENDED_GAPS - 1);
        self.ended.push_front(report);
    }

    /// Returns the open gaps, then the ended ones; the newest of each first.
    pub(super) fn reports(&self) -> Vec<GapReport> {
        let open = self.open.iter().rev().map(|(_, report)| report);
        open.chain(&self.ended).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(minute: i64) -> GapReport {
        let at = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_mins(minute);
        GapReport {
            symbols: Vec::new(),
            times: TimeRange { from: at, to: at },
            cause: GapCause::StreamLost,
            state: GapState::NoProvider,
        }
    }

    #[test]
    fn only_the_latest_ended_gaps_are_kept() {
        let mut log = GapLog::default();
        for minute in 0..=100 {
            log.keep(report(minute));
        }
        let reports = log.reports();
        assert_eq!(reports.len(), 100);
        assert_eq!(reports.first(), Some(&report(100)));
        assert_eq!(reports.last(), Some(&report(1)));
    }
}

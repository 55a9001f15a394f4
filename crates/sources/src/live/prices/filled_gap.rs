//! Delivery of a gap that several requests fill.
//!
//! An alert over several stocks is evaluated only with the missed quotes of all of them, so the quotes of a gap are
//! delivered together: when each of its requests was tried, or before the hold of new quotes ends.

use std::collections::HashSet;

use jiff::Timestamp;
use market::Symbol;

use super::PriceTask;
use crate::MissedQuotes;
use crate::freshness::quotes_from_minutes;
use crate::live::gaps::Gap;
use crate::provider::{DataResponse, TimeRange};

/// The received quotes of a gap.
pub(super) struct FilledGap {
    times: TimeRange,
    /// The time until which new quotes are held for it.
    hold_until: Option<Timestamp>,
    missed: MissedQuotes,
}

impl PriceTask {
    /// Adds the minute bars of some stocks to those of the same gap.
    pub(super) async fn add_filled(&mut self, gap: &Gap, answer: &DataResponse, now: Timestamp) {
        if let Some(other) = self.filled.take_if(|filled| filled.times != gap.times) {
            self.deliver(Vec::new(), other.missed, now).await;
        }
        let filled = self.filled.get_or_insert_with(|| FilledGap {
            times: gap.times,
            hold_until: gap.hold_until,
            missed: MissedQuotes::default(),
        });
        let missed = &mut filled.missed;
        missed.quotes.extend(quotes_from_minutes(&answer.minutes, gap.times));
        // Stable: the quotes of one stock at one instant stay in their order.
        missed.quotes.sort_by_key(|quote| quote.time);
        // After the hold has ended, newer quotes may have been delivered.
        missed.is_behind |= gap.is_behind || gap.hold_until.is_none_or(|until| until <= now);
        let unknown: HashSet<Symbol> = answer.unknown.iter().copied().collect();
        let known = gap.symbols.iter().copied().filter(|symbol| !unknown.contains(symbol));
        missed.complete.extend(known);
    }

    /// Delivers a gap if each of its requests was tried.
    pub(super) async fn deliver_whole_gap(&mut self, times: TimeRange, now: Timestamp) {
        if self.gaps.has_untried(times) {
            return;
        }
        if let Some(filled) = self.filled.take_if(|filled| filled.times == times) {
            self.deliver_filled(filled, now).await;
        }
    }

    /// Delivers a gap for which new quotes were held until now, before these.
    pub(super) async fn deliver_held_gap(&mut self, now: Timestamp) {
        if let Some(filled) = self.filled.take_if(|filled| filled.hold_until.is_some()) {
            self.deliver_filled(filled, now).await;
        }
    }

    async fn deliver_filled(&mut self, filled: FilledGap, now: Timestamp) {
        let FilledGap { times, missed, .. } = filled;
        tracing::info!(from = %times.from, to = %times.to, observations = missed.quotes.len(), "a gap was filled");
        self.deliver(Vec::new(), missed, now).await;
    }
}

//! Filtered quotes: delivered as current or missed quotes, or held until a gap is filled.

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::records::{Batch, QuoteRow};

use super::quote_times::{is_of_session, late_quotes};
use super::{PriceTask, ReportedBy};
use crate::freshness::{FilterReason, QuoteDecision};
use crate::{MarketUpdate, MissedQuotes};

/// The maximum number of held quotes; the oldest are dropped first.
const MAX_HELD_QUOTES: usize = 200_000;

/// The stocks whose quotes were delivered, and those whose quotes are held as jumps.
#[derive(Default)]
pub(in crate::live) struct FilteredQuotes {
    pub(in crate::live) delivered: Vec<Symbol>,
    pub(in crate::live) unconfirmed: Vec<Symbol>,
    /// Whether at least one quote is neither ahead nor stale.
    pub(super) has_plausible_time: bool,
}

/// The quotes that are held until a gap is filled.
#[derive(Default)]
pub(super) struct HeldQuotes {
    pub(super) quotes: Vec<QuoteRow>,
    pub(super) missed: Vec<QuoteRow>,
}

impl PriceTask {
    /// Filters quotes and delivers those that pass: as quotes if they are current, as missed quotes if they are late.
    pub(in crate::live) async fn filter_quotes(
        &mut self,
        quotes: Vec<QuoteRow>,
        reported_by: ReportedBy<'_>,
        skew: SignedDuration,
        now: Timestamp,
    ) -> FilteredQuotes {
        let provider_now = now.saturating_add(skew).unwrap_or(now);
        let calendar = &self.context.config.calendar;
        let is_open = calendar.session_at(now).is_some();
        let (mut passed, mut missed) = (Vec::with_capacity(quotes.len()), Vec::new());
        let mut filtered = FilteredQuotes::default();
        let mut jumps = Vec::new();
        for quote in quotes {
            if self.context.is_doubtful_in_extended_hours(&quote, reported_by) {
                continue;
            }
            let is_of_a_session = || is_of_session(calendar, &quote);
            let decision = self.filter.check(&quote, provider_now);
            filtered.has_plausible_time |= !matches!(
                decision,
                QuoteDecision::Dropped(FilterReason::Ahead | FilterReason::Stale)
            );
            match decision {
                QuoteDecision::Passed | QuoteDecision::Confirmed if is_open || !is_of_a_session() => passed.push(quote),
                QuoteDecision::Passed | QuoteDecision::Confirmed | QuoteDecision::Held(FilterReason::Late) => {
                    missed.push(quote)
                }
                // For a stock without a price, an old price is better than none.
                QuoteDecision::Dropped(FilterReason::Stale)
                    if is_of_a_session() && !self.requested_stocks.contains(&quote.symbol) =>
                {
                    missed.push(quote);
                }
                QuoteDecision::Held(FilterReason::Jump) => {
                    filtered.unconfirmed.push(quote.symbol);
                    jumps.push((quote.symbol, quote.time.unwrap_or(provider_now)));
                }
                QuoteDecision::Held(_) | QuoteDecision::Dropped(_) => {}
            }
        }
        self.queue_jumps(&jumps, reported_by, now);
        filtered.delivered = self.deliver_or_hold(passed, missed, now).await;
        filtered
    }

    /// Delivers quotes, or holds them until a gap is filled. Returns the stocks whose quotes were delivered.
    pub(super) async fn deliver_or_hold(
        &mut self,
        mut passed: Vec<QuoteRow>,
        mut missed: Vec<QuoteRow>,
        now: Timestamp,
    ) -> Vec<Symbol> {
        if self.is_holding(now) {
            for (held, new) in [
                (&mut self.held.quotes, &mut passed),
                (&mut self.held.missed, &mut missed),
            ] {
                held.append(new);
                held.drain(..held.len().saturating_sub(MAX_HELD_QUOTES));
            }
        }
        let delivered = passed.iter().chain(&missed).map(|quote| quote.symbol).collect();
        self.deliver(passed, late_quotes(missed), now).await;
        delivered
    }

    pub(super) async fn release(&mut self, now: Timestamp) {
        let HeldQuotes { quotes, missed } = std::mem::take(&mut self.held);
        self.deliver(quotes, late_quotes(missed), now).await;
    }

    pub(super) async fn deliver(&mut self, quotes: Vec<QuoteRow>, missed: MissedQuotes, at: Timestamp) {
        let batch = Batch {
            quotes,
            ..Batch::default()
        };
        let update = MarketUpdate {
            at,
            backfill: false,
            batch,
            missed,
        };
        self.context.deliver(update).await;
    }
}

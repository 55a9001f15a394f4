//! Rounds of polling, and the end of a session.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use super::super::round::{Round, pace, poll, skew};
use super::super::streaming::Streaming;
use super::{Prices, ReportedBy, told_then};
use crate::provider::{Capability, Times};

/// So long after the close prices are polled once more, and what was told meanwhile is asked for as minutes.
const AFTER_CLOSE: SignedDuration = SignedDuration::from_secs(65);

impl Prices {
    pub(super) fn close_is_over(&self, close: Timestamp) -> Timestamp {
        let wait = AFTER_CLOSE.saturating_add(self.delay(Capability::Quotes));
        close.saturating_add(wait).unwrap_or(close)
    }

    /// When a session is over, what the last rounds did not see is asked for as minutes.
    pub(super) fn note_close(&mut self, now: Timestamp) {
        let calendar = &self.desk.options.calendar;
        if let Some(session) = calendar.session_at(now) {
            if self.session_ends != Some(session.close) {
                self.session_ends = Some(session.close);
                // A session has begun: whatever was waited for, prices are wanted now; and stocks may have been split.
                self.next_round = now.min(self.next_round);
                self.refer(false);
            }
            return;
        }
        let Some(close) = self.session_ends.filter(|&close| now >= self.close_is_over(close)) else {
            return;
        };
        self.session_ends = None;
        if let Some(from) = self.last_of_session.take().filter(|&from| from < close) {
            let symbols = self.polled(true);
            // The last poll has told a price of before the close.
            self.open_gap(&symbols, Times { from, to: close }, true);
        }
    }

    /// The stocks to poll: not streamed at present, refused by the stream, or not asked for before.
    pub(super) fn polled(&self, only_unstreamed: bool) -> Vec<Symbol> {
        let streamed = self.streaming.as_ref().filter(|streaming| streaming.is_live());
        let streamed = streamed.map(Streaming::delivered).unwrap_or_default();
        let is_polled = |symbol: &&Symbol| {
            let is_new = !only_unstreamed && !self.known.contains(*symbol);
            is_new || !streamed.contains(*symbol)
        };
        self.watched.iter().filter(is_polled).copied().collect()
    }

    pub(super) fn begin_round(&mut self, now: Timestamp) {
        let options = &self.desk.options;
        let in_session = options.calendar.session_at(now).is_some() || self.session_ends.is_some();
        let mut symbols = self.polled(false);
        if !in_session {
            // Out of session a price is shown, and one is enough for that.
            symbols.retain(|symbol| !self.known.contains(symbol));
        }
        let pace = pace(&options.combination, symbols.len(), options.polling);
        self.gate.expect_every(pace);
        self.next_round = if in_session {
            now.saturating_add(pace).unwrap_or(Timestamp::MAX)
        } else {
            Timestamp::MAX
        };
        if symbols.is_empty() {
            // Whatever is watched is heard by itself.
            self.polled_at = Some(now);
        } else if options.combination.capabilities().has(Capability::Quotes) {
            self.round.begin(poll(Arc::clone(&options.combination), symbols, now));
        }
    }

    pub(super) async fn take_round(&mut self, round: Round) {
        let now = self.desk.now();
        match round.outcome {
            Ok(fetched) => {
                self.gate.note_unreadable(fetched.answer.faults.count);
                self.note_silence(&round.symbols, round.began);
                self.polled_at = Some(round.began);
                let tells_of = round
                    .began
                    .saturating_sub(self.delay(Capability::Quotes))
                    .unwrap_or(round.began);
                if self.session_ends.is_some_and(|close| tells_of < close) {
                    self.last_of_session = Some(tells_of);
                }
                self.desk.health.change(|state| state.polled_at = Some(round.began));
                let skew = skew(&self.desk.options.combination, Capability::Quotes);
                let reported_by = ReportedBy::Answer(&fetched.quoted_by);
                let _ = self
                    .take_quotes(fetched.answer.batch.quotes, reported_by, skew, now)
                    .await;
                self.known.extend(&round.symbols);
            }
            Err(why) => {
                self.desk.health.change(|state| state.unanswered += 1);
                tracing::warn!(%why, "prices could not be polled");
                // As soon as somebody can be asked again, and not too often.
                let pace = pace(
                    &self.desk.options.combination,
                    self.watched.len(),
                    self.desk.options.polling,
                );
                let soon = pace.min(SignedDuration::from_secs(30));
                self.next_round = self.next_round.min(now.saturating_add(soon).unwrap_or(Timestamp::MAX));
            }
        }
    }

    /// Rounds that nobody answered leave a gap between the two that somebody did.
    pub(super) fn note_silence(&mut self, symbols: &[Symbol], began: Timestamp) {
        let Some(before) = self.polled_at else { return };
        let options = &self.desk.options;
        let pace = pace(&options.combination, symbols.len(), options.polling);
        let usual = pace.saturating_mul(2).saturating_add(SignedDuration::from_secs(30));
        // Over a night nobody asks.
        let Some(session) = options.calendar.session_at(began) else {
            return;
        };
        let from = before.max(session.open);
        if began.duration_since(from) > usual {
            let silent = Times { from, to: began };
            self.open_gap(symbols, told_then(silent, self.delay(Capability::Quotes)), false);
        }
    }
}

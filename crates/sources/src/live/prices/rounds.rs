//! Polling rounds and the end of a session.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::Symbol;

use super::super::gap_log::GapCause;
use super::super::poll_round::{PollRound, clock_skew, poll, polling_interval};
use super::super::price_stream::LivePriceStream;
use super::{PriceTask, ReportedBy, shifted_back};
use crate::provider::{Capability, TimeRange};

/// The time of the last poll after the close. Prices of the session that it does not contain are requested as minute bars.
const LAST_POLL_AFTER_CLOSE: SignedDuration = SignedDuration::from_secs(65);

impl PriceTask {
    pub(super) fn close_processing_time(&self, close: Timestamp) -> Timestamp {
        let wait = LAST_POLL_AFTER_CLOSE.saturating_add(self.delay(Capability::Quotes));
        close.saturating_add(wait).unwrap_or(close)
    }

    /// At the end of a session, requests the minutes since the last round.
    pub(super) fn handle_session_close(&mut self, now: Timestamp) {
        let calendar = &self.context.config.calendar;
        if let Some(session) = calendar.session_at(now) {
            if self.session_close != Some(session.close) {
                self.session_close = Some(session.close);
                // A session has begun: prices are needed now, and stocks may have been split.
                self.next_round = now.min(self.next_round);
                self.set_references(false);
            }
            return;
        }
        let Some(close) = self
            .session_close
            .filter(|&close| now >= self.close_processing_time(close))
        else {
            return;
        };
        self.session_close = None;
        if let Some(from) = self.last_session_round.take().filter(|&from| from < close) {
            let symbols = self.stocks_to_poll(true);
            // The last poll has delivered a price from before the close.
            self.open_gap(&symbols, TimeRange { from, to: close }, GapCause::SessionClosed, true);
        }
    }

    /// Returns the stocks to poll: not streamed at present, refused by the stream, or without a price.
    pub(super) fn stocks_to_poll(&self, only_unstreamed: bool) -> Vec<Symbol> {
        let streamed = self.stream.as_ref().filter(|stream| stream.is_live());
        let streamed = streamed.map(LivePriceStream::served).unwrap_or_default();
        let is_polled = |symbol: &&Symbol| {
            let is_new = !only_unstreamed && !self.requested_stocks.contains(*symbol);
            is_new || !streamed.contains(*symbol)
        };
        self.watched.iter().filter(is_polled).copied().collect()
    }

    pub(super) fn start_round(&mut self, now: Timestamp) {
        let config = &self.context.config;
        let in_session = config.calendar.session_at(now).is_some() || self.session_close.is_some();
        let interval = self.interval_between_rounds();
        let symbols;
        (symbols, self.next_round) = if in_session {
            let next = now.saturating_add(interval).unwrap_or(Timestamp::MAX);
            (self.stocks_to_poll(false), next)
        } else {
            let (symbols, is_extended) = self.stocks_to_poll_outside_session(now);
            (symbols, self.next_round_outside_session(now, is_extended))
        };
        self.filter.set_polling_interval(interval);
        if symbols.is_empty() {
            // All watched stocks are streamed.
            self.polled_at = Some(now);
        } else if config.router.offers(Capability::Quotes) {
            self.round.start(poll(Arc::clone(&config.router), symbols, now));
        }
    }

    pub(super) async fn on_poll_round(&mut self, round: PollRound) {
        let now = self.context.now();
        match round.outcome {
            Ok(fetched) => {
                self.filter.count_unreadable(fetched.answer.invalid_rows.count);
                self.open_gap_after_failed_rounds(&round.symbols, round.began);
                self.polled_at = Some(round.began);
                let prices_as_of = round
                    .began
                    .saturating_sub(self.delay(Capability::Quotes))
                    .unwrap_or(round.began);
                if self.session_close.is_some_and(|close| prices_as_of < close) {
                    self.last_session_round = Some(prices_as_of);
                }
                self.context.health.change(|state| state.polled_at = Some(round.began));
                let skew = clock_skew(&self.context.config.router, Capability::Quotes);
                let reported_by = ReportedBy::Answer(&fetched.quoted_by);
                let _ = self
                    .filter_quotes(fetched.answer.batch.quotes, reported_by, skew, now)
                    .await;
                self.requested_stocks.extend(&round.symbols);
            }
            Err(why) => {
                self.context.health.change(|state| state.failed_requests += 1);
                tracing::warn!(%why, "prices could not be polled");
                // As soon as a provider can be used again, and not too often.
                let interval = polling_interval(
                    &self.context.config.router,
                    self.watched.len(),
                    self.context.config.polling,
                );
                let soon = interval.min(SignedDuration::from_secs(30));
                self.next_round = self.next_round.min(now.saturating_add(soon).unwrap_or(Timestamp::MAX));
            }
        }
    }

    /// Opens a gap if rounds between the last answered one and this one failed.
    pub(super) fn open_gap_after_failed_rounds(&mut self, symbols: &[Symbol], began: Timestamp) {
        let Some(before) = self.polled_at else { return };
        let config = &self.context.config;
        let interval = polling_interval(&config.router, symbols.len(), config.polling);
        let usual = interval.saturating_mul(2).saturating_add(SignedDuration::from_secs(30));
        // Stocks are not polled overnight.
        let Some(session) = config.calendar.session_at(began) else {
            return;
        };
        let from = before.max(session.open);
        if began.duration_since(from) > usual {
            let silent = TimeRange { from, to: began };
            let silent = shifted_back(silent, self.delay(Capability::Quotes));
            self.open_gap(symbols, silent, GapCause::PollsFailed, false);
        }
    }
}

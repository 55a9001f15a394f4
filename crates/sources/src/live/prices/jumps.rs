//! The confirmation of jumps.
//!
//! The filter holds a price that is too far from the last one. In a liquid stock, the next trade confirms it; in an
//! illiquid one, that may take hours. So the price is requested from a second source, if there is one, and then the minute
//! bars from the jump on. If one agrees, the held price is confirmed and delivered. A jump that neither confirms waits for
//! the next trade at any time.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::{Price, Symbol};

use super::quote_times::is_of_session;
use super::{PriceTask, ReportedBy};
use crate::freshness::QuoteDecision;
use crate::live::gaps::whole_minute;
use crate::live::poll_round::clock_skew;
use crate::provider::{Capability, DataRequest, TimeRange};
use crate::routing::{FetchedData, RoutingError};

/// The maximum number of waiting jumps; a feed with more of them is wrong.
const MAX_WAITING_JUMPS: usize = 100;
/// The time after the end of a minute at which its bar is available.
const MINUTE_BAR_LAG: SignedDuration = SignedDuration::from_secs(5);
/// The delay before minute bars that do not confirm a jump are requested again.
const MINUTE_BAR_RETRY_DELAY: SignedDuration = SignedDuration::from_secs(60);
/// The maximum number of requests for minute bars.
const MAX_MINUTE_REQUESTS: u32 = 3;

/// The source that is requested next to confirm a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConfirmationStep {
    /// A provider of quotes that did not report the jump.
    SecondSource,
    /// Minute bars, in the n-th request.
    Minutes(u32),
}

/// A jump that waits for a confirmation.
#[derive(Debug, Clone)]
struct Jump {
    symbol: Symbol,
    at: Timestamp,
    reported_by: Option<&'static str>,
    step: ConfirmationStep,
    not_before: Timestamp,
}

/// The jumps that wait for a confirmation.
#[derive(Debug, Default)]
pub(super) struct JumpQueue(Vec<Jump>);

/// The jumps of a request, and the answer.
pub(super) struct Confirmation {
    jumps: Vec<Jump>,
    answer: Result<FetchedData, RoutingError>,
}

impl JumpQueue {
    /// Adds a jump that the provider `reported_by` reported. Returns false if the queue is full.
    fn add(&mut self, symbol: Symbol, at: Timestamp, reported_by: Option<&'static str>, now: Timestamp) -> bool {
        self.0.retain(|jump| jump.symbol != symbol);
        let has_capacity = self.0.len() < MAX_WAITING_JUMPS;
        if has_capacity {
            self.0.push(Jump {
                symbol,
                at,
                reported_by,
                step: ConfirmationStep::SecondSource,
                not_before: now,
            });
        }
        has_capacity
    }

    /// Limits all waits after the clock was set back to `now`. Minute bars are available `delay` after they are over.
    pub(super) fn on_clock_set_back(&mut self, now: Timestamp, delay: SignedDuration) {
        for jump in &mut self.0 {
            let due = match jump.step {
                ConfirmationStep::SecondSource => now,
                ConfirmationStep::Minutes(_) => minute_bar_available_at(jump.at, delay).max(now),
            };
            jump.not_before = jump.not_before.min(due);
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.0.iter().map(|jump| jump.not_before).min()
    }

    /// Removes and returns the due jumps that fit into one request.
    fn take_due(&mut self, now: Timestamp) -> Vec<Jump> {
        let Some(first) = self.0.iter().find(|jump| jump.not_before <= now).cloned() else {
            return Vec::new();
        };
        let is_same_request =
            |jump: &Jump| jump.not_before <= now && (jump.step, jump.reported_by) == (first.step, first.reported_by);
        let (due, rest) = std::mem::take(&mut self.0).into_iter().partition(is_same_request);
        self.0 = rest;
        due
    }
}

impl PriceTask {
    /// Whether another source than the one that reported a jump can confirm it.
    pub(super) fn can_confirm(config: &crate::live::LiveSourceConfig) -> bool {
        let router = &config.router;
        let sources = router.providers(Capability::Quotes).count();
        sources > 1 || router.offers(Capability::MinuteBars)
    }

    /// Adds quotes that are held as jumps, each with its time.
    pub(super) fn queue_jumps(&mut self, held: &[(Symbol, Timestamp)], reported_by: ReportedBy<'_>, now: Timestamp) {
        if !Self::can_confirm(&self.context.config) {
            return;
        }
        for &(symbol, at) in held {
            if !self.jumps.add(symbol, at, reported_by.provider_of(symbol), now) {
                self.filter.lift_confirm_limit(symbol);
            }
        }
    }

    /// Sends the requests for the jumps that are due.
    pub(super) fn confirm_jumps(&mut self, now: Timestamp) {
        while !self.confirming.is_running() {
            let mut due = self.jumps.take_due(now);
            let Some(step) = due.first().map(|jump| jump.step) else {
                return;
            };
            // A later price of the stock may have settled the jump.
            due.retain(|jump| self.filter.is_held(jump.symbol, jump.at));
            match step {
                ConfirmationStep::SecondSource if due.is_empty() || !self.has_second_source(&due) => {
                    self.schedule_minutes(due, now)
                }
                ConfirmationStep::SecondSource => self.request_second_source(due),
                ConfirmationStep::Minutes(_) if due.is_empty() => {}
                ConfirmationStep::Minutes(_) => self.request_minutes(due, now),
            }
        }
    }

    fn has_second_source(&self, due: &[Jump]) -> bool {
        let reported_by = due.first().and_then(|jump| jump.reported_by);
        let mut providers = self.context.config.router.providers(Capability::Quotes);
        providers.any(|provider| reported_by != Some(provider.name()))
    }

    fn request_second_source(&mut self, jumps: Vec<Jump>) {
        let router = Arc::clone(&self.context.config.router);
        self.confirming.start(async move {
            let request = DataRequest::Quotes(jumps.iter().map(|jump| jump.symbol).collect());
            let reported_by = jumps.first().and_then(|jump| jump.reported_by);
            let answer = router.fetch_excluding(&request, reported_by.as_slice()).await;
            Confirmation { jumps, answer }
        });
    }

    fn request_minutes(&mut self, jumps: Vec<Jump>, now: Timestamp) {
        let router = Arc::clone(&self.context.config.router);
        self.confirming.start(async move {
            let from = jumps.iter().map(|jump| whole_minute(jump.at)).min().unwrap_or(now);
            let symbols = jumps.iter().map(|jump| jump.symbol).collect();
            let request = DataRequest::MinuteBars(
                symbols,
                TimeRange {
                    from,
                    to: whole_minute(now),
                },
            );
            let answer = router.fetch(&request).await;
            Confirmation { jumps, answer }
        });
    }

    /// Postpones jumps until their minute bars are available. If there are none, or if they were requested
    /// [`MAX_MINUTE_REQUESTS`] times, only the stock's next trade can confirm the jump.
    fn schedule_minutes(&mut self, jumps: Vec<Jump>, now: Timestamp) {
        let has_minutes = self.context.config.router.offers(Capability::MinuteBars);
        let delay = self.delay(Capability::MinuteBars);
        for jump in jumps {
            if !self.filter.is_held(jump.symbol, jump.at) {
                continue;
            }
            let (request, wait_from) = match jump.step {
                ConfirmationStep::SecondSource => (1, minute_bar_available_at(jump.at, delay)),
                ConfirmationStep::Minutes(request) => {
                    (request + 1, now.saturating_add(MINUTE_BAR_RETRY_DELAY).unwrap_or(now))
                }
            };
            if !has_minutes || request > MAX_MINUTE_REQUESTS {
                self.filter.lift_confirm_limit(jump.symbol);
            } else {
                self.jumps.0.push(Jump {
                    step: ConfirmationStep::Minutes(request),
                    not_before: wait_from.max(now),
                    ..jump
                });
            }
        }
    }

    /// Delivers the jumps that an answer confirms.
    pub(super) async fn on_confirmation(&mut self, Confirmation { mut jumps, answer }: Confirmation) {
        let now = self.context.now();
        let config = &self.context.config;
        let skew = clock_skew(&config.router, Capability::Quotes);
        let provider_now = now.saturating_add(skew).unwrap_or(now);
        let is_open = config.calendar.session_at(now).is_some();
        // A later price may have replaced a jump.
        jumps.retain(|jump| self.filter.is_held(jump.symbol, jump.at));
        let (mut passed, mut missed, mut confirmed) = (Vec::new(), Vec::new(), BTreeSet::new());
        match answer {
            Ok(fetched) => {
                for (symbol, price) in confirming_prices(&fetched, &jumps, config.limits.late_after) {
                    let Some((quote, decision)) = self.filter.confirm(symbol, price, provider_now) else {
                        continue;
                    };
                    confirmed.insert(symbol);
                    match decision {
                        QuoteDecision::Confirmed if is_open || !is_of_session(&config.calendar, &quote) => {
                            passed.push(quote)
                        }
                        _ => missed.push(quote),
                    }
                }
            }
            Err(why) => {
                self.context.health.change(|state| state.failed_requests += 1);
                tracing::warn!(%why, "a jump could not be confirmed by another source");
            }
        }
        let rest = jumps.into_iter().filter(|jump| !confirmed.contains(&jump.symbol));
        self.schedule_minutes(rest.collect(), now);
        let _ = self.deliver_or_hold(passed, missed, now).await;
    }
}

/// Returns when the minute bar of an instant is available.
fn minute_bar_available_at(at: Timestamp, delay: SignedDuration) -> Timestamp {
    let after = SignedDuration::from_mins(1)
        .saturating_add(delay)
        .saturating_add(MINUTE_BAR_LAG);
    whole_minute(at).saturating_add(after).unwrap_or(at)
}

/// Returns the prices of an answer that can confirm a jump: quotes made at most `late_after` before it, and closes of
/// minutes that do not end before it. An older quote is not evidence.
fn confirming_prices(fetched: &FetchedData, jumps: &[Jump], late_after: SignedDuration) -> Vec<(Symbol, Price)> {
    let answer = &fetched.answer;
    let quotes = answer.batch.quotes.iter().filter(|row| {
        let mut jumps = jumps.iter().filter(|jump| jump.symbol == row.symbol);
        let is_near = |jump: &Jump| row.time.is_some_and(|time| jump.at.duration_since(time) <= late_after);
        jumps.any(is_near)
    });
    let quotes = quotes.map(|row| (row.symbol, row.price));
    let minutes = answer.minutes.iter().filter(|minute| {
        let mut jumps = jumps.iter();
        jumps.any(|jump| jump.symbol == minute.symbol && whole_minute(jump.at) <= minute.bar.time)
    });
    let closes = minutes.map(|minute| (minute.symbol, minute.bar.close));
    quotes.chain(closes).collect()
}

//! Jumps that wait for a confirmation.
//!
//! The gate holds a price that is too far from the one before. In a liquid stock, the next trade confirms it; in an illiquid one,
//! that may take hours. So a second source is asked for the price, if one is set, and then for the minute bars from the jump
//! on. If one agrees, the held price is confirmed and delivered. A jump that none of them can confirm waits for the next
//! trade, whenever it comes.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use market::{Price, Symbol};

use super::{Prices, ReportedBy, is_of_session};
use crate::combine::{Fetched, NoAnswer};
use crate::freshness::Verdict;
use crate::live::gaps::whole_minute;
use crate::live::round::skew;
use crate::provider::{Ask, Capability, Times};

/// The most jumps that wait; a feed with more of them is wrong.
const MAX_WAITING: usize = 100;
/// How long after its end a minute bar is available.
const MINUTE_IS_TOLD_AFTER: SignedDuration = SignedDuration::from_secs(5);
/// How long after minute bars that do not confirm a jump they are asked for again.
const ASK_AGAIN_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// How often minute bars are asked for.
const MAX_MINUTE_REQUESTS: u32 = 3;

/// The source that is asked next about a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A provider of quotes that did not report the jump.
    SecondSource,
    /// Minute bars, asked for the n-th time.
    Minutes(u32),
}

/// A jump that waits for a confirmation.
#[derive(Debug, Clone)]
struct Jump {
    symbol: Symbol,
    at: Timestamp,
    told_by: Option<&'static str>,
    step: Step,
    not_before: Timestamp,
}

/// The jumps that wait for a confirmation.
#[derive(Debug, Default)]
pub(super) struct Jumps(Vec<Jump>);

/// The jumps of a request, and the answer.
pub(super) struct Confirmation {
    asked: Vec<Jump>,
    answer: Result<Fetched, NoAnswer>,
}

impl Jumps {
    /// Adds a jump that was reported by the provider `told_by`; false if there is no room for it.
    fn add(&mut self, symbol: Symbol, at: Timestamp, told_by: Option<&'static str>, now: Timestamp) -> bool {
        self.0.retain(|jump| jump.symbol != symbol);
        let has_room = self.0.len() < MAX_WAITING;
        if has_room {
            self.0.push(Jump {
                symbol,
                at,
                told_by,
                step: Step::SecondSource,
                not_before: now,
            });
        }
        has_room
    }

    /// Shortens all waits after the clock was set back to `now`, as if it had always been right. Minute bars are available
    /// `delay` after they are over.
    pub(super) fn follow_clock_back(&mut self, now: Timestamp, delay: SignedDuration) {
        for jump in &mut self.0 {
            let due = match jump.step {
                Step::SecondSource => now,
                Step::Minutes(_) => told_at(jump.at, delay).max(now),
            };
            jump.not_before = jump.not_before.min(due);
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.0.iter().map(|jump| jump.not_before).min()
    }

    /// The jumps that one request can be about now.
    fn take_due(&mut self, now: Timestamp) -> Vec<Jump> {
        let Some(first) = self.0.iter().find(|jump| jump.not_before <= now).cloned() else {
            return Vec::new();
        };
        let together = |jump: &Jump| jump.not_before <= now && (jump.step, jump.told_by) == (first.step, first.told_by);
        let (due, rest) = std::mem::take(&mut self.0).into_iter().partition(together);
        self.0 = rest;
        due
    }
}

impl Prices {
    /// Whether another source than the one that reported a jump can confirm it.
    pub(super) fn can_confirm(options: &crate::live::Options) -> bool {
        let combination = &options.combination;
        let sources = combination.providers(Capability::Quotes).count();
        sources > 1 || combination.capabilities().has(Capability::MinuteBars)
    }

    /// Adds quotes that are held as jumps, each with its time.
    pub(super) fn note_jumps(&mut self, held: &[(Symbol, Timestamp)], reported_by: ReportedBy<'_>, now: Timestamp) {
        if !Self::can_confirm(&self.desk.options) {
            return;
        }
        for &(symbol, at) in held {
            if !self.jumps.add(symbol, at, reported_by.provider_of(symbol), now) {
                self.gate.lift_confirm_limit(symbol);
            }
        }
    }

    /// Asks about the jumps that are due.
    pub(super) fn confirm_jumps(&mut self, now: Timestamp) {
        while !self.confirming.is_something() {
            let mut due = self.jumps.take_due(now);
            let Some(step) = due.first().map(|jump| jump.step) else {
                return;
            };
            // The next price of the stock may have settled it.
            due.retain(|jump| self.gate.is_held(jump.symbol, jump.at));
            match step {
                Step::SecondSource if due.is_empty() || !self.has_second_source(&due) => {
                    self.ask_minutes_later(due, now)
                }
                Step::SecondSource => self.ask_second_source(due),
                Step::Minutes(_) if due.is_empty() => {}
                Step::Minutes(_) => self.ask_minutes(due, now),
            }
        }
    }

    fn has_second_source(&self, due: &[Jump]) -> bool {
        let told_by = due.first().and_then(|jump| jump.told_by);
        let mut providers = self.desk.options.combination.providers(Capability::Quotes);
        providers.any(|provider| told_by != Some(provider.name()))
    }

    fn ask_second_source(&mut self, asked: Vec<Jump>) {
        let combination = Arc::clone(&self.desk.options.combination);
        self.confirming.begin(async move {
            let ask = Ask::Quotes(asked.iter().map(|jump| jump.symbol).collect());
            let told_by = asked.first().and_then(|jump| jump.told_by);
            let answer = combination.fetch_from_others(&ask, told_by.as_slice()).await;
            Confirmation { asked, answer }
        });
    }

    fn ask_minutes(&mut self, asked: Vec<Jump>, now: Timestamp) {
        let combination = Arc::clone(&self.desk.options.combination);
        self.confirming.begin(async move {
            let from = asked.iter().map(|jump| whole_minute(jump.at)).min().unwrap_or(now);
            let symbols = asked.iter().map(|jump| jump.symbol).collect();
            let ask = Ask::MinuteBars(
                symbols,
                Times {
                    from,
                    to: whole_minute(now),
                },
            );
            let answer = combination.fetch(&ask).await;
            Confirmation { asked, answer }
        });
    }

    /// Postpones jumps until their minute bars are available. If there are none, or if they were requested
    /// [`MAX_MINUTE_REQUESTS`] times, only the stock's next trade can confirm the jump.
    fn ask_minutes_later(&mut self, jumps: Vec<Jump>, now: Timestamp) {
        let has_minutes = self.desk.options.combination.capabilities().has(Capability::MinuteBars);
        let delay = self.delay(Capability::MinuteBars);
        for jump in jumps {
            if !self.gate.is_held(jump.symbol, jump.at) {
                continue;
            }
            let (request, wait_from) = match jump.step {
                Step::SecondSource => (1, told_at(jump.at, delay)),
                Step::Minutes(request) => (request + 1, now.saturating_add(ASK_AGAIN_AFTER).unwrap_or(now)),
            };
            if !has_minutes || request > MAX_MINUTE_REQUESTS {
                self.gate.lift_confirm_limit(jump.symbol);
            } else {
                self.jumps.0.push(Jump {
                    step: Step::Minutes(request),
                    not_before: wait_from.max(now),
                    ..jump
                });
            }
        }
    }

    /// Delivers the jumps that an answer confirms.
    pub(super) async fn take_confirmation(&mut self, Confirmation { mut asked, answer }: Confirmation) {
        let now = self.desk.now();
        let options = &self.desk.options;
        let skew = skew(&options.combination, Capability::Quotes);
        let provider_now = now.saturating_add(skew).unwrap_or(now);
        let is_open = options.calendar.session_at(now).is_some();
        // A later price may have replaced a jump meanwhile.
        asked.retain(|jump| self.gate.is_held(jump.symbol, jump.at));
        let (mut passed, mut missed, mut confirmed) = (Vec::new(), Vec::new(), BTreeSet::new());
        match answer {
            Ok(fetched) => {
                for (symbol, price) in prices(&fetched, &asked, options.limits.late_after) {
                    let Some((quote, verdict)) = self.gate.confirm(symbol, price, provider_now) else {
                        continue;
                    };
                    confirmed.insert(symbol);
                    match verdict {
                        Verdict::Confirmed if is_open || !is_of_session(&options.calendar, &quote) => {
                            passed.push(quote)
                        }
                        _ => missed.push(quote),
                    }
                }
            }
            Err(why) => {
                self.desk.health.change(|state| state.unanswered += 1);
                tracing::warn!(%why, "a jump could not be confirmed by another source");
            }
        }
        let rest = asked.into_iter().filter(|jump| !confirmed.contains(&jump.symbol));
        self.ask_minutes_later(rest.collect(), now);
        let _ = self.pass_on(passed, missed, now).await;
    }
}

/// When the minute bar of an instant is available.
fn told_at(at: Timestamp, delay: SignedDuration) -> Timestamp {
    let after = SignedDuration::from_mins(1)
        .saturating_add(delay)
        .saturating_add(MINUTE_IS_TOLD_AFTER);
    whole_minute(at).saturating_add(after).unwrap_or(at)
}

/// The prices of an answer that can confirm a jump: quotes made at most `late_after` before it, and closes of minutes that do
/// not end before it. An older quote says nothing of the jump.
fn prices(fetched: &Fetched, asked: &[Jump], late_after: SignedDuration) -> Vec<(Symbol, Price)> {
    let answer = &fetched.answer;
    let quotes = answer.batch.quotes.iter().filter(|row| {
        let mut jumps = asked.iter().filter(|jump| jump.symbol == row.symbol);
        let is_near = |jump: &Jump| row.time.is_some_and(|time| jump.at.duration_since(time) <= late_after);
        jumps.any(is_near)
    });
    let quotes = quotes.map(|row| (row.symbol, row.price));
    let minutes = answer.minutes.iter().filter(|minute| {
        let mut jumps = asked.iter();
        jumps.any(|jump| jump.symbol == minute.symbol && whole_minute(jump.at) <= minute.bar.time)
    });
    let closes = minutes.map(|minute| (minute.symbol, minute.bar.close));
    quotes.chain(closes).collect()
}

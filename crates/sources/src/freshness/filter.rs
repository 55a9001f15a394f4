//! The quote filter.

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use market::records::QuoteRow;
use market::{Price, Symbol};

use super::QuoteCounts;

/// The reason why a quote does not pass the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterReason {
    /// The quote's time is in the future.
    Ahead,
    /// The quote is too old to say anything about the present.
    Stale,
    /// The quote is older than the last one.
    OutOfOrder,
    /// The quote repeats the last one or the held one.
    Duplicate,
    /// The bid is above the ask.
    Crossed,
    /// The quote has no valid price.
    NoPrice,
    /// The price is too far from the last price.
    Jump,
    /// The quote is correct, but was received late.
    Late,
}

impl FilterReason {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::Ahead,
        Self::Stale,
        Self::OutOfOrder,
        Self::Duplicate,
        Self::Crossed,
        Self::NoPrice,
        Self::Jump,
        Self::Late,
    ];

    /// The reason's name in metrics and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Stale => "stale",
            Self::OutOfOrder => "out_of_order",
            Self::Duplicate => "duplicate",
            Self::Crossed => "crossed",
            Self::NoPrice => "no_price",
            Self::Jump => "jump",
            Self::Late => "late",
        }
    }
}

/// The filter's decision about a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteDecision {
    /// The quote passes: alerts may be evaluated against it.
    Passed,
    /// The quote passes, and confirms a held jump.
    Confirmed,
    /// The quote is held: alerts are not evaluated against it now.
    Held(FilterReason),
    /// The quote is dropped.
    Dropped(FilterReason),
}

impl QuoteDecision {
    /// Whether alerts may be evaluated against the quote.
    #[must_use]
    pub const fn is_passed(self) -> bool {
        matches!(self, Self::Passed | Self::Confirmed)
    }
}

/// The limits of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteLimits {
    /// The delay of the plan: the age of its newest quotes.
    pub delay: SignedDuration,
    /// The age, beyond the delay, after which a quote is late.
    pub late_after: SignedDuration,
    /// The age, beyond the delay, after which a quote is stale.
    pub stale_after: SignedDuration,
    /// The maximum time that a quote may lie in the future, because clocks differ.
    pub ahead: SignedDuration,
    /// The maximum move between two quotes, in millionths of the price.
    pub max_jump_ppm: i64,
    /// The time in which a held jump can be confirmed by a later quote.
    pub confirm_within: SignedDuration,
}

impl Default for QuoteLimits {
    fn default() -> Self {
        Self {
            delay: SignedDuration::ZERO,
            late_after: SignedDuration::from_secs(60),
            stale_after: SignedDuration::from_mins(15),
            ahead: SignedDuration::from_secs(5),
            max_jump_ppm: 250_000,
            confirm_within: SignedDuration::from_mins(5),
        }
    }
}

/// The filter's state of one stock.
#[derive(Debug, Clone, Copy, Default)]
struct StockState {
    /// The newest quote that passed or was held as late.
    last: Option<AcceptedQuote>,
    /// The price that the next one is compared with.
    reference: Option<Price>,
    /// The jump that waits for a confirmation.
    held: Option<HeldJump>,
}

/// A jump that waits for a confirmation.
#[derive(Debug, Clone, Copy)]
struct HeldJump {
    quote: QuoteRow,
    time: Timestamp,
    /// Whether a later quote confirms the jump at any time, not only within `confirm_within`.
    is_without_limit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AcceptedQuote {
    time: Timestamp,
    price: Price,
    volume: Option<i64>,
}

/// Decides which quotes alerts are evaluated against.
#[derive(Debug, Clone, Default)]
pub struct QuoteFilter {
    limits: QuoteLimits,
    /// The time in which a held jump can be confirmed: the limit, or two polling intervals if that is longer.
    confirm_within: SignedDuration,
    stocks: HashMap<Symbol, StockState>,
    counts: QuoteCounts,
}

impl QuoteFilter {
    /// Creates a filter without any state. The first quote of a stock is never a jump.
    #[must_use]
    pub fn new(limits: QuoteLimits) -> Self {
        Self {
            limits,
            confirm_within: limits.confirm_within,
            ..Self::default()
        }
    }

    /// Checks a quote at `now`, by the provider's clock. A quote without a time counts as made at `now`.
    pub fn check(&mut self, quote: &QuoteRow, now: Timestamp) -> QuoteDecision {
        let time = quote.time.unwrap_or(now);
        let state = self.stocks.entry(quote.symbol).or_default();
        let limits = QuoteLimits {
            confirm_within: self.confirm_within,
            ..self.limits
        };
        let decision = state.check(quote, time, now, &limits);
        match decision {
            QuoteDecision::Passed => self.counts.passed += 1,
            QuoteDecision::Confirmed => {
                self.counts.passed += 1;
                self.counts.confirmed += 1;
            }
            QuoteDecision::Held(reason) | QuoteDecision::Dropped(reason) => self.counts.add(reason, 1),
        }
        decision
    }

    /// Counts quotes that a parser rejected because they have no valid price.
    pub fn count_unreadable(&mut self, count: u64) {
        self.counts.add(FilterReason::NoPrice, count);
    }

    /// Sets the polling interval of a stock's quotes. A jump then waits at least two intervals for its confirmation.
    pub fn set_polling_interval(&mut self, interval: SignedDuration) {
        self.confirm_within = self.limits.confirm_within.max(interval.saturating_mul(2));
    }

    /// Whether the jump of a stock made at `time` waits for its confirmation.
    #[must_use]
    pub fn is_held(&self, symbol: Symbol, time: Timestamp) -> bool {
        let held = self.stocks.get(&symbol).and_then(|state| state.held);
        held.is_some_and(|held| held.time == time)
    }

    /// Allows a later quote to confirm the held jump of a stock at any time. Used if no other source can confirm it.
    pub fn lift_confirm_limit(&mut self, symbol: Symbol) {
        if let Some(held) = self.stocks.get_mut(&symbol).and_then(|state| state.held.as_mut()) {
            held.is_without_limit = true;
        }
    }

    /// Confirms a held jump if `price`, which another source reports, agrees with it. Returns the held quote and the
    /// decision about it at `now`, by the provider's clock: confirmed, or held as late. Returns `None` if no jump is held
    /// or the prices do not agree.
    pub fn confirm(&mut self, symbol: Symbol, price: Price, now: Timestamp) -> Option<(QuoteRow, QuoteDecision)> {
        let state = self.stocks.get_mut(&symbol)?;
        state.forget_times_after(now.saturating_add(self.limits.ahead).unwrap_or(Timestamp::MAX));
        let HeldJump { quote, time, .. } = state.held?;
        if exceeds_jump_limit(quote.price, price, self.limits.max_jump_ppm) {
            return None;
        }
        state.last = Some(AcceptedQuote::of(&quote, time));
        state.reference = Some(quote.price);
        state.held = None;
        let late = now.duration_since(time).saturating_sub(self.limits.delay);
        if late > self.limits.late_after {
            self.counts.add(FilterReason::Late, 1);
            return Some((quote, QuoteDecision::Held(FilterReason::Late)));
        }
        self.counts.passed += 1;
        self.counts.confirmed += 1;
        Some((quote, QuoteDecision::Confirmed))
    }

    /// Sets the price that the next one is compared with, such as the last close after a start.
    pub fn set_reference(&mut self, symbol: Symbol, price: Price) {
        self.stocks.entry(symbol).or_default().reference = Some(price);
    }

    /// Removes the state of stocks that are no longer watched.
    pub fn retain(&mut self, is_watched: impl Fn(Symbol) -> bool) {
        self.stocks.retain(|&symbol, _| is_watched(symbol));
    }

    /// Returns the counts of all decisions so far.
    #[must_use]
    pub const fn counts(&self) -> &QuoteCounts {
        &self.counts
    }
}

impl AcceptedQuote {
    const fn of(quote: &QuoteRow, time: Timestamp) -> Self {
        Self {
            time,
            price: quote.price,
            volume: quote.volume,
        }
    }
}

impl StockState {
    fn check(&mut self, quote: &QuoteRow, time: Timestamp, now: Timestamp, limits: &QuoteLimits) -> QuoteDecision {
        let age = now.duration_since(time);
        if age.saturating_add(limits.ahead) < SignedDuration::ZERO {
            return QuoteDecision::Dropped(FilterReason::Ahead);
        }
        self.forget_times_after(now.saturating_add(limits.ahead).unwrap_or(Timestamp::MAX));
        let late = age.saturating_sub(limits.delay);
        if late > limits.stale_after {
            return QuoteDecision::Dropped(FilterReason::Stale);
        }
        let accepted = AcceptedQuote::of(quote, time);
        if let Some(last) = self.last {
            if time < last.time {
                return QuoteDecision::Dropped(FilterReason::OutOfOrder);
            }
            if accepted == last {
                return QuoteDecision::Dropped(FilterReason::Duplicate);
            }
        }
        if self
            .held
            .is_some_and(|held| (held.time, held.quote.price) == (time, quote.price))
        {
            return QuoteDecision::Dropped(FilterReason::Duplicate);
        }
        if matches!((quote.bid, quote.ask), (Some(bid), Some(ask)) if bid > ask) {
            return QuoteDecision::Dropped(FilterReason::Crossed);
        }
        let is_jump = self.is_jump(quote.price, limits);
        let is_confirmed = is_jump && self.is_confirmed(quote.price, time, limits);
        if is_jump && !is_confirmed {
            self.held = Some(HeldJump {
                quote: QuoteRow {
                    time: Some(time),
                    ..*quote
                },
                time,
                is_without_limit: false,
            });
            return QuoteDecision::Held(FilterReason::Jump);
        }
        self.last = Some(accepted);
        self.reference = Some(quote.price);
        self.held = None;
        if late > limits.late_after {
            return QuoteDecision::Held(FilterReason::Late);
        }
        if is_confirmed {
            QuoteDecision::Confirmed
        } else {
            QuoteDecision::Passed
        }
    }

    /// Forgets times after `latest`. After a clock that was ahead, they would make all present quotes out of order. The
    /// reference price is kept.
    fn forget_times_after(&mut self, latest: Timestamp) {
        self.last = self.last.filter(|last| last.time <= latest);
        self.held = self.held.filter(|held| held.time <= latest);
    }

    fn is_jump(&self, price: Price, limits: &QuoteLimits) -> bool {
        self.reference
            .is_some_and(|reference| exceeds_jump_limit(reference, price, limits.max_jump_ppm))
    }

    /// Whether a later quote within the limit agrees with the held one.
    fn is_confirmed(&self, price: Price, time: Timestamp, limits: &QuoteLimits) -> bool {
        self.held.is_some_and(|held| {
            time > held.time
                && (held.is_without_limit || time.duration_since(held.time) <= limits.confirm_within)
                && !exceeds_jump_limit(held.quote.price, price, limits.max_jump_ppm)
        })
    }
}

/// Whether `to` is further from `from` than `most_ppm` millionths of it.
fn exceeds_jump_limit(from: Price, to: Price, most_ppm: i64) -> bool {
    let moved = i128::from(to.micros() - from.micros()).abs();
    moved * 1_000_000 > i128::from(from.micros()) * i128::from(most_ppm)
}

#[cfg(test)]
#[path = "filter_oracle_tests.rs"]
mod oracle_tests;

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;

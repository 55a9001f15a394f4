//! The gate.

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use market::records::QuoteRow;
use market::{Price, SplitRatio, Symbol};

use super::Counts;

/// Why a quote is not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Its time lies ahead.
    Ahead,
    /// It is too old to say anything of now.
    Stale,
    /// It is older than what is known.
    OutOfOrder,
    /// It says what is known already.
    Duplicate,
    /// Its bid is above its ask.
    Crossed,
    /// It has no price that is one.
    NoPrice,
    /// It is too far from the last price.
    Jump,
    /// It is told late.
    Late,
}

impl Reason {
    /// Every reason.
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

    /// Its name in metrics and messages.
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

/// Whether a quote may be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Passed,
    /// It is a jump, and confirms one that was held: it may.
    Confirmed,
    /// Not now.
    Held(Reason),
    /// Never.
    Dropped(Reason),
}

impl Verdict {
    /// Whether the quote may be judged.
    #[must_use]
    pub const fn is_passed(self) -> bool {
        matches!(self, Self::Passed | Self::Confirmed)
    }
}

/// What the gate goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How old the plan's quotes are when they are new.
    pub delay: SignedDuration,
    /// Older than this beyond the delay: late.
    pub late_after: SignedDuration,
    /// Older than this beyond the delay: stale.
    pub stale_after: SignedDuration,
    /// Further ahead than this: no time that there can be.
    pub ahead: SignedDuration,
    /// How far a price may move between two quotes, in millionths of it.
    pub most_jump_ppm: i64,
    /// A held jump waits for its confirmation so long.
    pub confirm_within: SignedDuration,
    /// Without a quote for so long in a session, beyond the delay: blind.
    pub blind_after: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            delay: SignedDuration::ZERO,
            late_after: SignedDuration::from_secs(60),
            stale_after: SignedDuration::from_mins(15),
            ahead: SignedDuration::from_secs(5),
            most_jump_ppm: 250_000,
            confirm_within: SignedDuration::from_mins(5),
            blind_after: SignedDuration::from_mins(5),
        }
    }
}

/// What is known of a stock.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// The newest that was let through, or held for being late.
    last: Option<Told>,
    /// What the next price is compared with.
    reference: Option<Price>,
    /// A jump that waits for its confirmation.
    held: Option<HeldJump>,
    /// When something was let through last, by its own time.
    fresh: Option<Timestamp>,
    /// Until then a jump explains itself.
    expected_until: Option<Timestamp>,
}

/// A jump that waits for its confirmation.
#[derive(Debug, Clone, Copy)]
struct HeldJump {
    quote: QuoteRow,
    time: Timestamp,
    /// Whether a later quote confirms it whenever that comes, not only within the limit.
    is_without_limit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Told {
    time: Timestamp,
    price: Price,
    volume: Option<i64>,
}

/// Lets quotes through that may be judged.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    limits: Limits,
    /// How long a held jump waits.
    confirm_within: SignedDuration,
    stocks: HashMap<Symbol, Known>,
    counts: Counts,
}

impl Gate {
    /// A gate that knows nothing yet: the first quote of a stock is no jump.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            confirm_within: limits.confirm_within,
            ..Self::default()
        }
    }

    /// Judges a quote at `now`, by the provider's clock. A quote without a time is of now.
    pub fn judge(&mut self, quote: &QuoteRow, now: Timestamp) -> Verdict {
        let time = quote.time.unwrap_or(now);
        let known = self.stocks.entry(quote.symbol).or_default();
        let limits = Limits {
            confirm_within: self.confirm_within,
            ..self.limits
        };
        let verdict = known.judge(quote, time, now, &limits);
        match verdict {
            Verdict::Passed => self.counts.passed += 1,
            Verdict::Confirmed => {
                self.counts.passed += 1;
                self.counts.confirmed += 1;
            }
            Verdict::Held(reason) | Verdict::Dropped(reason) => self.counts.add(reason, 1),
        }
        verdict
    }

    /// Counts quotes that a parser refused because they have no price.
    pub fn note_unreadable(&mut self, count: u64) {
        self.counts.add(Reason::NoPrice, count);
    }

    /// A stock's quotes come no more often than this: a jump waits for its confirmation until two more could have come.
    pub fn expect_every(&mut self, pace: SignedDuration) {
        self.confirm_within = self.limits.confirm_within.max(pace.saturating_mul(2));
    }

    /// Whether the jump of a stock that was made at `time` waits for its confirmation.
    #[must_use]
    pub fn is_held(&self, symbol: Symbol, time: Timestamp) -> bool {
        let held = self.stocks.get(&symbol).and_then(|known| known.held);
        held.is_some_and(|held| held.time == time)
    }

    /// Lets a later quote of a stock confirm its held jump whenever that quote comes: no other source can confirm it.
    pub fn lift_confirm_limit(&mut self, symbol: Symbol) {
        if let Some(held) = self.stocks.get_mut(&symbol).and_then(|known| known.held.as_mut()) {
            held.is_without_limit = true;
        }
    }

    /// Confirms a held jump if `price`, which another source reports, agrees with it. Returns the quote that was held and
    /// whether it may be judged at `now`, by the provider's clock, or is late by now; `None` if nothing is held or the prices
    /// do not agree.
    pub fn confirm(&mut self, symbol: Symbol, price: Price, now: Timestamp) -> Option<(QuoteRow, Verdict)> {
        let known = self.stocks.get_mut(&symbol)?;
        known.forget_after(now.saturating_add(self.limits.ahead).unwrap_or(Timestamp::MAX));
        let HeldJump { quote, time, .. } = known.held?;
        if is_far(quote.price, price, self.limits.most_jump_ppm) {
            return None;
        }
        known.last = Some(Told::of(&quote, time));
        known.reference = Some(quote.price);
        known.held = None;
        let late = now.duration_since(time).saturating_sub(self.limits.delay);
        if late > self.limits.late_after {
            self.counts.add(Reason::Late, 1);
            return Some((quote, Verdict::Held(Reason::Late)));
        }
        known.fresh = Some(time);
        self.counts.passed += 1;
        self.counts.confirmed += 1;
        Some((quote, Verdict::Confirmed))
    }

    /// Sets what the next price is compared with, such as the last close after a start.
    pub fn set_reference(&mut self, symbol: Symbol, price: Price) {
        self.stocks.entry(symbol).or_default().reference = Some(price);
    }

    /// A split takes effect: the next price is compared with the last one in new shares.
    pub fn split(&mut self, symbol: Symbol, ratio: SplitRatio) {
        if let Some(known) = self.stocks.get_mut(&symbol) {
            known.reference = known.reference.map(|price| price.after_split(ratio));
            known.held = None;
        }
    }

    /// Something happens to the company that explains a jump until then: a merger, a spin-off.
    pub fn expect_jump(&mut self, symbol: Symbol, until: Timestamp) {
        self.stocks.entry(symbol).or_default().expected_until = Some(until);
    }

    /// Forgets stocks that nobody watches any more.
    pub fn retain(&mut self, is_watched: impl Fn(Symbol) -> bool) {
        self.stocks.retain(|&symbol, _| is_watched(symbol));
    }

    /// Since when alerts of a stock are blind at `now` in a session that opened at `opened`; `None` while they see.
    #[must_use]
    pub fn blind_since(&self, symbol: Symbol, opened: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let fresh = self.stocks.get(&symbol).and_then(|known| known.fresh);
        let latest = now.saturating_add(self.limits.ahead).unwrap_or(Timestamp::MAX);
        let fresh = fresh.filter(|&fresh| fresh <= latest);
        let seen = fresh.unwrap_or(opened).max(opened);
        let patience = self.limits.blind_after.saturating_add(self.limits.delay);
        let blind = seen.checked_add(patience).ok()?;
        (now > blind).then_some(blind)
    }

    /// What came of the quotes so far.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Told {
    const fn of(quote: &QuoteRow, time: Timestamp) -> Self {
        Self {
            time,
            price: quote.price,
            volume: quote.volume,
        }
    }
}

impl Known {
    fn judge(&mut self, quote: &QuoteRow, time: Timestamp, now: Timestamp, limits: &Limits) -> Verdict {
        let age = now.duration_since(time);
        if age.saturating_add(limits.ahead) < SignedDuration::ZERO {
            return Verdict::Dropped(Reason::Ahead);
        }
        self.forget_after(now.saturating_add(limits.ahead).unwrap_or(Timestamp::MAX));
        let late = age.saturating_sub(limits.delay);
        if late > limits.stale_after {
            return Verdict::Dropped(Reason::Stale);
        }
        let told = Told::of(quote, time);
        if let Some(last) = self.last {
            if time < last.time {
                return Verdict::Dropped(Reason::OutOfOrder);
            }
            if told == last {
                return Verdict::Dropped(Reason::Duplicate);
            }
        }
        if self
            .held
            .is_some_and(|held| (held.time, held.quote.price) == (time, quote.price))
        {
            return Verdict::Dropped(Reason::Duplicate);
        }
        if matches!((quote.bid, quote.ask), (Some(bid), Some(ask)) if bid > ask) {
            return Verdict::Dropped(Reason::Crossed);
        }
        let is_jump = self.is_jump(quote.price, time, limits);
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
            return Verdict::Held(Reason::Jump);
        }
        self.last = Some(told);
        self.reference = Some(quote.price);
        self.held = None;
        if late > limits.late_after {
            return Verdict::Held(Reason::Late);
        }
        self.fresh = Some(time);
        if is_confirmed {
            Verdict::Confirmed
        } else {
            Verdict::Passed
        }
    }

    /// Forgets times after `latest`: quotes from when the clock was ahead would keep present ones out. The next price is still
    /// compared with the last one.
    fn forget_after(&mut self, latest: Timestamp) {
        self.last = self.last.filter(|last| last.time <= latest);
        self.held = self.held.filter(|held| held.time <= latest);
        self.fresh = self.fresh.filter(|&fresh| fresh <= latest);
    }

    fn is_jump(&self, price: Price, time: Timestamp, limits: &Limits) -> bool {
        let is_expected = self.expected_until.is_some_and(|until| time <= until);
        !is_expected
            && self
                .reference
                .is_some_and(|reference| is_far(reference, price, limits.most_jump_ppm))
    }

    /// Whether a later quote, soon enough, says about the same as the held one.
    fn is_confirmed(&self, price: Price, time: Timestamp, limits: &Limits) -> bool {
        self.held.is_some_and(|held| {
            time > held.time
                && (held.is_without_limit || time.duration_since(held.time) <= limits.confirm_within)
                && !is_far(held.quote.price, price, limits.most_jump_ppm)
        })
    }
}

/// Whether `to` lies further from `from` than so many millionths of it.
fn is_far(from: Price, to: Price, most_ppm: i64) -> bool {
    let moved = i128::from(to.micros() - from.micros()).abs();
    moved * 1_000_000 > i128::from(from.micros()) * i128::from(most_ppm)
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;

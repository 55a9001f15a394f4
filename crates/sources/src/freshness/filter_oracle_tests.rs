//! The filter against the same rules without state.

use proptest::prelude::*;

use super::tests::{at, quote};
use super::*;

/// The same rules, computed from the whole history of one stock without any state.
fn naive(
    history: &[(QuoteRow, Timestamp, QuoteDecision)],
    quote: &QuoteRow,
    now: Timestamp,
    limits: &QuoteLimits,
) -> QuoteDecision {
    let time = quote.time.unwrap();
    let seconds = |later: Timestamp, earlier: Timestamp| later.as_second() - earlier.as_second();
    let late = seconds(now, time) - limits.delay.as_secs();
    let counts = |decision: QuoteDecision| decision.is_passed() || decision == QuoteDecision::Held(FilterReason::Late);
    let last = history.iter().rev().find(|(_, _, decision)| counts(*decision));
    // A jump is held until the next quote that counts, or the next jump.
    let held = history
        .iter()
        .rev()
        .find(|(_, _, decision)| counts(*decision) || *decision == QuoteDecision::Held(FilterReason::Jump));
    let held = held
        .filter(|(_, _, decision)| *decision == QuoteDecision::Held(FilterReason::Jump))
        .map(|(quote, ..)| quote);
    let far = |from: &QuoteRow| {
        let (from, to) = (from.price.as_f64(), quote.price.as_f64());
        (to - from).abs() * 1e6 > from * limits.max_jump_ppm as f64
    };
    if seconds(time, now) > limits.ahead.as_secs() {
        QuoteDecision::Dropped(FilterReason::Ahead)
    } else if late > limits.stale_after.as_secs() {
        QuoteDecision::Dropped(FilterReason::Stale)
    } else if last.is_some_and(|(last, ..)| last.time > quote.time) {
        QuoteDecision::Dropped(FilterReason::OutOfOrder)
    } else if last
        .is_some_and(|(last, ..)| (last.time, last.price, last.volume) == (quote.time, quote.price, quote.volume))
        || held.is_some_and(|held| (held.time, held.price) == (quote.time, quote.price))
    {
        QuoteDecision::Dropped(FilterReason::Duplicate)
    } else if quote.bid.zip(quote.ask).is_some_and(|(bid, ask)| bid > ask) {
        QuoteDecision::Dropped(FilterReason::Crossed)
    } else if last.is_some_and(|(last, ..)| far(last)) {
        match held {
            Some(held)
                if held.time < quote.time
                    && seconds(time, held.time.unwrap()) <= limits.confirm_within.as_secs()
                    && !far(held) =>
            {
                if late > limits.late_after.as_secs() {
                    QuoteDecision::Held(FilterReason::Late)
                } else {
                    QuoteDecision::Confirmed
                }
            }
            _ => QuoteDecision::Held(FilterReason::Jump),
        }
    } else if late > limits.late_after.as_secs() {
        QuoteDecision::Held(FilterReason::Late)
    } else {
        QuoteDecision::Passed
    }
}

proptest! {
    #[test]
    fn filter_agrees_with_the_naive_rules(
        steps in prop::collection::vec(
            (0_i64..200, prop_oneof![8 => 0_i64..90, 1 => 850_i64..950, 1 => -8_i64..0], 1_i64..12, prop::option::of(0_i64..3), 0_i64..20),
            1..60,
        ),
    ) {
        let (limits, mut now, mut history) = (QuoteLimits::default(), 0, Vec::new());
        let mut filter = QuoteFilter::new(limits);
        for (step, age, price, volume, cross) in steps {
            now += step;
            let bid = (cross == 0).then(|| "2".parse().unwrap());
            let quote = QuoteRow {
                // Coarse prices: many are equal, many are a jump apart.
                price: Price::from_micros(price * 16_000_000).unwrap(),
                volume,
                bid,
                ask: bid.map(|_| "1".parse().unwrap()),
                vwap: None,
                ..quote("1", now - age)
            };
            let decision = filter.check(&quote, at(now));
            prop_assert_eq!(decision, naive(&history, &quote, at(now), &limits), "{:?}", quote);
            history.push((quote, at(now), decision));
        }
    }
}

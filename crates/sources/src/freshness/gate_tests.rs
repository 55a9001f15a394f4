use super::*;
use proptest::prelude::*;

const START: i64 = 1_709_911_800;

fn symbol() -> Symbol {
    "AAPL".parse().unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap()
}

fn quote(price: &str, second: i64) -> QuoteRow {
    QuoteRow {
        symbol: symbol(),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(at(second)),
        bid: None,
        ask: None,
    }
}

/// A gate that let 100 through at second 0.
fn gate() -> Gate {
    let mut gate = Gate::new(Limits::default());
    assert_eq!(gate.judge(&quote("100", 0), at(0)), Verdict::Passed);
    gate
}

/// What becomes of a quote made at `second` and told at `told`.
fn verdict(price: &str, second: i64, told: i64) -> Verdict {
    gate().judge(&quote(price, second), at(told))
}

#[test]
fn a_quote_of_now_passes_and_one_a_minute_old_just_so() {
    assert_eq!(verdict("101", 1, 1), Verdict::Passed);
    assert_eq!(verdict("101", 1, 61), Verdict::Passed);
    assert_eq!(verdict("101", 1, 62), Verdict::Held(Reason::Late));
}

#[test]
fn a_quote_of_a_quarter_of_an_hour_is_late_and_an_older_one_stale() {
    assert_eq!(verdict("101", 1, 901), Verdict::Held(Reason::Late));
    assert_eq!(verdict("101", 1, 902), Verdict::Dropped(Reason::Stale));
}

#[test]
fn the_delay_of_the_plan_is_no_lateness() {
    let limits = Limits {
        delay: SignedDuration::from_mins(15),
        ..Limits::default()
    };
    let told = |second: i64| Gate::new(limits).judge(&quote("100", 0), at(second));
    assert_eq!(told(960), Verdict::Passed);
    assert_eq!(told(961), Verdict::Held(Reason::Late));
    assert_eq!(told(1_801), Verdict::Dropped(Reason::Stale));
}

#[test]
fn five_seconds_ahead_are_taken_and_six_are_not() {
    assert_eq!(verdict("101", 6, 1), Verdict::Passed);
    assert_eq!(verdict("101", 7, 1), Verdict::Dropped(Reason::Ahead));
}

#[test]
fn an_older_quote_is_dropped_and_one_of_the_same_instant_is_not() {
    let mut gate = gate();
    gate.judge(&quote("101", 10), at(10));
    assert_eq!(
        gate.judge(&quote("102", 9), at(10)),
        Verdict::Dropped(Reason::OutOfOrder)
    );
    assert_eq!(gate.judge(&quote("102", 10), at(10)), Verdict::Passed);
}

#[test]
fn the_same_again_is_dropped_but_more_volume_is_news() {
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("100", 0), at(1)), Verdict::Dropped(Reason::Duplicate));
    let more = QuoteRow {
        volume: Some(5),
        ..quote("100", 0)
    };
    assert_eq!(gate.judge(&more, at(1)), Verdict::Passed);
    assert_eq!(gate.judge(&more, at(1)), Verdict::Dropped(Reason::Duplicate));
}

#[test]
fn a_crossed_market_is_dropped_and_a_locked_one_is_not() {
    let book = |bid: &str, ask: &str| QuoteRow {
        bid: bid.parse().ok(),
        ask: ask.parse().ok(),
        ..quote("101", 1)
    };
    assert_eq!(
        gate().judge(&book("101.01", "101"), at(1)),
        Verdict::Dropped(Reason::Crossed)
    );
    assert_eq!(gate().judge(&book("101", "101"), at(1)), Verdict::Passed);
}

#[test]
fn a_quarter_is_a_move_and_more_is_a_jump_up_and_down() {
    assert_eq!(verdict("125", 1, 1), Verdict::Passed);
    assert_eq!(verdict("125.000001", 1, 1), Verdict::Held(Reason::Jump));
    assert_eq!(verdict("75", 1, 1), Verdict::Passed);
    assert_eq!(verdict("74.999999", 1, 1), Verdict::Held(Reason::Jump));
}

#[test]
fn a_later_quote_confirms_a_jump_and_the_same_one_again_does_not() {
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("50", 1), at(1)), Verdict::Held(Reason::Jump));
    assert_eq!(gate.judge(&quote("50", 1), at(60)), Verdict::Dropped(Reason::Duplicate));
    assert_eq!(gate.judge(&quote("51", 2), at(61)), Verdict::Confirmed);
    assert_eq!(gate.judge(&quote("52", 3), at(61)), Verdict::Passed);
    assert_eq!((gate.counts().passed, gate.counts().confirmed), (3, 1));
}

#[test]
fn a_quote_near_the_last_price_shows_that_the_jump_was_none() {
    let mut gate = gate();
    gate.judge(&quote("1", 1), at(1));
    assert_eq!(gate.judge(&quote("100.5", 2), at(2)), Verdict::Passed);
    assert_eq!(gate.judge(&quote("1", 3), at(3)), Verdict::Held(Reason::Jump));
}

#[test]
fn a_confirmation_comes_within_five_minutes_or_is_a_jump_itself() {
    let after = |second: i64| {
        let mut gate = gate();
        gate.judge(&quote("50", 1), at(1));
        gate.judge(&quote("50", second), at(second))
    };
    assert_eq!(after(301), Verdict::Confirmed);
    assert_eq!(after(302), Verdict::Held(Reason::Jump));
}

#[test]
fn without_a_limit_a_later_quote_confirms_a_jump_whenever_it_comes() {
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("126", 1), at(1)), Verdict::Held(Reason::Jump));
    gate.lift_confirm_limit(symbol());
    assert_eq!(gate.judge(&quote("127", 3_000), at(3_000)), Verdict::Confirmed);
    assert_eq!(gate.judge(&quote("20", 3_001), at(3_001)), Verdict::Held(Reason::Jump));
    assert_eq!(gate.judge(&quote("21", 6_000), at(6_000)), Verdict::Held(Reason::Jump));
}

#[test]
fn a_jump_from_the_future_is_not_confirmed() {
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("126", 3_000), at(3_000)), Verdict::Held(Reason::Jump));
    assert!(gate.is_held(symbol(), at(3_000)) && !gate.is_held(symbol(), at(3_001)));
    assert_eq!(gate.confirm(symbol(), "126".parse().unwrap(), at(10)), None);
}

/// The verdict of a gate that holds a jump to 50 at second 1 when another source reports `price` at `second`.
fn confirmed(price: &str, second: i64) -> Option<Verdict> {
    let mut gate = gate();
    gate.judge(&quote("50", 1), at(1));
    let confirmed = gate.confirm(symbol(), price.parse().unwrap(), at(second));
    if let Some((quote, _)) = confirmed {
        assert_eq!((quote.price.to_string().as_str(), quote.time), ("50", Some(at(1))));
        assert!(!gate.is_held(symbol(), at(1)));
    }
    confirmed.map(|(_, verdict)| verdict)
}

#[test]
fn another_source_confirms_a_jump_within_a_quarter_of_it() {
    assert_eq!(confirmed("62.5", 2), Some(Verdict::Confirmed));
    assert_eq!(confirmed("62.500001", 2), None);
    assert_eq!(confirmed("37.5", 2), Some(Verdict::Confirmed));
    assert_eq!(confirmed("37.499999", 2), None);
}

#[test]
fn a_jump_that_is_confirmed_after_a_minute_is_late() {
    assert_eq!(confirmed("50", 61), Some(Verdict::Confirmed));
    assert_eq!(confirmed("50", 62), Some(Verdict::Held(Reason::Late)));
}

#[test]
fn after_a_confirmation_the_next_price_is_compared_with_the_jump() {
    let mut gate = gate();
    gate.judge(&quote("50", 1), at(1));
    gate.confirm(symbol(), "50".parse().unwrap(), at(2));
    assert_eq!(gate.judge(&quote("55", 3), at(3)), Verdict::Passed);
    assert_eq!(gate.judge(&quote("100", 4), at(4)), Verdict::Held(Reason::Jump));
}

#[test]
fn without_a_held_jump_nothing_is_confirmed() {
    assert_eq!(gate().confirm(symbol(), "100".parse().unwrap(), at(1)), None);
    assert_eq!(
        gate().confirm("MSFT".parse().unwrap(), "100".parse().unwrap(), at(1)),
        None
    );
}

#[test]
fn a_split_explains_itself() {
    let mut gate = gate();
    gate.split(symbol(), "4".parse().unwrap());
    assert_eq!(gate.judge(&quote("25.1", 1), at(1)), Verdict::Passed);
}

#[test]
fn an_expected_jump_passes_until_then() {
    let mut gate = gate();
    gate.expect_jump(symbol(), at(10));
    assert_eq!(gate.clone().judge(&quote("40", 10), at(10)), Verdict::Passed);
    assert_eq!(gate.judge(&quote("40", 11), at(11)), Verdict::Held(Reason::Jump));
}

#[test]
fn the_first_quote_is_compared_with_what_is_known_from_elsewhere() {
    let mut gate = Gate::new(Limits::default());
    gate.set_reference(symbol(), "100".parse().unwrap());
    assert_eq!(gate.judge(&quote("10", 0), at(0)), Verdict::Held(Reason::Jump));
}

#[test]
fn alerts_are_blind_five_minutes_after_the_last_quote_or_the_open() {
    let gate = gate();
    let blind = |now: i64| gate.blind_since(symbol(), at(-3_600), at(now));
    assert_eq!(blind(300), None);
    assert_eq!(blind(301), Some(at(300)));
    // Yesterday's quotes do not count today.
    assert_eq!(gate.blind_since(symbol(), at(1_000), at(1_300)), None);
    assert_eq!(gate.blind_since(symbol(), at(1_000), at(1_301)), Some(at(1_300)));
    assert_eq!(gate.blind_since("MSFT".parse().unwrap(), at(0), at(301)), Some(at(300)));
}

#[test]
fn what_is_late_leaves_alerts_blind() {
    let mut gate = gate();
    gate.judge(&quote("101", 200), at(400));
    assert_eq!(gate.blind_since(symbol(), at(0), at(400)), Some(at(300)));
}

#[test]
fn counts_are_shown_in_words() {
    let mut gate = gate();
    gate.judge(&quote("50", 1), at(1));
    gate.judge(&quote("51", 2), at(2));
    gate.note_unreadable(3);
    assert_eq!(
        gate.counts().to_string(),
        "2 passed (1 a confirmed jump), 3 no_price, 1 jump"
    );
}

/// The same rules from the whole history, as they read: of one stock, without a memory of its own.
fn naive(history: &[(QuoteRow, Timestamp, Verdict)], quote: &QuoteRow, now: Timestamp, limits: &Limits) -> Verdict {
    let time = quote.time.unwrap();
    let seconds = |later: Timestamp, earlier: Timestamp| later.as_second() - earlier.as_second();
    let late = seconds(now, time) - limits.delay.as_secs();
    let counts = |verdict: Verdict| verdict.is_passed() || verdict == Verdict::Held(Reason::Late);
    let last = history.iter().rev().find(|(_, _, verdict)| counts(*verdict));
    // A jump is held until the next quote that counts, or the next jump.
    let held = history
        .iter()
        .rev()
        .find(|(_, _, verdict)| counts(*verdict) || *verdict == Verdict::Held(Reason::Jump));
    let held = held
        .filter(|(_, _, verdict)| *verdict == Verdict::Held(Reason::Jump))
        .map(|(quote, ..)| quote);
    let far = |from: &QuoteRow| {
        let (from, to) = (from.price.as_f64(), quote.price.as_f64());
        (to - from).abs() * 1e6 > from * limits.most_jump_ppm as f64
    };
    if seconds(time, now) > limits.ahead.as_secs() {
        Verdict::Dropped(Reason::Ahead)
    } else if late > limits.stale_after.as_secs() {
        Verdict::Dropped(Reason::Stale)
    } else if last.is_some_and(|(last, ..)| last.time > quote.time) {
        Verdict::Dropped(Reason::OutOfOrder)
    } else if last
        .is_some_and(|(last, ..)| (last.time, last.price, last.volume) == (quote.time, quote.price, quote.volume))
        || held.is_some_and(|held| (held.time, held.price) == (quote.time, quote.price))
    {
        Verdict::Dropped(Reason::Duplicate)
    } else if quote.bid.zip(quote.ask).is_some_and(|(bid, ask)| bid > ask) {
        Verdict::Dropped(Reason::Crossed)
    } else if last.is_some_and(|(last, ..)| far(last)) {
        match held {
            Some(held)
                if held.time < quote.time
                    && seconds(time, held.time.unwrap()) <= limits.confirm_within.as_secs()
                    && !far(held) =>
            {
                if late > limits.late_after.as_secs() {
                    Verdict::Held(Reason::Late)
                } else {
                    Verdict::Confirmed
                }
            }
            _ => Verdict::Held(Reason::Jump),
        }
    } else if late > limits.late_after.as_secs() {
        Verdict::Held(Reason::Late)
    } else {
        Verdict::Passed
    }
}

proptest! {
    #[test]
    fn the_gate_judges_as_the_rules_read(
        steps in prop::collection::vec(
            (0_i64..200, prop_oneof![8 => 0_i64..90, 1 => 850_i64..950, 1 => -8_i64..0], 1_i64..12, prop::option::of(0_i64..3), 0_i64..20),
            1..60,
        ),
    ) {
        let (limits, mut now, mut history) = (Limits::default(), 0, Vec::new());
        let mut gate = Gate::new(limits);
        for (step, age, price, volume, cross) in steps {
            now += step;
            let bid = (cross == 0).then(|| "2".parse().unwrap());
            let quote = QuoteRow {
                // Coarse prices: many are the same, many are a jump apart.
                price: Price::from_micros(price * 16_000_000).unwrap(),
                volume,
                bid,
                ask: bid.map(|_| "1".parse().unwrap()),
                ..quote("1", now - age)
            };
            let verdict = gate.judge(&quote, at(now));
            prop_assert_eq!(verdict, naive(&history, &quote, at(now), &limits), "{:?}", quote);
            history.push((quote, at(now), verdict));
        }
    }
}

#[test]
fn quotes_let_through_by_a_clock_that_was_ahead_keep_no_present_ones_out() {
    let day = 24 * 3600;
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("101", day), at(day)), Verdict::Passed);
    assert_eq!(gate.blind_since(symbol(), at(0), at(day + 1)), None);
    // The clock is right again. What was fresh in the future is not fresh now.
    assert_eq!(gate.blind_since(symbol(), at(0), at(301)), Some(at(300)));
    assert_eq!(gate.judge(&quote("102", 302), at(302)), Verdict::Passed);
    assert_eq!(gate.judge(&quote("200", 303), at(303)), Verdict::Held(Reason::Jump));
}

#[test]
fn clock_that_is_five_seconds_behind_still_knows_the_order() {
    let mut gate = gate();
    assert_eq!(gate.judge(&quote("101", 10), at(10)), Verdict::Passed);
    assert_eq!(
        gate.judge(&quote("102", 9), at(5)),
        Verdict::Dropped(Reason::OutOfOrder)
    );
    assert_eq!(
        gate.judge(&quote("102", 4), at(4)),
        Verdict::Passed,
        "six seconds behind it does not"
    );
}

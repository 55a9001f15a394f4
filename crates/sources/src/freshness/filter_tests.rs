use super::*;

const START: i64 = 1_709_911_800;

fn symbol() -> Symbol {
    "AAPL".parse().unwrap()
}

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap()
}

pub(super) fn quote(price: &str, second: i64) -> QuoteRow {
    QuoteRow {
        symbol: symbol(),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(at(second)),
        bid: None,
        ask: None,
        vwap: None,
    }
}

/// A filter that has passed a price of 100 at second 0.
fn filter() -> QuoteFilter {
    let mut filter = QuoteFilter::new(QuoteLimits::default());
    assert_eq!(filter.check(&quote("100", 0), at(0)), QuoteDecision::Passed);
    filter
}

/// The decision about a quote made at `second` and received at `received`.
fn decision(price: &str, second: i64, received: i64) -> QuoteDecision {
    filter().check(&quote(price, second), at(received))
}

#[test]
fn quote_passes_until_it_is_a_minute_old() {
    assert_eq!(decision("101", 1, 1), QuoteDecision::Passed);
    assert_eq!(decision("101", 1, 61), QuoteDecision::Passed);
    assert_eq!(decision("101", 1, 62), QuoteDecision::Held(FilterReason::Late));
}

#[test]
fn quote_is_late_until_fifteen_minutes_and_then_stale() {
    assert_eq!(decision("101", 1, 901), QuoteDecision::Held(FilterReason::Late));
    assert_eq!(decision("101", 1, 902), QuoteDecision::Dropped(FilterReason::Stale));
}

#[test]
fn plan_delay_does_not_count_as_late() {
    let limits = QuoteLimits {
        delay: SignedDuration::from_mins(15),
        ..QuoteLimits::default()
    };
    let received = |second: i64| QuoteFilter::new(limits).check(&quote("100", 0), at(second));
    assert_eq!(received(960), QuoteDecision::Passed);
    assert_eq!(received(961), QuoteDecision::Held(FilterReason::Late));
    assert_eq!(received(1_801), QuoteDecision::Dropped(FilterReason::Stale));
}

#[test]
fn quote_may_be_five_seconds_ahead() {
    assert_eq!(decision("101", 6, 1), QuoteDecision::Passed);
    assert_eq!(decision("101", 7, 1), QuoteDecision::Dropped(FilterReason::Ahead));
}

#[test]
fn older_quote_is_dropped_and_one_of_the_same_time_passes() {
    let mut filter = filter();
    filter.check(&quote("101", 10), at(10));
    assert_eq!(
        filter.check(&quote("102", 9), at(10)),
        QuoteDecision::Dropped(FilterReason::OutOfOrder)
    );
    assert_eq!(filter.check(&quote("102", 10), at(10)), QuoteDecision::Passed);
}

#[test]
fn duplicate_is_dropped_unless_its_volume_differs() {
    let mut filter = filter();
    assert_eq!(
        filter.check(&quote("100", 0), at(1)),
        QuoteDecision::Dropped(FilterReason::Duplicate)
    );
    let more = QuoteRow {
        volume: Some(5),
        ..quote("100", 0)
    };
    assert_eq!(filter.check(&more, at(1)), QuoteDecision::Passed);
    assert_eq!(
        filter.check(&more, at(1)),
        QuoteDecision::Dropped(FilterReason::Duplicate)
    );
}

#[test]
fn crossed_quote_is_dropped_and_locked_quote_passes() {
    let book = |bid: &str, ask: &str| QuoteRow {
        bid: bid.parse().ok(),
        ask: ask.parse().ok(),
        ..quote("101", 1)
    };
    assert_eq!(
        filter().check(&book("101.01", "101"), at(1)),
        QuoteDecision::Dropped(FilterReason::Crossed)
    );
    assert_eq!(filter().check(&book("101", "101"), at(1)), QuoteDecision::Passed);
}

#[test]
fn moves_above_25_percent_are_jumps() {
    assert_eq!(decision("125", 1, 1), QuoteDecision::Passed);
    assert_eq!(decision("125.000001", 1, 1), QuoteDecision::Held(FilterReason::Jump));
    assert_eq!(decision("75", 1, 1), QuoteDecision::Passed);
    assert_eq!(decision("74.999999", 1, 1), QuoteDecision::Held(FilterReason::Jump));
}

#[test]
fn later_quote_confirms_a_jump_but_a_duplicate_does_not() {
    let mut filter = filter();
    assert_eq!(
        filter.check(&quote("50", 1), at(1)),
        QuoteDecision::Held(FilterReason::Jump)
    );
    assert_eq!(
        filter.check(&quote("50", 1), at(60)),
        QuoteDecision::Dropped(FilterReason::Duplicate)
    );
    assert_eq!(filter.check(&quote("51", 2), at(61)), QuoteDecision::Confirmed);
    assert_eq!(filter.check(&quote("52", 3), at(61)), QuoteDecision::Passed);
    assert_eq!((filter.counts().passed, filter.counts().confirmed), (3, 1));
}

#[test]
fn quote_near_the_last_price_discards_the_jump() {
    let mut filter = filter();
    filter.check(&quote("1", 1), at(1));
    assert_eq!(filter.check(&quote("100.5", 2), at(2)), QuoteDecision::Passed);
    assert_eq!(
        filter.check(&quote("1", 3), at(3)),
        QuoteDecision::Held(FilterReason::Jump)
    );
}

#[test]
fn confirmation_after_five_minutes_is_a_new_jump() {
    let after = |second: i64| {
        let mut filter = filter();
        filter.check(&quote("50", 1), at(1));
        filter.check(&quote("50", second), at(second))
    };
    assert_eq!(after(301), QuoteDecision::Confirmed);
    assert_eq!(after(302), QuoteDecision::Held(FilterReason::Jump));
}

#[test]
fn later_quote_confirms_at_any_time_without_the_limit() {
    let mut filter = filter();
    assert_eq!(
        filter.check(&quote("126", 1), at(1)),
        QuoteDecision::Held(FilterReason::Jump)
    );
    filter.lift_confirm_limit(symbol());
    assert_eq!(filter.check(&quote("127", 3_000), at(3_000)), QuoteDecision::Confirmed);
    assert_eq!(
        filter.check(&quote("20", 3_001), at(3_001)),
        QuoteDecision::Held(FilterReason::Jump)
    );
    assert_eq!(
        filter.check(&quote("21", 6_000), at(6_000)),
        QuoteDecision::Held(FilterReason::Jump)
    );
}

#[test]
fn jump_from_the_future_is_not_confirmed() {
    let mut filter = filter();
    assert_eq!(
        filter.check(&quote("126", 3_000), at(3_000)),
        QuoteDecision::Held(FilterReason::Jump)
    );
    assert!(filter.is_held(symbol(), at(3_000)) && !filter.is_held(symbol(), at(3_001)));
    assert_eq!(filter.confirm(symbol(), "126".parse().unwrap(), at(10)), None);
}

/// The decision of a filter that holds a jump to 50 at second 1 when another source reports `price` at `second`.
fn confirmed(price: &str, second: i64) -> Option<QuoteDecision> {
    let mut filter = filter();
    filter.check(&quote("50", 1), at(1));
    let confirmed = filter.confirm(symbol(), price.parse().unwrap(), at(second));
    if let Some((quote, _)) = confirmed {
        assert_eq!((quote.price.to_string().as_str(), quote.time), ("50", Some(at(1))));
        assert!(!filter.is_held(symbol(), at(1)));
    }
    confirmed.map(|(_, decision)| decision)
}

#[test]
fn other_source_confirms_a_jump_within_25_percent() {
    assert_eq!(confirmed("62.5", 2), Some(QuoteDecision::Confirmed));
    assert_eq!(confirmed("62.500001", 2), None);
    assert_eq!(confirmed("37.5", 2), Some(QuoteDecision::Confirmed));
    assert_eq!(confirmed("37.499999", 2), None);
}

#[test]
fn jump_confirmed_after_a_minute_is_late() {
    assert_eq!(confirmed("50", 61), Some(QuoteDecision::Confirmed));
    assert_eq!(confirmed("50", 62), Some(QuoteDecision::Held(FilterReason::Late)));
}

#[test]
fn confirmed_jump_becomes_the_reference_price() {
    let mut filter = filter();
    filter.check(&quote("50", 1), at(1));
    filter.confirm(symbol(), "50".parse().unwrap(), at(2));
    assert_eq!(filter.check(&quote("55", 3), at(3)), QuoteDecision::Passed);
    assert_eq!(
        filter.check(&quote("100", 4), at(4)),
        QuoteDecision::Held(FilterReason::Jump)
    );
}

#[test]
fn nothing_is_confirmed_without_a_held_jump() {
    assert_eq!(filter().confirm(symbol(), "100".parse().unwrap(), at(1)), None);
    assert_eq!(
        filter().confirm("MSFT".parse().unwrap(), "100".parse().unwrap(), at(1)),
        None
    );
}

#[test]
fn first_quote_is_compared_with_the_set_reference() {
    let mut filter = QuoteFilter::new(QuoteLimits::default());
    filter.set_reference(symbol(), "100".parse().unwrap());
    assert_eq!(
        filter.check(&quote("10", 0), at(0)),
        QuoteDecision::Held(FilterReason::Jump)
    );
}

#[test]
fn counts_are_displayed_by_reason() {
    let mut filter = filter();
    filter.check(&quote("50", 1), at(1));
    filter.check(&quote("51", 2), at(2));
    filter.count_unreadable(3);
    assert_eq!(
        filter.counts().to_string(),
        "2 passed (1 a confirmed jump), 3 no_price, 1 jump"
    );
}

#[test]
fn quotes_of_a_fast_clock_do_not_block_later_ones() {
    let day = 24 * 3600;
    let mut filter = filter();
    assert_eq!(filter.check(&quote("101", day), at(day)), QuoteDecision::Passed);
    // The clock is correct again. A quote in the future does not count now.
    assert_eq!(filter.check(&quote("102", 302), at(302)), QuoteDecision::Passed);
    assert_eq!(
        filter.check(&quote("200", 303), at(303)),
        QuoteDecision::Held(FilterReason::Jump)
    );
}

#[test]
fn order_is_kept_when_the_clock_is_five_seconds_behind() {
    let mut filter = filter();
    assert_eq!(filter.check(&quote("101", 10), at(10)), QuoteDecision::Passed);
    assert_eq!(
        filter.check(&quote("102", 9), at(5)),
        QuoteDecision::Dropped(FilterReason::OutOfOrder)
    );
    assert_eq!(
        filter.check(&quote("102", 4), at(4)),
        QuoteDecision::Passed,
        "six seconds behind it does not"
    );
}

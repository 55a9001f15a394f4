//! Tests of the history.

use super::*;
use crate::indicators::{Atr, Ema, Macd};
use crate::price::Price;
use jiff::{Span, civil::date};
use proptest::prelude::*;

fn bar(day: i64, close: i64) -> Bar {
    let price = |micros: i64| Price::from_micros(micros).unwrap();
    Bar {
        date: date(2020, 1, 1).checked_add(Span::new().days(day)).unwrap(),
        open: price(close),
        high: price(close + 3),
        low: price((close - 3).max(1)),
        close: price(close),
        volume: close % 1000,
    }
}

fn history(bars: &[Bar]) -> History {
    let mut history = History::default();
    history.track_closes(49);
    history.track_volumes(20);
    history.track_indicator(Ema::new(9));
    history.track_indicator(Macd::new(12, 26, 9));
    for bar in bars {
        history.record(*bar).unwrap();
        // A state that was computed for a session must not outlive it.
        let _ = history.indicator(Ema::new(9));
        let _ = history.indicator(Macd::new(12, 26, 9));
    }
    history
}

/// The extremes drop old days when they are read, so histories are compared by their results.
fn answers(history: &mut History, today: i32) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        history.rsi,
        history.high_52_weeks(today),
        history.low_52_weeks(today),
        history.sum_of_closes(49),
        history.sum_of_closes(399),
        history.sum_of_volumes(20),
        (history.indicator(Ema::new(9)), history.indicator(Macd::new(12, 26, 9))),
        (history.indicator(Rsi::new(7)), history.indicator(Atr::new(14))),
    )
}

#[test]
fn extremes_include_exactly_364_days() {
    let mut history = history(&[bar(0, 900), bar(1, 500), bar(2, 400)]);
    let first = day_number(date(2020, 1, 1));
    assert_eq!(history.high_52_weeks(first + 364), Some(903));
    assert_eq!(history.high_52_weeks(first + 365), Some(503));
}

#[test]
fn rejects_a_bar_older_than_all_kept_bars() {
    let bars: Vec<_> = (1..=KEPT_SESSIONS as i64).map(|day| bar(day, 1000 + day)).collect();
    let mut history = history(&bars);
    assert!(matches!(history.record(bar(0, 5)), Err(BarTooOldError { .. })));
    assert_eq!(history.len(), KEPT_SESSIONS);
}

proptest! {
    #[test]
    fn bars_in_any_order_give_the_same_history(closes in prop::collection::vec(10_i64..100_000, 2..300), seed in any::<u64>()) {
        let bars: Vec<_> = closes.iter().enumerate().map(|(day, &close)| bar(day as i64, close)).collect();
        let mut shuffled = bars.clone();
        let mut state = seed | 1;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(at, (state >> 33) as usize % (at + 1));
        }
        let today = day_number(date(2020, 1, 1)) + i32::try_from(closes.len()).unwrap();
        prop_assert_eq!(answers(&mut history(&bars), today), answers(&mut history(&shuffled), today));
    }

    #[test]
    fn last_bar_of_a_day_wins(closes in prop::collection::vec(10_i64..100_000, 2..600), at in any::<prop::sample::Index>()) {
        let bars: Vec<_> = closes.iter().enumerate().map(|(day, &close)| bar(day as i64, close)).collect();
        // A correction can reach back as far as bars are kept.
        let at = bars.len() - 1 - at.index(bars.len().min(KEPT_SESSIONS));
        let mut wrong = bars.clone();
        wrong[at] = bar(at as i64, 77);
        let mut corrected = history(&wrong);
        corrected.record(bars[at]).unwrap();
        let today = day_number(date(2020, 1, 1)) + i32::try_from(closes.len()).unwrap();
        prop_assert_eq!(answers(&mut corrected, today), answers(&mut history(&bars), today));
    }

    #[test]
    fn tracked_indicator_equals_the_same_one_of_the_kept_bars(closes in prop::collection::vec(10_i64..100_000, 2..900)) {
        let bars: Vec<_> = closes.iter().enumerate().map(|(day, &close)| bar(day as i64, close)).collect();
        let kept = history(&bars);
        let mut expected = Ema::new(9);
        bars[bars.len().saturating_sub(KEPT_SESSIONS)..].iter().for_each(|bar| expected.push(bar.close.micros()));
        prop_assert_eq!(kept.indicator(Ema::new(9)), expected);
    }

    #[test]
    fn split_does_not_change_the_rsi(closes in prop::collection::vec(1_000_000_i64..100_000_000, 20..300)) {
        let bars: Vec<_> = closes.iter().enumerate().map(|(day, &close)| bar(day as i64, close / 4 * 4)).collect();
        let mut split = history(&bars);
        let before = split.rsi.value();
        split.apply_split("4".parse().unwrap());
        let (before, after) = (before.unwrap(), split.rsi.value().unwrap());
        prop_assert!((before - after).abs() < 1e-9);
    }
}

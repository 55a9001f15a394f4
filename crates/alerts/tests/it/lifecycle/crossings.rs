//! Crossings with `within` as part of the state.

use alerts::expression::{EvaluatedTruth, EvaluationTime, Expression, Within, evaluate};
use alerts::lifecycle::{Judgement, Lifecycle, Observation, Outcome, next_check, step};
use alerts::options::AlertOptions;
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use proptest::prelude::*;

use super::support::{each_time, second, start};
use crate::expression::support::ValueTable;

/// The prices, in dollars, by their second after the start.
type Prices = [(i64, i64)];

fn at_price(price: i64) -> ValueTable {
    ValueTable::default().set("price", "?", &price.to_string())
}

/// An alert on `price crosses above 100 and price < 103`.
struct CrossingAlert {
    expression: Expression,
    options: AlertOptions,
    state: Lifecycle,
}

impl CrossingAlert {
    fn new(within: Option<Within>, options: AlertOptions) -> Self {
        let expression = "price crosses above 100 and price < 103".parse().unwrap();
        let mut state = Lifecycle::new(start(), None, within);
        state.crossings = state.crossings.with_orders_at(&expression, &at_price(99));
        Self {
            expression,
            options,
            state,
        }
    }

    fn evaluate(&self, state: &mut Lifecycle, at: Timestamp, price: i64) -> EvaluatedTruth {
        let values = at_price(price).observed();
        let session_close = "2024-07-01T20:00:00Z".parse().unwrap();
        let time = EvaluationTime { now: at, session_close };
        evaluate(&self.expression, &values, time, &mut state.crossings)
    }

    /// Judges the alert at a price, as the engine does.
    fn judge(&mut self, at: Timestamp, price: i64) -> Outcome {
        let observation = Observation {
            at,
            is_new: true,
            price: None,
            previous_price: None,
        };
        let mut state = self.state.prepared(&self.options, &observation);
        let truth = self.evaluate(&mut state, at, price);
        let judgement = Judgement {
            observation,
            truth: truth.now,
            truth_after: truth.afterwards,
            is_rearm_level_reached: false,
        };
        let step = step(&self.options, &Calendar::nyse(), &state, &judgement);
        self.state = Lifecycle::from_stored(&step.next.to_stored().unwrap()).unwrap();
        step.outcome
    }
}

/// Returns the seconds of the firings; the state is stored and read after each judgement.
fn firings(within: Option<&str>, options: AlertOptions, prices: &Prices) -> Vec<i64> {
    let mut alert = CrossingAlert::new(within.map(|text| text.parse().unwrap()), options);
    let fires = |(seconds, price): &&(i64, i64)| matches!(alert.judge(second(*seconds), *price), Outcome::Fire { .. });
    let fired: Vec<_> = prices.iter().filter(fires).map(|(seconds, _)| *seconds).collect();
    fired
}

#[test]
fn crossing_meets_another_condition_within_its_time_and_not_later() {
    let fired = |prices: &Prices| firings(Some("5m"), AlertOptions::default(), prices);
    assert_eq!(fired(&[(0, 104), (300, 102)]), [300]);
    assert_eq!(fired(&[(0, 104), (301, 102)]), [] as [i64; 0]);
    let without = firings(None, AlertOptions::default(), &[(0, 104), (1, 102)]);
    assert_eq!(without, [] as [i64; 0]);
}

#[test]
fn crossing_before_rearming_does_not_count_again() {
    let left = [(0, 101), (60, 104), (90, 102)];
    assert_eq!(firings(Some("5m"), each_time(), &left), [0]);
    let crossed_again = [(0, 101), (60, 104), (70, 99), (90, 102)];
    assert_eq!(firings(Some("5m"), each_time(), &crossed_again), [0, 90]);
}

#[test]
fn crossing_before_the_end_of_a_snooze_does_not_count() {
    let mut alert = CrossingAlert::new(Some(Within::Session), AlertOptions::default());
    alert.judge(second(0), 104);
    alert.options.snoozed_until = Some(second(10));
    let outcome = alert.judge(second(10), 102);
    assert!(matches!(outcome, Outcome::Wait(_)), "{outcome:?}");
}

#[test]
fn next_check_is_the_end_of_a_crossing() {
    let mut alert = CrossingAlert::new(Some("5m".parse().unwrap()), AlertOptions::default());
    alert.judge(second(0), 104);
    let check = |alert: &CrossingAlert| next_check(&alert.options, &Calendar::nyse(), &alert.state);
    assert_eq!(check(&alert), Some(second(300) + SignedDuration::from_nanos(1)));
    alert.judge(second(301), 104);
    assert_eq!(check(&alert), None);
}

/// Returns the first firing by definition: the price is below 103, and it crossed 100 at most five minutes ago.
fn first_firing(prices: &Prices) -> Option<i64> {
    let crossed = |index: usize| {
        let before = if index == 0 { 99 } else { prices[index - 1].1 };
        before < 100 && prices[index].1 >= 100
    };
    let fires = |index: &usize| {
        let (now, price) = prices[*index];
        price < 103 && (0..=*index).any(|earlier| crossed(earlier) && now - prices[earlier].0 <= 300)
    };
    (0..prices.len()).find(fires).map(|index| prices[index].0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn first_firing_agrees_with_the_definition(steps in prop::collection::vec((1_i64..200, 98_i64..106), 1..30)) {
        let mut second = 0;
        let prices: Vec<_> = steps.into_iter().map(|(pause, price)| { second += pause; (second, price) }).collect();
        let fired = firings(Some("5m"), AlertOptions::default(), &prices);
        prop_assert_eq!(fired.first().copied(), first_firing(&prices));
    }
}

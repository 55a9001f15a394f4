//! A rule that is armed again with its state from before an observation, which was not allowed to change it.

use alerts::Alert;
use alerts::engine::{AlertAction, Decision, Event};
use alerts::lifecycle::Lifecycle;
use jiff::Timestamp;
use serde_json::Value;

use super::market::{NOW, RuleMarket, firings, rule};
use crate::common::at;

const LEVEL: i64 = 102;
const PRICES: [i64; 4] = [99, 101, 102, 105];
const LENGTH: usize = 4;

fn second(second: usize) -> String {
    format!("2024-07-01T15:00:{second:02}Z")
}

fn crossing() -> Alert {
    rule(1, &format!("price crosses above {LEVEL}"), &Value::Null)
}

fn stored(decisions: &[Decision]) -> Option<Lifecycle> {
    let mut states = decisions.iter().filter_map(|decision| match &decision.action {
        AlertAction::SetLifecycle { state } => Some(state.as_ref().clone()),
        _ => None,
    });
    states.next_back()
}

/// Returns the first firing. The observation with the index `refused` leaves the stored state as it is.
fn first_firing(prices: &[i64], refused: usize, is_evaluated: bool) -> Option<Timestamp> {
    let mut market = RuleMarket::new();
    market.observe("ACME", "105", NOW);
    let mut state = market.arm(&crossing(), NOW).unwrap();
    for (index, price) in prices.iter().enumerate() {
        let now = second(index + 1);
        let decisions = market.observe("ACME", &price.to_string(), &now);
        if index == refused {
            let alert = Alert {
                lifecycle: Some(Box::new(state.clone())),
                ..crossing()
            };
            assert_eq!(market.arm(&alert, &now), None);
        } else if let Some(&fired) = firings(&decisions).first() {
            return Some(fired);
        } else {
            state = stored(&decisions).unwrap_or(state);
        }
        if is_evaluated {
            assert_eq!(firings(&market.process(Event::Evaluate, &now)), []);
        }
    }
    None
}

/// Returns the first firing as if the observation with the index `refused` were none.
fn expected(prices: &[i64], refused: usize) -> Option<Timestamp> {
    let mut previous = 105;
    for (index, &price) in prices.iter().enumerate() {
        if index == refused {
            continue;
        }
        if previous < LEVEL && price >= LEVEL {
            return Some(at(&second(index + 1)));
        }
        previous = price;
    }
    None
}

#[test]
fn crossing_is_one_from_the_last_observation_that_changed_the_rule() {
    for number in 0..PRICES.len().pow(4) {
        let prices: Vec<i64> = (0..LENGTH)
            .map(|index| PRICES[number / PRICES.len().pow(u32::try_from(index).unwrap()) % PRICES.len()])
            .collect();
        for refused in 0..LENGTH {
            for is_evaluated in [false, true] {
                assert_eq!(
                    first_firing(&prices, refused, is_evaluated),
                    expected(&prices, refused),
                    "{prices:?} without the observation {refused}, evaluated: {is_evaluated}"
                );
            }
        }
    }
}

//! Judgements by hand.

use alerts::expression::Truth;
use alerts::lifecycle::{Judgement, Lifecycle, Observation, Outcome, Step, step};
use alerts::options::{AlertOptions, Repeat};
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Price};

/// Monday, 2024-07-01, 11:00 in New York: the market is open.
pub(crate) fn start() -> Timestamp {
    "2024-07-01T15:00:00Z".parse().unwrap()
}

/// Returns the instant a number of seconds after the start.
pub(crate) fn second(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

pub(crate) fn price(text: &str) -> Option<Price> {
    Some(text.parse().unwrap())
}

pub(crate) fn each_time() -> AlertOptions {
    AlertOptions {
        repeat: Repeat::EachTime,
        ..AlertOptions::default()
    }
}

/// Returns a judgement at a new observation, a number of seconds after the start.
pub(crate) fn judgement(seconds: i64, truth: Truth) -> Judgement {
    Judgement {
        observation: Observation {
            at: second(seconds),
            is_new: true,
            price: None,
            previous_price: None,
        },
        truth,
        truth_after: truth,
        is_rearm_level_reached: false,
    }
}

/// Returns a judgement because of time alone.
pub(crate) fn check(seconds: i64, truth: Truth) -> Judgement {
    let mut judgement = judgement(seconds, truth);
    judgement.observation.is_new = false;
    judgement
}

/// Returns a judgement at a crossing, after which the condition is false again.
pub(crate) fn crossing(seconds: i64) -> Judgement {
    Judgement {
        truth_after: Truth::False,
        ..judgement(seconds, Truth::True)
    }
}

/// Returns a judgement at which the metric has returned to the level of `rearm`.
pub(crate) fn at_rearm_level(seconds: i64) -> Judgement {
    Judgement {
        is_rearm_level_reached: true,
        ..judgement(seconds, Truth::False)
    }
}

/// Judges an alert that is armed at the start.
pub(crate) fn steps(options: &AlertOptions, judgements: &[Judgement]) -> Vec<Step> {
    let mut state = Lifecycle::new(start(), None, None);
    let mut steps = Vec::new();
    for judgement in judgements {
        let step = step(options, &Calendar::nyse(), &state, judgement);
        state = step.next.clone();
        steps.push(step);
    }
    steps
}

/// Returns the outcome of the last judgement.
pub(crate) fn last_outcome(options: &AlertOptions, judgements: &[Judgement]) -> Outcome {
    steps(options, judgements).last().unwrap().outcome
}

/// Returns the second of each firing.
pub(crate) fn firings(options: &AlertOptions, judgements: &[Judgement]) -> Vec<i64> {
    let steps = steps(options, judgements);
    let fired = judgements
        .iter()
        .zip(&steps)
        .filter(|(_, step)| matches!(step.outcome, Outcome::Fire { .. }));
    fired
        .map(|(judgement, _)| judgement.observation.at.duration_since(start()).as_secs())
        .collect()
}

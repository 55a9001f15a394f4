//! The state machine against the naive model.

use alerts::lifecycle::{Lifecycle, Outcome, WaitReason, step};
use alerts::options::AlertOptions;
use jiff::SignedDuration;
use market::Calendar;
use proptest::prelude::*;

use super::generator::scenario;
use super::model::{Expected, results, session_time};

/// Returns the outcome in the terms of the model; the end of a hold is checked here.
fn in_terms_of_the_model(options: &AlertOptions, outcome: Outcome) -> Expected {
    match outcome {
        Outcome::Fire { true_since, is_last } => Expected::Fired {
            since: true_since,
            is_last,
        },
        Outcome::Expire { at } => {
            assert_eq!(Some(at), options.expires());
            Expected::Expired
        }
        Outcome::Wait(reason) => match reason {
            WaitReason::NotTrue => Expected::NotTrue,
            WaitReason::NoData => Expected::NoData,
            WaitReason::SecondJudgement => Expected::SecondJudgement,
            WaitReason::Cooldown { until } => Expected::Cooldown { until, is_limit: false },
            WaitReason::FiringLimit { until } => Expected::Cooldown { until, is_limit: true },
            WaitReason::WaitingToRearm => {
                assert_eq!(options.rearm, None);
                Expected::WaitingToRearm
            }
            WaitReason::WaitingForChange => Expected::WaitingForChange,
            WaitReason::WaitingForRearmLevel => {
                assert!(options.rearm.is_some());
                Expected::WaitingToRearm
            }
            WaitReason::Snoozed { until } => {
                assert_eq!(Some(until), options.snoozed_until);
                Expected::Snoozed
            }
            WaitReason::Holding {
                since,
                remaining,
                until,
            } => {
                let until = until.unwrap();
                let hold = options.hold.unwrap().session_time();
                assert_eq!(session_time(options.session, since, until), hold);
                let before = until - SignedDuration::from_nanos(1);
                assert!(session_time(options.session, since, before) < hold);
                Expected::Holding { since, remaining }
            }
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// The state is stored and read at each step, and each step is repeated from the stored state, as after a crash.
    #[test]
    fn state_machine_agrees_with_the_model(scenario in scenario()) {
        let calendar = Calendar::nyse();
        let mut state = Lifecycle::new(scenario.armed_at, scenario.first_price, None);
        if scenario.fires_on_change {
            let waiting = Lifecycle::new_on_change(scenario.armed_at);
            (state.phase, state.fires_on_change) = (waiting.phase, waiting.fires_on_change);
        }
        for (index, (expected, extremes)) in results(&scenario).into_iter().enumerate() {
            let judgement = &scenario.judgements[index];
            let options = scenario.options_at(index);
            let result = step(&options, &calendar, &state, judgement);
            let found = in_terms_of_the_model(&options, result.outcome);
            prop_assert_eq!(found, expected, "judgement {}", index);
            let found = result.next.extremes.map(|extremes| (extremes.high(), extremes.low()));
            prop_assert_eq!(found, extremes, "judgement {}", index);

            let restored = Lifecycle::from_stored(&state.to_stored().unwrap()).unwrap();
            prop_assert_eq!(&step(&options, &calendar, &restored, judgement), &result);
            if !matches!(result.outcome, Outcome::Expire { .. }) {
                let prepared = state.prepared(&options, &judgement.observation);
                prop_assert_eq!(&step(&options, &calendar, &prepared, judgement), &result);
            }
            state = Lifecycle::from_stored(&result.next.to_stored().unwrap()).unwrap();
            prop_assert_eq!(&state, &result.next);
        }
    }
}

//! The time of the next judgement without an observation.

use alerts::expression::Truth::{self, False, True};
use alerts::lifecycle::{Judgement, Lifecycle, Observation, Outcome, next_check, step};
use alerts::options::{AlertOptions, Cooldown, Expiry, Hold};
use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use proptest::prelude::*;

use super::generator::scenario;
use super::support::{each_time, judgement, second, start};

/// Returns the second of the next check after these judgements.
fn next_second(options: &AlertOptions, truths: &[(i64, Truth)]) -> Option<i64> {
    let mut state = Lifecycle::new(start(), None, None);
    for &(seconds, truth) in truths {
        state = step(options, &Calendar::nyse(), &state, &judgement(seconds, truth)).next;
    }
    let at = next_check(options, &Calendar::nyse(), &state)?;
    Some(at.duration_since(start()).as_secs())
}

#[test]
fn next_check_is_the_end_of_a_hold_a_cooldown_a_snooze_or_the_expiry() {
    let plain = each_time();
    assert_eq!(next_second(&plain, &[(0, False)]), None);
    assert_eq!(next_second(&plain, &[(0, True)]), None);
    assert_eq!(next_second(&plain, &[(0, True), (1, False), (2, True)]), Some(60));
    assert_eq!(next_second(&plain, &[(0, True), (1, False)]), None);
    let refiring = AlertOptions {
        cooldown: Cooldown::new("5m".parse().unwrap()),
        cooldown_refire: true,
        ..each_time()
    };
    assert_eq!(next_second(&refiring, &[(0, True)]), Some(300));
    let holding = AlertOptions {
        hold: Hold::new("10m".parse().unwrap()),
        ..each_time()
    };
    assert_eq!(next_second(&holding, &[(30, True)]), Some(630));
    let snoozed = AlertOptions {
        snoozed_until: Some(second(90)),
        ..holding.clone()
    };
    assert_eq!(next_second(&snoozed, &[(30, True)]), Some(90));
    assert_eq!(next_second(&snoozed, &[(90, True)]), Some(690));
    let expiring = AlertOptions {
        expires_at: Some(Expiry::Instant(second(80))),
        ..snoozed
    };
    assert_eq!(next_second(&expiring, &[(30, True)]), Some(80));
    assert_eq!(next_second(&expiring, &[]), Some(80));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Without a new observation, the outcome changes at the next check and not before.
    #[test]
    fn alert_fires_or_expires_at_the_next_check_and_not_before(scenario in scenario()) {
        let calendar = Calendar::nyse();
        let mut state = Lifecycle::new(scenario.armed_at, scenario.first_price, None);
        for (index, judgement) in scenario.judgements.iter().enumerate() {
            let options = scenario.options_at(index);
            let result = step(&options, &calendar, &state, judgement);
            if matches!(result.outcome, Outcome::Expire { .. } | Outcome::Fire { is_last: true, .. }) {
                break;
            }
            state = result.next;
            if judgement.truth != judgement.truth_after {
                continue;
            }
            let probe = |at: Timestamp| -> Outcome {
                let observation = Observation { at, is_new: false, price: None, previous_price: None };
                let judgement = Judgement { observation, is_rearm_level_reached: false, ..*judgement };
                step(&options, &calendar, &state, &judgement).outcome
            };
            let last = judgement.observation.at;
            let check = next_check(&options, &calendar, &state);
            let before = match check {
                Some(check) => check - SignedDuration::from_nanos(1),
                None => last + SignedDuration::from_hours(30 * 24),
            };
            if before >= last {
                let outcome = probe(before);
                prop_assert!(matches!(outcome, Outcome::Wait(_)), "{} {:?}", before, outcome);
            }
            if let Some(check) = check {
                let is_end_of_snooze = options.snoozed_until == Some(check);
                let outcome = probe(check.max(last));
                let waits = matches!(outcome, Outcome::Wait(_));
                prop_assert!(!waits || is_end_of_snooze, "{} {:?}", check, outcome);
            }
        }
    }
}

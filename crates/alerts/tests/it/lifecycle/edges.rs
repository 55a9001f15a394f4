//! Both sides of each edge of the life cycle.

use alerts::expression::Truth::{self, False, True, Unknown};
use alerts::lifecycle::{Judgement, Lifecycle, Outcome, WaitReason, step};
use alerts::options::{AlertOptions, Cooldown, Expiry, Hold, Rearm, Repeat, TriggerPrice};
use jiff::SignedDuration;
use market::{Calendar, Decimal};

use super::support::{
    at_rearm_level, check, crossing, each_time, firings, judgement, last_outcome, price, second, start, steps,
};

/// Returns judgements with these truths, by their second after the start.
fn at(truths: &[(i64, Truth)]) -> Vec<Judgement> {
    truths
        .iter()
        .map(|&(seconds, truth)| judgement(seconds, truth))
        .collect()
}

fn cooldown(text: &str) -> Option<Cooldown> {
    Cooldown::new(text.parse().unwrap())
}

#[test]
fn condition_left_in_the_cooldown_fires_at_its_end_and_not_before() {
    let left = at(&[(0, True), (1, False), (59, True), (60, True)]);
    assert_eq!(firings(&each_time(), &left), [0, 60]);
}

#[test]
fn condition_that_holds_throughout_the_cooldown_waits_until_it_is_left() {
    let truths = [
        (0, True),
        (60, True),
        (90, Unknown),
        (91, True),
        (92, False),
        (93, True),
    ];
    assert_eq!(firings(&each_time(), &at(&truths)), [0, 93]);
    let waits = last_outcome(&each_time(), &at(&truths[..2]));
    assert_eq!(waits, Outcome::Wait(WaitReason::WaitingToRearm));
}

#[test]
fn condition_that_holds_throughout_the_cooldown_fires_again_with_cooldown_refire() {
    let options = AlertOptions {
        cooldown: cooldown("5m"),
        cooldown_refire: true,
        ..each_time()
    };
    let truths = at(&[(0, True), (299, True), (300, True), (599, True), (600, True)]);
    assert_eq!(firings(&options, &truths), [0, 300, 600]);
}

/// The clock was set back after the alert was armed, so the firing is before that.
#[test]
fn alert_that_fired_before_it_was_armed_fires_again_with_cooldown_refire() {
    let options = AlertOptions {
        cooldown: cooldown("5m"),
        cooldown_refire: true,
        ..each_time()
    };
    assert_eq!(firings(&options, &at(&[(-400, True), (-100, True)])), [-400, -100]);
}

#[test]
fn flapping_alert_is_limited_to_one_firing_per_minute_and_says_so() {
    let flapping: Vec<_> = (0..=130)
        .map(|half| judgement(half, if half % 2 == 0 { True } else { False }))
        .collect();
    assert_eq!(firings(&each_time(), &flapping), [0, 60, 120]);
    let Outcome::Wait(reason) = last_outcome(&each_time(), &flapping[..=58]) else {
        panic!("fired within the minute");
    };
    assert_eq!(reason, WaitReason::FiringLimit { until: second(60) });
    assert_eq!(
        reason.to_string(),
        "limited to one firing per minute, until 2024-07-01T15:01:00Z"
    );
    let rearmed = AlertOptions {
        rearm: Some(Rearm::At(Decimal::ZERO)),
        ..each_time()
    };
    let returns = [judgement(0, True), at_rearm_level(1), judgement(2, True)];
    assert_eq!(firings(&rearmed, &returns), [0, 2]);
}

#[test]
fn each_crossing_fires() {
    let crossings = [
        crossing(0),
        judgement(30, False),
        crossing(59),
        crossing(60),
        crossing(120),
    ];
    assert_eq!(firings(&each_time(), &crossings), [0, 60, 120]);
}

#[test]
fn condition_is_left_at_the_judgement_even_if_it_is_true_after_its_crossings() {
    let not_crossing = Judgement {
        truth_after: True,
        ..judgement(30, False)
    };
    let truths = [judgement(0, True), not_crossing, judgement(60, True)];
    assert_eq!(firings(&each_time(), &truths), [0, 60]);
}

#[test]
fn rearm_waits_for_its_level_only() {
    let options = AlertOptions {
        rearm: Some(Rearm::At(Decimal::ZERO)),
        ..each_time()
    };
    let truths = [judgement(0, True), judgement(100, False), judgement(200, True)];
    assert_eq!(firings(&options, &truths), [0]);
    assert_eq!(
        last_outcome(&options, &truths),
        Outcome::Wait(WaitReason::WaitingForRearmLevel)
    );
    let truths = [judgement(0, True), at_rearm_level(100), judgement(200, True)];
    assert_eq!(firings(&options, &truths), [0, 200]);
}

#[test]
fn once_per_day_fires_again_after_midnight_in_new_york() {
    let options = AlertOptions {
        repeat: Repeat::OncePerDay,
        ..AlertOptions::default()
    };
    // 13 hours after 11:00.
    let midnight = 13 * 60 * 60;
    let truths = at(&[(0, True), (60, False), (midnight - 1, True), (midnight, True)]);
    assert_eq!(firings(&options, &truths), [0, midnight]);
    let longer = AlertOptions {
        cooldown: cooldown("1d"),
        ..options
    };
    let day = 24 * 60 * 60;
    let truths = at(&[(0, True), (60, False), (midnight, True), (day - 1, True), (day, True)]);
    assert_eq!(firings(&longer, &truths), [0, day]);
}

#[test]
fn two_lasts_need_two_observations_in_a_row() {
    let options = AlertOptions {
        trigger: TriggerPrice::TwoLasts,
        ..each_time()
    };
    assert_eq!(firings(&options, &at(&[(0, True), (1, True)])), [1]);
    for between in [False, Unknown] {
        let truths = at(&[(0, True), (1, between), (2, True)]);
        assert_eq!(firings(&options, &truths), [] as [i64; 0], "{between:?}");
        assert_eq!(
            last_outcome(&options, &truths),
            Outcome::Wait(WaitReason::SecondJudgement)
        );
    }
    let same_price_again = [judgement(0, True), check(1, True)];
    assert_eq!(firings(&options, &same_price_again), [] as [i64; 0]);
}

#[test]
fn judgement_without_an_observation_is_neither_of_two_prices() {
    let options = AlertOptions {
        trigger: TriggerPrice::TwoLasts,
        ..each_time()
    };
    for between in [True, False, Unknown] {
        let first_stays = [judgement(0, True), check(1, between), judgement(2, True)];
        assert_eq!(firings(&options, &first_stays), [2], "{between:?}");
        let is_no_first = [
            judgement(0, False),
            check(1, between),
            judgement(2, True),
            judgement(3, True),
        ];
        assert_eq!(firings(&options, &is_no_first), [3], "{between:?}");
    }
}

#[test]
fn hold_of_two_prices_is_interrupted_without_an_observation() {
    let options = AlertOptions {
        trigger: TriggerPrice::TwoLasts,
        hold: Some(Hold::new("1m".parse().unwrap()).unwrap()),
        ..AlertOptions::default()
    };
    let begun = [judgement(0, True), judgement(10, True)];
    let held = [begun.as_slice(), &[check(70, True)]].concat();
    assert_eq!(firings(&options, &held), [70]);
    // It begins anew at the next observation, because the one before it was true.
    let interrupted = [
        begun.as_slice(),
        &[check(20, False), check(21, True), judgement(30, True)],
    ]
    .concat();
    assert_eq!(
        firings(&options, &[interrupted.as_slice(), &[check(89, True)]].concat()),
        [] as [i64; 0]
    );
    assert_eq!(
        firings(&options, &[interrupted.as_slice(), &[check(90, True)]].concat()),
        [90]
    );
}

#[test]
fn two_lasts_begin_anew_after_rearming_and_after_a_snooze() {
    let two_lasts = AlertOptions {
        trigger: TriggerPrice::TwoLasts,
        ..each_time()
    };
    // The crossing re-arms the alert after it fired, so it is not the first of the next two.
    let truths = [
        judgement(0, True),
        crossing(1),
        judgement(61, True),
        judgement(62, True),
    ];
    assert_eq!(firings(&two_lasts, &truths), [1, 62]);
    let snoozed = AlertOptions {
        snoozed_until: Some(second(10)),
        ..two_lasts
    };
    assert_eq!(
        firings(&snoozed, &at(&[(8, True), (9, True), (10, True), (11, True)])),
        [11]
    );
}

#[test]
fn snoozed_alert_fires_at_the_end_of_the_snooze_and_not_before() {
    let snoozed = AlertOptions {
        snoozed_until: Some(second(10)),
        ..AlertOptions::default()
    };
    assert_eq!(firings(&snoozed, &at(&[(9, True)])), [] as [i64; 0]);
    assert_eq!(firings(&snoozed, &at(&[(9, True), (10, True)])), [10]);
    let reason = WaitReason::Snoozed { until: second(10) };
    assert_eq!(last_outcome(&snoozed, &at(&[(9, True)])), Outcome::Wait(reason));
    assert_eq!(reason.until(), Some(second(10)));
}

#[test]
fn snooze_forgets_hold_and_cooldown_but_not_firings() {
    let options = each_time();
    let mut state = Lifecycle::new(start(), None, None);
    state = step(&options, &Calendar::nyse(), &state, &judgement(0, True)).next;
    let snoozed = AlertOptions {
        snoozed_until: Some(second(20)),
        max_firings: Some(2),
        ..options
    };
    let again = step(&snoozed, &Calendar::nyse(), &state, &judgement(20, True));
    let expected = Outcome::Fire {
        true_since: second(20),
        is_last: true,
    };
    assert_eq!((again.outcome, again.next.firings), (expected, 2));
}

#[test]
fn alert_expires_at_the_instant_and_is_not_judged_then() {
    let options = AlertOptions {
        expires_at: Some(Expiry::Instant(second(10))),
        ..each_time()
    };
    assert_eq!(firings(&options, &at(&[(9, True)])), [9]);
    for seconds in [10, 11] {
        let expired = last_outcome(&options, &at(&[(seconds, True)]));
        assert_eq!(expired, Outcome::Expire { at: second(10) });
    }
    let snoozed = AlertOptions {
        snoozed_until: Some(second(100)),
        ..options
    };
    let expired = last_outcome(&snoozed, &at(&[(10, True)]));
    assert_eq!(expired, Outcome::Expire { at: second(10) });
}

#[test]
fn last_firing_is_marked() {
    let is_last = |options: &AlertOptions, judgements: &[Judgement]| -> Vec<bool> {
        let steps = steps(options, judgements);
        let fired = steps.iter().filter_map(|step| match step.outcome {
            Outcome::Fire { is_last, .. } => Some(is_last),
            _ => None,
        });
        fired.collect()
    };
    let truths = at(&[(0, True), (50, False), (60, True), (110, False), (120, True)]);
    assert_eq!(is_last(&each_time(), &truths), [false, false, false]);
    let three = AlertOptions {
        max_firings: Some(3),
        ..each_time()
    };
    assert_eq!(is_last(&three, &truths), [false, false, true]);
    assert_eq!(is_last(&AlertOptions::default(), &truths[..1]), [true]);
}

#[test]
fn extremes_restart_at_the_judgement_that_rearms() {
    let at_price = |seconds, truth, text| {
        let mut judgement = judgement(seconds, truth);
        judgement.observation.price = price(text);
        judgement
    };
    let judgements = [
        at_price(0, False, "100"),
        at_price(1, False, "110"),
        at_price(2, True, "99"),
        at_price(3, True, "90"),
        at_price(4, False, "95"),
        at_price(5, False, "97"),
        at_price(6, False, "96"),
    ];
    let steps = steps(&each_time(), &judgements);
    let found: Vec<_> = steps
        .iter()
        .map(|step| step.next.extremes.map(|extremes| (extremes.low(), extremes.high())))
        .collect();
    let expected = [
        ("100", "100"),
        ("100", "110"),
        ("99", "110"),
        ("90", "110"),
        ("95", "95"),
        ("95", "97"),
        ("95", "97"),
    ];
    for (found, (low, high)) in found.into_iter().zip(expected) {
        assert_eq!(found, price(low).zip(price(high)));
    }
}

#[test]
fn extremes_begin_with_the_newest_price_at_the_end_of_a_snooze() {
    let options = AlertOptions {
        snoozed_until: Some(second(10)),
        ..each_time()
    };
    for (seconds, is_new, low) in [(10, true, "95"), (11, true, "93"), (11, false, "95")] {
        let state = Lifecycle::new(start(), price("120"), None);
        let mut judgement = judgement(seconds, False);
        judgement.observation.is_new = is_new;
        judgement.observation.price = price("95");
        judgement.observation.previous_price = price("93");
        let extremes = step(&options, &Calendar::nyse(), &state, &judgement)
            .next
            .extremes
            .unwrap();
        assert_eq!((Some(extremes.high()), Some(extremes.low())), (price("95"), price(low)));
    }
}

#[test]
fn split_converts_extremes() {
    let state = Lifecycle::new(start(), price("100"), None);
    let extremes = state.after_split("4".parse().unwrap()).extremes.unwrap();
    assert_eq!(
        (Some(extremes.high()), Some(extremes.low())),
        (price("25"), price("25"))
    );
}

#[test]
fn hold_says_since_when_and_how_long_it_lasts() {
    let options = AlertOptions {
        hold: Hold::new("10m".parse().unwrap()),
        ..AlertOptions::default()
    };
    let Outcome::Wait(reason) = last_outcome(&options, &at(&[(0, True), (90, True)])) else {
        panic!("fired before the hold ended");
    };
    assert_eq!(
        reason,
        WaitReason::Holding {
            since: second(0),
            remaining: SignedDuration::from_secs(510),
            until: Some(second(600)),
        }
    );
    assert_eq!(
        reason.to_string(),
        "the condition has held since 2024-07-01T15:00:00Z and must hold for 9 more minutes of session time"
    );
    for between in [False, Unknown] {
        let truths = at(&[(0, True), (300, between), (301, True), (900, True), (901, True)]);
        assert_eq!(firings(&options, &truths), [901], "{between:?}");
    }
    assert_eq!(firings(&options, &at(&[(0, True), (599, True), (600, True)])), [600]);
}

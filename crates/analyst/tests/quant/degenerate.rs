//! Histories that are hardly any: what can be said is said, and nothing else.

use analyst::volatility::Basis;
use analyst::{Advice, Direction, Intention, Role, advise};

use crate::support::{Stage, assert_sound, bars, fires_at_once, price};

fn advice(stage: &Stage) -> Vec<Advice> {
    let each = Intention::ALL.iter().map(|&intention| {
        let subject = stage.subject(intention);
        let advice = advise(&subject);
        assert_sound(&subject, &advice);
        assert_eq!(fires_at_once(stage, &subject, &advice.proposals), []);
        advice
    });
    each.collect()
}

#[test]
fn without_any_session_the_distances_are_assumed_and_it_says_so() {
    for advice in advice(&Stage::of(Vec::new())) {
        assert_eq!((advice.analysis.sessions, advice.analysis.rsi), (0, None));
        assert_eq!(advice.analysis.volatility.basis, Basis::Assumed);
        assert_eq!(advice.analysis.trend.direction, Direction::Unknown);
        let says_so = |proposal: &analyst::Proposal| proposal.rationale.contains("Only 0 of its sessions are known");
        assert!(advice.proposals.iter().all(says_so), "{:#?}", advice.proposals);
    }
}

#[test]
fn with_one_session_and_with_twenty_the_distances_are_assumed_and_with_twenty_one_they_are_measured() {
    let of = |count: usize| {
        let closes: Vec<i64> = (0..count).map(|day| 50_000_000 + 300_000 * (day as i64 % 4)).collect();
        advice(&Stage::of(bars(&closes, &[200_000], &[1_000])))
    };
    for (count, basis) in [(1, Basis::Assumed), (20, Basis::Assumed), (21, Basis::Measured)] {
        assert!(
            of(count).iter().all(|advice| advice.analysis.volatility.basis == basis),
            "{count}"
        );
    }
}

#[test]
fn a_stock_that_never_moves_gets_levels_at_the_least_distance() {
    for advice in advice(&Stage::of(bars(&[20_000_000; 300], &[0], &[0]))) {
        assert_eq!(
            (advice.analysis.rsi, advice.analysis.volatility.basis),
            (None, Basis::Floored)
        );
        assert!(
            advice
                .proposals
                .iter()
                .any(|proposal| proposal.rationale.contains("hardly moved"))
        );
    }
}

#[test]
fn a_stock_of_a_millionth_of_a_dollar_can_only_rise() {
    let mut stage = Stage::of(bars(&[1; 60], &[0], &[5]));
    assert_eq!(stage.price.micros(), 1);
    for advice in advice(&stage) {
        assert!(
            advice
                .proposals
                .iter()
                .all(|proposal| proposal.body["condition"] != "price_below")
        );
    }
    // A cent's neighbours are hundredths of a cent.
    stage = Stage::of(bars(&[10_100, 9_900, 10_000].repeat(40), &[100], &[5]));
    advice(&stage);
}

#[test]
fn a_stock_of_the_highest_price_can_only_fall() {
    let highest = market::price::MAX_PRICE_MICROS;
    let stage = Stage::of(bars(&[highest; 60], &[0], &[5]));
    for advice in advice(&stage) {
        assert!(
            advice
                .proposals
                .iter()
                .all(|proposal| proposal.body["condition"] != "price_above")
        );
    }
    let swings: Vec<i64> = (0..300).map(|day| highest - (day % 40) * 7_000_000_000_000).collect();
    advice(&Stage::of(bars(&swings, &[1_000_000], &[5])));
}

#[test]
fn a_price_that_has_leapt_since_the_last_session_finds_no_level_and_still_gets_alerts() {
    let closes: Vec<i64> = (0..300)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut stage = Stage::of(bars(&closes, &[500_000], &[1_000]));
    for leapt in ["25", "1000", "0.0003"] {
        stage.price = price(leapt);
        advice(&stage);
    }
}

#[test]
fn sessions_with_weeks_between_them_are_sessions() {
    let mut stage = Stage::of(bars(
        &(0..400)
            .map(|day: i64| 30_000_000 + 200_000 * (day % 30))
            .collect::<Vec<_>>(),
        &[100_000],
        &[1_000],
    ));
    let kept: Vec<_> = stage
        .bars
        .iter()
        .enumerate()
        .filter(|(day, _)| day / 25 % 2 == 0)
        .map(|(_, bar)| *bar)
        .collect();
    stage = Stage::of(kept);
    advice(&stage);
}

#[test]
fn a_price_between_two_turning_points_has_its_entry_at_the_lower_and_its_target_at_the_upper() {
    let closes: Vec<i64> = (0..300)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut stage = Stage::of(bars(&closes, &[0], &[1_000]));
    stage.price = price("105");
    let [buy, sell] = <[Advice; 2]>::try_from(advice(&stage)).unwrap();
    let threshold = |advice: &Advice, role: Role| {
        let proposal = advice.proposals.iter().find(|proposal| proposal.role == role).unwrap();
        proposal.body["threshold"].as_f64().unwrap()
    };
    let near = |value: f64, level: f64| (value - level).abs() < 0.5;
    assert!(near(threshold(&buy, Role::Entry), 100.0));
    assert!(near(threshold(&sell, Role::Target), 110.0));
    // A quarter of a range below the support, so that a touch is no fall beyond it.
    assert!(threshold(&sell, Role::Stop) < 100.0 && near(threshold(&sell, Role::Stop), 99.7));
    let entry = buy
        .proposals
        .iter()
        .find(|proposal| proposal.role == Role::Entry)
        .unwrap();
    assert!(
        entry
            .rationale
            .starts_with("TEST has turned at about 100.00 12 times within the last year"),
        "{}",
        entry.rationale
    );
}

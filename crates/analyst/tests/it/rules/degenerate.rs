//! Degenerate histories: empty, flat, extreme prices and gaps.

use analyst::volatility::VolatilityBasis;
use analyst::{Advice, Intention, Role, TrendDirection, advise};

use crate::support::{Fixture, assert_sound, bars, fires_at_once, price};

fn advice(fixture: &Fixture) -> Vec<Advice> {
    let each = Intention::ALL.iter().map(|&intention| {
        let subject = fixture.subject(intention);
        let advice = advise(&subject);
        assert_sound(&subject, &advice);
        assert_eq!(fires_at_once(fixture, &subject, &advice.proposals), []);
        advice
    });
    each.collect()
}

#[test]
fn empty_history_assumes_volatility_and_says_so() {
    for advice in advice(&Fixture::of(Vec::new())) {
        assert_eq!((advice.analysis.sessions, advice.analysis.rsi), (0, None));
        assert_eq!(advice.analysis.volatility.basis, VolatilityBasis::Assumed);
        assert_eq!(advice.analysis.trend.direction, TrendDirection::Unknown);
        let says_so = |proposal: &analyst::Proposal| proposal.rationale.contains("Only 0 of its sessions are known");
        assert!(advice.proposals.iter().all(says_so), "{:#?}", advice.proposals);
    }
}

#[test]
fn volatility_is_assumed_below_twenty_one_sessions() {
    let of = |count: usize| {
        let closes: Vec<i64> = (0..count).map(|day| 50_000_000 + 300_000 * (day as i64 % 4)).collect();
        advice(&Fixture::of(bars(&closes, &[200_000], &[1_000])))
    };
    for (count, basis) in [
        (1, VolatilityBasis::Assumed),
        (20, VolatilityBasis::Assumed),
        (21, VolatilityBasis::Measured),
    ] {
        assert!(
            of(count).iter().all(|advice| advice.analysis.volatility.basis == basis),
            "{count}"
        );
    }
}

#[test]
fn flat_stock_gets_levels_at_the_minimum_distance() {
    for advice in advice(&Fixture::of(bars(&[20_000_000; 300], &[0], &[0]))) {
        assert_eq!(
            (advice.analysis.rsi, advice.analysis.volatility.basis),
            (None, VolatilityBasis::Floored)
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
fn lowest_price_gets_no_alert_below() {
    let mut fixture = Fixture::of(bars(&[1; 60], &[0], &[5]));
    assert_eq!(fixture.price.micros(), 1);
    for advice in advice(&fixture) {
        assert!(
            advice
                .proposals
                .iter()
                .all(|proposal| proposal.body["condition"] != "price_below")
        );
    }
    // Under one cent the ticks are hundredths of a cent.
    fixture = Fixture::of(bars(&[10_100, 9_900, 10_000].repeat(40), &[100], &[5]));
    advice(&fixture);
}

#[test]
fn highest_price_gets_no_alert_above() {
    let highest = market::price::MAX_PRICE_MICROS;
    let fixture = Fixture::of(bars(&[highest; 60], &[0], &[5]));
    for advice in advice(&fixture) {
        assert!(
            advice
                .proposals
                .iter()
                .all(|proposal| proposal.body["condition"] != "price_above")
        );
    }
    let swings: Vec<i64> = (0..300).map(|day| highest - (day % 40) * 7_000_000_000_000).collect();
    advice(&Fixture::of(bars(&swings, &[1_000_000], &[5])));
}

#[test]
fn price_jump_without_levels_still_gets_alerts() {
    let closes: Vec<i64> = (0..300)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut fixture = Fixture::of(bars(&closes, &[500_000], &[1_000]));
    for leapt in ["25", "1000", "0.0003"] {
        fixture.price = price(leapt);
        advice(&fixture);
    }
}

#[test]
fn history_with_gaps_of_weeks_gets_alerts() {
    let mut fixture = Fixture::of(bars(
        &(0..400)
            .map(|day: i64| 30_000_000 + 200_000 * (day % 30))
            .collect::<Vec<_>>(),
        &[100_000],
        &[1_000],
    ));
    let kept: Vec<_> = fixture
        .bars
        .iter()
        .enumerate()
        .filter(|(day, _)| day / 25 % 2 == 0)
        .map(|(_, bar)| *bar)
        .collect();
    fixture = Fixture::of(kept);
    advice(&fixture);
}

#[test]
fn entry_is_at_support_and_target_at_resistance() {
    let closes: Vec<i64> = (0..300)
        .map(|day: i64| 100_000_000 + 1_000_000 * (day % 20 - 10).abs())
        .collect();
    let mut fixture = Fixture::of(bars(&closes, &[0], &[1_000]));
    fixture.price = price("105");
    let [buy, sell] = <[Advice; 2]>::try_from(advice(&fixture)).unwrap();
    let threshold = |advice: &Advice, role: Role| {
        let proposal = advice.proposals.iter().find(|proposal| proposal.role == role).unwrap();
        proposal.body["threshold"].as_f64().unwrap()
    };
    let near = |value: f64, level: f64| (value - level).abs() < 0.5;
    assert!(near(threshold(&buy, Role::Entry), 100.0));
    assert!(near(threshold(&sell, Role::Target), 110.0));
    // A quarter of a range below the support, so that a touch does not count as a fall below it.
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

//! Short histories, missing figures and corrected bars.

use alerts::condition::{Condition, EpsBasis, RsiDirection, Side, VolumeBaseline};
use alerts::engine::{EvaluationIssue, EvaluationStatus};

use super::fixture::{Fixture, NOTHING};
use crate::common::{decimal, price};
use crate::oracle::OwnedEvent;

const MORNING: &str = "2024-03-08T14:00:00Z";
const AT_TEN: &str = "2024-03-08T15:00:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

const fn too_little(have: u16, need: u16) -> EvaluationStatus {
    EvaluationStatus::Waiting(EvaluationIssue::TooLittleHistory { have, need })
}

fn volume(baseline: VolumeBaseline) -> Condition {
    Condition::VolumeChange {
        baseline,
        percent: decimal("50"),
    }
}

const fn touch(side: Side, period: u16) -> Condition {
    Condition::MaTouch { side, period }
}

fn rsi() -> Condition {
    Condition::Rsi {
        direction: RsiDirection::Above,
        threshold: decimal("70"),
    }
}

fn pe(side: Side, earnings: EpsBasis, threshold: &str) -> Condition {
    Condition::PeRatio {
        side,
        earnings,
        threshold: decimal(threshold),
    }
}

#[test]
fn ten_bars_report_the_missing_history_of_each_condition() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 10]);
    fixture.observe("10", AT_TEN);
    let expected = [
        (
            Condition::Price {
                side: Side::Above,
                threshold: price("20"),
            },
            EvaluationStatus::Ok,
        ),
        (Condition::NewExtreme { side: Side::Below }, EvaluationStatus::Ok),
        (touch(Side::Above, 11), EvaluationStatus::Ok),
        (touch(Side::Above, 12), too_little(10, 11)),
        (touch(Side::Below, 400), too_little(10, 399)),
        (rsi(), too_little(10, 14)),
        (Condition::MaCrossover { side: Side::Above }, too_little(10, 200)),
        (volume(VolumeBaseline::Ma20), too_little(10, 20)),
        (volume(VolumeBaseline::Ma50), too_little(10, 50)),
        (volume(VolumeBaseline::Ma100), too_little(10, 100)),
    ];
    for (number, (condition, state)) in (0..).zip(expected) {
        fixture.arm(number, condition.clone(), AT_TEN);
        assert_eq!(fixture.state(number, AT_TEN), state, "{condition:?}");
    }
}

#[test]
fn ten_bars_suffice_for_the_11_day_average_but_not_the_12_day() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 10]);
    fixture.arm(1, touch(Side::Above, 11), MORNING);
    fixture.arm(2, touch(Side::Above, 12), MORNING);
    assert_eq!(fixture.observe("9", AT_TEN), NOTHING);
    assert_eq!(fixture.observe("10", AT_ELEVEN), [1]);
}

#[test]
fn alert_without_a_price_is_waiting() {
    let mut fixture = Fixture::new();
    fixture.arm(
        1,
        Condition::Price {
            side: Side::Above,
            threshold: price("20"),
        },
        MORNING,
    );
    assert_eq!(
        fixture.state(1, AT_TEN),
        EvaluationStatus::Waiting(EvaluationIssue::NoPrice)
    );
    fixture.observe("10", AT_ELEVEN);
    assert_eq!(fixture.state(1, AT_ELEVEN), EvaluationStatus::Ok);
}

#[test]
fn rsi_requires_14_bars() {
    let closes: Vec<_> = (0..14).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut thirteen = Fixture::new().after_closes("2024-03-08", &closes[1..]);
    thirteen.arm(1, rsi(), MORNING);
    assert_eq!(thirteen.observe("100", AT_TEN), NOTHING);
    assert_eq!(thirteen.state(1, AT_TEN), too_little(13, 14));

    let mut fourteen = Fixture::new().after_closes("2024-03-08", &closes);
    fourteen.arm(1, rsi(), MORNING);
    assert_eq!(fourteen.observe("11", AT_TEN), NOTHING);
    assert_eq!(fourteen.state(1, AT_TEN), EvaluationStatus::Ok);
    assert_eq!(fourteen.observe("100", AT_ELEVEN), [1]);
}

#[test]
fn golden_cross_requires_200_bars() {
    // A stock that fell slowly and jumps: SMA(50) is below SMA(200) until today.
    let closes: Vec<_> = (0..200).map(|day| if day < 150 { "11" } else { "10" }).collect();
    let mut short = Fixture::new().after_closes("2024-03-08", &closes[1..]);
    short.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    assert_eq!(short.observe("1000", AT_TEN), NOTHING);
    assert_eq!(short.state(1, AT_TEN), too_little(199, 200));

    let mut long = Fixture::new().after_closes("2024-03-08", &closes);
    long.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    // SMA(50) is (490 + p) / 50 and SMA(200) is (149 × 11 + 500 + p) / 200. The cross requires 3p > 179, a price above 59.66.
    assert_eq!(long.observe("59.666666", AT_TEN), NOTHING);
    assert_eq!(long.observe("59.666667", AT_ELEVEN), [1]);
}

#[test]
fn equal_averages_at_the_last_session_can_cross_both_ways() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 200]);
    fixture.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    fixture.arm(2, Condition::MaCrossover { side: Side::Below }, MORNING);
    assert_eq!(
        fixture.observe("10", AT_TEN),
        NOTHING,
        "equal is neither above nor below"
    );
    assert_eq!(fixture.observe("10.000001", AT_ELEVEN), [1]);
    assert_eq!(fixture.observe("9.999999", AT_NOON), [2]);
}

#[test]
fn pe_alert_without_positive_earnings_is_blind_and_does_not_fire() {
    let mut fixture = Fixture::new();
    fixture.arm(1, pe(Side::Below, EpsBasis::Trailing, "1000"), MORNING);
    fixture.arm(2, pe(Side::Above, EpsBasis::Forward, "0.000001"), MORNING);
    assert_eq!(fixture.observe("10", AT_TEN), NOTHING);
    let unknown = EvaluationStatus::Blind(EvaluationIssue::NoEarningsPerShare);
    let not_positive = EvaluationStatus::Blind(EvaluationIssue::EarningsNotPositive);
    assert_eq!([fixture.state(1, AT_TEN), fixture.state(2, AT_TEN)], [unknown, unknown]);
    for eps in ["0", "-2.5"] {
        let known = OwnedEvent::Fundamentals(fixture.symbol, [Some(decimal(eps)), Some(decimal(eps))]);
        assert_eq!(fixture.process(&known, AT_TEN), NOTHING);
        assert_eq!(fixture.process(&OwnedEvent::Evaluate, AT_TEN), NOTHING);
        assert_eq!(fixture.observe("10", AT_ELEVEN), NOTHING);
        assert_eq!(
            [fixture.state(1, AT_ELEVEN), fixture.state(2, AT_ELEVEN)],
            [not_positive, not_positive]
        );
    }
    let known = OwnedEvent::Fundamentals(fixture.symbol, [Some(decimal("0.5")), None]);
    fixture.process(&known, AT_ELEVEN);
    assert_eq!(
        [fixture.state(1, AT_ELEVEN), fixture.state(2, AT_ELEVEN)],
        [EvaluationStatus::Ok, unknown]
    );
    assert_eq!(
        fixture.process(&OwnedEvent::Evaluate, "2024-03-08T16:10:00Z"),
        [1],
        "20 is below 1000"
    );
}

#[test]
fn pe_alert_fires_exactly_at_its_threshold() {
    let mut fixture = Fixture::new();
    fixture.process(
        &OwnedEvent::Fundamentals(fixture.symbol, [Some(decimal("0.3")), Some(decimal("0.7"))]),
        MORNING,
    );
    fixture.arm(1, pe(Side::Above, EpsBasis::Trailing, "33.333333"), MORNING);
    fixture.arm(2, pe(Side::Below, EpsBasis::Forward, "14.285714"), MORNING);
    // 33.333333 × 0.3 is 9.9999999, and 14.285714 × 0.7 is 9.9999998.
    assert_eq!(fixture.observe("10.000001", AT_TEN), [1]);
    assert_eq!(fixture.observe("10", AT_ELEVEN), NOTHING);
    assert_eq!(fixture.observe("9.999999", AT_NOON), [2]);
}

#[test]
fn later_bar_of_the_same_day_replaces_the_earlier_one() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.arm(1, touch(Side::Above, 2), MORNING);
    fixture.bar("2024-03-07", "20", MORNING);
    assert_eq!(fixture.observe("9", AT_TEN), NOTHING);
    assert_eq!(
        fixture.observe("19.999999", AT_ELEVEN),
        NOTHING,
        "the average of 2 is met at yesterday's close"
    );
    assert_eq!(fixture.observe("20", AT_NOON), [1]);
}

#[test]
fn session_without_a_bar_gets_one_from_its_observations() {
    let mut fixture = Fixture::new().after_closes("2024-03-07", &["10"]);
    for (seen, at) in [("12", "15"), ("14", "16"), ("9", "17"), ("13", "18")] {
        fixture.observe(seen, &format!("2024-03-07T{at}:00:00Z"));
    }
    fixture.observe("13", AT_TEN);
    let bar = *fixture.engine.history(fixture.symbol).unwrap().last().unwrap();
    assert_eq!(bar.date.to_string(), "2024-03-07");
    let prices = [bar.open, bar.high, bar.low, bar.close];
    assert_eq!(prices, ["12", "14", "9", "13"].map(price));
}

#[test]
fn volume_alert_fires_exactly_at_its_percentage() {
    // Every bar has 1000 shares, so 50 % more are 1500.
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 20]);
    fixture.arm(1, volume(VolumeBaseline::Ma20), MORNING);
    assert_eq!(fixture.process(&fixture.quote("10", Some(1499)), AT_TEN), NOTHING);
    assert_eq!(fixture.process(&fixture.quote("10", None), AT_ELEVEN), NOTHING);
    assert_eq!(fixture.process(&fixture.quote("10", Some(1500)), AT_NOON), [1]);
}

#[test]
fn session_volume_counts_for_an_observation_without_volume() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10"; 20]);
    assert_eq!(fixture.process(&fixture.quote("10", Some(1500)), AT_TEN), NOTHING);
    fixture.arm(1, volume(VolumeBaseline::Ma20), AT_ELEVEN);
    assert_eq!(fixture.process(&fixture.quote("10", None), AT_NOON), [1]);
}

#[test]
fn overflowing_ratio_is_above_every_threshold() {
    // A price of 30 million dollars and earnings of three millionths: in millionths, the ratio exceeds 64 bits.
    let mut fixture = Fixture::new();
    fixture.process(
        &OwnedEvent::Fundamentals(fixture.symbol, [Some(decimal("0.000003")); 2]),
        MORNING,
    );
    fixture.arm(1, pe(Side::Above, EpsBasis::Trailing, "9000000000000"), MORNING);
    fixture.arm(2, pe(Side::Below, EpsBasis::Trailing, "9000000000000"), MORNING);
    assert_eq!(fixture.observe("30000000.000001", AT_TEN), [1]);
    assert_eq!(fixture.observe("0.000001", AT_ELEVEN), [2]);
}

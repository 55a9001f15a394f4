//! Little history, missing figures, corrected bars.

use alerts::condition::{Condition, Earnings, RsiDirection, Side, VolumeBaseline};
use alerts::engine::{NotJudged, State};

use super::stage::{NOTHING, Stage};
use crate::common::{decimal, price};
use crate::oracle::Told;

const MORNING: &str = "2024-03-08T14:00:00Z";
const AT_TEN: &str = "2024-03-08T15:00:00Z";
const AT_ELEVEN: &str = "2024-03-08T16:00:00Z";
const AT_NOON: &str = "2024-03-08T17:00:00Z";

const fn too_little(have: u16, need: u16) -> State {
    State::Waiting(NotJudged::TooLittleHistory { have, need })
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

fn pe(side: Side, earnings: Earnings, threshold: &str) -> Condition {
    Condition::PeRatio {
        side,
        earnings,
        threshold: decimal(threshold),
    }
}

#[test]
fn with_ten_bars_each_condition_says_whether_it_is_judged_and_what_it_takes() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 10]);
    stage.see("10", AT_TEN);
    let expected = [
        (
            Condition::Price {
                side: Side::Above,
                threshold: price("20"),
            },
            State::Ok,
        ),
        (Condition::NewExtreme { side: Side::Below }, State::Ok),
        (touch(Side::Above, 11), State::Ok),
        (touch(Side::Above, 12), too_little(10, 11)),
        (touch(Side::Below, 400), too_little(10, 399)),
        (rsi(), too_little(10, 14)),
        (Condition::MaCrossover { side: Side::Above }, too_little(10, 200)),
        (volume(VolumeBaseline::Ma20), too_little(10, 20)),
        (volume(VolumeBaseline::Ma50), too_little(10, 50)),
        (volume(VolumeBaseline::Ma100), too_little(10, 100)),
    ];
    for (number, (condition, state)) in (0..).zip(expected) {
        stage.arm(number, condition, AT_TEN);
        assert_eq!(stage.state(number, AT_TEN), state, "{condition:?}");
    }
}

#[test]
fn with_ten_bars_the_average_of_eleven_is_touched_and_the_average_of_twelve_is_not() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 10]);
    stage.arm(1, touch(Side::Above, 11), MORNING);
    stage.arm(2, touch(Side::Above, 12), MORNING);
    assert_eq!(stage.see("9", AT_TEN), NOTHING);
    assert_eq!(stage.see("10", AT_ELEVEN), [1]);
}

#[test]
fn without_any_price_an_alert_waits_for_one() {
    let mut stage = Stage::new();
    stage.arm(
        1,
        Condition::Price {
            side: Side::Above,
            threshold: price("20"),
        },
        MORNING,
    );
    assert_eq!(stage.state(1, AT_TEN), State::Waiting(NotJudged::NoPrice));
    stage.see("10", AT_ELEVEN);
    assert_eq!(stage.state(1, AT_ELEVEN), State::Ok);
}

#[test]
fn the_rsi_is_judged_from_fourteen_bars_on() {
    let closes: Vec<_> = (0..14).map(|day| if day % 2 == 0 { "10" } else { "11" }).collect();
    let mut thirteen = Stage::new().after_closes("2024-03-08", &closes[1..]);
    thirteen.arm(1, rsi(), MORNING);
    assert_eq!(thirteen.see("100", AT_TEN), NOTHING);
    assert_eq!(thirteen.state(1, AT_TEN), too_little(13, 14));

    let mut fourteen = Stage::new().after_closes("2024-03-08", &closes);
    fourteen.arm(1, rsi(), MORNING);
    assert_eq!(fourteen.see("11", AT_TEN), NOTHING);
    assert_eq!(fourteen.state(1, AT_TEN), State::Ok);
    assert_eq!(fourteen.see("100", AT_ELEVEN), [1]);
}

#[test]
fn a_golden_cross_is_judged_from_two_hundred_bars_on() {
    // A stock that fell slowly and jumps: SMA(50) is below SMA(200) until today.
    let closes: Vec<_> = (0..200).map(|day| if day < 150 { "11" } else { "10" }).collect();
    let mut short = Stage::new().after_closes("2024-03-08", &closes[1..]);
    short.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    assert_eq!(short.see("1000", AT_TEN), NOTHING);
    assert_eq!(short.state(1, AT_TEN), too_little(199, 200));

    let mut long = Stage::new().after_closes("2024-03-08", &closes);
    long.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    // SMA(50) is (490 + p) / 50 and SMA(200) is (149 × 11 + 500 + p) / 200: it takes 3p > 179, a price above 59.66.
    assert_eq!(long.see("59.666666", AT_TEN), NOTHING);
    assert_eq!(long.see("59.666667", AT_ELEVEN), [1]);
}

#[test]
fn averages_that_are_equal_at_the_last_session_cross_both_ways() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 200]);
    stage.arm(1, Condition::MaCrossover { side: Side::Above }, MORNING);
    stage.arm(2, Condition::MaCrossover { side: Side::Below }, MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING, "equal is neither above nor below");
    assert_eq!(stage.see("10.000001", AT_ELEVEN), [1]);
    assert_eq!(stage.see("9.999999", AT_NOON), [2]);
}

#[test]
fn earnings_of_zero_less_than_zero_or_none_are_blind_and_never_fire() {
    let mut stage = Stage::new();
    stage.arm(1, pe(Side::Below, Earnings::Trailing, "1000"), MORNING);
    stage.arm(2, pe(Side::Above, Earnings::Forward, "0.000001"), MORNING);
    assert_eq!(stage.see("10", AT_TEN), NOTHING);
    let unknown = State::Blind(NotJudged::NoEarningsPerShare);
    let not_positive = State::Blind(NotJudged::EarningsNotPositive);
    assert_eq!([stage.state(1, AT_TEN), stage.state(2, AT_TEN)], [unknown, unknown]);
    for eps in ["0", "-2.5"] {
        let known = Told::Fundamentals(stage.symbol, [Some(decimal(eps)), Some(decimal(eps))]);
        assert_eq!(stage.tell(&known, AT_TEN), NOTHING);
        assert_eq!(stage.tell(&Told::Evaluate, AT_TEN), NOTHING);
        assert_eq!(stage.see("10", AT_ELEVEN), NOTHING);
        assert_eq!(
            [stage.state(1, AT_ELEVEN), stage.state(2, AT_ELEVEN)],
            [not_positive, not_positive]
        );
    }
    let known = Told::Fundamentals(stage.symbol, [Some(decimal("0.5")), None]);
    stage.tell(&known, AT_ELEVEN);
    assert_eq!(
        [stage.state(1, AT_ELEVEN), stage.state(2, AT_ELEVEN)],
        [State::Ok, unknown]
    );
    assert_eq!(
        stage.tell(&Told::Evaluate, "2024-03-08T16:10:00Z"),
        [1],
        "20 is below 1000"
    );
}

#[test]
fn a_ratio_at_the_threshold_fires_and_one_a_millionth_of_a_dollar_before_it_does_not() {
    let mut stage = Stage::new();
    stage.tell(
        &Told::Fundamentals(stage.symbol, [Some(decimal("0.3")), Some(decimal("0.7"))]),
        MORNING,
    );
    stage.arm(1, pe(Side::Above, Earnings::Trailing, "33.333333"), MORNING);
    stage.arm(2, pe(Side::Below, Earnings::Forward, "14.285714"), MORNING);
    // 33.333333 × 0.3 is 9.9999999, and 14.285714 × 0.7 is 9.9999998.
    assert_eq!(stage.see("10.000001", AT_TEN), [1]);
    assert_eq!(stage.see("10", AT_ELEVEN), NOTHING);
    assert_eq!(stage.see("9.999999", AT_NOON), [2]);
}

#[test]
fn a_later_bar_of_the_same_day_takes_the_place_of_the_earlier_one() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.arm(1, touch(Side::Above, 2), MORNING);
    stage.bar("2024-03-07", "20", MORNING);
    assert_eq!(stage.see("9", AT_TEN), NOTHING);
    assert_eq!(
        stage.see("19.999999", AT_ELEVEN),
        NOTHING,
        "the average of 2 is met at yesterday's close"
    );
    assert_eq!(stage.see("20", AT_NOON), [1]);
}

#[test]
fn a_session_without_a_bar_gets_one_made_of_its_observations() {
    let mut stage = Stage::new().after_closes("2024-03-07", &["10"]);
    for (seen, at) in [("12", "15"), ("14", "16"), ("9", "17"), ("13", "18")] {
        stage.see(seen, &format!("2024-03-07T{at}:00:00Z"));
    }
    stage.see("13", AT_TEN);
    let bar = *stage.engine.history(stage.symbol).unwrap().last().unwrap();
    assert_eq!(bar.date.to_string(), "2024-03-07");
    let prices = [bar.open, bar.high, bar.low, bar.close];
    assert_eq!(prices, ["12", "14", "9", "13"].map(price));
}

#[test]
fn a_volume_at_the_percentage_above_its_average_fires_and_a_share_less_does_not() {
    // Every bar has 1000 shares; 50 % more are 1500.
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 20]);
    stage.arm(1, volume(VolumeBaseline::Ma20), MORNING);
    assert_eq!(stage.tell(&stage.quote("10", Some(1499)), AT_TEN), NOTHING);
    assert_eq!(stage.tell(&stage.quote("10", None), AT_ELEVEN), NOTHING);
    assert_eq!(stage.tell(&stage.quote("10", Some(1500)), AT_NOON), [1]);
}

#[test]
fn the_sessions_volume_so_far_counts_at_an_observation_without_a_volume() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10"; 20]);
    assert_eq!(stage.tell(&stage.quote("10", Some(1500)), AT_TEN), NOTHING);
    stage.arm(1, volume(VolumeBaseline::Ma20), AT_ELEVEN);
    assert_eq!(stage.tell(&stage.quote("10", None), AT_NOON), [1]);
}

#[test]
fn a_ratio_beyond_every_number_is_above_every_threshold() {
    // 30 million dollars a share and three millionths of earnings: as a count of millionths the ratio needs 64 bits and more.
    let mut stage = Stage::new();
    stage.tell(
        &Told::Fundamentals(stage.symbol, [Some(decimal("0.000003")); 2]),
        MORNING,
    );
    stage.arm(1, pe(Side::Above, Earnings::Trailing, "9000000000000"), MORNING);
    stage.arm(2, pe(Side::Below, Earnings::Trailing, "9000000000000"), MORNING);
    assert_eq!(stage.see("30000000.000001", AT_TEN), [1]);
    assert_eq!(stage.see("0.000001", AT_ELEVEN), [2]);
}

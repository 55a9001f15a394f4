//! A split is no fall: Apple's four for one on 2020-08-31, as it was traded.

use std::collections::BTreeSet;

use alerts::condition::{Condition, Side, VolumeBaseline};
use alerts::engine::Verdict;
use alerts::{Alert, Revision};
use jiff::civil::{Date, date};
use market::{Bar, Calendar, SplitRatio};

use super::stage::{NOTHING, Stage};
use crate::common::{alert, at, decimal, id, price, tell};
use crate::oracle::Told;
use crate::recorded;

const SPLIT_DAY: Date = date(2020, 8, 31);
const MADE: &str = "2020-08-30T12:00:00Z";

fn wishes() -> [Condition; 6] {
    [
        Condition::PriceChange {
            side: Side::Below,
            percent: decimal("50"),
        },
        Condition::Price {
            side: Side::Below,
            threshold: price("300"),
        },
        Condition::MaTouch {
            side: Side::Below,
            period: 20,
        },
        Condition::NewExtreme { side: Side::Below },
        Condition::VolumeChange {
            baseline: VolumeBaseline::Ma20,
            percent: decimal("150"),
        },
        Condition::MaCrossover { side: Side::Below },
    ]
}

/// Which of the wishes come true from the day of the split to `until`, if the split is told or not.
fn fired(bars: &[Bar], is_told: bool, until: Date) -> BTreeSet<u32> {
    let mut stage = Stage::on(Calendar::nyse());
    stage.symbol = "AAPL".parse().unwrap();
    let mut fired = BTreeSet::new();
    for bar in bars.iter().filter(|bar| bar.date <= until) {
        let session = stage.calendar.session(bar.date).unwrap();
        if bar.date == SPLIT_DAY {
            for (number, condition) in (0..).zip(wishes()) {
                stage.arm_from(number, condition, Some("499.23"), MADE);
            }
            if is_told {
                let split = Told::Split(stage.symbol, "4".parse().unwrap());
                stage.tell(&split, "2020-08-31T04:00:00Z");
            }
        }
        for (now, told) in recorded::observations(stage.symbol, bar, &session) {
            fired.extend(stage.taken(&told, now).unwrap());
        }
        stage.taken(&Told::Bar(stage.symbol, *bar), session.close).unwrap();
    }
    fired
}

#[test]
fn a_split_that_is_told_fires_nothing_and_one_that_is_not_fires_everything() {
    let Some(data) = recorded::folder() else {
        return;
    };
    let path = data.join("unadjusted/bars/unadjusted_2019_2025.csv.gz");
    let bars = recorded::bars(&path, &recorded::symbols(&["AAPL"]))
        .remove(&"AAPL".parse().unwrap())
        .unwrap();
    assert_eq!(fired(&bars, true, SPLIT_DAY), BTreeSet::new());
    assert_eq!(fired(&bars, false, SPLIT_DAY), (0..5).collect());
    // The averages need some weeks of wrong prices to cross; with the right ones there was no cross before 2022.
    let later = date(2021, 3, 1);
    assert!(!fired(&bars, true, later).contains(&5));
    assert!(fired(&bars, false, later).contains(&5));
}

#[test]
fn a_split_moves_what_an_alert_compares_with_and_the_next_revision_fires() {
    let mut stage = Stage::new();
    stage.see("400", "2024-03-07T15:00:00Z");
    let made = Alert {
        initial_price: Some(price("400")),
        revision: Revision(7),
        ..alert(
            1,
            stage.symbol,
            Condition::Price {
                side: Side::Below,
                threshold: price("380.5"),
            },
            at(MADE),
        )
    };
    stage.tell(&Told::Armed(made), "2024-03-07T16:00:00Z");
    let ratio: SplitRatio = "4".parse().unwrap();
    let decisions = tell(
        &mut stage.engine,
        &Told::Split(stage.symbol, ratio),
        at("2024-03-08T05:00:00Z"),
    )
    .0;
    let adjusted = Verdict::Adjust {
        threshold: Some(price("95.125")),
        initial_price: Some(price("100")),
    };
    let [decision] = decisions[..] else {
        panic!("one decision, not {decisions:?}");
    };
    assert_eq!(
        (decision.alert, decision.revision, decision.verdict),
        (id(1), Revision(7), adjusted)
    );
    assert_eq!(stage.see("95.125001", "2024-03-08T15:00:00Z"), NOTHING);
    let reached = stage.quote("95.125", None);
    let decisions = tell(&mut stage.engine, &reached, at("2024-03-08T16:00:00Z")).0;
    assert_eq!(
        decisions.iter().map(|decision| decision.revision).collect::<Vec<_>>(),
        [Revision(8)]
    );
}

#[test]
fn a_reverse_split_raises_what_an_alert_compares_with() {
    let mut stage = Stage::new().after_closes("2024-03-08", &["10", "10"]);
    stage.arm_from(
        1,
        Condition::PriceChange {
            side: Side::Above,
            percent: decimal("10"),
        },
        Some("10"),
        MADE,
    );
    stage.arm(2, Condition::NewExtreme { side: Side::Above }, MADE);
    stage.tell(
        &Told::Split(stage.symbol, "0.125".parse().unwrap()),
        "2024-03-08T05:00:00Z",
    );
    assert_eq!(stage.see("80", "2024-03-08T15:00:00Z"), NOTHING);
    assert_eq!(stage.see("87.999999", "2024-03-08T16:00:00Z"), [2]);
    assert_eq!(stage.see("88", "2024-03-08T17:00:00Z"), [1]);
}

#[test]
fn earnings_per_share_are_divided_by_a_split_and_the_ratio_stays() {
    let mut stage = Stage::new();
    stage.tell(&Told::Fundamentals(stage.symbol, [Some(decimal("4")), None]), MADE);
    let earnings = alerts::condition::Earnings::Trailing;
    stage.arm(
        1,
        Condition::PeRatio {
            side: Side::Above,
            earnings,
            threshold: decimal("25"),
        },
        MADE,
    );
    assert_eq!(stage.see("99.99", "2024-03-07T15:00:00Z"), NOTHING);
    stage.tell(&Told::Split(stage.symbol, "4".parse().unwrap()), "2024-03-08T05:00:00Z");
    assert_eq!(stage.see("24.999999", "2024-03-08T15:00:00Z"), NOTHING);
    assert_eq!(stage.see("25", "2024-03-08T16:00:00Z"), [1]);
}

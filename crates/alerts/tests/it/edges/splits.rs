//! Splits, with Apple's 4-for-1 split on 2020-08-31 as it was traded.

use std::collections::BTreeSet;

use alerts::condition::{Condition, Side, VolumeBaseline};
use alerts::engine::AlertAction;
use alerts::{Alert, Revision};
use jiff::civil::{Date, date};
use market::{Bar, Calendar, SplitRatio};

use super::fixture::{Fixture, NOTHING};
use crate::common::{alert, at, decimal, id, price, process_event};
use crate::oracle::OwnedEvent;
use crate::recorded;

const SPLIT_DAY: Date = date(2020, 8, 31);
const MADE: &str = "2020-08-30T12:00:00Z";

fn conditions() -> [Condition; 6] {
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

/// Returns the conditions that fire from the day of the split to `until`, with or without the split event.
fn fired(bars: &[Bar], is_processed: bool, until: Date) -> BTreeSet<u32> {
    let mut fixture = Fixture::on(Calendar::nyse());
    fixture.symbol = "AAPL".parse().unwrap();
    let mut fired = BTreeSet::new();
    for bar in bars.iter().filter(|bar| bar.date <= until) {
        let session = fixture.calendar.session(bar.date).unwrap();
        if bar.date == SPLIT_DAY {
            for (number, condition) in (0..).zip(conditions()) {
                fixture.arm_with_initial_price(number, condition, Some("499.23"), MADE);
            }
            if is_processed {
                let split = OwnedEvent::Split(fixture.symbol, "4".parse().unwrap());
                fixture.process(&split, "2020-08-31T04:00:00Z");
            }
        }
        for (now, event) in recorded::observations(fixture.symbol, bar, &session) {
            fired.extend(fixture.try_process(&event, now).unwrap());
        }
        fixture
            .try_process(&OwnedEvent::Bar(fixture.symbol, *bar), session.close)
            .unwrap();
    }
    fired
}

#[test]
fn split_event_prevents_false_firings() {
    let Some(data) = testdata::TestMarketData::recorded() else {
        return;
    };
    let text = data.text("unadjusted/bars/unadjusted_2019_2025.csv.gz");
    let bars = recorded::bars(&text, &recorded::symbols(&["AAPL"]))
        .remove(&"AAPL".parse().unwrap())
        .unwrap();
    assert_eq!(fired(&bars, true, SPLIT_DAY), BTreeSet::new());
    assert_eq!(fired(&bars, false, SPLIT_DAY), (0..5).collect());
    // The averages cross only after several weeks of wrong prices. With correct prices there was no cross before 2022.
    let later = date(2021, 3, 1);
    assert!(!fired(&bars, true, later).contains(&5));
    assert!(fired(&bars, false, later).contains(&5));
}

#[test]
fn split_adjusts_the_alert_and_its_next_revision_fires() {
    let mut fixture = Fixture::new();
    fixture.observe("400", "2024-03-07T15:00:00Z");
    let made = Alert {
        initial_price: Some(price("400")),
        revision: Revision(7),
        ..alert(
            1,
            fixture.symbol,
            Condition::Price {
                side: Side::Below,
                threshold: price("380.5"),
            },
            at(MADE),
        )
    };
    fixture.process(&OwnedEvent::Armed(Box::new(made)), "2024-03-07T16:00:00Z");
    let ratio: SplitRatio = "4".parse().unwrap();
    let decisions = process_event(
        &mut fixture.engine,
        &OwnedEvent::Split(fixture.symbol, ratio),
        at("2024-03-08T05:00:00Z"),
    )
    .0;
    let adjusted = AlertAction::Adjust {
        threshold: Some(price("95.125")),
        initial_price: Some(price("100")),
    };
    let [decision] = &decisions[..] else {
        panic!("one decision, not {decisions:?}");
    };
    assert_eq!(
        (decision.alert, decision.revision, &decision.action),
        (id(1), Revision(7), &adjusted)
    );
    assert_eq!(fixture.observe("95.125001", "2024-03-08T15:00:00Z"), NOTHING);
    let reached = fixture.quote("95.125", None);
    let decisions = process_event(&mut fixture.engine, &reached, at("2024-03-08T16:00:00Z")).0;
    assert_eq!(
        decisions.iter().map(|decision| decision.revision).collect::<Vec<_>>(),
        [Revision(8)]
    );
}

#[test]
fn reverse_split_raises_the_levels() {
    let mut fixture = Fixture::new().after_closes("2024-03-08", &["10", "10"]);
    fixture.arm_with_initial_price(
        1,
        Condition::PriceChange {
            side: Side::Above,
            percent: decimal("10"),
        },
        Some("10"),
        MADE,
    );
    fixture.arm(2, Condition::NewExtreme { side: Side::Above }, MADE);
    fixture.process(
        &OwnedEvent::Split(fixture.symbol, "0.125".parse().unwrap()),
        "2024-03-08T05:00:00Z",
    );
    assert_eq!(fixture.observe("80", "2024-03-08T15:00:00Z"), NOTHING);
    assert_eq!(fixture.observe("87.999999", "2024-03-08T16:00:00Z"), [2]);
    assert_eq!(fixture.observe("88", "2024-03-08T17:00:00Z"), [1]);
}

#[test]
fn split_divides_earnings_per_share_and_keeps_the_ratio() {
    let mut fixture = Fixture::new();
    fixture.process(
        &OwnedEvent::Fundamentals(fixture.symbol, [Some(decimal("4")), None]),
        MADE,
    );
    let earnings = alerts::condition::EpsBasis::Trailing;
    fixture.arm(
        1,
        Condition::PeRatio {
            side: Side::Above,
            earnings,
            threshold: decimal("25"),
        },
        MADE,
    );
    assert_eq!(fixture.observe("99.99", "2024-03-07T15:00:00Z"), NOTHING);
    fixture.process(
        &OwnedEvent::Split(fixture.symbol, "4".parse().unwrap()),
        "2024-03-08T05:00:00Z",
    );
    assert_eq!(fixture.observe("24.999999", "2024-03-08T15:00:00Z"), NOTHING);
    assert_eq!(fixture.observe("25", "2024-03-08T16:00:00Z"), [1]);
}

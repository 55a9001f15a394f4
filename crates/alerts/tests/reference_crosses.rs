//! Golden and death crosses of real stocks, through the engine, against a reference.
//!
//! The data lies beside the project; where it does not, the test says that it was skipped.
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use alerts::engine::{Decision, Engine, Event, Quote, Settings};
use alerts::{Alert, AlertId, Channel, Condition, Revision, Status, condition::Side};
use flate2::read::GzDecoder;
use market::{Bar, Calendar, Symbol};
use uuid::Uuid;

fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(name);
    if !path.exists() {
        eprintln!("skipped: there is no recorded data at {}", path.display());
        return None;
    }
    Some(path)
}

fn bars(path: &Path, wanted: &BTreeSet<String>) -> BTreeMap<String, Vec<Bar>> {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    let mut bars: BTreeMap<String, Vec<Bar>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if wanted.contains(fields[0]) {
            let price = |at: usize| fields[at].parse().unwrap();
            bars.entry(fields[0].to_owned()).or_default().push(Bar {
                date: fields[1].parse().unwrap(),
                open: price(2),
                high: price(3),
                low: price(4),
                close: price(5),
                volume: fields[6].parse().unwrap(),
            });
        }
    }
    bars
}

fn cross(symbol: Symbol, side: Side) -> Alert {
    let epoch = jiff::Timestamp::UNIX_EPOCH;
    Alert {
        id: AlertId(Uuid::from_u128(side.pick(1, 2))),
        revision: Revision::default(),
        symbol,
        condition: Condition::MaCrossover { side },
        notification: Channel::Email,
        parameters: None,
        status: Status::Active,
        initial_price: None,
        created_at: epoch,
        armed_at: epoch,
        rsi_side: None,
        triggered_at: None,
    }
}

/// `date,event` of each cross, judged at the close alone, with both alerts made anew after each firing.
fn crosses(symbol: &str, bars: &[Bar]) -> Vec<String> {
    let calendar = Calendar::nyse();
    let mut engine = Engine::new(calendar.clone(), Settings::default());
    let symbol: Symbol = symbol.parse().unwrap();
    let stock = engine.stock(symbol);
    let mut decisions: Vec<Decision> = Vec::new();
    let mut found = Vec::new();
    for bar in bars {
        let close = calendar.session(bar.date).unwrap().close;
        for side in [Side::Above, Side::Below] {
            engine
                .process(Event::Armed(&cross(symbol, side)), close, &mut decisions)
                .unwrap();
        }
        engine
            .process(Event::Snapshot(&[Quote::new(stock, bar.close)]), close, &mut decisions)
            .unwrap();
        engine
            .process(Event::Bar { symbol, bar: *bar }, close, &mut decisions)
            .unwrap();
        engine.process(Event::Clock, close, &mut decisions).unwrap();
        for decision in decisions.drain(..) {
            let golden = decision.alert.0.as_u128() == 1;
            found.push(format!(
                "{},{}_cross",
                bar.date,
                if golden { "golden" } else { "death" }
            ));
        }
    }
    found
}

#[test]
fn every_golden_and_death_cross_is_on_its_date_and_there_is_no_other() {
    let (Some(reference), Some(data)) = (
        shared("reference/golden_death_crosses_10_symbols.csv"),
        shared("us500/bars/us500_2019_2024.csv.gz"),
    ) else {
        return;
    };
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in fs::read_to_string(reference).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        expected
            .entry(fields[0].to_owned())
            .or_default()
            .push(format!("{},{}", fields[1], fields[2]));
    }
    assert_eq!(
        (expected.len(), expected.values().map(Vec::len).sum::<usize>()),
        (10, 51)
    );
    for (symbol, bars) in bars(&data, &expected.keys().cloned().collect()) {
        assert_eq!(crosses(&symbol, &bars), expected[&symbol], "{symbol}");
    }
}

#[test]
fn two_averages_that_are_equal_have_not_crossed() {
    let Some(data) = shared("us500/bars/us500_2019_2024.csv.gz") else {
        return;
    };
    let bars = bars(&data, &BTreeSet::from(["PPL".to_owned()]));
    let found = crosses("PPL", &bars["PPL"]);
    let around: Vec<_> = found.iter().filter(|cross| cross.starts_with("2022-03-0")).collect();
    assert_eq!(around, ["2022-03-08,death_cross"]);
}

//! Averages, RSI and extremes against values computed by another library (TA-Lib).
#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use std::collections::BTreeMap;

use market::indicators::{Atr, BollingerBands, Deviation, Ema, Extreme, Macd, RollingExtreme};
use market::{Bar, Decimal, History};
use testdata::TestMarketData;

/// The fields of a row by name.
type Row = BTreeMap<String, String>;

/// The bars of each symbol, oldest first.
type Bars = BTreeMap<String, Vec<Bar>>;

/// The rows of a CSV text, each as its fields by name.
fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let row = |line: &str| names.iter().cloned().zip(line.split(',').map(str::to_owned)).collect();
    lines.map(row).collect()
}

/// Returns the reference rows and the bars of their symbols.
fn reference_and_bars(data: &TestMarketData) -> (Vec<Row>, Bars) {
    let rows = rows(&data.text("reference/indicators_10_symbols.csv.gz"));
    let mut symbols: Vec<String> = rows.iter().map(|row| row["symbol"].clone()).collect();
    symbols.dedup();
    let bars = bars(&data.text("us500/bars/us500_2019_2024.csv.gz"), &symbols);
    (rows, bars)
}

/// The bars of the given symbols, oldest first.
fn bars(text: &str, symbols: &[String]) -> Bars {
    let mut bars = Bars::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if !symbols.iter().any(|symbol| symbol == fields[0]) {
            continue;
        }
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
    bars
}

#[track_caller]
fn agree(what: &str, place: &str, ours: Option<f64>, reference: &str, allowed: f64) -> usize {
    if reference.is_empty() {
        return 0;
    }
    let (ours, reference): (f64, f64) = (ours.unwrap_or(f64::NAN), reference.parse().unwrap());
    assert!(
        (ours - reference).abs() <= allowed,
        "{what} of {place}: {ours}, reference {reference}"
    );
    1
}

/// A billionth of the value.
fn relative(reference: &str) -> f64 {
    reference.parse::<f64>().map_or(0.0, |value| value.abs() * 1e-9)
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "volumes are compared as floats")]
fn averages_and_rsi_match_the_reference() {
    let data = TestMarketData::find();
    let (rows, bars) = reference_and_bars(&data);
    let (mut history, mut current, mut at, mut compared) = (History::default(), String::new(), 0, 0);
    for row in &rows {
        if row["symbol"] != current {
            (history, at) = (History::default(), 0);
            current.clone_from(&row["symbol"]);
            [50, 200].into_iter().for_each(|len| history.track_closes(len));
        }
        let bar = bars[&current][at];
        at += 1;
        let place = format!("{current} {}", row["date"]);
        assert_eq!(bar.date.to_string(), row["date"], "{place}");
        // With the close as the provisional price of a session that is not completed yet …
        let close = bar.close.micros();
        let provisional = [
            history.sma_at(50, close),
            history.sma_at(200, close),
            history.rsi().value_at(close),
        ];
        history.record(bar).unwrap();
        // … and of the completed session: both must be the reference's value.
        let sma = |len: usize| history.sum_of_closes(len).map(|sum| sum as f64 / len as f64 / 1e6);
        let completed = [sma(50), sma(200), history.rsi().value()];
        for [sma_50, sma_200, rsi] in [provisional, completed] {
            compared += agree("SMA50", &place, sma_50, &row["sma50"], relative(&row["sma50"]));
            compared += agree("SMA200", &place, sma_200, &row["sma200"], relative(&row["sma200"]));
            compared += agree("RSI14", &place, rsi, &row["rsi14"], 1e-6);
        }
        let volume = |len: usize| history.sum_of_volumes(len).map(|sum| sum as f64 / len as f64);
        compared += agree(
            "volume average of 20",
            &place,
            volume(20),
            &row["vol_sma20"],
            relative(&row["vol_sma20"]),
        );
        compared += agree(
            "volume average of 100",
            &place,
            volume(100),
            &row["vol_sma100"],
            relative(&row["vol_sma100"]),
        );
    }
    assert!(
        compared > data.pick(90_000, 36_000),
        "only {compared} figures were compared"
    );
}

#[test]
fn highs_and_lows_of_252_bars_match_the_reference() {
    let data = TestMarketData::find();
    let (rows, bars) = reference_and_bars(&data);
    let mut by_symbol: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter()
        .for_each(|row| by_symbol.entry(&row["symbol"]).or_default().push(row));
    let mut compared = 0;
    for (symbol, rows) in by_symbol {
        let columns = [("hi252_high", Extreme::High), ("lo252_low", Extreme::Low)];
        for (column, kind) in columns {
            let mut rolling = RollingExtreme::new(kind);
            for (at, (row, bar)) in rows.iter().zip(&bars[symbol]).enumerate() {
                let index = i32::try_from(at).unwrap();
                let before = rolling.since(index - 252);
                rolling.push(index, if kind == Extreme::High { bar.high } else { bar.low }.micros());
                for (name, ours) in [
                    (column.to_owned(), rolling.since(index - 251)),
                    (format!("{column}_prev"), before),
                ] {
                    if let Ok(reference) = row[&name].parse::<Decimal>() {
                        assert_eq!(ours, Some(reference.micros()), "{name} of {symbol} {}", row["date"]);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(
        compared > data.pick(40_000, 16_000),
        "only {compared} figures were compared"
    );
}

#[test]
fn exponential_averages_bands_and_ranges_match_the_reference() {
    let data = TestMarketData::find();
    let (rows, bars) = reference_and_bars(&data);
    if !rows.iter().any(|row| row.contains_key("ema12")) {
        // Older recorded data has no such columns; the sample has.
        return;
    }
    let new = || {
        (
            [Ema::new(12), Ema::new(200)],
            Macd::new(12, 26, 9),
            Deviation::new(20),
            Atr::new(14),
        )
    };
    let (mut state, mut current, mut at, mut compared) = (new(), String::new(), 0, 0);
    for row in &rows {
        if row["symbol"] != current {
            (state, at) = (new(), 0);
            current.clone_from(&row["symbol"]);
        }
        let bar = bars[&current][at];
        at += 1;
        let place = format!("{current} {}", row["date"]);
        let close = bar.close.micros();
        let (averages, macd, deviation, atr) = &mut state;
        let macd_value = macd.with(close);
        let moments = deviation.with(close);
        let bands = moments.map(|moments| BollingerBands::new(moments, 2.0));
        for (name, value, tolerance) in [
            ("ema12", averages[0].with(close), 1e-6),
            ("ema200", averages[1].with(close), 1e-6),
            ("macd", macd_value.map(|value| value.line), 1e-6),
            ("macd_signal", macd_value.map(|value| value.signal), 1e-6),
            ("bb_upper", bands.map(|bands| bands.upper), 1e-9),
            ("bb_lower", bands.map(|bands| bands.lower), 1e-9),
            ("stdev20", moments.map(|moments| moments.deviation), 1e-9),
            ("atr14", atr.with(bar.high.micros(), bar.low.micros()), 1e-6),
        ] {
            let reference = &row[name];
            assert_eq!(value.is_some(), !reference.is_empty(), "{name} of {place}");
            // The reference is rounded to nine decimals, which alone is half a unit of the ninth.
            let allowed = reference
                .parse::<f64>()
                .map_or(0.0, |value| value.abs() * tolerance + 5.001e-10);
            compared += agree(name, &place, value.map(|micros| micros / 1e6), reference, allowed);
        }
        averages.iter_mut().for_each(|average| average.push(close));
        macd.push(close);
        deviation.push(close);
        atr.push(&bar);
    }
    assert!(
        compared > data.pick(100_000, 40_000),
        "only {compared} figures were compared"
    );
}

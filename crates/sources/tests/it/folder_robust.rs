//! Reading never panics for any bytes, and an invalid row affects no other row.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;
use std::path::Path;

use market::Calendar;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sources::folder::{FolderError, MarketData, Rejections, Table, TableLoader};

const ROWS: usize = 20;

fn read(table: Table, bytes: &[u8]) -> Result<(MarketData, Rejections), FolderError> {
    let calendar = Calendar::nyse();
    let mut loader = TableLoader::new(&calendar);
    loader.read_table(table, Path::new("x.csv"), bytes)?;
    Ok(loader.finish())
}

fn any_table() -> impl Strategy<Value = Table> {
    select(Table::ALL.to_vec())
}

/// Fields similar to those of the tables, so that more than the first check is reached.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z]{1,12}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2}))?",
        "[-+]?[0-9]{0,22}\\.?[0-9]{0,8}([eE][-+]?[0-9]{0,4})?",
        select(vec![
            "buy",
            "sell",
            "P",
            "before_open",
            "NaN",
            "",
            "\"",
            "\"\"",
            "\"a,b\"",
            "\r"
        ])
        .prop_map(str::to_owned),
    ]
}

/// Row `number` of a file of valid bars. No two rows share symbol or date; the dates are workdays of April 2024.
fn bar_row(number: usize) -> String {
    let day = 1 + number / 5 * 7 + number % 5;
    format!("S{number:02},2024-04-{day:02},10.5,12,10.25,11,{}", 1000 + number)
}

/// A file of valid bars, and the range of row `number` in it, without its line break.
fn bars_file(number: usize) -> (Vec<u8>, Range<usize>) {
    let mut bytes = format!("{}\n", Table::Bars.header()).into_bytes();
    let mut place = 0..0;
    for row in 0..ROWS {
        let start = bytes.len();
        bytes.extend(bar_row(row).bytes());
        if row == number {
            place = start..bytes.len();
        }
        bytes.push(b'\n');
    }
    (bytes, place)
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        table in any_table(),
        with_header: bool,
        bytes in vec(prop_oneof![any::<u8>(), select(b"\n\r\",0".to_vec())], 0..400),
    ) {
        let mut input = Vec::new();
        if with_header {
            input.extend(table.header().bytes());
            input.push(b'\n');
        }
        input.extend(bytes);
        let _ = read(table, &input);
    }

    #[test]
    fn every_row_is_either_used_or_rejected(
        table in any_table(),
        intraday: bool,
        rows in vec(vec(field(), 1..10), 0..20),
    ) {
        let header = table.header();
        let header = if intraday { header.replace("date", "time") } else { header.to_owned() };
        let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
        let blank = lines.iter().filter(|line| line.trim().is_empty()).count();
        let input = format!("{header}\n{}\n", lines.join("\n"));
        if let Ok((data, rejections)) = read(table, input.as_bytes()) {
            let bars: usize = data.bars.values().map(|bars| bars.daily.len() + bars.intraday.len()).sum();
            let used = bars + data.splits.len() + data.dividends.len() + data.earnings.len()
                + data.fundamentals.len() + data.insiders.len() + data.mentions.len() + data.stocks.len();
            let rejected = usize::try_from(rejections.count).unwrap();
            // Of two rows with the same key, one is neither used nor rejected.
            prop_assert!(used + rejected <= lines.len() - blank);
            prop_assert!(rejections.first.iter().all(|row| (2..=lines.len() as u64 + 1).contains(&row.line)));
        }
    }

    #[test]
    fn invalid_row_does_not_affect_others(
        number in 0..ROWS,
        at in any::<prop::sample::Index>(),
        garbage in vec(prop_oneof![any::<u8>(), select(b"\n\r\",-.".to_vec())], 1..4),
    ) {
        let (mut bytes, place) = bars_file(number);
        let (whole, rejections) = read(Table::Bars, &bytes).unwrap();
        prop_assert_eq!(rejections.count, 0);
        prop_assert_eq!(whole.bars.len(), ROWS);

        let at = place.start + at.index(place.len());
        let end = place.end.min(at + garbage.len());
        bytes.splice(at..end, garbage);
        let (data, _) = read(Table::Bars, &bytes).unwrap();

        let symbol = bar_row(number)[..3].parse().unwrap();
        for (other, bars) in whole.bars.iter().filter(|(other, _)| **other != symbol) {
            let found = data.bars.get(other).map(|found| &found.daily);
            prop_assert!(found.is_some_and(|daily| daily.contains(&bars.daily[0])), "{} is lost", other);
        }
    }
}

//! The recorded market data of the shared folder, if it exists. Its README has the numbers of rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use market::Calendar;
use market::records::Batch;
use sources::file::{self, FileSourceHealth, FolderFollower};
use sources::folder::{self, MarketData, Rejections, Table, TableLoader};

/// A folder of the recorded data; prints a message and returns `None` if it does not exist.
fn recorded(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

fn read(name: &str) -> Option<(MarketData, Rejections)> {
    let path = recorded(name)?;
    Some(folder::read(&path, &Calendar::nyse(), |_| {}).unwrap())
}

fn daily_bars(data: &MarketData) -> usize {
    data.bars.values().map(|bars| bars.daily.len()).sum()
}

#[test]
fn reads_500_stocks_except_one_contradictory_bar() {
    let Some((data, rejections)) = read("us500") else {
        return;
    };
    assert_eq!(data.bars.len(), 511);
    assert_eq!(daily_bars(&data), 656_714 - 1);
    assert_eq!(data.dividends.len(), 9_058);
    assert_eq!(data.earnings.len(), 1_246);
    assert_eq!(data.fundamentals.len(), 10_945);
    assert_eq!(data.insiders.len(), 9_188);
    assert!(data.splits.is_empty());

    assert_eq!(rejections.count, 1);
    let message = rejections.first[0].to_string();
    assert!(
        message.ends_with(
            "us500_2019_2024.csv.gz:303187: open 195.98 lies outside low 196.21 to high 198.64; \
             correct the row at its source"
        ),
        "{message}"
    );
}

#[test]
fn file_source_delivers_every_recorded_row_once_in_order() {
    let Some(dir) = recorded("us500") else {
        return;
    };
    let config = file::FileSourceConfig {
        dir,
        every: jiff::SignedDuration::from_secs(1),
    };
    let now = "2025-06-02T14:00:00Z".parse().unwrap();
    let (mut follower, past) =
        FolderFollower::open(&config, Calendar::nyse(), FileSourceHealth::default(), now).unwrap();
    assert!(past.is_sorted_by_key(|update| update.at));
    let count = |of: fn(&Batch) -> usize| past.iter().map(|update| of(&update.batch)).sum::<usize>();
    assert_eq!(count(|batch| batch.bars.len()), 656_714 - 1);
    assert_eq!(count(|batch| batch.dividends.len()), 9_058);
    assert_eq!(count(|batch| batch.insider_transactions.len()), 9_188);
    assert_eq!(follower.health().rejected_rows(), 1);
    assert!(follower.poll(now).is_empty());
}

#[test]
fn reads_unadjusted_stocks_with_their_splits() {
    let Some((data, rejections)) = read("unadjusted") else {
        return;
    };
    assert_eq!(rejections, Rejections::default());
    assert_eq!(data.bars.len(), 33);
    assert_eq!(daily_bars(&data), 55_770);
    assert_eq!(data.splits.len(), 37);
    assert!(data.dividends.is_empty());
}

#[test]
fn reads_mentions() {
    let Some((data, rejections)) = read("mentions") else {
        return;
    };
    assert_eq!(rejections, Rejections::default());
    assert_eq!(data.mentions.len(), 13_230);
}

#[test]
fn reads_the_same_from_memory_and_from_disk() {
    let Some(path) = recorded("unadjusted/splits.csv") else {
        return;
    };
    let bytes = std::fs::read(&path).unwrap();
    let calendar = Calendar::nyse();
    let mut loader = TableLoader::new(&calendar);
    loader.read_table(Table::Splits, &path, bytes.as_slice()).unwrap();
    assert_eq!(loader.finish().0.splits.len(), 37);
}

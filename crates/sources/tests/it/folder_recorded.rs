//! Folders of market data: recorded data if it is there, otherwise the sample.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use market::Calendar;
use market::records::Batch;
use sources::file::{self, FileSourceHealth, FolderFollower};
use sources::folder::{self, MarketData, Rejections, Table, TableLoader};

fn read(data: &testdata::TestMarketData, name: &str) -> (MarketData, Rejections) {
    folder::read(&data.path(name), &Calendar::nyse(), |_| {}).unwrap()
}

fn daily_bars(data: &MarketData) -> usize {
    data.bars.values().map(|bars| bars.daily.len()).sum()
}

#[test]
fn reads_500_stocks_except_one_contradictory_bar() {
    let Some(recorded) = testdata::TestMarketData::recorded() else {
        return;
    };
    let (data, rejections) = read(&recorded, "us500");
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
    let data = testdata::TestMarketData::find();
    let config = file::FileSourceConfig {
        dir: data.path("us500"),
        every: jiff::SignedDuration::from_secs(1),
    };
    let now = "2025-06-02T14:00:00Z".parse().unwrap();
    let (mut follower, past) =
        FolderFollower::open(&config, Calendar::nyse(), FileSourceHealth::default(), now).unwrap();
    assert!(past.is_sorted_by_key(|update| update.at));
    let count = |of: fn(&Batch) -> usize| past.iter().map(|update| of(&update.batch)).sum::<usize>();
    assert_eq!(count(|batch| batch.bars.len()), data.pick(656_714 - 1, 5_220));
    assert_eq!(count(|batch| batch.dividends.len()), data.pick(9_058, 42));
    assert_eq!(count(|batch| batch.insider_transactions.len()), data.pick(9_188, 172));
    assert_eq!(follower.health().rejected_rows(), data.pick(1, 0));
    assert!(follower.poll(now).is_empty());
}

#[test]
fn reads_unadjusted_stocks_with_their_splits() {
    let source = testdata::TestMarketData::find();
    let (data, rejections) = read(&source, "unadjusted");
    assert_eq!(rejections, Rejections::default());
    assert_eq!(data.bars.len(), source.pick(33, 2));
    assert_eq!(daily_bars(&data), source.pick(55_770, 2_610));
    assert_eq!(data.splits.len(), source.pick(37, 3));
    assert!(data.dividends.is_empty());
}

#[test]
fn reads_mentions() {
    let source = testdata::TestMarketData::find();
    let (data, rejections) = read(&source, "mentions");
    assert_eq!(rejections, Rejections::default());
    assert_eq!(data.mentions.len(), source.pick(13_230, 2_600));
}

#[test]
fn reads_the_same_from_memory_and_from_disk() {
    let data = testdata::TestMarketData::find();
    let path = data.path("unadjusted/splits.csv");
    let bytes = std::fs::read(&path).unwrap();
    let calendar = Calendar::nyse();
    let mut loader = TableLoader::new(&calendar);
    loader.read_table(Table::Splits, &path, bytes.as_slice()).unwrap();
    assert_eq!(loader.finish().0.splits.len(), data.pick(37, 3));
}

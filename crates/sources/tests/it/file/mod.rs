//! The file source: when data is delivered, and files that grow, shrink or are invalid.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::folders;
mod growing;
mod release;
mod task;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::records::Batch;
use sources::MarketUpdate;
use sources::file::{FileSourceConfig, FileSourceHealth, FolderFollower};
use tempfile::TempDir;

use folders::folder;

const DAILY: &str = "symbol,date,open,high,low,close,volume\n";
const INTRADAY: &str = "symbol,time,open,high,low,close,volume\n";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn config(dir: &TempDir) -> FileSourceConfig {
    FileSourceConfig {
        dir: dir.path().to_owned(),
        every: SignedDuration::from_secs(1),
    }
}

/// A followed folder, with a manual clock.
struct Fixture {
    dir: TempDir,
    follower: FolderFollower,
    now: Timestamp,
}

impl Fixture {
    fn open(files: &[(&str, &str)], now: &str) -> (Self, Vec<MarketUpdate>) {
        let (dir, now) = (folder(files), at(now));
        let (follower, past) =
            FolderFollower::open(&config(&dir), Calendar::nyse(), FileSourceHealth::default(), now).unwrap();
        (Self { dir, follower, now }, past)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.dir.path().join(name))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Replaces a file, with a later modification time.
    fn replace(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::metadata(&path)
            .and_then(|data| data.modified())
            .unwrap_or(SystemTime::UNIX_EPOCH);
        fs::write(&path, bytes).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(before + Duration::from_secs(2))
            .unwrap();
    }

    /// Polls a second later.
    fn poll(&mut self) -> Vec<MarketUpdate> {
        self.later(1)
    }

    fn later(&mut self, seconds: i64) -> Vec<MarketUpdate> {
        self.now += SignedDuration::from_secs(seconds);
        let updates = self.follower.poll(self.now);
        assert!(updates.iter().all(|update| !update.backfill && update.at <= self.now));
        assert!(updates.is_sorted_by_key(|update| update.at));
        updates
    }
}

fn all(updates: Vec<MarketUpdate>) -> Batch {
    updates.into_iter().fold(Batch::default(), |mut batch, update| {
        batch.append(update.batch);
        batch
    })
}

/// `symbol date close` of each bar.
fn bars(updates: Vec<MarketUpdate>) -> Vec<String> {
    let rows = all(updates).bars;
    rows.iter()
        .map(|row| format!("{} {} {}", row.symbol, row.bar.date, row.bar.close))
        .collect()
}

/// `symbol price volume time` of each quote.
fn quotes(updates: Vec<MarketUpdate>) -> Vec<String> {
    let rows = all(updates).quotes;
    rows.iter()
        .map(|row| {
            format!(
                "{} {} {} {}",
                row.symbol,
                row.price,
                row.volume.unwrap(),
                row.time.unwrap()
            )
        })
        .collect()
}

/// `date ratio` of each split.
fn splits(updates: Vec<MarketUpdate>) -> Vec<String> {
    all(updates)
        .splits
        .iter()
        .map(|row| format!("{} {}", row.date, row.ratio))
        .collect()
}

/// A folder with one split, on a Friday at 11:00 in New York.
fn with_splits(text: &str) -> (Fixture, Vec<MarketUpdate>) {
    Fixture::open(&[("splits.csv", text)], "2024-03-08T16:00:00Z")
}

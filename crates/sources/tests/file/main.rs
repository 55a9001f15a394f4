//! A data folder that is followed: what is delivered when, and what becomes of files that grow, shrink or are broken.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod due;
#[allow(dead_code, reason = "each test file uses its own part of it")]
#[path = "../folders/mod.rs"]
mod folders;
mod growing;
mod task;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::records::Batch;
use sources::Delivery;
use sources::file::{Follower, Health, Options};
use tempfile::TempDir;

use folders::folder;

const DAILY: &str = "symbol,date,open,high,low,close,volume\n";
const INTRADAY: &str = "symbol,time,open,high,low,close,volume\n";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn options(dir: &TempDir) -> Options {
    Options {
        dir: dir.path().to_owned(),
        every: SignedDuration::from_secs(1),
        bars_from: None,
    }
}

/// A folder that is followed, by a clock that is set by hand.
struct Case {
    dir: TempDir,
    follower: Follower,
    now: Timestamp,
}

impl Case {
    fn open(files: &[(&str, &str)], now: &str) -> (Self, Vec<Delivery>) {
        let (dir, now) = (folder(files), at(now));
        let (follower, past) = Follower::open(&options(&dir), Calendar::nyse(), Health::default(), now).unwrap();
        (Self { dir, follower, now }, past)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.dir.path().join(name))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Puts `bytes` in the place of a file, as one written later.
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

    /// What is found a second later.
    fn poll(&mut self) -> Vec<Delivery> {
        self.later(1)
    }

    fn later(&mut self, seconds: i64) -> Vec<Delivery> {
        self.now += SignedDuration::from_secs(seconds);
        let deliveries = self.follower.poll(self.now);
        assert!(
            deliveries
                .iter()
                .all(|delivery| !delivery.backfill && delivery.at <= self.now)
        );
        assert!(deliveries.is_sorted_by_key(|delivery| delivery.at));
        deliveries
    }
}

fn all(deliveries: Vec<Delivery>) -> Batch {
    deliveries.into_iter().fold(Batch::default(), |mut batch, delivery| {
        batch.append(delivery.batch);
        batch
    })
}

/// `symbol date close` of each bar.
fn bars(deliveries: Vec<Delivery>) -> Vec<String> {
    let rows = all(deliveries).bars;
    rows.iter()
        .map(|row| format!("{} {} {}", row.symbol, row.bar.date, row.bar.close))
        .collect()
}

/// `symbol price volume time` of each quote.
fn quotes(deliveries: Vec<Delivery>) -> Vec<String> {
    let rows = all(deliveries).quotes;
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
fn splits(deliveries: Vec<Delivery>) -> Vec<String> {
    all(deliveries)
        .splits
        .iter()
        .map(|row| format!("{} {}", row.date, row.ratio))
        .collect()
}

/// A folder with one split, on a Friday at 11:00 in New York.
fn with_splits(text: &str) -> (Case, Vec<Delivery>) {
    Case::open(&[("splits.csv", text)], "2024-03-08T16:00:00Z")
}

//! A data folder that is followed: what is delivered when, and what becomes of files that grow, shrink or are broken.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
mod folders;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use market::Calendar;
use market::records::Batch;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sources::file::{self, Follower, Health, Options};
use sources::{Clock, Delivery, FeedKind, ManualClock};
use tempfile::TempDir;
use tokio::sync::mpsc;

use folders::{folder, gzip};

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

#[test]
fn the_past_comes_first_in_the_order_in_which_it_became_known() {
    let (case, past) = Case::open(
        &[
            ("stocks.csv", "symbol,name\nA,Alpha\n"),
            (
                "bars/x.csv",
                &format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-06,2,2,2,2,1\nA,2024-03-05,3,3,3,3,1\n"),
            ),
            ("splits.csv", "symbol,date,ratio\nA,2024-03-06,2\n"),
            ("fundamentals.csv", "symbol,as_of,eps_ttm\nA,2024-03-07,1\n"),
            (
                "insiders.csv",
                "symbol,filed_on,insider,code,side,shares,price\nA,2024-03-07,X,P,buy,1,1\n",
            ),
            ("mentions.csv", "symbol,time,mentions\nA,2024-03-07T22:00:00Z,5\n"),
            ("earnings.csv", "symbol,date\nA,2024-05-02\n"),
            ("dividends.csv", "symbol,ex_date\nA,2024-02-09\nA,2024-05-10\n"),
        ],
        "2024-03-08T16:00:00Z",
    );
    assert!(past.iter().all(|delivery| delivery.backfill));
    let told: Vec<_> = past
        .iter()
        .map(|Delivery { at, batch, .. }| {
            let dates: Vec<_> = batch.dividends.iter().map(|row| row.ex_date.to_string()).collect();
            let counts = [
                ("stock", batch.stocks.len()),
                ("bar", batch.bars.len()),
                ("split", batch.splits.len()),
                ("figure", batch.fundamentals.len()),
                ("trade", batch.insider_transactions.len()),
                ("mention", batch.mentions.len()),
                ("report", batch.earnings.len()),
            ];
            let kinds = counts
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(kind, _)| (*kind).to_owned());
            format!("{at} {}", kinds.chain(dates).collect::<Vec<_>>().join(" "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "2024-02-09T05:00:00Z stock",
            "2024-02-09T05:00:00Z 2024-02-09",
            "2024-03-05T21:00:00Z bar",
            "2024-03-06T05:00:00Z split",
            "2024-03-06T21:00:00Z bar",
            "2024-03-07T05:00:00Z figure",
            "2024-03-07T14:30:00Z trade",
            "2024-03-07T21:00:00Z bar",
            "2024-03-07T22:00:00Z mention",
            "2024-03-08T16:00:00Z report 2024-05-10",
        ]
    );
    assert_eq!(case.follower.health().offer.feeds().missing().count(), 0);
}

#[test]
fn appended_rows_and_new_files_are_delivered_when_they_are_found_and_once() {
    let (mut case, past) = with_splits("symbol,date,ratio\nA,2024-03-01,2\n");
    assert_eq!(splits(past), ["2024-03-01 2"]);
    assert!(case.poll().is_empty());
    case.append("splits.csv", "A,2024-03-04,3\nA,2024-03-05,4\n");
    let found = case.poll();
    assert!(found.iter().all(|delivery| delivery.at == case.now));
    assert_eq!(splits(found), ["2024-03-04 3", "2024-03-05 4"]);
    assert!(case.poll().is_empty());

    assert!(!case.follower.health().offer.feeds().has(FeedKind::Bars));
    case.replace("bars/new.csv", format!("{DAILY}A,2024-03-07,1,1,1,1,1\n"));
    assert_eq!(bars(case.poll()), ["A 2024-03-07 1"]);
    let feeds = case.follower.health().offer.feeds();
    assert!(feeds.has(FeedKind::Bars) && feeds.has(FeedKind::Quotes) && !feeds.has(FeedKind::Mentions));
}

#[test]
fn half_a_row_waits_for_the_other_half() {
    let (mut case, _) = with_splits("symbol,date,ratio\n");
    case.append("splits.csv", "A,2024-03-04,");
    assert!(case.poll().is_empty());
    case.append("splits.csv", "1");
    assert!(case.poll().is_empty());
    case.append("splits.csv", "5\nA,2024");
    assert_eq!(splits(case.poll()), ["2024-03-04 15"]);
    assert_eq!(case.follower.health().rejected_rows(), 0);
}

#[test]
fn a_last_row_without_a_line_break_is_taken_when_the_file_has_been_left_alone_for_ten_seconds() {
    let (mut case, past) = with_splits("symbol,date,ratio\nA,2024-03-04,2");
    assert_eq!(splits(past), [""; 0]);
    assert!(case.later(9).is_empty());
    assert_eq!(splits(case.later(1)), ["2024-03-04 2"]);
    assert!(case.later(60).is_empty());
    case.append("splits.csv", "\nA,2024-03-05,3\n");
    assert_eq!(splits(case.poll()), ["2024-03-05 3"]);
    // Who goes on writing that row after all has written another row.
    let (mut case, _) = with_splits("symbol,date,ratio\nA,2024-03-04,2");
    assert_eq!(splits(case.later(10)), ["2024-03-04 2"]);
    case.append("splits.csv", "5\n");
    assert_eq!(splits(case.poll()), ["2024-03-04 25"]);
}

#[test]
fn a_file_that_is_truncated_or_replaced_is_read_anew_and_only_its_new_rows_are_delivered() {
    let (mut case, _) = with_splits("symbol,date,ratio\nA,2024-03-01,2\nA,2024-03-04,3\n");
    case.replace("splits.csv", "symbol,date,ratio\nA,2024-03-04,3\n");
    assert!(case.poll().is_empty(), "nothing is new in a file that shrank");
    case.replace("splits.csv", "symbol,date,ratio\nA,2024-03-04,9\n");
    assert_eq!(splits(case.poll()), ["2024-03-04 9"], "of the same length");
    case.replace("splits.csv", "");
    assert!(case.poll().is_empty());
    case.replace(
        "splits.csv",
        "symbol,ratio,date\nA,7,2024-03-05\nA,8,2024-03-06\nA,9,2024-03-07\n",
    );
    assert_eq!(
        splits(case.poll()),
        ["2024-03-05 7", "2024-03-06 8", "2024-03-07 9"],
        "longer than before"
    );
    assert_eq!(case.follower.health().failed_files(), 0);
}

#[test]
fn a_compressed_file_is_read_anew_when_it_changes() {
    let text = "symbol,date,ratio\nA,2024-03-01,2\n";
    let (mut case, past) = Case::open(&[("splits.csv.gz", text)], "2024-03-08T16:00:00Z");
    assert_eq!(splits(past), ["2024-03-01 2"]);
    case.replace("splits.csv.gz", gzip(&format!("{text}A,2024-03-04,3")));
    assert_eq!(splits(case.poll()), ["2024-03-04 3"]);
    // Half of it has been written.
    let whole = gzip(&format!("{text}A,2024-03-04,3\nA,2024-03-05,4\n"));
    case.replace("splits.csv.gz", &whole[..whole.len() - 4]);
    let half = splits(case.poll());
    assert_eq!(case.follower.health().failed_files(), 1);
    case.replace("splits.csv.gz", &whole);
    let rest = splits(case.poll());
    assert_eq!([half, rest].concat(), ["2024-03-05 4"]);
}

#[test]
fn a_bad_row_is_counted_and_costs_no_other() {
    let (mut case, past) = with_splits("symbol,date,ratio\nA,2024-03-01,none\nA,2024-03-04,3\n");
    assert_eq!((splits(past).len(), case.follower.health().rejected_rows()), (1, 1));
    case.append("splits.csv", "A\nA,2024-03-05,4\n");
    assert_eq!(splits(case.poll()), ["2024-03-05 4"]);
    assert_eq!(case.follower.health().rejected_rows(), 2);
}

#[test]
fn a_file_that_cannot_be_used_stops_the_start_but_not_the_following() {
    let dir = folder(&[("splits.csv", "symbol,date\nA,2024-03-01\n")]);
    let opened = Follower::open(
        &options(&dir),
        Calendar::nyse(),
        Health::default(),
        at("2024-03-08T16:00:00Z"),
    );
    assert!(
        opened
            .unwrap_err()
            .to_string()
            .contains("splits.csv has no column ratio")
    );

    let (mut case, _) = with_splits("symbol,date,ratio\n");
    case.replace("earnings.csv", "symbol,day\nA,2024-05-02\n");
    case.append("splits.csv", "A,2024-03-01,2\n");
    assert_eq!(splits(case.poll()).len(), 1);
    assert_eq!(case.follower.health().failed_files(), 1);
    case.replace("earnings.csv", "symbol,date\nA,2024-05-02\n");
    assert_eq!(all(case.poll()).earnings.len(), 1);

    fs::remove_file(case.dir.path().join("splits.csv")).unwrap();
    fs::remove_file(case.dir.path().join("earnings.csv")).unwrap();
    assert!(case.poll().is_empty() && case.poll().is_empty());
    assert_eq!(
        case.follower.health().failed_files(),
        2,
        "a missing folder is told of once"
    );
}

#[test]
fn a_daily_bar_is_a_quote_while_its_session_is_under_way_and_a_bar_when_it_is_over() {
    let (mut case, past) = Case::open(
        &[(
            "bars/x.csv",
            &format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-08,2,3,2,2.5,100\n"),
        )],
        "2024-03-08T20:59:00Z",
    );
    assert_eq!(bars(past.clone()), ["A 2024-03-07 1"]);
    assert_eq!(quotes(past), ["A 2.5 100 2024-03-08T20:59:00Z"]);
    case.replace(
        "bars/x.csv",
        format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-08,2,3,2,2.75,120\n"),
    );
    let seen = case.poll();
    assert!(bars(seen.clone()).is_empty());
    assert_eq!(quotes(seen), ["A 2.75 120 2024-03-08T20:59:01Z"]);
    assert!(case.later(58).is_empty(), "a second before the close");
    let closed = case.later(10);
    assert_eq!(closed[0].at, at("2024-03-08T21:00:00Z"));
    assert_eq!(bars(closed), ["A 2024-03-08 2.75"]);
}

#[test]
fn intraday_bars_are_quotes_with_the_volume_so_far_and_make_the_bar_of_their_session() {
    let row = |time: &str, close: &str| format!("A,2024-03-08T{time}:00Z,2,3,1,{close},10\n");
    let yesterday = "A,2024-03-07T15:00:00Z,5,6,4,5,7\nA,2024-03-07T14:00:00Z,9,9,9,9,9\n";
    let text = format!("{INTRADAY}{yesterday}{}{}", row("14:30", "2"), row("14:31", "2.5"));
    let (mut case, past) = Case::open(&[("bars/x.csv", &text)], "2024-03-08T14:31:30Z");
    assert_eq!(
        bars(past.clone()),
        ["A 2024-03-07 5"],
        "what was before the open is no part of the session"
    );
    assert_eq!(
        quotes(past),
        ["A 2 10 2024-03-08T14:30:00Z", "A 2.5 20 2024-03-08T14:31:00Z"]
    );
    case.append("bars/x.csv", &(row("14:32", "1.5") + &row("14:33", "1.75")));
    assert!(case.poll().is_empty(), "not before its time");
    case.now = at("2024-03-08T14:32:00Z");
    let seen = case.later(0);
    assert_eq!(quotes(seen), ["A 1.5 30 2024-03-08T14:32:00Z"]);
    assert_eq!(quotes(case.later(60)), ["A 1.75 40 2024-03-08T14:33:00Z"]);
    case.now = at("2024-03-08T21:00:00Z");
    let bar = all(case.later(0)).bars[0].bar;
    assert_eq!(
        (bar.open.to_string(), bar.high.to_string(), bar.low.to_string()),
        ("2".into(), "3".into(), "1".into())
    );
    assert_eq!((bar.close.to_string(), bar.volume), ("1.75".into(), 40));
    // One that comes late mends the bar; a daily bar has the last word.
    case.append("bars/x.csv", &row("20:59", "2.25"));
    assert_eq!(bars(case.poll()), ["A 2024-03-08 2.25"]);
    case.replace("bars/daily.csv", format!("{DAILY}A,2024-03-08,2,3,1,2.2,50\n"));
    assert_eq!(bars(case.poll()), ["A 2024-03-08 2.2"]);
    case.append("bars/x.csv", &row("20:58", "1.1"));
    assert!(case.poll().is_empty());
}

#[test]
fn what_is_known_from_a_later_day_on_waits_for_it() {
    let (mut case, past) = with_splits("symbol,date,ratio\nA,2024-03-11,2\n");
    assert!(past.is_empty());
    assert!(case.poll().is_empty());
    case.now = at("2024-03-11T04:00:05Z");
    let found = case.later(0);
    assert_eq!(found[0].at, at("2024-03-11T04:00:00Z"));
    assert_eq!(splits(found), ["2024-03-11 2"]);
}

#[test]
fn bars_that_an_earlier_run_delivered_can_be_left_out() {
    let text = format!("{DAILY}A,2024-03-05,1,1,1,1,1\nA,2024-03-06,2,2,2,2,1\nA,2024-03-07,3,3,3,3,1\n");
    let dir = folder(&[("bars/x.csv", &text)]);
    let options = Options {
        bars_from: Some(jiff::civil::date(2024, 3, 6)),
        ..options(&dir)
    };
    let (_, past) = Follower::open(
        &options,
        Calendar::nyse(),
        Health::default(),
        at("2024-03-08T16:00:00Z"),
    )
    .unwrap();
    assert_eq!(bars(past), ["A 2024-03-06 2", "A 2024-03-07 3"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In whatever pieces a file is written, each row is delivered once, and bad rows are counted as in one reading.
    #[test]
    fn the_pieces_in_which_a_file_grows_do_not_matter(
        rows in vec(select(vec!["A,2024-03-01,2", "A,2024-03-04,3", "B,2024-03-04,x", "", "C", "\"q,2024-03-01,5"]), 0..12),
        cuts in vec(any::<Index>(), 0..8),
        crlf: bool,
    ) {
        let line_break = if crlf { "\r\n" } else { "\n" };
        let text: String = rows.iter().flat_map(|row| [*row, line_break]).collect();
        let header = format!("symbol,date,ratio{line_break}");
        let (whole, past) = with_splits(&(header.clone() + &text));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let (mut case, mut found) = with_splits(&header);
        for piece in cuts.windows(2) {
            case.append("splits.csv", &text[piece[0]..piece[1]]);
            found.extend(case.poll());
        }
        let (mut found, mut expected) = (splits(found), splits(past));
        for told in [&mut found, &mut expected] {
            told.sort();
            // Of rows for one day the last wins, and within one reading the others are never seen.
            told.dedup();
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(case.follower.health().rejected_rows(), whole.follower.health().rejected_rows());
    }
}

#[tokio::test]
async fn the_task_sends_the_past_then_what_it_finds_and_ends_with_its_listener() {
    let dir = folder(&[("splits.csv", "symbol,date,ratio\nA,2024-03-01,2\n")]);
    let clock = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, mut receiver) = mpsc::channel(1);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let task = tokio::spawn(file::run(
        options(&dir),
        Calendar::nyse(),
        Health::default(),
        dyn_clock,
        sender,
    ));
    let past = receiver.recv().await.unwrap();
    assert!(past.backfill);
    append(&dir.path().join("splits.csv"), "A,2024-03-04,3\n");
    let found = loop {
        clock.advance(SignedDuration::from_secs(1));
        tokio::select! {
            delivery = receiver.recv() => break delivery.unwrap(),
            () = tokio::task::yield_now() => {}
        }
    };
    assert!(!found.backfill);
    assert_eq!(splits(vec![found]), ["2024-03-04 3"]);
    drop(receiver);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_ends_the_task_with_the_reason() {
    let dir = folder(&[]);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, _receiver) = mpsc::channel(1);
    let ended = file::run(options(&dir), Calendar::nyse(), Health::default(), clock, sender).await;
    assert!(ended.unwrap_err().to_string().contains("holds no data"));
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

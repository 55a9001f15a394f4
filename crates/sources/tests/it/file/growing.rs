//! Files that grow, shrink, are replaced or are invalid.

use std::fs;

use market::Calendar;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sources::FeedKind;
use sources::file::{FileSourceHealth, FolderFollower};

use crate::file::{DAILY, Fixture, all, at, bars, config, splits, with_splits};
use crate::folders::{folder, gzip};

#[test]
fn appended_rows_and_new_files_are_delivered_once() {
    let (mut fixture, past) = with_splits("symbol,date,ratio\nA,2024-03-01,2\n");
    assert_eq!(splits(past), ["2024-03-01 2"]);
    assert!(fixture.poll().is_empty());
    fixture.append("splits.csv", "A,2024-03-04,3\nA,2024-03-05,4\n");
    let found = fixture.poll();
    assert!(found.iter().all(|update| update.at == fixture.now));
    assert_eq!(splits(found), ["2024-03-04 3", "2024-03-05 4"]);
    assert!(fixture.poll().is_empty());

    assert!(!fixture.follower.health().offer.feeds().has(FeedKind::Bars));
    fixture.replace("bars/new.csv", format!("{DAILY}A,2024-03-07,1,1,1,1,1\n"));
    assert_eq!(bars(fixture.poll()), ["A 2024-03-07 1"]);
    let feeds = fixture.follower.health().offer.feeds();
    assert!(feeds.has(FeedKind::Bars) && feeds.has(FeedKind::Quotes) && !feeds.has(FeedKind::Mentions));
}

#[test]
fn incomplete_row_waits_for_its_rest() {
    let (mut fixture, _) = with_splits("symbol,date,ratio\n");
    fixture.append("splits.csv", "A,2024-03-04,");
    assert!(fixture.poll().is_empty());
    fixture.append("splits.csv", "1");
    assert!(fixture.poll().is_empty());
    fixture.append("splits.csv", "5\nA,2024");
    assert_eq!(splits(fixture.poll()), ["2024-03-04 15"]);
    assert_eq!(fixture.follower.health().rejected_rows(), 0);
}

#[test]
fn last_row_without_line_break_is_read_after_ten_seconds() {
    let (mut fixture, past) = with_splits("symbol,date,ratio\nA,2024-03-04,2");
    assert_eq!(splits(past), [""; 0]);
    assert!(fixture.later(9).is_empty());
    assert_eq!(splits(fixture.later(1)), ["2024-03-04 2"]);
    assert!(fixture.later(60).is_empty());
    fixture.append("splits.csv", "\nA,2024-03-05,3\n");
    assert_eq!(splits(fixture.poll()), ["2024-03-05 3"]);
    // A program that continues that row later has written another row.
    let (mut fixture, _) = with_splits("symbol,date,ratio\nA,2024-03-04,2");
    assert_eq!(splits(fixture.later(10)), ["2024-03-04 2"]);
    fixture.append("splits.csv", "5\n");
    assert_eq!(splits(fixture.poll()), ["2024-03-04 25"]);
}

#[test]
fn only_new_rows_of_a_replaced_file_are_delivered() {
    let (mut fixture, _) = with_splits("symbol,date,ratio\nA,2024-03-01,2\nA,2024-03-04,3\n");
    fixture.replace("splits.csv", "symbol,date,ratio\nA,2024-03-04,3\n");
    assert!(fixture.poll().is_empty(), "nothing is new in a file that shrank");
    fixture.replace("splits.csv", "symbol,date,ratio\nA,2024-03-04,9\n");
    assert_eq!(splits(fixture.poll()), ["2024-03-04 9"], "of the same length");
    fixture.replace("splits.csv", "");
    assert!(fixture.poll().is_empty());
    fixture.replace(
        "splits.csv",
        "symbol,ratio,date\nA,7,2024-03-05\nA,8,2024-03-06\nA,9,2024-03-07\n",
    );
    assert_eq!(
        splits(fixture.poll()),
        ["2024-03-05 7", "2024-03-06 8", "2024-03-07 9"],
        "longer than before"
    );
    assert_eq!(fixture.follower.health().failed_files(), 0);
}

#[test]
fn compressed_file_is_reread_when_it_changes() {
    let text = "symbol,date,ratio\nA,2024-03-01,2\n";
    let (mut fixture, past) = Fixture::open(&[("splits.csv.gz", text)], "2024-03-08T16:00:00Z");
    assert_eq!(splits(past), ["2024-03-01 2"]);
    fixture.replace("splits.csv.gz", gzip(&format!("{text}A,2024-03-04,3")));
    assert_eq!(splits(fixture.poll()), ["2024-03-04 3"]);
    // Half of the new file.
    let whole = gzip(&format!("{text}A,2024-03-04,3\nA,2024-03-05,4\n"));
    fixture.replace("splits.csv.gz", &whole[..whole.len() - 4]);
    let half = splits(fixture.poll());
    assert_eq!(fixture.follower.health().failed_files(), 1);
    fixture.replace("splits.csv.gz", &whole);
    let rest = splits(fixture.poll());
    assert_eq!([half, rest].concat(), ["2024-03-05 4"]);
}

#[test]
fn invalid_row_is_counted_and_others_are_delivered() {
    let (mut fixture, past) = with_splits("symbol,date,ratio\nA,2024-03-01,none\nA,2024-03-04,3\n");
    assert_eq!((splits(past).len(), fixture.follower.health().rejected_rows()), (1, 1));
    fixture.append("splits.csv", "A\nA,2024-03-05,4\n");
    assert_eq!(splits(fixture.poll()), ["2024-03-05 4"]);
    assert_eq!(fixture.follower.health().rejected_rows(), 2);
}

#[test]
fn unusable_file_stops_the_start_but_not_the_polling() {
    let dir = folder(&[("splits.csv", "symbol,date\nA,2024-03-01\n")]);
    let opened = FolderFollower::open(
        &config(&dir),
        Calendar::nyse(),
        FileSourceHealth::default(),
        at("2024-03-08T16:00:00Z"),
    );
    assert!(
        opened
            .unwrap_err()
            .to_string()
            .contains("splits.csv has no column ratio")
    );

    let (mut fixture, _) = with_splits("symbol,date,ratio\n");
    fixture.replace("earnings.csv", "symbol,day\nA,2024-05-02\n");
    fixture.append("splits.csv", "A,2024-03-01,2\n");
    assert_eq!(splits(fixture.poll()).len(), 1);
    assert_eq!(fixture.follower.health().failed_files(), 1);
    fixture.replace("earnings.csv", "symbol,date\nA,2024-05-02\n");
    assert_eq!(all(fixture.poll()).earnings.len(), 1);

    fs::remove_file(fixture.dir.path().join("splits.csv")).unwrap();
    fs::remove_file(fixture.dir.path().join("earnings.csv")).unwrap();
    assert!(fixture.poll().is_empty() && fixture.poll().is_empty());
    assert_eq!(
        fixture.follower.health().failed_files(),
        2,
        "a missing folder is reported once"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// However the writes are split, each row is delivered once, and invalid rows are counted as in one reading.
    #[test]
    fn rows_do_not_depend_on_how_a_file_grows(
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
        let (mut fixture, mut found) = with_splits(&header);
        for piece in cuts.windows(2) {
            fixture.append("splits.csv", &text[piece[0]..piece[1]]);
            found.extend(fixture.poll());
        }
        let (mut found, mut expected) = (splits(found), splits(past));
        for delivered in [&mut found, &mut expected] {
            delivered.sort();
            // Of rows for one day the last one is used, so within one reading the others are not delivered.
            delivered.dedup();
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(fixture.follower.health().rejected_rows(), whole.follower.health().rejected_rows());
    }
}

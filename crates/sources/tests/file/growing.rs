//! What becomes of files that grow, shrink, are replaced or broken.

use std::fs;

use market::Calendar;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sources::FeedKind;
use sources::file::{Follower, Health};

use crate::folders::{folder, gzip};
use crate::{Case, DAILY, all, at, bars, options, splits, with_splits};

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

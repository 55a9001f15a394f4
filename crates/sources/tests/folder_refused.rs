//! Data folders with a file that cannot be used at all: the reading stops, and the message names the file and the mend.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test file uses its own part of it")]
mod folders;

use std::fs;
use std::path::Path;

use market::Calendar;
use sources::folder;

use folders::{folder, gzip};

const DAILY: &str = "symbol,date,open,high,low,close,volume\n";

/// The message that stops the reading, with the folder's own path as `DIR`.
fn refusal(dir: &Path) -> String {
    let error = folder::read(dir, &Calendar::nyse(), |_| {}).unwrap_err();
    error.to_string().replace(&dir.display().to_string(), "DIR")
}

#[test]
fn a_folder_without_tables_stops_with_its_name() {
    let none = "DIR holds no data; put at least one file such as bars/daily.csv or splits.csv into it";
    assert_eq!(refusal(folder(&[]).path()), none);
    assert_eq!(refusal(folder(&[("notes.txt", ""), ("bars/.x.csv", "")]).path()), none);
    let file = folder(&[("x.csv", "")]);
    assert_eq!(
        refusal(&file.path().join("x.csv")),
        "DIR is not a folder; give the folder that holds bars/, splits.csv and so on"
    );
    assert!(refusal(&file.path().join("y")).starts_with("cannot read DIR: "));
}

#[test]
fn a_table_that_is_there_twice_stops_with_both_names() {
    let text = format!("{DAILY}KO,2024-03-08,1,2,1,2,1\n");
    let dir = folder(&[("bars/x.csv", &text), ("bars/x.csv.gz", &text)]);
    assert_eq!(
        refusal(dir.path()),
        "DIR/bars/x.csv and DIR/bars/x.csv.gz are the same table, plain and compressed; remove one of them"
    );
}

#[test]
fn a_file_without_usable_header_stops_with_its_name() {
    for (name, text, expected) in [
        (
            "splits.csv",
            "",
            "DIR/splits.csv has no header row of at most 65536 bytes; begin it with a line such as symbol,date,ratio",
        ),
        (
            "bars/x.csv.gz",
            "symbol,day,open,high,low,close\n",
            "DIR/bars/x.csv.gz has no column date, volume; its header row is \"symbol,day,open,high,low,close\", but should be such as symbol,date,open,high,low,close,volume",
        ),
        (
            "bars/x.csv",
            "symbol,date,time,open,high,low,close,volume\n",
            "DIR/bars/x.csv has both a column date and a column time; keep date for daily bars, time for intraday bars",
        ),
        (
            "fundamentals.csv",
            "symbol,as_of,eps\n",
            "DIR/fundamentals.csv has no column eps_ttm, eps_forward; its header row is \"symbol,as_of,eps\", but should be such as symbol,as_of,eps_ttm,eps_forward",
        ),
    ] {
        assert_eq!(refusal(folder(&[(name, text)]).path()), expected);
    }
}

#[test]
fn a_file_that_is_not_what_its_name_says_stops_with_its_name() {
    let dir = folder(&[]);
    let splits = "symbol,date,ratio\nKO,2024-03-08,2\n";
    fs::write(dir.path().join("splits.csv.gz"), splits).unwrap();
    assert_eq!(
        refusal(dir.path()),
        "DIR/splits.csv.gz is not a gzip file; compress it again, or name it .csv if it is plain text"
    );
    fs::remove_file(dir.path().join("splits.csv.gz")).unwrap();
    fs::write(dir.path().join("splits.csv"), gzip(splits)).unwrap();
    assert_eq!(refusal(dir.path()), "DIR/splits.csv is a gzip file; name it .csv.gz");
}

#[test]
fn a_compressed_file_that_breaks_off_anywhere_stops_with_its_name() {
    let dir = folder(&[]);
    let path = dir.path().join("splits.csv.gz");
    let whole = gzip("symbol,date,ratio\nKO,2024-03-08,2\nKO,2024-03-09,2\n");
    for length in 2..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(
            refusal(dir.path()).starts_with("cannot read DIR/splits.csv.gz: "),
            "{length}"
        );
    }
    let mut two_members = whole.clone();
    two_members.extend(gzip("KO,2024-03-10,2\n"));
    fs::write(&path, two_members).unwrap();
    assert_eq!(
        folder::read(dir.path(), &Calendar::nyse(), |_| {})
            .unwrap()
            .0
            .splits
            .len(),
        3
    );
}

#[test]
fn a_folder_in_the_place_of_a_file_and_a_link_to_nowhere_stop_with_their_name() {
    let dir = folder(&[("splits.csv/x", "")]);
    assert!(refusal(dir.path()).starts_with("cannot read DIR/splits.csv: "));
    let dir = folder(&[("bars", "")]);
    assert!(refusal(dir.path()).starts_with("cannot read DIR/bars: "));
    #[cfg(unix)]
    {
        let dir = folder(&[]);
        std::os::unix::fs::symlink("nowhere", dir.path().join("stocks.csv")).unwrap();
        assert!(refusal(dir.path()).starts_with("cannot read DIR/stocks.csv: "));
    }
}

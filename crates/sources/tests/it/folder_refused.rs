//! Data folders with an unusable file: reading stops, and the message names the file and the fix.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::folders;

use std::fs;
use std::path::Path;

use market::Calendar;
use sources::folder;

use folders::{folder, gzip};

const DAILY: &str = "symbol,date,open,high,low,close,volume\n";

/// The error message, with the folder's own path as `DIR`.
fn refusal(dir: &Path) -> String {
    let error = folder::read(dir, &Calendar::nyse(), |_| {}).unwrap_err();
    error.to_string().replace(&dir.display().to_string(), "DIR")
}

#[test]
fn folder_without_tables_is_an_error() {
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
fn duplicate_table_is_an_error_with_both_names() {
    let text = format!("{DAILY}KO,2024-03-08,1,2,1,2,1\n");
    let dir = folder(&[("bars/x.csv", &text), ("bars/x.csv.gz", &text)]);
    assert_eq!(
        refusal(dir.path()),
        "DIR/bars/x.csv and DIR/bars/x.csv.gz are the same table, plain and compressed; remove one of them"
    );
}

#[test]
fn unusable_header_is_an_error() {
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
fn wrong_compression_is_an_error() {
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
fn truncated_compressed_file_is_an_error() {
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
fn folder_as_file_and_broken_link_are_errors() {
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

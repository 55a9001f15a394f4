//! Lengths of files.

use crate::architecture::sources::rust_files;

/// A longer file has more than one purpose.
const MAX_LINES_PER_FILE: usize = 400;

#[test]
fn no_source_file_has_more_than_400_lines() {
    let files = rust_files("crates");
    let long: Vec<String> = files
        .iter()
        .map(|file| (&file.path, file.text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES_PER_FILE)
        .map(|(path, lines)| format!("{path} has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "cut these files: {long:#?}");
}

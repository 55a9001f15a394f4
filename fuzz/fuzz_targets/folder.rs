//! Reads arbitrary bytes as a file of a data folder: rows are accepted or rejected, without a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use market::Calendar;
use sources::folder::{Table, TableLoader};

fuzz_target!(|bytes: &[u8]| {
    let Some((&selector, content)) = bytes.split_first() else {
        return;
    };
    let table = Table::ALL[usize::from(selector) % Table::ALL.len()];
    let calendar = Calendar::nyse();
    let mut loader = TableLoader::new(&calendar);
    if let Err(error) = loader.read_table(table, Path::new("fuzz.csv"), content) {
        assert!(!error.to_string().is_empty());
    }
    let (_, rejections) = loader.finish();
    for row in rejections.first.iter().take(20) {
        assert!(row.to_string().len() < 1000);
    }
});

//! Any bytes as any file of a data folder: read or refused, never a panic.
#![no_main]

use std::path::Path;

use sources::folder::{Loader, Table};
use libfuzzer_sys::fuzz_target;
use market::Calendar;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, content)) = bytes.split_first() else { return };
    let table = Table::ALL[usize::from(which) % Table::ALL.len()];
    let calendar = Calendar::nyse();
    let mut loader = Loader::new(&calendar);
    if let Err(error) = loader.read_table(table, Path::new("fuzz.csv"), content) {
        assert!(!error.to_string().is_empty());
    }
    let (_, rejections) = loader.finish();
    for row in rejections.first.iter().take(20) {
        assert!(row.to_string().len() < 1000);
    }
});

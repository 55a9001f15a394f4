//! Backtest of the rules' alerts on recorded data.
//!
//! ```sh
//! cargo run --release -p analyst --example backtest -- FOLDER [DATES_PER_STOCK]
//! ```
//!
//! `FOLDER` is a data folder as described in `docs/data-folder.md`, with a year or more of daily bars per
//! split-adjusted share. For each stock and each of `DATES_PER_STOCK` seeded random days (50 by default), the rules
//! analyse the stock at the open, without knowledge of that day or later, once for a buyer and once for a seller with
//! a premium account. The service's own engine then evaluates the alerts over 20 sessions, with four observations a
//! day: open, the nearer of low and high, the other, close. Moves are counted from the close of the session in which
//! an alert fired. The output is a table for `docs/analyst.md`.

mod benchmark;
mod replay;
mod table;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use market::Calendar;
use sources::folder;

use crate::benchmark::Benchmark;
use crate::replay::Replay;
use crate::table::OutcomeTable;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder: PathBuf = arguments
        .next()
        .ok_or("usage: backtest FOLDER [DATES_PER_STOCK]")?
        .into();
    let dates_per_stock = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let calendar = Calendar::nyse();
    let (data, rejections) = folder::read(&folder, &calendar, |_| {})?;
    if !data.splits.is_empty() {
        return Err("the folder has splits; give one with bars per split-adjusted share".into());
    }
    eprintln!("{} stocks, {} rows left out", data.bars.len(), rejections.count);
    let benchmark = Benchmark::of(&data);
    let mut table = OutcomeTable::default();
    for &symbol in data.bars.keys() {
        Replay::new(&data, symbol, &calendar, &benchmark, dates_per_stock).run(&mut table)?;
    }
    print!("{}", table.to_markdown());
    Ok(())
}

/// The closes of a stock by date, in dollars.
type Closes = BTreeMap<jiff::civil::Date, f64>;

//! What became of the alerts that the rules propose, on recorded data.
//!
//! ```sh
//! cargo run --release -p analyst --example backtest -- FOLDER [DATES_PER_STOCK]
//! ```
//!
//! `FOLDER` is a data folder as `docs/data-folder.md` describes it, with a year or more of daily bars per split-adjusted
//! share. For each stock and each of so many seeded random days (50 unless said otherwise) the rules look at the stock at
//! the open, knowing nothing of the day or after, once for a buyer and once for a seller of a premium account. The
//! service's own engine then judges the alerts over 20 sessions, at four observations a day: open, the nearer of low and
//! high, the other, close. Moves are counted from the close of the session in which an alert fired. It prints a table for
//! `docs/analyst.md`.

mod index;
mod play;
mod tally;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use market::Calendar;
use sources::folder;

use crate::index::Index;
use crate::play::Player;
use crate::tally::Table;

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
    let index = Index::of(&data);
    let mut table = Table::default();
    for &symbol in data.bars.keys() {
        Player::new(&data, symbol, &calendar, &index, dates_per_stock).play(&mut table)?;
    }
    print!("{}", table.to_markdown());
    Ok(())
}

/// The closes of a stock by date, in dollars.
type Closes = BTreeMap<jiff::civil::Date, f64>;

//! Market data: recorded, or the sample.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::civil::Date;
use market::records::{DividendRow, SplitRow};
use market::{Calendar, Price, Session, Symbol};
use testdata::TestMarketData;

/// A day of a stock: its date, low, high and close.
#[derive(Clone, Copy)]
pub(crate) struct Day {
    pub(crate) date: Date,
    pub(crate) low: Price,
    pub(crate) high: Price,
    pub(crate) close: Price,
}

/// A folder of recorded data.
pub(crate) struct RecordedMarket {
    pub(crate) is_recorded: bool,
    pub(crate) folder: PathBuf,
    pub(crate) calendar: Calendar,
    pub(crate) sessions: Vec<Session>,
    pub(crate) days: BTreeMap<Symbol, Vec<Day>>,
    pub(crate) splits: Vec<SplitRow>,
    pub(crate) dividends: Vec<DividendRow>,
}

impl RecordedMarket {
    /// Reads the data of a folder.
    fn read(name: &str, bars: &str) -> Self {
        let data = TestMarketData::find();
        let folder = data.path(name);
        let text = |file: &str| {
            let names = [format!("{name}/{file}"), format!("{name}/{file}.gz")];
            let found = names.iter().find(|name| data.path(name).exists());
            found.map_or_else(String::new, |name| data.text(name))
        };
        let mut days: BTreeMap<Symbol, Vec<Day>> = BTreeMap::new();
        for line in text(&format!("bars/{bars}")).lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let price = |at: usize| fields[at].parse().unwrap();
            days.entry(fields[0].parse().unwrap()).or_default().push(Day {
                date: fields[1].parse().unwrap(),
                high: price(3),
                low: price(4),
                close: price(5),
            });
        }
        days.values_mut().for_each(|days| days.sort_by_key(|day| day.date));
        let rows = |file: &str| -> Vec<Vec<String>> {
            let text = text(file);
            let lines = text.lines().skip(1);
            lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
        };
        let splits = rows("splits.csv").into_iter().map(|row| SplitRow {
            symbol: row[0].parse().unwrap(),
            date: row[1].parse().unwrap(),
            ratio: row[2].parse().unwrap(),
        });
        let dividends = rows("dividends.csv").into_iter().map(|row| DividendRow {
            symbol: row[0].parse().unwrap(),
            ex_date: row[1].parse().unwrap(),
            payment_date: row[2].parse().ok(),
            amount: row[3].parse().ok(),
        });
        let calendar = Calendar::nyse();
        let dates = || days.values().flatten().map(|day| day.date);
        let sessions = calendar
            .sessions(dates().min().unwrap(), dates().max().unwrap())
            .collect();
        Self {
            is_recorded: data.is_recorded,
            sessions,
            splits: splits.collect(),
            dividends: dividends.collect(),
            calendar,
            days,
            folder,
        }
    }

    /// Five years of bars, adjusted for splits, with dividends.
    pub(crate) fn us500() -> Self {
        Self::read("us500", "us500_2019_2024.csv")
    }

    /// Some stocks as they were traded, with splits.
    pub(crate) fn unadjusted() -> Self {
        Self::read("unadjusted", "unadjusted_2019_2025.csv")
    }

    /// The close of a stock on a day.
    pub(crate) fn close(&self, symbol: Symbol, date: Date) -> Option<Price> {
        let days = self.days.get(&symbol)?;
        let at = days.binary_search_by_key(&date, |day| day.date).ok()?;
        Some(days[at].close)
    }
}

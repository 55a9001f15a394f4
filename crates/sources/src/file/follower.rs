//! Follows a data folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{Calendar, Symbol};

use super::file_cursor::FileCursor;
use super::release_schedule::ReleaseSchedule;
use super::{FileSourceConfig, FileSourceHealth};
use crate::folder::files::{self, TableFile};
use crate::folder::{FolderError, Rejections, Table, TableLoader};
use crate::{FeedKind, FeedSet, MarketUpdate};

/// The maximum number of rejected rows that are logged for each scan.
const MAX_LOGGED: usize = 20;

/// A data folder and the read positions in its files. The caller passes the time and polls.
#[derive(Debug)]
pub struct FolderFollower {
    dir: PathBuf,
    calendar: Calendar,
    files: BTreeMap<PathBuf, FileCursor>,
    schedule: ReleaseSchedule,
    health: FileSourceHealth,
    /// The error of the last scan of the folder.
    last_error: Option<String>,
}

impl FolderFollower {
    /// Reads the whole folder as it is at `now`. Returns the history as updates, ordered by time.
    ///
    /// # Errors
    /// [`FolderError`] if the folder or one of its files cannot be used.
    pub fn open(
        config: &FileSourceConfig,
        calendar: Calendar,
        health: FileSourceHealth,
        now: Timestamp,
    ) -> Result<(Self, Vec<MarketUpdate>), FolderError> {
        let mut follower = Self {
            dir: config.dir.clone(),
            schedule: ReleaseSchedule::new(calendar.clone()),
            calendar,
            files: BTreeMap::new(),
            health,
            last_error: None,
        };
        let sources = files::find(&follower.dir)?;
        let mut failure = None;
        let updates = follower.scan(&sources, now, true, |error| {
            failure.get_or_insert(error);
        });
        match failure {
            Some(error) => Err(error),
            None => Ok((follower, updates)),
        }
    }

    /// Returns the data that was added to the folder or has become due until `now`. Never fails: errors are logged and
    /// counted.
    pub fn poll(&mut self, now: Timestamp) -> Vec<MarketUpdate> {
        let sources = match files::find(&self.dir) {
            Ok(sources) => {
                self.last_error = None;
                sources
            }
            Err(error) => {
                let error = error.to_string();
                // The folder is scanned often; each error is logged once.
                if self.last_error.as_ref() != Some(&error) {
                    tracing::warn!(%error, "the data folder cannot be followed");
                    self.health.failed_files.fetch_add(1, Ordering::Relaxed);
                }
                self.last_error = Some(error);
                Vec::new()
            }
        };
        let failed = self.health.failed_files.clone();
        self.scan(&sources, now, false, |error| {
            tracing::warn!(%error, "a file of the data folder is left out until it changes");
            failed.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Returns the kinds of data that the folder has, and the counts of errors.
    #[must_use]
    pub fn health(&self) -> &FileSourceHealth {
        &self.health
    }

    /// Reads what is new at `now`. Daily bars of the current session were written now. In the first scan, they were written
    /// no later than their files.
    fn scan(
        &mut self,
        sources: &[TableFile],
        now: Timestamp,
        is_first_scan: bool,
        mut failed: impl FnMut(FolderError),
    ) -> Vec<MarketUpdate> {
        let mut loader = TableLoader::new(&self.calendar);
        if is_first_scan {
            loader = loader.tracing_bars_of(new_york_date(now));
        }
        for source in sources {
            let file = self.files.entry(source.path.clone()).or_default();
            if let Err(error) = file.read(source, now, &mut loader) {
                failed(error);
            }
            if !file.is_unread() {
                self.health.offer.add(feeds(source.table));
            }
        }
        let bar_write_times = bar_write_times(sources, &loader.take_files_of_bars(), now);
        let (data, rejections) = loader.finish();
        self.report(&rejections);
        self.schedule.add(data, &bar_write_times, now);
        self.schedule.due(now)
    }

    fn report(&self, rejections: &Rejections) {
        self.health.rejected_rows.fetch_add(rejections.count, Ordering::Relaxed);
        for row in rejections.first.iter().take(MAX_LOGGED) {
            tracing::warn!(%row, "left out a row");
        }
        let more = rejections.count.saturating_sub(MAX_LOGGED as u64);
        if more > 0 {
            tracing::warn!(more, "left out more rows");
        }
    }
}

/// Returns when the bar of each symbol was written: no later than its file.
fn bar_write_times(
    sources: &[TableFile],
    files: &BTreeMap<Symbol, PathBuf>,
    now: Timestamp,
) -> BTreeMap<Symbol, Timestamp> {
    if files.is_empty() {
        return BTreeMap::new();
    }
    let modified = |path: &Path| Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok();
    let bars = sources.iter().filter(|source| source.table == Table::Bars);
    let written: BTreeMap<&Path, Timestamp> = bars
        .filter_map(|source| Some((source.path.as_path(), modified(&source.path)?.min(now))))
        .collect();
    let of_file = |(symbol, file): (&Symbol, &PathBuf)| Some((*symbol, *written.get(file.as_path())?));
    files.iter().filter_map(of_file).collect()
}

/// Returns the kinds of data that a table offers.
fn feeds(table: Table) -> FeedSet {
    let kinds: &[FeedKind] = match table {
        Table::Bars => &[FeedKind::Bars, FeedKind::Quotes],
        Table::Splits => &[FeedKind::Splits],
        Table::Dividends => &[FeedKind::Dividends],
        Table::Earnings => &[FeedKind::Earnings],
        Table::Fundamentals => &[FeedKind::Fundamentals],
        Table::Insiders => &[FeedKind::InsiderTransactions],
        Table::Mentions => &[FeedKind::Mentions],
        Table::Stocks => &[FeedKind::Stocks],
    };
    kinds.iter().copied().collect()
}

//! A data folder that is followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use market::calendar::new_york_date;
use market::{Calendar, Symbol};

use super::diary::Diary;
use super::growing::Growing;
use super::{Health, Options};
use crate::folder::files::{self, Source};
use crate::folder::{FolderError, Loader, Rejections, Table};
use crate::{Delivery, FeedKind, FeedSet};

/// How many rejected rows are logged one by one each time.
const MAX_LOGGED: usize = 20;

/// A data folder, and how far it has been read. It is given the time, and asked.
#[derive(Debug)]
pub struct Follower {
    dir: PathBuf,
    calendar: Calendar,
    files: BTreeMap<PathBuf, Growing>,
    diary: Diary,
    health: Health,
    /// What was wrong with the folder when it was last looked at.
    trouble: Option<String>,
}

impl Follower {
    /// Reads the whole folder as it is at `now`. The deliveries are of the past, in the order of their instants.
    ///
    /// # Errors
    /// [`FolderError`] when the folder or one of its files cannot be used.
    pub fn open(
        options: &Options,
        calendar: Calendar,
        health: Health,
        now: Timestamp,
    ) -> Result<(Self, Vec<Delivery>), FolderError> {
        let mut follower = Self {
            dir: options.dir.clone(),
            diary: Diary::new(calendar.clone(), options.bars_from),
            calendar,
            files: BTreeMap::new(),
            health,
            trouble: None,
        };
        let sources = files::find(&follower.dir)?;
        let mut failure = None;
        let deliveries = follower.look(&sources, now, true, |error| {
            failure.get_or_insert(error);
        });
        match failure {
            Some(error) => Err(error),
            None => Ok((follower, deliveries)),
        }
    }

    /// What has come to the folder, or has become due, until `now`. Never fails: what is wrong is logged and counted.
    pub fn poll(&mut self, now: Timestamp) -> Vec<Delivery> {
        let sources = match files::find(&self.dir) {
            Ok(sources) => {
                self.trouble = None;
                sources
            }
            Err(error) => {
                let error = error.to_string();
                // The folder is looked at often, and one word about it is enough.
                if self.trouble.as_ref() != Some(&error) {
                    tracing::warn!(%error, "the data folder cannot be followed");
                    self.health.failed_files.fetch_add(1, Ordering::Relaxed);
                }
                self.trouble = Some(error);
                Vec::new()
            }
        };
        let failed = self.health.failed_files.clone();
        self.look(&sources, now, false, |error| {
            tracing::warn!(%error, "a file of the data folder is left out until it changes");
            failed.fetch_add(1, Ordering::Relaxed);
        })
    }

    /// The kinds of data that the folder has, and what was wrong with them.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Reads what is new at `now`. Today's daily bars were written now, except in the first look: rows that exist already were
    /// written no later than their files.
    fn look(
        &mut self,
        sources: &[Source],
        now: Timestamp,
        is_first: bool,
        mut failed: impl FnMut(FolderError),
    ) -> Vec<Delivery> {
        let mut loader = Loader::new(&self.calendar);
        if is_first {
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
        let written_at = written_at(sources, &loader.take_files_of_bars(), now);
        let (data, rejections) = loader.finish();
        self.report(&rejections);
        self.diary.enter(data, &written_at, now);
        self.diary.due(now)
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

/// When the bar of each symbol was written: no later than the file that it is in.
fn written_at(sources: &[Source], files: &BTreeMap<Symbol, PathBuf>, now: Timestamp) -> BTreeMap<Symbol, Timestamp> {
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

/// The kinds of data that a table offers.
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

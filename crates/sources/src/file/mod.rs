//! # The file source: a data folder that is followed as it grows
//!
//! The folder has the format of [`crate::folder`]. First, all of its data is sent, in the order in which it became known.
//! Then the folder is scanned regularly, and appended rows and new files are sent when they are found.
//!
//! ## Conversion of rows
//!
//! * A daily bar is sent as a bar when its session is over. During the session it is sent as a quote with its close and its
//!   volume so far. So a program that rewrites today's row once a minute provides live prices.
//! * An intraday bar of the current session is sent as a quote at its own time, with its close and with the cumulative
//!   volume of the session. When the session is over, its intraday bars are sent, and combined to a daily bar unless
//!   the folder has one.
//! * Figures, insider transactions, mentions and splits become known on their day or at their instant, even if the folder
//!   has them earlier. Earnings dates and dividends are known as soon as the folder has them.
//!
//! An empty update that is no backfill marks the end of the history.
//!
//! ## Changed files
//!
//! A file is read when its length or modification time changes. A file that has only grown is read from the last position
//! on. Its last line waits for a line break, or until the file has not changed for ten seconds. A file that shrank, was
//! replaced or is compressed is read again from the beginning, and only the lines that it did not have before are sent.
//! Whole lines are compared, so a file may be rewritten with more or corrected rows, in any order. Two changes are not
//! detected: a change in the middle of a file to which rows are appended at the same time, and a removed row.
//!
//! An invalid row is left out, logged and counted in [`FileSourceHealth`]; all other rows are used. A file that cannot be
//! used makes the start fail, as in a replay. Later, it is logged and counted, and tried again when it changes.
//!
//! ## Modules
//!
//! `new_lines` returns the complete and new lines of a file, `file_cursor` holds the read position in a file, `follower`
//! scans the folder, and `release_schedule` decides when rows are due.

mod file_cursor;
mod follower;
mod new_lines;
mod release_schedule;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::SignedDuration;
use market::Calendar;
use tokio::sync::mpsc;
use tokio::task;

use crate::folder::FolderError;
use crate::{MarketUpdate, OfferedFeeds};
use clock::Clock;

pub use follower::FolderFollower;

/// The configuration of the file source.
#[derive(Debug, Clone)]
pub struct FileSourceConfig {
    /// The folder.
    pub dir: PathBuf,
    /// The interval between two scans.
    pub every: SignedDuration,
}

/// The health of the file source, shared with its observers.
#[derive(Debug, Clone, Default)]
pub struct FileSourceHealth {
    /// The kinds of data of which the folder has files.
    pub offer: OfferedFeeds,
    rejected_rows: Arc<AtomicU64>,
    failed_files: Arc<AtomicU64>,
}

impl FileSourceHealth {
    /// Returns the number of rows that were left out.
    #[must_use]
    pub fn rejected_rows(&self) -> u64 {
        self.rejected_rows.load(Ordering::Relaxed)
    }

    /// Returns how often a file or the folder could not be used.
    #[must_use]
    pub fn failed_files(&self) -> u64 {
        self.failed_files.load(Ordering::Relaxed)
    }
}

/// Sends the data of the folder, and then all new data. Ends when the receiver is dropped.
///
/// # Errors
/// [`FolderError`] if the folder or one of its files cannot be used at the start.
pub async fn run(
    config: FileSourceConfig,
    calendar: Calendar,
    health: FileSourceHealth,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<MarketUpdate>,
) -> Result<(), FolderError> {
    let (every, mut now, offer) = (config.every, clock.now(), health.offer.clone());
    let Some(opened) = blocking(move || FolderFollower::open(&config, calendar, health, now)).await else {
        return Ok(());
    };
    let (mut follower, past) = opened?;
    tracing::info!(updates = past.len(), "the data folder has been read");
    for kind in offer.feeds().missing() {
        tracing::warn!(%kind, "the data folder has no file of {kind}: alerts that need it are blind until there is one");
    }
    let mut updates = past;
    updates.push(MarketUpdate::end_of_history(now));
    loop {
        for update in updates {
            if sender.send(update).await.is_err() {
                return Ok(());
            }
        }
        // Counted from the start of the last scan, so a slow scan or receiver does not delay the next one.
        tokio::select! {
            () = clock.sleep_until(clock::later(now, every)) => {}
            () = sender.closed() => return Ok(()),
        }
        now = clock.now();
        let polled = blocking(move || {
            let updates = follower.poll(now);
            (follower, updates)
        });
        let Some(polled) = polled.await else {
            return Ok(());
        };
        (follower, updates) = polled;
    }
}

/// Runs file access on a blocking thread. Returns `None` if the runtime is shutting down.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => None,
        },
    }
}

//! # The file source: a data folder that is followed as it grows
//!
//! The folder is that of [`crate::folder`]. First everything in it is delivered, in the order in which it became
//! known; then the folder is looked at every now and then, and what was appended, or came with a new file, is
//! delivered when it is found.
//!
//! ## What becomes what
//!
//! * A daily bar becomes a bar when its session is over. While the session is under way it becomes a quote: its close
//!   and its volume so far are what is seen. So a program that rewrites today's row once a minute feeds live prices.
//! * An intraday bar of the session that is under way becomes a quote of its instant, with its close, and with the
//!   volumes of the session so far added up. When the session is over its intraday bars make a daily bar, unless the
//!   folder has one.
//! * Figures, insiders' trades, mentions and splits become known on their day or at their instant, also those that are
//!   in the folder before; earnings dates and dividends are known as soon as they are in the folder.
//!
//! After the first reading, an empty delivery that is no backfill marks the end of the past.
//!
//! ## Growing, shrinking, replaced
//!
//! A file is looked into when its length or its time changed. One that has only grown is read on from where the
//! reading ended; a last line waits for its line break, or until the file has been left alone for ten seconds. One
//! that shrank or was replaced, and a compressed one, is read anew, and what is delivered of it are the lines that it
//! did not have before. That goes by the whole line, so a file may be rewritten with more rows or corrected ones, in
//! any order. What is not noticed: a change in the middle of a file to which rows were appended at the same time.
//! What is not taken back: a row that is removed.
//!
//! A bad row costs itself: it is left out, logged and counted in [`Health`]. A file that cannot be used stops the
//! start, as it does for a replay; later on it is logged and counted, and tried again when it has changed.
//!
//! ## Who does what
//!
//! `new_lines` passes on the lines of a file that are complete and new, `growing` remembers a file, `follower` the
//! folder, `diary` knows when what was read is due.

mod diary;
mod follower;
mod growing;
mod new_lines;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::SignedDuration;
use jiff::civil::Date;
use market::Calendar;
use tokio::sync::mpsc;
use tokio::task;

use crate::folder::FolderError;
use crate::{Clock, Delivery, Offer};

pub use follower::Follower;

/// Which folder is followed, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder.
    pub dir: PathBuf,
    /// How often it is looked at.
    pub every: SignedDuration,
    /// Bars of sessions before this day are left out, as when they have been delivered by an earlier run.
    pub bars_from: Option<Date>,
}

/// How a folder that is followed is doing, for others to look at.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// The kinds of data that it has files of.
    pub offer: Offer,
    rejected_rows: Arc<AtomicU64>,
    failed_files: Arc<AtomicU64>,
}

impl Health {
    /// How many rows have been left out.
    #[must_use]
    pub fn rejected_rows(&self) -> u64 {
        self.rejected_rows.load(Ordering::Relaxed)
    }

    /// How often a file, or the folder, could not be used.
    #[must_use]
    pub fn failed_files(&self) -> u64 {
        self.failed_files.load(Ordering::Relaxed)
    }
}

/// Sends what the folder holds, and then what comes to it; ends when nobody receives any more.
///
/// # Errors
/// [`FolderError`] when the folder or one of its files cannot be used at the start.
pub async fn run(
    options: Options,
    calendar: Calendar,
    health: Health,
    clock: Arc<dyn Clock>,
    sender: mpsc::Sender<Delivery>,
) -> Result<(), FolderError> {
    let (every, now, offer) = (options.every, clock.now(), health.offer.clone());
    let Some(opened) = blocking(move || Follower::open(&options, calendar, health, now)).await else {
        return Ok(());
    };
    let (mut follower, past) = opened?;
    tracing::info!(deliveries = past.len(), "the data folder has been read");
    for kind in offer.feeds().missing() {
        tracing::warn!(%kind, "the data folder has no file of {kind}: what needs them is blind until there is one");
    }
    let mut deliveries = past;
    deliveries.push(Delivery::loaded(now));
    loop {
        for delivery in deliveries {
            if sender.send(delivery).await.is_err() {
                return Ok(());
            }
        }
        let due = clock.now().saturating_add(every).unwrap_or(jiff::Timestamp::MAX);
        tokio::select! {
            () = clock.sleep_until(due) => {}
            () = sender.closed() => return Ok(()),
        }
        let now = clock.now();
        let polled = blocking(move || {
            let deliveries = follower.poll(now);
            (follower, deliveries)
        });
        let Some(polled) = polled.await else {
            return Ok(());
        };
        (follower, deliveries) = polled;
    }
}

/// Runs what reads files where it holds up nobody; `None` when the program is about to end.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => None,
        },
    }
}

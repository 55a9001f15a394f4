//! The task of the file source.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use clock::{Clock, ManualClock};
use jiff::SignedDuration;
use market::Calendar;
use sources::file::{self, FileSourceHealth};
use testkit::HANG_LIMIT;
use tokio::sync::mpsc;

use crate::file::{at, config, splits};
use crate::folders::folder;

#[tokio::test]
async fn task_sends_history_then_new_rows_and_ends_with_its_receiver() {
    let dir = folder(&[("splits.csv", "symbol,date,ratio\nA,2024-03-01,2\n")]);
    let clock = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, mut receiver) = mpsc::channel(1);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let task = tokio::spawn(file::run(
        config(&dir),
        Calendar::nyse(),
        FileSourceHealth::default(),
        dyn_clock,
        sender,
    ));
    let past = receiver.recv().await.unwrap();
    assert!(past.backfill);
    let loaded = receiver.recv().await.unwrap();
    assert!(
        !loaded.backfill && loaded.is_empty(),
        "everything of before has been sent"
    );
    append(&dir.path().join("splits.csv"), "A,2024-03-04,3\n");
    let found = loop {
        clock.advance(SignedDuration::from_secs(1));
        tokio::select! {
            update = receiver.recv() => break update.unwrap(),
            () = tokio::task::yield_now() => {}
        }
    };
    assert!(!found.backfill);
    assert_eq!(splits(vec![found]), ["2024-03-04 3"]);
    drop(receiver);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn scan_that_became_due_while_updates_were_sent_starts_at_once() {
    let dir = folder(&[("splits.csv", "symbol,date,ratio\nA,2024-02-01,2\nA,2024-03-01,2\n")]);
    let clock = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, mut receiver) = mpsc::channel(1);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    tokio::spawn(file::run(
        config(&dir),
        Calendar::nyse(),
        FileSourceHealth::default(),
        dyn_clock,
        sender,
    ));
    receiver.recv().await.unwrap();
    // Two more updates are to be sent, and the channel has space for one.
    append(&dir.path().join("splits.csv"), "A,2024-03-04,3\n");
    clock.advance(SignedDuration::from_secs(1));
    let mut next = async || {
        let update = tokio::time::timeout(HANG_LIMIT, receiver.recv()).await;
        update.unwrap().unwrap()
    };
    assert!(next().await.backfill && next().await.is_empty());
    assert_eq!(splits(vec![next().await]), ["2024-03-04 3"]);
}

#[tokio::test]
async fn unusable_folder_ends_the_task_with_an_error() {
    let dir = folder(&[]);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, _receiver) = mpsc::channel(1);
    let ended = file::run(
        config(&dir),
        Calendar::nyse(),
        FileSourceHealth::default(),
        clock,
        sender,
    )
    .await;
    assert!(ended.unwrap_err().to_string().contains("holds no data"));
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

//! The task around the follower.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;
use market::Calendar;
use sources::file::{self, Health};
use sources::{Clock, ManualClock};
use tokio::sync::mpsc;

use crate::folders::folder;
use crate::{at, options, splits};

#[tokio::test]
async fn the_task_sends_the_past_then_what_it_finds_and_ends_with_its_listener() {
    let dir = folder(&[("splits.csv", "symbol,date,ratio\nA,2024-03-01,2\n")]);
    let clock = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, mut receiver) = mpsc::channel(1);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let task = tokio::spawn(file::run(
        options(&dir),
        Calendar::nyse(),
        Health::default(),
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
            delivery = receiver.recv() => break delivery.unwrap(),
            () = tokio::task::yield_now() => {}
        }
    };
    assert!(!found.backfill);
    assert_eq!(splits(vec![found]), ["2024-03-04 3"]);
    drop(receiver);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_ends_the_task_with_the_reason() {
    let dir = folder(&[]);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(at("2024-03-08T16:00:00Z")));
    let (sender, _receiver) = mpsc::channel(1);
    let ended = file::run(options(&dir), Calendar::nyse(), Health::default(), clock, sender).await;
    assert!(ended.unwrap_err().to_string().contains("holds no data"));
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

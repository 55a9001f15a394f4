//! Mentions from a source with a running count of 24 hours, dated midnight UTC of its day.

use alerts::{Plan, Status};
use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::json;

use crate::support::{TestApp, on_each_database};

on_each_database! {
    running_count_replaces_the_previous_one
    usual_mentions_are_known_after_a_restart
}

/// Friday.
const TODAY: Date = date(2024, 3, 8);

impl TestApp {
    async fn mentioned(&self, day: Date, mentions: u32) {
        let time = format!("{day}T00:00:00Z");
        let row = json!({"symbol": "GME", "time": time, "mentions": mentions});
        self.deliver(json!({"mentions": [row]})).await;
    }

    /// Delivers thirty mentions a day for the eight days before.
    async fn usually_thirty(&self) {
        for ago in (1..=8).rev() {
            self.mentioned(TODAY - ago.days(), 30).await;
        }
    }
}

async fn running_count_replaces_the_previous_one(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.usually_thirty().await;
    let rising = json!({"symbol": "GME", "condition": "social_buzz", "parameters": {"direction": "rising"}});
    let id = app.create(&ann, rising).await.stored.alert.id;
    for count in [30, 45, 59] {
        app.mentioned(TODAY, count).await;
        assert_eq!(app.status(&ann, id).await, Status::Active);
    }
    app.mentioned(TODAY, 60).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    let from = (TODAY - 9.days()).at(0, 0, 0, 0).in_tz("UTC").unwrap().timestamp();
    let kept = app.store().await.mentions(from).await.unwrap();
    assert_eq!((kept.len(), kept.last().map(|row| row.mentions)), (9, Some(60)));
}

async fn usual_mentions_are_known_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.usually_thirty().await;
    app.mentioned(TODAY, 40).await;
    let rising = json!({"symbol": "GME", "condition": "social_buzz", "parameters": {"direction": "rising"}});
    let id = app.create(&ann, rising).await.stored.alert.id;
    let app = app.restarted().await;
    app.mentioned(TODAY, 60).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

//! Mentions of a source that gives a running count of 24 hours, under midnight UTC of its day.

use alerts::{Plan, Status};
use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::json;

use super::support::{World, on_each_database};

on_each_database! {
    a_running_count_takes_the_place_of_the_one_before
    what_is_usual_is_known_after_a_restart
}

/// Friday.
const TODAY: Date = date(2024, 3, 8);

impl World {
    async fn mentioned(&self, day: Date, mentions: u32) {
        let time = format!("{day}T00:00:00Z");
        let row = json!({"symbol": "GME", "time": time, "mentions": mentions});
        self.deliver(json!({"mentions": [row]})).await;
    }

    /// Thirty a day, for the eight days before.
    async fn usually_thirty(&self) {
        for ago in (1..=8).rev() {
            self.mentioned(TODAY - ago.days(), 30).await;
        }
    }
}

async fn a_running_count_takes_the_place_of_the_one_before(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.usually_thirty().await;
    let rising = json!({"symbol": "GME", "condition": "social_buzz", "parameters": {"direction": "rising"}});
    let id = world.create(&ann, rising).await.stored.alert.id;
    for count in [30, 45, 59] {
        world.mentioned(TODAY, count).await;
        assert_eq!(world.status(&ann, id).await, Status::Active);
    }
    world.mentioned(TODAY, 60).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    let from = (TODAY - 9.days()).at(0, 0, 0, 0).in_tz("UTC").unwrap().timestamp();
    let kept = world.store().await.mentions(from).await.unwrap();
    assert_eq!((kept.len(), kept.last().map(|row| row.mentions)), (9, Some(60)));
}

async fn what_is_usual_is_known_after_a_restart(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.usually_thirty().await;
    world.mentioned(TODAY, 40).await;
    let rising = json!({"symbol": "GME", "condition": "social_buzz", "parameters": {"direction": "rising"}});
    let id = world.create(&ann, rising).await.stored.alert.id;
    let world = world.restarted().await;
    world.mentioned(TODAY, 60).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

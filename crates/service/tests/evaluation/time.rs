//! What waits for an instant, and what time does to sources that fall silent.

use alerts::engine::{NotJudged, State};
use alerts::{Plan, Status};
use serde_json::json;

use super::support::{World, above, on_each_database};

on_each_database! {
    a_reminder_fires_at_its_instant_and_not_before
    an_alert_whose_source_falls_silent_is_blind_until_it_speaks_again
    earnings_are_announced_the_days_before_that_were_asked_for
}

async fn a_reminder_fires_at_its_instant_and_not_before(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T16:00:00Z"}});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(59);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.advance(1);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn an_alert_whose_source_falls_silent_is_blind_until_it_speaks_again(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let state = async || {
        world
            .service
            .alert(&ann, id)
            .await
            .unwrap()
            .evaluation
            .map(|evaluation| evaluation.state)
    };
    assert_eq!(state().await, Some(State::Ok));
    world.advance(16);
    assert_eq!(state().await, Some(State::Blind(NotJudged::StaleQuotes)));
    world.quote("AAPL", 198.0).await;
    assert_eq!(state().await, Some(State::Ok));
}

async fn earnings_are_announced_the_days_before_that_were_asked_for(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world
        .deliver(json!({"earnings": [{"symbol": "AAPL", "date": "2024-03-18"}]}))
        .await;
    let body = json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 7});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.advance(2 * 24 * 60);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

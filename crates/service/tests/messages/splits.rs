//! A split moves alerts, and their owners are told.

use alerts::Plan;
use serde_json::{Value, json};

use crate::support::{World, above, on_each_database};

on_each_database! {
    each_owner_has_one_mail_with_all_alerts_that_were_moved
    whose_alerts_did_not_move_is_told_nothing
    a_split_that_is_delivered_again_is_told_once
    of_two_processes_that_apply_a_split_one_tells
    a_guest_who_has_not_confirmed_is_told_nothing
}

const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";

fn split() -> Value {
    json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]})
}

/// To Monday morning.
const WEEKEND: i64 = 3 * 24 * 60;

async fn each_owner_has_one_mail_with_all_alerts_that_were_moved(world: World) {
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    world.quote("AAPL", 400.0).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 300});
    world.create(&ann, below).await;
    let paused = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let percent = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    world.create(&bob, percent).await;
    world.advance(WEEKEND);
    world.deliver(split()).await;
    world.nothing_waits().await;

    let mails = world.outbox(ANN).await;
    assert_eq!(mails.len(), 1);
    let subject = mails[0].subject.as_deref();
    assert_eq!(subject, Some("AAPL was split, and your alerts on it were adjusted"));
    for line in [
        "Since 11 March 2024, AAPL has 4 new shares for each old one.",
        "Alert: AAPL: Price at or below, 300.00 USD is now 75.00 USD; price when set 400.00 USD, now 100.00 USD",
        "Alert: AAPL: Price at or above, 500.00 USD is now 125.00 USD; price when set 400.00 USD, now 100.00 USD",
    ] {
        assert!(mails[0].text.contains(line), "{}", mails[0].text);
    }
    let mails = world.outbox(BOB).await;
    assert_eq!(mails.len(), 1);
    let line = "Alert: AAPL: Price up by, 5.00 %; price when set 400.00 USD, now 100.00 USD";
    assert!(mails[0].text.contains(line), "{}", mails[0].text);
    assert!(!mails[0].text.contains("300.00"), "{}", mails[0].text);
}

async fn whose_alerts_did_not_move_is_told_nothing(world: World) {
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    world.quote("AAPL", 400.0).await;
    world.quote("MSFT", 400.0).await;
    world.create(&ann, above("MSFT", 500.0)).await;
    world.advance(WEEKEND);
    // Bob's alert was made in new shares.
    world.quote("AAPL", 100.0).await;
    world.create(&bob, above("AAPL", 125.0)).await;
    world.deliver(split()).await;
    world.nothing_waits().await;
    assert_eq!((world.outbox(ANN).await.len(), world.outbox(BOB).await.len()), (0, 0));
}

async fn a_split_that_is_delivered_again_is_told_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    world.create(&ann, above("AAPL", 500.0)).await;
    world.advance(WEEKEND);
    world.deliver(split()).await;
    world.deliver(split()).await;
    let world = world.restarted().await;
    world.deliver(split()).await;
    world.nothing_waits().await;
    assert_eq!(world.outbox(ANN).await.len(), 1);
}

async fn of_two_processes_that_apply_a_split_one_tells(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    world.create(&ann, above("AAPL", 500.0)).await;
    world.deliver(split()).await;
    let other = world.another_process().await;
    world.advance(WEEKEND);
    tokio::join!(world.deliver(split()), other.deliver(split()));
    world.nothing_waits().await;
    assert_eq!(world.outbox(ANN).await.len(), 1);
    other.service.stop().await;
}

async fn a_guest_who_has_not_confirmed_is_told_nothing(world: World) {
    world.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 500, "email": "guest@example.com"});
    let wish = world.service.guest_alerts.guest_wish(&body).unwrap();
    world.service.guest_alerts.create_guest_alert(wish).await.unwrap();
    world.advance(WEEKEND);
    world.deliver(split()).await;
    world.nothing_waits().await;
    let mails = world.outbox("guest@example.com").await;
    assert_eq!(mails.len(), 1, "the one that asks whether it is wanted");
    assert!(mails[0].subject.as_deref().unwrap().starts_with("Confirm"));
}

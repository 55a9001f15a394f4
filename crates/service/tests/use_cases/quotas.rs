//! What plans have: how many active alerts, of which families, told how.

use alerts::{AlertId, HistoryAction, Plan, Status};
use serde_json::{Value, json};
use service::alerts::Created;
use service::{Actor, ServiceError};

use crate::support::{World, above, kind, on_each_database};

on_each_database! {
    basic_has_twenty_active_alerts_and_not_one_more
    a_paused_alert_makes_room_and_takes_it_again_when_activated
    an_equivalent_of_an_active_alert_is_found_with_no_room_left
    the_paid_plans_have_any_number
    fifty_requests_at_once_for_the_last_place_make_exactly_one_alert
    fifty_activations_at_once_for_the_last_place_make_exactly_one_active
    basic_has_price_and_time_alerts_only
    who_goes_back_to_basic_keeps_alerts_but_cannot_activate_or_change_what_basic_has_not
    downgrade_keeps_the_oldest_twenty_active_alerts_and_pauses_the_others
    sms_needs_a_plan_and_a_verified_number
}

const FULL: &str = "forbidden plan premium";

/// Makes `count` active alerts.
async fn fill(world: &World, actor: &Actor, count: u32) -> Vec<AlertId> {
    world.quote("AAPL", 189.20).await;
    let mut ids = Vec::new();
    for n in 0..count {
        let detail = world.create(actor, above("AAPL", 300.0 + f64::from(n))).await;
        ids.push(detail.stored.alert.id);
    }
    ids
}

async fn basic_has_twenty_active_alerts_and_not_one_more(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let ids = fill(&world, &ann, 20).await;
    let error = world.refused(&ann, above("AAPL", 500.0)).await;
    assert_eq!(kind(&error), FULL);
    assert!(error.to_string().contains("at most 20 active alerts"), "{error}");
    // One that has fired is not active any more.
    world.quote("AAPL", 300.0).await;
    assert_eq!(world.status(&ann, ids[0]).await, Status::Triggered);
    world.create(&ann, above("AAPL", 500.0)).await;
    // Nor is one that was deleted.
    assert_eq!(kind(&world.refused(&ann, above("AAPL", 501.0)).await), FULL);
    world.service.alerts.delete_alert(&ann, ids[1]).await.unwrap();
    world.create(&ann, above("AAPL", 501.0)).await;
}

async fn a_paused_alert_makes_room_and_takes_it_again_when_activated(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let ids = fill(&world, &ann, 20).await;
    world.service.alerts.pause_alert(&ann, ids[0]).await.unwrap();
    let new = world.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    let error = world.service.alerts.activate_alert(&ann, ids[0]).await.unwrap_err();
    assert_eq!(kind(&error), FULL);
    assert_eq!(world.status(&ann, ids[0]).await, Status::Paused);
    assert_eq!(
        world.actions(&ann, ids[0]).await,
        [HistoryAction::Created, HistoryAction::Paused]
    );
    // Who is active already needs no room.
    assert!(world.service.alerts.activate_alert(&ann, ids[1]).await.is_ok());
    world.service.alerts.pause_alert(&ann, new).await.unwrap();
    world.service.alerts.activate_alert(&ann, ids[0]).await.unwrap();
    assert_eq!(world.status(&ann, ids[0]).await, Status::Active);
}

async fn an_equivalent_of_an_active_alert_is_found_with_no_room_left(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let ids = fill(&world, &ann, 20).await;
    let found = world.find(&ann, above("AAPL", 300.0)).await;
    assert_eq!(found.stored.alert.id, ids[0]);
}

async fn the_paid_plans_have_any_number(world: World) {
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::EarlyBird).await);
    fill(&world, &ann, 21).await;
    fill(&world, &bob, 21).await;
}

async fn fifty_requests_at_once_for_the_last_place_make_exactly_one_alert(world: World) {
    let ann = world.ann(Plan::Basic).await;
    fill(&world, &ann, 19).await;
    let bodies: Vec<Value> = (0..50).map(|n| above("AAPL", 400.0 + f64::from(n))).collect();
    let requests = bodies.iter().map(|body| world.service.alerts.create_alert(&ann, body));
    let answers = futures_util::future::join_all(requests).await;
    let mut made = 0;
    for answer in answers {
        match answer {
            Ok(Created::New(_)) => made += 1,
            Ok(Created::Existing(detail)) => panic!("{detail:?}"),
            Err(error) => assert_eq!(kind(&error), FULL),
        }
    }
    assert_eq!(made, 1);
}

async fn fifty_activations_at_once_for_the_last_place_make_exactly_one_active(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let ids = fill(&world, &ann, 69).await;
    for &id in &ids[..50] {
        world.service.alerts.pause_alert(&ann, id).await.unwrap();
    }
    world.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    let requests = ids[..50]
        .iter()
        .map(|&id| world.service.alerts.activate_alert(&ann, id));
    let answers: Vec<Result<_, ServiceError>> = futures_util::future::join_all(requests).await;
    let active = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(active, 1);
    assert!(
        answers
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .all(|error| kind(error) == FULL)
    );
}

async fn basic_has_price_and_time_alerts_only(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::EarlyBird).await);
    world.quote("AAPL", 189.20).await;
    let paid = [
        json!({"symbol": "AAPL", "condition": "ma_crossover_golden"}),
        json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70}),
        json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 100}),
        json!({"symbol": "AAPL", "condition": "pe_ratio_below", "threshold": 20}),
        json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 7}),
        json!({"symbol": "AAPL", "condition": "social_buzz", "parameters": {"direction": "rising"}}),
    ];
    for body in paid {
        assert_eq!(kind(&world.refused(&ann, body.clone()).await), FULL, "{body}");
        world.create(&bob, body).await;
    }
    let free = [
        json!({"symbol": "AAPL", "condition": "new_high"}),
        json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 5}),
        json!({"symbol": "AAPL", "condition": "daily_reminder"}),
        json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11"}}),
    ];
    for body in free {
        world.create(&ann, body).await;
    }
}

async fn who_goes_back_to_basic_keeps_alerts_but_cannot_activate_or_change_what_basic_has_not(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 189.20).await;
    let rsi = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70});
    let id = world.create(&ann, rsi.clone()).await.stored.alert.id;
    let price = world.create(&ann, above("AAPL", 250.0)).await.stored.alert.id;
    world.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    assert_eq!(world.status(&ann, price).await, Status::Active);
    world.service.alerts.delete_alert(&ann, price).await.unwrap();
    // The actor still says premium: the plan of the moment counts.
    let other = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 71});
    assert_eq!(kind(&world.refused(&ann, other).await), FULL);
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    let history = world.history(&ann, id).await;
    let details = history.last().unwrap().details.as_ref().unwrap();
    assert_eq!(details["reason"], "plan");
    let message = details["message"].as_str().unwrap();
    assert!(message.contains("which the basic plan does not include"), "{message}");
    let change = world
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 75}))
        .await;
    assert_eq!(kind(&change.unwrap_err()), FULL);
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    let activated = world.service.alerts.activate_alert(&ann, id).await;
    assert_eq!(kind(&activated.unwrap_err()), FULL);
    // To make a price alert of it is fine.
    let change = json!({"condition": "price_above", "threshold": 250});
    world.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn downgrade_keeps_the_oldest_twenty_active_alerts_and_pauses_the_others(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let ids = fill(&world, &ann, 22).await;
    world.service.alerts.pause_alert(&ann, ids[0]).await.unwrap();
    world.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    for &id in &ids[1..21] {
        assert_eq!(world.status(&ann, id).await, Status::Active);
    }
    assert_eq!(world.status(&ann, ids[21]).await, Status::Paused);
    let history = world.history(&ann, ids[21]).await;
    let message = history.last().unwrap().details.as_ref().unwrap()["message"].clone();
    assert!(
        message.as_str().unwrap().contains("at most 20 active alerts"),
        "{message}"
    );
    // What is paused does not fire.
    world.quote("AAPL", 1_000_000.0).await;
    assert_eq!(world.status(&ann, ids[21]).await, Status::Paused);
    assert_eq!(world.status(&ann, ids[20]).await, Status::Triggered);
}

async fn sms_needs_a_plan_and_a_verified_number(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Premium).await);
    world.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "notification": "sms"});
    assert_eq!(kind(&world.refused(&ann, body.clone()).await), FULL);
    assert_eq!(kind(&world.refused(&bob, body).await), "forbidden phone verified_phone");
    let id = world.create(&bob, above("AAPL", 200.0)).await.stored.alert.id;
    let change = world
        .service
        .alerts
        .update_alert(&bob, id, &json!({"notification": "sms"}))
        .await;
    assert_eq!(kind(&change.unwrap_err()), "forbidden phone verified_phone");
}

//! Plan limits: number of active alerts, condition families, channels.

use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::{Actor, ServiceError};
use serde_json::{Value, json};
use service::alerts::Created;

use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    basic_plan_has_twenty_active_alerts
    paused_alert_frees_a_slot_until_activated
    equivalent_alert_is_found_when_quota_is_full
    paid_plans_have_no_alert_limit
    fifty_concurrent_requests_fill_the_last_slot_once
    fifty_concurrent_activations_fill_the_last_slot_once
    basic_plan_allows_only_price_and_time_alerts
    downgraded_account_keeps_alerts_but_cannot_activate_or_change_excluded_ones
    downgrade_keeps_the_oldest_twenty_active_alerts_and_pauses_the_others
    sms_needs_a_paid_plan_and_a_verified_number
}

const FULL: &str = "forbidden plan premium";

/// Creates `count` active alerts.
async fn fill(app: &TestApp, actor: &Actor, count: u32) -> Vec<AlertId> {
    app.quote("AAPL", 189.20).await;
    let mut ids = Vec::new();
    for n in 0..count {
        let detail = app.create(actor, above("AAPL", 300.0 + f64::from(n))).await;
        ids.push(detail.stored.alert.id);
    }
    ids
}

async fn basic_plan_has_twenty_active_alerts(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let ids = fill(&app, &ann, 20).await;
    let error = app.refused(&ann, above("AAPL", 500.0)).await;
    assert_eq!(kind(&error), FULL);
    assert!(error.to_string().contains("at most 20 active alerts"), "{error}");
    // A fired alert is not active.
    app.quote("AAPL", 300.0).await;
    assert_eq!(app.status(&ann, ids[0]).await, Status::Triggered);
    app.create(&ann, above("AAPL", 500.0)).await;
    // A deleted alert is not active.
    assert_eq!(kind(&app.refused(&ann, above("AAPL", 501.0)).await), FULL);
    app.service.alerts.delete_alert(&ann, ids[1]).await.unwrap();
    app.create(&ann, above("AAPL", 501.0)).await;
}

async fn paused_alert_frees_a_slot_until_activated(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let ids = fill(&app, &ann, 20).await;
    app.service.alerts.pause_alert(&ann, ids[0]).await.unwrap();
    let new = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    let error = app.service.alerts.activate_alert(&ann, ids[0]).await.unwrap_err();
    assert_eq!(kind(&error), FULL);
    assert_eq!(app.status(&ann, ids[0]).await, Status::Paused);
    assert_eq!(
        app.actions(&ann, ids[0]).await,
        [HistoryAction::Created, HistoryAction::Paused]
    );
    // An active alert needs no further slot.
    assert!(app.service.alerts.activate_alert(&ann, ids[1]).await.is_ok());
    app.service.alerts.pause_alert(&ann, new).await.unwrap();
    app.service.alerts.activate_alert(&ann, ids[0]).await.unwrap();
    assert_eq!(app.status(&ann, ids[0]).await, Status::Active);
}

async fn equivalent_alert_is_found_when_quota_is_full(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let ids = fill(&app, &ann, 20).await;
    let found = app.find(&ann, above("AAPL", 300.0)).await;
    assert_eq!(found.stored.alert.id, ids[0]);
}

async fn paid_plans_have_no_alert_limit(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::EarlyBird).await);
    fill(&app, &ann, 21).await;
    fill(&app, &bob, 21).await;
}

async fn fifty_concurrent_requests_fill_the_last_slot_once(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    fill(&app, &ann, 19).await;
    let bodies: Vec<Value> = (0..50).map(|n| above("AAPL", 400.0 + f64::from(n))).collect();
    let requests = bodies.iter().map(|body| app.service.alerts.create_alert(&ann, body));
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

async fn fifty_concurrent_activations_fill_the_last_slot_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let ids = fill(&app, &ann, 69).await;
    for &id in &ids[..50] {
        app.service.alerts.pause_alert(&ann, id).await.unwrap();
    }
    app.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    let requests = ids[..50].iter().map(|&id| app.service.alerts.activate_alert(&ann, id));
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

async fn basic_plan_allows_only_price_and_time_alerts(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::EarlyBird).await);
    app.quote("AAPL", 189.20).await;
    let paid = [
        json!({"symbol": "AAPL", "condition": "ma_crossover_golden"}),
        json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70}),
        json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 100}),
        json!({"symbol": "AAPL", "condition": "pe_ratio_below", "threshold": 20}),
        json!({"symbol": "AAPL", "condition": "earnings_announcement", "threshold": 7}),
        json!({"symbol": "AAPL", "condition": "social_buzz", "parameters": {"direction": "rising"}}),
    ];
    for body in paid {
        assert_eq!(kind(&app.refused(&ann, body.clone()).await), FULL, "{body}");
        app.create(&bob, body).await;
    }
    let free = [
        json!({"symbol": "AAPL", "condition": "new_high"}),
        json!({"symbol": "AAPL", "condition": "price_change_down", "threshold": 5}),
        json!({"symbol": "AAPL", "condition": "daily_reminder"}),
        json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-11"}}),
    ];
    for body in free {
        app.create(&ann, body).await;
    }
}

async fn downgraded_account_keeps_alerts_but_cannot_activate_or_change_excluded_ones(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 189.20).await;
    let rsi = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70});
    let id = app.create(&ann, rsi.clone()).await.stored.alert.id;
    let price = app.create(&ann, above("AAPL", 250.0)).await.stored.alert.id;
    app.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    assert_eq!(app.status(&ann, price).await, Status::Active);
    app.service.alerts.delete_alert(&ann, price).await.unwrap();
    // The actor still has the premium plan: the stored plan counts.
    let other = json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 71});
    assert_eq!(kind(&app.refused(&ann, other).await), FULL);
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    let history = app.history(&ann, id).await;
    let details = history.last().unwrap().details.as_ref().unwrap();
    assert_eq!(details["reason"], "plan");
    let message = details["message"].as_str().unwrap();
    assert!(message.contains("which the basic plan does not include"), "{message}");
    let change = app
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 75}))
        .await;
    assert_eq!(kind(&change.unwrap_err()), FULL);
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    let activated = app.service.alerts.activate_alert(&ann, id).await;
    assert_eq!(kind(&activated.unwrap_err()), FULL);
    // Changing it to a price alert is allowed.
    let change = json!({"condition": "price_above", "threshold": 250});
    app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
}

async fn downgrade_keeps_the_oldest_twenty_active_alerts_and_pauses_the_others(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let ids = fill(&app, &ann, 22).await;
    app.service.alerts.pause_alert(&ann, ids[0]).await.unwrap();
    app.service.accounts.set_plan(&ann.email, Plan::Basic).await.unwrap();
    for &id in &ids[1..21] {
        assert_eq!(app.status(&ann, id).await, Status::Active);
    }
    assert_eq!(app.status(&ann, ids[21]).await, Status::Paused);
    let history = app.history(&ann, ids[21]).await;
    let message = history.last().unwrap().details.as_ref().unwrap()["message"].clone();
    assert!(
        message.as_str().unwrap().contains("at most 20 active alerts"),
        "{message}"
    );
    // Paused alerts do not fire.
    app.quote("AAPL", 1_000_000.0).await;
    assert_eq!(app.status(&ann, ids[21]).await, Status::Paused);
    assert_eq!(app.status(&ann, ids[20]).await, Status::Triggered);
}

async fn sms_needs_a_paid_plan_and_a_verified_number(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Premium).await);
    app.quote("AAPL", 189.20).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "notification": "sms"});
    assert_eq!(kind(&app.refused(&ann, body.clone()).await), FULL);
    assert_eq!(kind(&app.refused(&bob, body).await), "forbidden phone verified_phone");
    let id = app.create(&bob, above("AAPL", 200.0)).await.stored.alert.id;
    let change = app
        .service
        .alerts
        .update_alert(&bob, id, &json!({"notification": "sms"}))
        .await;
    assert_eq!(kind(&change.unwrap_err()), "forbidden phone verified_phone");
}

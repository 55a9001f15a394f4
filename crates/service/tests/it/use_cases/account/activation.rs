//! Deactivation of an account.

use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::{Actor, ServiceError};
use serde_json::{Value, json};

use super::{ann, sign_in};
use crate::support::{ALL, PASSWORD, TestApp, above, kind, on_each_database};

on_each_database! {
    deactivation_pauses_active_alerts
    deactivated_account_cannot_create_or_activate
    repeated_deactivation_changes_nothing
    alert_created_during_deactivation_is_paused_or_rejected
}

const ASLEEP: &str = "forbidden deactivated active_account";

async fn two_alerts(app: &TestApp, actor: &Actor) -> [AlertId; 2] {
    app.quote("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110.0, 120.0] {
        ids.push(app.create(actor, above("AAPL", threshold)).await.stored.alert.id);
    }
    app.service.alerts.pause_alert(actor, ids[1]).await.unwrap();
    [ids[0], ids[1]]
}

async fn deactivation_pauses_active_alerts(app: TestApp) {
    let (ann, bob) = (ann(&app, Plan::Basic).await, app.bob(Plan::Basic).await);
    let ids = two_alerts(&app, &ann).await;
    let of_bob = app.create(&bob, above("AAPL", 110.0)).await.stored.alert.id;
    assert_eq!(app.service.account_settings.deactivate_account(&ann).await.unwrap(), 1);
    app.quote("AAPL", 130.0).await;
    assert_eq!(app.status(&ann, ids[0]).await, Status::Paused);
    let told = [HistoryAction::Created, HistoryAction::Paused];
    assert_eq!(app.actions(&ann, ids[0]).await, told);
    assert_eq!(app.actions(&ann, ids[1]).await, told);
    assert_eq!(app.status(&bob, of_bob).await, Status::Triggered);
    let app = app.restarted().await;
    app.quote("AAPL", 131.0).await;
    assert_eq!(app.status(&ann, ids[0]).await, Status::Paused);
}

async fn deactivated_account_cannot_create_or_activate(app: TestApp) {
    let key = app.ann(Plan::Premium).await;
    let ann = sign_in(&app, &key.email, PASSWORD).await.unwrap();
    let ids = two_alerts(&app, &ann).await;
    let service = &app.service;
    let webhook = json!({"url": "https://93.184.215.14/hook", "events": ["alert.triggered"]});
    let hook = service
        .webhooks
        .create_webhook(&key, &webhook)
        .await
        .unwrap()
        .webhook
        .id;
    let off = json!({"is_active": false});
    service.webhooks.update_webhook(&key, hook, &off).await.unwrap();
    app.service.account_settings.deactivate_account(&ann).await.unwrap();
    let note = json!({"alert_id": ids[0].0, "symbol": "AAPL", "action_type": "paused", "new_status": "paused"});
    let refused: Vec<ServiceError> = vec![
        app.refused(&key, above("AAPL", 140.0)).await,
        service.alerts.activate_alert(&key, ids[0]).await.unwrap_err(),
        service
            .alerts
            .update_alert(&key, ids[0], &json!({"threshold": 150}))
            .await
            .unwrap_err(),
        service.webhooks.create_webhook(&key, &webhook).await.unwrap_err(),
        service
            .webhooks
            .update_webhook(&key, hook, &json!({"is_active": true}))
            .await
            .unwrap_err(),
        service
            .webhooks
            .test_webhook(&key, &json!({"url": "https://93.184.215.14/hook", "secret": "s"}))
            .await
            .unwrap_err(),
        service
            .accounts
            .create_api_key_from_body(&ann, &json!({"name": "a"}))
            .await
            .unwrap_err(),
        service.alerts.record_history(&ann, &note).await.unwrap_err(),
        service
            .account_settings
            .request_phone(&ann, &super::number("+14155550123"))
            .await
            .unwrap_err(),
        service
            .account_settings
            .request_address_change(&ann, &json!({"email": "ann@example.org"}))
            .await
            .unwrap_err(),
        service
            .feedback
            .create_feedback(&ann, &json!({"title": "a", "body": "b"}))
            .await
            .unwrap_err(),
    ];
    for error in &refused {
        assert_eq!(kind(error), ASLEEP, "{error}");
    }
    // It can be read, changed and left.
    assert_eq!(
        service
            .account_settings
            .subscription(&key)
            .await
            .unwrap()
            .total_alerts(),
        2
    );
    assert!(
        service
            .account_settings
            .subscription(&key)
            .await
            .unwrap()
            .is_deactivated
    );
    service.alerts.pause_alert(&key, ids[0]).await.unwrap();
    let zone: Value = json!({"time_zone": "UTC"});
    service.account_settings.set_preferences(&ann, &zone).await.unwrap();
    sign_in(&app, &ann.email, PASSWORD).await.unwrap();
    service.alerts.delete_alert(&key, ids[1]).await.unwrap();
    service.webhooks.delete_webhook(&key, hook).await.unwrap();
    service.account_settings.reactivate_account(&ann).await.unwrap();
    assert_eq!(app.status(&ann, ids[0]).await, Status::Paused);
    service.alerts.activate_alert(&key, ids[0]).await.unwrap();
    app.quote("AAPL", 130.0).await;
    assert_eq!(app.status(&ann, ids[0]).await, Status::Triggered);
}

async fn repeated_deactivation_changes_nothing(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    two_alerts(&app, &ann).await;
    app.service.account_settings.deactivate_account(&ann).await.unwrap();
    app.advance(5);
    assert_eq!(app.service.account_settings.deactivate_account(&ann).await.unwrap(), 0);
    let (_, account) = app.service.identity.session(&ann).await.unwrap();
    assert_eq!(
        account.profile.deactivated_at,
        Some(crate::support::at(crate::support::OPEN))
    );
    for _ in 0..2 {
        let account = app.service.account_settings.reactivate_account(&ann).await.unwrap();
        assert_eq!(account.profile.deactivated_at, None);
    }
}

async fn alert_created_during_deactivation_is_paused_or_rejected(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    let bodies: Vec<Value> = (0..20).map(|n| above("AAPL", 200.0 + f64::from(n))).collect();
    let creating = bodies.iter().map(|body| app.service.alerts.create_alert(&ann, body));
    let all = futures_util::future::join(
        futures_util::future::join_all(creating),
        app.service.account_settings.deactivate_account(&ann),
    );
    let (made, _) = all.await;
    for refused in made.iter().filter_map(|made| made.as_ref().err()) {
        assert_eq!(kind(refused), ASLEEP);
    }
    let store = app.store().await;
    let alerts = store.alerts_after(ann.account, 0, ALL.limit).await.unwrap();
    store.close().await;
    assert!(alerts.iter().all(|kept| kept.stored.alert.status == Status::Paused));
}

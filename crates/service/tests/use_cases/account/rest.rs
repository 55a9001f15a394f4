//! An account that rests.

use alerts::{AlertId, HistoryAction, Plan, Status};
use serde_json::{Value, json};
use service::{Actor, ServiceError};

use super::{ann, sign_in};
use crate::support::{ALL, PASSWORD, World, above, kind, on_each_database};

on_each_database! {
    its_active_alerts_are_paused_and_do_not_fire
    nothing_is_made_or_set_going_in_its_name_until_it_is_reactivated
    once_more_changes_nothing
    an_alert_that_is_made_at_the_same_moment_is_paused_or_refused
}

const ASLEEP: &str = "forbidden deactivated active_account";

async fn two_alerts(world: &World, actor: &Actor) -> [AlertId; 2] {
    world.quote("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110.0, 120.0] {
        ids.push(world.create(actor, above("AAPL", threshold)).await.stored.alert.id);
    }
    world.service.alerts.pause_alert(actor, ids[1]).await.unwrap();
    [ids[0], ids[1]]
}

async fn its_active_alerts_are_paused_and_do_not_fire(world: World) {
    let (ann, bob) = (ann(&world, Plan::Basic).await, world.bob(Plan::Basic).await);
    let ids = two_alerts(&world, &ann).await;
    let of_bob = world.create(&bob, above("AAPL", 110.0)).await.stored.alert.id;
    assert_eq!(
        world.service.account_settings.deactivate_account(&ann).await.unwrap(),
        1
    );
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status(&ann, ids[0]).await, Status::Paused);
    let told = [HistoryAction::Created, HistoryAction::Paused];
    assert_eq!(world.actions(&ann, ids[0]).await, told);
    assert_eq!(world.actions(&ann, ids[1]).await, told);
    assert_eq!(world.status(&bob, of_bob).await, Status::Triggered);
    let world = world.restarted().await;
    world.quote("AAPL", 131.0).await;
    assert_eq!(world.status(&ann, ids[0]).await, Status::Paused);
}

async fn nothing_is_made_or_set_going_in_its_name_until_it_is_reactivated(world: World) {
    let key = world.ann(Plan::Premium).await;
    let ann = sign_in(&world, &key.email, PASSWORD).await.unwrap();
    let ids = two_alerts(&world, &ann).await;
    let service = &world.service;
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
    world.service.account_settings.deactivate_account(&ann).await.unwrap();
    let note = json!({"alert_id": ids[0].0, "symbol": "AAPL", "action_type": "paused", "new_status": "paused"});
    let refused: Vec<ServiceError> = vec![
        world.refused(&key, above("AAPL", 140.0)).await,
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
            .create_api_key_of(&ann, &json!({"name": "a"}))
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
            .give_feedback(&ann, &json!({"title": "a", "body": "b"}))
            .await
            .unwrap_err(),
    ];
    for error in &refused {
        assert_eq!(kind(error), ASLEEP, "{error}");
    }
    // It can be read, put in order and left.
    assert_eq!(service.account_settings.subscription(&key).await.unwrap().total(), 2);
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
    sign_in(&world, &ann.email, PASSWORD).await.unwrap();
    service.alerts.delete_alert(&key, ids[1]).await.unwrap();
    service.webhooks.delete_webhook(&key, hook).await.unwrap();
    service.account_settings.reactivate_account(&ann).await.unwrap();
    assert_eq!(world.status(&ann, ids[0]).await, Status::Paused);
    service.alerts.activate_alert(&key, ids[0]).await.unwrap();
    world.quote("AAPL", 130.0).await;
    assert_eq!(world.status(&ann, ids[0]).await, Status::Triggered);
}

async fn once_more_changes_nothing(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    two_alerts(&world, &ann).await;
    world.service.account_settings.deactivate_account(&ann).await.unwrap();
    world.advance(5);
    assert_eq!(
        world.service.account_settings.deactivate_account(&ann).await.unwrap(),
        0
    );
    let (_, account) = world.service.identity.session(&ann).await.unwrap();
    assert_eq!(
        account.profile.deactivated_at,
        Some(crate::support::at(crate::support::OPEN))
    );
    for _ in 0..2 {
        let account = world.service.account_settings.reactivate_account(&ann).await.unwrap();
        assert_eq!(account.profile.deactivated_at, None);
    }
}

async fn an_alert_that_is_made_at_the_same_moment_is_paused_or_refused(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    world.quote("AAPL", 100.0).await;
    let bodies: Vec<Value> = (0..20).map(|n| above("AAPL", 200.0 + f64::from(n))).collect();
    let creating = bodies.iter().map(|body| world.service.alerts.create_alert(&ann, body));
    let all = futures_util::future::join(
        futures_util::future::join_all(creating),
        world.service.account_settings.deactivate_account(&ann),
    );
    let (made, _) = all.await;
    for refused in made.iter().filter_map(|made| made.as_ref().err()) {
        assert_eq!(kind(refused), ASLEEP);
    }
    let store = world.store().await;
    let alerts = store.alerts_after(ann.account, 0, ALL.limit).await.unwrap();
    store.close().await;
    assert!(alerts.iter().all(|kept| kept.stored.alert.status == Status::Paused));
}

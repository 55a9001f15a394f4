//! What a plan has, and how much of it is used.

use alerts::{Plan, Status};
use serde_json::json;

use crate::support::{World, above, at, kind, on_each_database};

on_each_database! {
    alerts_are_counted_by_status_and_the_period_is_the_month
    a_subscription_is_only_of_ones_own_account
}

async fn alerts_are_counted_by_status_and_the_period_is_the_month(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110.0, 120.0, 130.0, 140.0] {
        ids.push(world.create(&ann, above("AAPL", threshold)).await.stored.alert.id);
    }
    world.quote("AAPL", 110.0).await;
    world.service.alerts.pause_alert(&ann, ids[1]).await.unwrap();
    world.service.alerts.delete_alert(&ann, ids[2]).await.unwrap();
    let used = world.service.account_settings.subscription(&ann).await.unwrap();
    let counts = [
        (Status::Active, 1),
        (Status::Inactive, 0),
        (Status::Paused, 1),
        (Status::Triggered, 1),
    ];
    for counted in counts {
        assert!(used.alerts.contains(&counted), "{counted:?} {:?}", used.alerts);
    }
    assert_eq!((used.total(), used.room(), used.sms_sent), (3, Some(19), 0));
    assert_eq!(used.period.start, at("2024-03-01T00:00:00Z"));
    assert_eq!(used.period.end, at("2024-04-01T00:00:00Z"));
}

async fn a_subscription_is_only_of_ones_own_account(world: World) {
    let (ann, bob) = (super::ann(&world, Plan::Basic).await, world.bob(Plan::Premium).await);
    world.quote("AAPL", 100.0).await;
    world.create(&bob, above("AAPL", 110.0)).await;
    let of_ann = world.service.account_settings.subscription(&ann).await.unwrap();
    assert_eq!(
        (of_ann.account, of_ann.plan, of_ann.total()),
        (ann.account, Plan::Basic, 0)
    );
    assert_eq!(
        world.service.account_settings.subscription(&bob).await.unwrap().room(),
        None
    );
    let body = json!({"confirmation": "DELETE"});
    world
        .service
        .account_settings
        .delete_account(&ann, &body)
        .await
        .unwrap();
    let gone = world.service.account_settings.subscription(&ann).await.unwrap_err();
    assert_eq!(kind(&gone), "unauthenticated");
}

//! Features and usage of a plan.

use alerts::{Plan, Status};
use serde_json::json;

use crate::support::{TestApp, above, at, kind, on_each_database};

on_each_database! {
    subscription_counts_alerts_by_status_in_the_month
    subscription_covers_only_own_account
}

async fn subscription_counts_alerts_by_status_in_the_month(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110.0, 120.0, 130.0, 140.0] {
        ids.push(app.create(&ann, above("AAPL", threshold)).await.stored.alert.id);
    }
    app.quote("AAPL", 110.0).await;
    app.service.alerts.pause_alert(&ann, ids[1]).await.unwrap();
    app.service.alerts.delete_alert(&ann, ids[2]).await.unwrap();
    let used = app.service.account_settings.subscription(&ann).await.unwrap();
    let counts = [
        (Status::Active, 1),
        (Status::Inactive, 0),
        (Status::Paused, 1),
        (Status::Triggered, 1),
    ];
    for counted in counts {
        assert!(used.alerts.contains(&counted), "{counted:?} {:?}", used.alerts);
    }
    assert_eq!(
        (used.total_alerts(), used.remaining_active_alerts(), used.sms_sent),
        (3, Some(19), 0)
    );
    assert_eq!(used.period.start, at("2024-03-01T00:00:00Z"));
    assert_eq!(used.period.end, at("2024-04-01T00:00:00Z"));
}

async fn subscription_covers_only_own_account(app: TestApp) {
    let (ann, bob) = (super::ann(&app, Plan::Basic).await, app.bob(Plan::Premium).await);
    app.quote("AAPL", 100.0).await;
    app.create(&bob, above("AAPL", 110.0)).await;
    let of_ann = app.service.account_settings.subscription(&ann).await.unwrap();
    assert_eq!(
        (of_ann.account, of_ann.plan, of_ann.total_alerts()),
        (ann.account, Plan::Basic, 0)
    );
    assert_eq!(
        app.service
            .account_settings
            .subscription(&bob)
            .await
            .unwrap()
            .remaining_active_alerts(),
        None
    );
    let body = json!({"confirmation": "DELETE"});
    app.service.account_settings.delete_account(&ann, &body).await.unwrap();
    let gone = app.service.account_settings.subscription(&ann).await.unwrap_err();
    assert_eq!(kind(&gone), "unauthenticated");
}

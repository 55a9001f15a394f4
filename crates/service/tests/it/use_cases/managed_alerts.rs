//! Alerts that programs manage under names.

use alerts::{Plan, Status};
use serde_json::json;
use store::model::SourceRevision;

use super::batch::{batch, listed, managed, names, refused, start};
use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    name_of_a_managed_alert_is_unique_until_it_is_deleted
    managed_alert_may_equal_one_that_a_person_made
    managed_alert_can_get_another_name_and_lose_it
    two_programs_with_the_same_revision_cannot_both_change_a_source
    single_changes_of_managed_alerts_raise_the_revision_of_their_source
    undo_does_not_restore_a_name_that_another_alert_has
}

async fn name_of_a_managed_alert_is_unique_until_it_is_deleted(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let bob = app.bob(Plan::Basic).await;
    let first = app.create(&ann, managed(above("AAPL", 150.0), "a")).await.stored;
    let other = managed(above("AAPL", 151.0), "a");
    let error = app.refused(&ann, other.clone()).await;
    assert_eq!(kind(&error), "conflict");
    assert!(error.to_string().contains(&first.alert.id.to_string()), "{error}");
    app.create(&bob, other.clone()).await;
    let of_other_source = json!({"managed_by": {"source": "desk", "name": "a"}});
    let mut body = other.clone();
    body["managed_by"] = of_other_source["managed_by"].clone();
    app.create(&ann, body).await;
    // In one batch, the name of a deleted alert is free.
    let replaced = json!({"create": [other], "delete": [first.alert.id.0]});
    batch(&app, &ann, replaced).await;
    assert_eq!(names(&listed(&app, &ann, Some("team")).await), ["a"]);
}

async fn managed_alert_may_equal_one_that_a_person_made(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let by_hand = app.create(&ann, above("AAPL", 150.0)).await.stored;
    let managed_one = app.create(&ann, managed(above("AAPL", 150.0), "a")).await.stored;
    assert_ne!(by_hand.alert.id, managed_one.alert.id);
    let read = app.service.alerts.alert(&ann, by_hand.alert.id).await.unwrap();
    assert_eq!(read.stored, by_hand);
    // An update may make two managed alerts equal for a while.
    let second = app.create(&ann, managed(above("AAPL", 160.0), "b")).await.stored;
    let update = json!({"threshold": 150});
    app.service
        .alerts
        .update_alert(&ann, second.alert.id, &update)
        .await
        .unwrap();
}

async fn managed_alert_can_get_another_name_and_lose_it(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let first = app.create(&ann, managed(above("AAPL", 150.0), "a")).await.stored;
    app.create(&ann, managed(above("AAPL", 151.0), "b")).await;
    let name = |name: &str| json!({"managed_by": {"source": "team", "name": name}});
    let id = first.alert.id;
    let renamed = app.service.alerts.update_alert(&ann, id, &name("c")).await.unwrap();
    // Another name does not arm the alert again.
    assert_eq!(renamed.stored.alert, first.alert);
    assert_eq!(names(&listed(&app, &ann, Some("team")).await), ["b", "c"]);
    let error = app.service.alerts.update_alert(&ann, id, &name("b")).await.unwrap_err();
    assert_eq!(kind(&error), "conflict");
    let none = json!({"managed_by": null});
    app.service.alerts.update_alert(&ann, id, &none).await.unwrap();
    assert_eq!(names(&listed(&app, &ann, None).await), ["-", "b"]);
    let wrong = json!({"managed_by": {"source": "team", "name": " "}, "threshold": -1});
    let error = app.service.alerts.update_alert(&ann, id, &wrong).await.unwrap_err();
    assert_eq!(kind(&error), "invalid managed_by.name threshold");
}

async fn two_programs_with_the_same_revision_cannot_both_change_a_source(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let apply = |name: &str, threshold: f64, revision: i64| {
        json!({
            "create": [managed(above("AAPL", threshold), name)],
            "source": "team",
            "expected_source_revision": revision,
        })
    };
    let (one, other) = (apply("a", 150.0, 0), apply("b", 151.0, 0));
    let both = tokio::join!(
        app.service.alerts.change_batch(&ann, &one),
        app.service.alerts.change_batch(&ann, &other)
    );
    let results = [both.0, both.1];
    let won: Vec<_> = results.iter().flatten().collect();
    assert_eq!(won.len(), 1, "{results:?}");
    assert_eq!(won[0].source_revision, Some(SourceRevision(1)));
    assert_eq!(refused(&app, &ann, apply("c", 152.0, 0)).await, ["conflict"]);
    batch(&app, &ann, apply("c", 152.0, 1)).await;
    assert_eq!(listed(&app, &ann, Some("team")).await.len(), 2);
}

async fn single_changes_of_managed_alerts_raise_the_revision_of_their_source(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let revision = async || {
        let read = json!({"source": "team", "dry_run": true});
        batch(&app, &ann, read).await.source_revision.map(|revision| revision.0)
    };
    let alerts = &app.service.alerts;
    let id = app
        .create(&ann, managed(above("AAPL", 150.0), "a"))
        .await
        .stored
        .alert
        .id;
    assert_eq!(revision().await, Some(1));
    alerts.update_alert(&ann, id, &json!({"note": "sell"})).await.unwrap();
    assert_eq!(revision().await, Some(2));
    // Neither its status nor an update without changes counts.
    alerts.update_alert(&ann, id, &json!({"note": "sell"})).await.unwrap();
    alerts.pause_alert(&ann, id).await.unwrap();
    alerts.activate_alert(&ann, id).await.unwrap();
    app.quote("AAPL", 150.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    app.create(&ann, above("AAPL", 170.0)).await;
    assert_eq!(revision().await, Some(2));
    alerts.delete_alert(&ann, id).await.unwrap();
    assert_eq!(revision().await, Some(3));
}

async fn undo_does_not_restore_a_name_that_another_alert_has(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let alerts = &app.service.alerts;
    let id = app
        .create(&ann, managed(above("AAPL", 150.0), "a"))
        .await
        .stored
        .alert
        .id;
    let delete = service::alerts::BulkChange::Delete;
    let undo = alerts.change_many(&ann, &[id], delete).await.unwrap().undo.unwrap();
    let other = app
        .create(&ann, managed(above("AAPL", 151.0), "a"))
        .await
        .stored
        .alert
        .id;
    assert_eq!(kind(&alerts.undo_change(&ann, undo).await.unwrap_err()), "conflict");
    alerts.delete_alert(&ann, other).await.unwrap();
    assert_eq!(alerts.undo_change(&ann, undo).await.unwrap().restored, 1);
    assert_eq!(names(&listed(&app, &ann, Some("team")).await), ["a"]);
}

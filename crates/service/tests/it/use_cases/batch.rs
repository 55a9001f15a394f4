//! Many changes of alerts in one transaction.

use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::Actor;
use serde_json::{Value, json};
use service::alerts::{BatchError, BatchResult, MAX_BATCH_CHANGES};
use store::model::{AlertFilter, AlertSort, SourceRevision, StoredAlert};

use crate::support::{ALL, TestApp, above, kind, on_each_database};

on_each_database! {
    batch_creates_updates_and_deletes_alerts
    refused_change_undoes_the_whole_batch_and_all_errors_are_reported
    dry_run_judges_changes_and_writes_nothing
    quota_counts_after_the_deletes
    repeated_batch_creates_nothing_twice
    alerts_over_many_stocks_are_created_and_deleted_with_their_members
    created_alerts_fire
    two_alerts_exchange_their_conditions
    largest_batch_is_created_at_once
}

pub(super) fn managed(body: Value, name: &str) -> Value {
    let mut body = body;
    body["managed_by"] = json!({"source": "team", "name": name});
    body
}

pub(super) async fn batch(app: &TestApp, actor: &Actor, body: Value) -> BatchResult {
    app.service.alerts.change_batch(actor, &body).await.unwrap()
}

/// Returns the places and kinds of the errors of a refused batch.
pub(super) async fn refused(app: &TestApp, actor: &Actor, body: Value) -> Vec<String> {
    match app.service.alerts.change_batch(actor, &body).await.unwrap_err() {
        BatchError::Whole(error) => vec![kind(&error)],
        BatchError::Refused(refused) => refused
            .iter()
            .map(|refused| format!("{}.{}: {}", refused.list.name(), refused.index, kind(&refused.error)))
            .collect(),
    }
}

pub(super) async fn listed(app: &TestApp, actor: &Actor, source: Option<&str>) -> Vec<StoredAlert> {
    let filter = AlertFilter {
        source: source.map(str::to_owned),
        ..AlertFilter::default()
    };
    let sort = AlertSort {
        ascending: true,
        ..AlertSort::default()
    };
    let page = app
        .service
        .alerts
        .alerts(actor, &filter, sort, ALL, false)
        .await
        .unwrap();
    page.items.into_iter().map(|item| item.stored).collect()
}

pub(super) fn names(alerts: &[StoredAlert]) -> Vec<&str> {
    let mut names: Vec<&str> = alerts
        .iter()
        .map(|alert| alert.managed_by.as_ref().map_or("-", |managed| managed.name()))
        .collect();
    names.sort_unstable();
    names
}

pub(super) async fn start(app: &TestApp, plan: Plan) -> Actor {
    let ann = app.ann(plan).await;
    app.quote("AAPL", 100.0).await;
    ann
}

async fn batch_creates_updates_and_deletes_alerts(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let kept = app.create(&ann, above("AAPL", 150.0)).await.stored.alert.id;
    let gone = app.create(&ann, above("AAPL", 151.0)).await.stored.alert.id;
    let body = json!({
        "create": [managed(above("AAPL", 152.0), "a"), managed(above("AAPL", 153.0), "b")],
        "update": [{"id": kept.0, "alert": {"threshold": 160}}],
        "delete": [gone.0],
    });
    let result = batch(&app, &ann, body).await;
    assert!(result.create.iter().chain(&result.update).all(|alert| alert.is_changed));
    assert_eq!((result.delete, result.source_revision), (vec![gone], None));
    let created: Vec<_> = result.create.iter().map(|alert| alert.detail.stored.clone()).collect();
    assert_eq!(names(&created), ["a", "b"]);
    assert_eq!(listed(&app, &ann, Some("team")).await.len(), 2);
    assert_eq!(listed(&app, &ann, Some("other")).await, []);
    assert_eq!(names(&listed(&app, &ann, None).await), ["-", "a", "b"]);
    assert_eq!(app.actions(&ann, created[0].alert.id).await, [HistoryAction::Created]);
    let deleted = [HistoryAction::Created, HistoryAction::Deleted];
    assert_eq!(app.actions(&ann, gone).await, deleted);
    let read = app.service.alerts.alert(&ann, created[1].alert.id).await.unwrap();
    assert_eq!(read.stored, created[1]);
}

async fn refused_change_undoes_the_whole_batch_and_all_errors_are_reported(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let bob = app.bob(Plan::Basic).await;
    let id = app.create(&ann, above("AAPL", 150.0)).await.stored.alert.id;
    let other = app.create(&bob, above("AAPL", 150.0)).await.stored.alert.id;
    let body = json!({
        "create": [
            managed(above("AAPL", 152.0), "a"),
            {"symbol": "AAPL", "condition": "new_high", "threshold": 3},
            above("NOPE", 1.0),
            managed(above("AAPL", 153.0), "a"),
            {"symbol": "AAPL", "condition": "rsi_limit", "threshold": 30, "parameters": {"direction": "below"}},
        ],
        "update": [{"id": id.0, "alert": {"threshold": -1}}, {"id": other.0, "alert": {}}],
        "delete": [id.0, other.0],
    });
    let expected = [
        "create.1: invalid threshold",
        "create.2: no stock",
        "create.3: conflict",
        "create.4: forbidden plan premium",
        "update.0: invalid threshold",
        "update.1: no alert",
        "delete.0: invalid id",
        "delete.1: invalid id",
    ];
    assert_eq!(refused(&app, &ann, body).await, expected);
    assert_eq!(listed(&app, &ann, None).await.len(), 1);
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    assert_eq!(app.status(&bob, other).await, Status::Active);
    // Nothing of it reached the engine: no alert fires but the one that exists.
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn dry_run_judges_changes_and_writes_nothing(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let id = app.create(&ann, above("AAPL", 150.0)).await.stored.alert.id;
    let body = json!({
        "create": [managed(above("AAPL", 152.0), "a")],
        "update": [{"id": id.0, "alert": {"threshold": 160}}],
        "source": "team",
        "dry_run": true,
    });
    let result = batch(&app, &ann, body).await;
    assert!(result.is_dry_run && result.create[0].is_changed && result.update[0].is_changed);
    assert_eq!(listed(&app, &ann, Some("team")).await, []);
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    let revision = batch(&app, &ann, json!({"source": "team", "dry_run": true})).await;
    assert_eq!(revision.source_revision, Some(SourceRevision(0)));
    let wrong = json!({"delete": [AlertId(uuid::Uuid::nil()).0], "dry_run": true});
    assert_eq!(refused(&app, &ann, wrong).await, ["delete.0: no alert"]);
}

async fn quota_counts_after_the_deletes(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let creates: Vec<_> = (0..20).map(|n| above("AAPL", 150.0 + f64::from(n))).collect();
    let full = batch(&app, &ann, json!({"create": creates})).await;
    let one_more = json!({"create": [above("AAPL", 190.0)]});
    assert_eq!(
        refused(&app, &ann, one_more).await,
        ["create.0: forbidden plan premium"]
    );
    let ids: Vec<_> = full.create[..2]
        .iter()
        .map(|alert| alert.detail.stored.alert.id.0)
        .collect();
    let three = [190.0, 191.0, 192.0].map(|threshold| above("AAPL", threshold));
    let too_many = json!({"create": three, "delete": ids});
    assert_eq!(
        refused(&app, &ann, too_many).await,
        ["create.2: forbidden plan premium"]
    );
    batch(&app, &ann, json!({"create": three[..2], "delete": ids})).await;
    assert_eq!(listed(&app, &ann, None).await.len(), 20);
}

async fn repeated_batch_creates_nothing_twice(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let body = json!({"create": [managed(above("AAPL", 152.0), "a"), above("AAPL", 153.0)]});
    let first = batch(&app, &ann, body.clone()).await;
    let second = batch(&app, &ann, body).await;
    assert!(second.create.iter().all(|alert| !alert.is_changed));
    let ids = |result: &BatchResult| -> Vec<AlertId> {
        result.create.iter().map(|alert| alert.detail.stored.alert.id).collect()
    };
    assert_eq!(ids(&first), ids(&second));
}

async fn alerts_over_many_stocks_are_created_and_deleted_with_their_members(app: TestApp) {
    let ann = start(&app, Plan::Premium).await;
    app.quote("MSFT", 400.0).await;
    let many = json!({
        "scope": {"symbols": ["AAPL", "MSFT"]},
        "condition": "new_high",
        "managed_by": {"source": "team", "name": "highs"},
    });
    let created = batch(&app, &ann, json!({"create": [many]})).await;
    let id = created.create[0].detail.stored.alert.id;
    let members = app.service.alerts.alert_members(&ann, id, ALL).await.unwrap();
    assert_eq!(members.total, 2);
    assert_eq!(names(&listed(&app, &ann, Some("team")).await), ["highs"]);
    let update = json!({"update": [{"id": id.0, "alert": {"scope": {"symbols": ["AAPL"]}}}]});
    assert!(batch(&app, &ann, update).await.update[0].is_changed);
    assert_eq!(app.service.alerts.alert_members(&ann, id, ALL).await.unwrap().total, 1);
    batch(&app, &ann, json!({"delete": [id.0]})).await;
    assert_eq!(listed(&app, &ann, None).await, []);
}

async fn created_alerts_fire(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let body = json!({"create": [managed(above("AAPL", 152.0), "a"), managed(above("AAPL", 153.0), "b")]});
    let ids: Vec<_> = batch(&app, &ann, body)
        .await
        .create
        .iter()
        .map(|one| one.detail.stored.alert.id)
        .collect();
    app.quote("AAPL", 152.5).await;
    assert_eq!(app.status(&ann, ids[0]).await, Status::Triggered);
    assert_eq!(app.status(&ann, ids[1]).await, Status::Active);
    // An alert that a batch deletes does not fire.
    batch(&app, &ann, json!({"delete": [ids[1].0]})).await;
    app.quote("AAPL", 160.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn two_alerts_exchange_their_conditions(app: TestApp) {
    let ann = start(&app, Plan::Basic).await;
    let one = app
        .create(&ann, managed(above("AAPL", 150.0), "a"))
        .await
        .stored
        .alert
        .id;
    let other = app
        .create(&ann, managed(above("AAPL", 160.0), "b"))
        .await
        .stored
        .alert
        .id;
    let body = json!({"update": [
        {"id": one.0, "alert": {"threshold": 160}},
        {"id": other.0, "alert": {"threshold": 150}},
    ]});
    batch(&app, &ann, body).await;
    app.quote("AAPL", 155.0).await;
    assert_eq!(app.status(&ann, one).await, Status::Active);
    assert_eq!(app.status(&ann, other).await, Status::Triggered);
}

async fn largest_batch_is_created_at_once(app: TestApp) {
    let ann = start(&app, Plan::Premium).await;
    let creates: Vec<_> = (0..MAX_BATCH_CHANGES)
        .map(|n| managed(above("AAPL", 200.0 + n as f64), &format!("alert {n}")))
        .collect();
    let created = batch(&app, &ann, json!({"create": creates})).await;
    assert_eq!(created.create.len(), MAX_BATCH_CHANGES);
    let deletes: Vec<_> = created
        .create
        .iter()
        .map(|alert| alert.detail.stored.alert.id.0)
        .collect();
    batch(&app, &ann, json!({"delete": deletes})).await;
    assert_eq!(listed(&app, &ann, None).await, []);
}

//! The analyst's alerts of watchlist items.

use alerts::{AlertId, Plan, Status};
use clock::Clock;
use foundation::Actor;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use service::alerts::AlertItem;
use store::Store;
use store::model::{AccountId, AlertFilter, AlertSort, AlertSortField, ClaimedAnalysis, WatchlistItemId};

use crate::support::{ALL, TestApp, above, on_each_database};

on_each_database! {
    analyst_creates_alerts_with_their_origin
    item_without_automatic_alerts_gets_none
    analyst_alerts_are_deleted_with_their_item_and_others_stay
    swap_deletes_and_counts_analyst_alerts_and_requests_new_ones
    swap_without_automatic_alerts_is_analyzed_and_creates_none
    existing_alerts_are_not_created_again
    analyst_respects_the_alert_quota
    stale_alerts_are_replaced
    changed_target_requests_new_alerts
    analysis_of_a_dead_process_is_repeated_after_its_lease
    analysis_from_before_a_swap_is_discarded
}

async fn alerts(app: &TestApp, actor: &Actor) -> Vec<AlertItem> {
    let (filter, sort) = (
        AlertFilter::default(),
        AlertSort {
            field: AlertSortField::CreatedAt,
            ascending: true,
        },
    );
    app.service
        .alerts
        .alerts(actor, &filter, sort, ALL, false)
        .await
        .unwrap()
        .items
}

/// Returns the analyst's alerts.
async fn made(app: &TestApp, actor: &Actor) -> Vec<AlertItem> {
    let mut alerts = alerts(app, actor).await;
    alerts.retain(|alert| alert.stored.created_by.as_deref() == Some("analyst"));
    alerts
}

fn ids(alerts: &[AlertItem]) -> Vec<AlertId> {
    alerts.iter().map(|alert| alert.stored.alert.id).collect()
}

fn parameter(alert: &AlertItem, name: &str) -> Value {
    alert.stored.alert.parameters.as_ref().unwrap()[name].clone()
}

async fn analyst_creates_alerts_with_their_origin(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    assert!(item.listed.item.has_auto_alerts);
    app.analyse().await;
    let made = made(&app, &ann).await;
    assert!((2..=5).contains(&made.len()), "{made:?}");
    for alert in &made {
        assert_eq!(parameter(alert, "source"), "ai");
        assert_eq!(parameter(alert, "watchlist_item_id"), json!(item.listed.item.id.0));
        assert!(parameter(alert, "rationale").as_str().unwrap().len() > 20);
        assert_eq!(alert.stored.alert.status, Status::Active);
        assert_eq!(alert.stored.alert.symbol.as_str(), "AAPL");
    }
    let item = app.item(&ann, "AAPL").await;
    let advised = item.listed.item.advised.clone().unwrap();
    assert_eq!((advised.by.as_str(), advised.summary.is_empty()), ("rules", false));
    assert_eq!(item.listed.active_alerts, u64::try_from(made.len()).unwrap());
    // They are evaluated like any other alert.
    app.quote("AAPL", 60.0).await;
    let fired = self::made(&app, &ann).await;
    assert!(
        fired.iter().any(|alert| alert.stored.alert.status == Status::Triggered),
        "{fired:?}"
    );
}

async fn item_without_automatic_alerts_gets_none(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Premium).await);
    app.watched_stock("AAPL", 100.0).await;
    let basic = app.watch(&ann, "AAPL", "buy").await;
    let premium = app.watch(&bob, "AAPL", "buy").await;
    app.change(&bob, &premium, json!({"auto_alerts_enabled": false})).await;
    app.analyse().await;
    assert!(alerts(&app, &ann).await.is_empty() && alerts(&app, &bob).await.is_empty());
    app.change(&ann, &basic, json!({"auto_alerts_enabled": true})).await;
    app.analyse().await;
    let made = made(&app, &ann).await;
    assert!(!made.is_empty());
    // The basic plan has price and time alerts.
    for alert in made {
        assert!(
            Plan::Basic.allows(alert.stored.alert.condition.kind().family()),
            "{alert:?}"
        );
    }
}

async fn analyst_alerts_are_deleted_with_their_item_and_others_stay(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let own = app.create(&ann, above("AAPL", 900.0)).await.stored.alert.id;
    let item = app.watch(&ann, "AAPL", "buy").await;
    for off in [json!({"is_active": false}), json!({"auto_alerts_enabled": false})] {
        app.analyse().await;
        assert!(!made(&app, &ann).await.is_empty(), "{off}");
        app.change(&ann, &item, off.clone()).await;
        assert_eq!(ids(&alerts(&app, &ann).await), [own], "{off}");
        app.change(&ann, &item, json!({"is_active": true, "auto_alerts_enabled": true}))
            .await;
    }
    app.analyse().await;
    let before = made(&app, &ann).await;
    app.service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await
        .unwrap();
    assert_eq!(ids(&alerts(&app, &ann).await), [own]);
    // Their history is kept, and they do not fire any more.
    app.quote("AAPL", 1.0).await;
    for id in ids(&before) {
        let last = app.history(&ann, id).await.pop().unwrap();
        assert_eq!(last.entry.new_status, alerts::transition::HistoryStatus::Deleted);
    }
    // A queued analysis of a deleted item has no effect.
    app.analyse().await;
    assert_eq!(ids(&alerts(&app, &ann).await), [own]);
}

async fn swap_deletes_and_counts_analyst_alerts_and_requests_new_ones(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let before = made(&app, &ann).await;
    let (_, deleted) = app.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!(deleted, before.len());
    app.analyse().await;
    let after = made(&app, &ann).await;
    assert!((2..=5).contains(&after.len()));
    assert!(ids(&after).iter().all(|id| !ids(&before).contains(id)));
}

async fn swap_without_automatic_alerts_is_analyzed_and_creates_none(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.change(&ann, &item, json!({"auto_alerts_enabled": false})).await;
    app.analyse().await;
    let before = app.item(&ann, "AAPL").await.listed.item.advised;
    app.clock.advance(SignedDuration::from_secs(60));
    app.swap(&ann, &item, "sell").await.unwrap();
    app.analyse().await;
    let after = app.item(&ann, "AAPL").await.listed.item.advised;
    assert!(after.is_some() && after != before, "{after:?}");
    assert!(alerts(&app, &ann).await.is_empty());
    // An inactive item is not analyzed.
    app.change(&ann, &item, json!({"is_active": false})).await;
    app.clock.advance(SignedDuration::from_secs(60));
    app.swap(&ann, &item, "buy").await.unwrap();
    app.analyse().await;
    assert_eq!(app.item(&ann, "AAPL").await.listed.item.advised, after);
}

async fn existing_alerts_are_not_created_again(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let first = made(&app, &ann).await;
    // Ann creates one of them herself, and requests a new analysis.
    let one = &first[0].stored.alert;
    let mut body = json!({"symbol": "AAPL", "condition": one.condition.kind().name()});
    if let Some(threshold) = one.condition.threshold() {
        body["threshold"] = json!(threshold.as_f64());
    }
    let own = app.create(&ann, body).await.stored.alert.id;
    app.swap(&ann, &item, "buy").await.unwrap();
    app.analyse().await;
    let second = made(&app, &ann).await;
    let same = |alert: &&AlertItem| alert.stored.alert.condition == one.condition;
    assert_eq!(second.iter().filter(same).count(), 0);
    assert_eq!(second.len() + 1, first.len());
    assert!(ids(&alerts(&app, &ann).await).contains(&own));
}

async fn analyst_respects_the_alert_quota(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.watched_stock("AAPL", 100.0).await;
    for number in 0..19 {
        app.create(&ann, above("AAPL", 500.0 + f64::from(number))).await;
    }
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.change(&ann, &item, json!({"auto_alerts_enabled": true})).await;
    app.analyse().await;
    assert_eq!(made(&app, &ann).await.len(), 1);
    assert_eq!(alerts(&app, &ann).await.len(), 20);
    // A repeated analysis respects it as well. The analyst runs all the time, so the quota is used up while it must
    // not be.
    app.change(&ann, &item, json!({"auto_alerts_enabled": false})).await;
    app.create(&ann, above("AAPL", 600.0)).await;
    app.swap(&ann, &item, "sell").await.unwrap();
    app.change(&ann, &item, json!({"auto_alerts_enabled": true})).await;
    app.analyse().await;
    assert!(made(&app, &ann).await.is_empty());
}

async fn stale_alerts_are_replaced(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let first = made(&app, &ann).await;
    // Not stale.
    app.analyse().await;
    assert_eq!(ids(&made(&app, &ann).await), ids(&first));
    // Their horizon has passed.
    app.clock.advance(SignedDuration::from_hours(24 * 45));
    app.service.evaluate().await.unwrap();
    app.quote("AAPL", 101.0).await;
    app.analyse().await;
    let second = made(&app, &ann).await;
    let is_left = |alert: &&AlertItem| ids(&first).contains(&alert.stored.alert.id);
    assert!(
        second
            .iter()
            .filter(is_left)
            .all(|alert| alert.stored.alert.status == Status::Triggered)
    );
    assert!(second.len() > second.iter().filter(is_left).count());
    let advised = app.item(&ann, "AAPL").await.listed.item.advised.unwrap();
    assert_eq!(advised.priced.price, "101".parse().unwrap());
}

async fn changed_target_requests_new_alerts(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let first = made(&app, &ann).await;
    app.change(&ann, &item, json!({"notes": "patience"})).await;
    app.analyse().await;
    assert_eq!(ids(&made(&app, &ann).await), ids(&first));
    app.change(&ann, &item, json!({"target_price": 93})).await;
    app.analyse().await;
    let second = made(&app, &ann).await;
    assert!(ids(&second).iter().all(|id| !ids(&first).contains(id)));
    let at_target =
        |alert: &AlertItem| alert.stored.alert.condition.threshold().map(|level| level.as_f64()) == Some(93.0);
    assert!(second.iter().any(at_target), "{second:?}");
}

/// Requests an analysis of an item and claims it, as a process would that then dies.
async fn claim(app: &TestApp, minutes: i64) -> Vec<store::model::ClaimedAnalysis> {
    let store = app.store().await;
    let until = app
        .clock
        .now()
        .saturating_add(SignedDuration::from_mins(minutes))
        .unwrap();
    let claimed = store.claim_analyses(app.clock.now(), until, 10).await.unwrap();
    store.close().await;
    claimed
}

async fn analysis_of_a_dead_process_is_repeated_after_its_lease(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let first = made(&app, &ann).await;
    // The service is stopped, so that no other process claims the next request.
    app.service.stop().await;
    let store = app.store().await;
    request_analysis(&store, item.listed.item.id, ann.account, app.clock.now()).await;
    store.close().await;
    assert_eq!(claim(&app, 15).await.len(), 1);
    assert!(claim(&app, 15).await.is_empty());
    let other = app.another_process().await;
    if !other.store().await.is_shared() {
        // This is the only process on its database, so no other claim is waited for.
        other.analyse().await;
        assert!(
            ids(&made(&other, &ann).await)
                .iter()
                .all(|id| !ids(&first).contains(id))
        );
        return;
    }
    other.analyse().await;
    assert_eq!(ids(&made(&other, &ann).await), ids(&first));
    app.clock.advance(SignedDuration::from_mins(15));
    other.analyse().await;
    assert!(
        ids(&made(&other, &ann).await)
            .iter()
            .all(|id| !ids(&first).contains(id))
    );
}

async fn analysis_from_before_a_swap_is_discarded(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await.listed.item;
    app.analyse().await;
    app.service.stop().await;
    let store = app.store().await;
    let now = app.clock.now();
    request_analysis(&store, item.id, ann.account, now).await;
    let claimed = claim(&app, 15).await;
    request_analysis(&store, item.id, ann.account, now).await;
    // It is not claimed twice meanwhile, and due at once when the first analysis ends.
    assert!(claim(&app, 15).await.is_empty());
    assert!(!finish_analysis(&store, claimed[0], now).await);
    let again = claim(&app, 15).await;
    assert_eq!(again.len(), 1);
    assert!(finish_analysis(&store, again[0], now).await);
    assert_eq!(store.next_analysis_due().await.unwrap(), None);
    store.close().await;
}

/// Requests an analysis of an item.
async fn request_analysis(store: &Store, item: WatchlistItemId, account: AccountId, now: Timestamp) {
    let requested = store.commit((), move |(), unit| Box::pin(unit.request_analysis(item, account, now)));
    requested.await.unwrap();
}

/// Finishes an analysis. Returns `false` if its result must not be used.
async fn finish_analysis(store: &Store, claim: ClaimedAnalysis, now: Timestamp) -> bool {
    let finished = store.commit(claim, move |claim, unit| Box::pin(unit.finish_analysis(claim, now)));
    finished.await.unwrap()
}

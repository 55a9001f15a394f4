//! The analyst's alerts of items.

use alerts::{AlertId, Plan, Status};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use service::alerts::AlertItem;
use service::{AccountId, Actor, AlertFilter, AlertSort, AlertSortField, Clock};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use crate::support::{ALL, World, above, on_each_database};

on_each_database! {
    the_analyst_makes_alerts_that_say_where_they_come_from
    nobody_who_does_not_want_them_gets_alerts
    the_analysts_alerts_go_with_their_item_and_others_stay
    a_swap_deletes_and_counts_the_analysts_alerts_and_asks_for_others
    a_swap_without_automatic_alerts_is_analysed_and_makes_no_alerts
    what_the_account_has_already_is_not_made_again
    the_analyst_never_goes_beyond_the_plan
    alerts_that_went_stale_are_replaced
    another_target_asks_for_other_alerts
    what_a_process_was_at_when_it_died_is_looked_at_when_its_claim_ends
    what_was_found_out_before_an_item_was_turned_is_not_used
}

async fn alerts(world: &World, actor: &Actor) -> Vec<AlertItem> {
    let (filter, sort) = (
        AlertFilter::default(),
        AlertSort {
            field: AlertSortField::CreatedAt,
            ascending: true,
        },
    );
    world
        .service
        .alerts
        .alerts(actor, &filter, sort, ALL, false)
        .await
        .unwrap()
        .items
}

/// The analyst's alerts.
async fn made(world: &World, actor: &Actor) -> Vec<AlertItem> {
    let mut alerts = alerts(world, actor).await;
    alerts.retain(|alert| alert.stored.created_by.as_deref() == Some("analyst"));
    alerts
}

fn ids(alerts: &[AlertItem]) -> Vec<AlertId> {
    alerts.iter().map(|alert| alert.stored.alert.id).collect()
}

fn parameter(alert: &AlertItem, name: &str) -> Value {
    alert.stored.alert.parameters.as_ref().unwrap()[name].clone()
}

async fn the_analyst_makes_alerts_that_say_where_they_come_from(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    assert!(item.listed.item.has_auto_alerts);
    world.analyse().await;
    let made = made(&world, &ann).await;
    assert!((2..=5).contains(&made.len()), "{made:?}");
    for alert in &made {
        assert_eq!(parameter(alert, "source"), "ai");
        assert_eq!(parameter(alert, "watchlist_item_id"), json!(item.listed.item.id.0));
        assert!(parameter(alert, "rationale").as_str().unwrap().len() > 20);
        assert_eq!(alert.stored.alert.status, Status::Active);
        assert_eq!(alert.stored.alert.symbol.as_str(), "AAPL");
    }
    let item = world.item(&ann, "AAPL").await;
    let advised = item.listed.item.advised.clone().unwrap();
    assert_eq!((advised.by.as_str(), advised.summary.is_empty()), ("rules", false));
    assert_eq!(item.listed.active_alerts, u64::try_from(made.len()).unwrap());
    // They are judged as any other.
    world.quote("AAPL", 60.0).await;
    let fired = self::made(&world, &ann).await;
    assert!(
        fired.iter().any(|alert| alert.stored.alert.status == Status::Triggered),
        "{fired:?}"
    );
}

async fn nobody_who_does_not_want_them_gets_alerts(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Premium).await);
    world.watched_stock("AAPL", 100.0).await;
    let basic = world.watch(&ann, "AAPL", "buy").await;
    let premium = world.watch(&bob, "AAPL", "buy").await;
    world
        .change(&bob, &premium, json!({"auto_alerts_enabled": false}))
        .await;
    world.analyse().await;
    assert!(alerts(&world, &ann).await.is_empty() && alerts(&world, &bob).await.is_empty());
    world.change(&ann, &basic, json!({"auto_alerts_enabled": true})).await;
    world.analyse().await;
    let made = made(&world, &ann).await;
    assert!(!made.is_empty());
    // The basic plan has price alerts and those that go by the clock.
    for alert in made {
        assert!(
            Plan::Basic.allows(alert.stored.alert.condition.kind().family()),
            "{alert:?}"
        );
    }
}

async fn the_analysts_alerts_go_with_their_item_and_others_stay(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let own = world.create(&ann, above("AAPL", 900.0)).await.stored.alert.id;
    let item = world.watch(&ann, "AAPL", "buy").await;
    for off in [json!({"is_active": false}), json!({"auto_alerts_enabled": false})] {
        world.analyse().await;
        assert!(!made(&world, &ann).await.is_empty(), "{off}");
        world.change(&ann, &item, off.clone()).await;
        assert_eq!(ids(&alerts(&world, &ann).await), [own], "{off}");
        world
            .change(&ann, &item, json!({"is_active": true, "auto_alerts_enabled": true}))
            .await;
    }
    world.analyse().await;
    let before = made(&world, &ann).await;
    world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await
        .unwrap();
    assert_eq!(ids(&alerts(&world, &ann).await), [own]);
    // Their history stays, and they do not fire any more.
    world.quote("AAPL", 1.0).await;
    for id in ids(&before) {
        let last = world.history(&ann, id).await.pop().unwrap();
        assert_eq!(last.entry.new_status, alerts::transition::HistoryStatus::Deleted);
    }
    // What is in the queue for an item that is gone comes to nothing.
    world.analyse().await;
    assert_eq!(ids(&alerts(&world, &ann).await), [own]);
}

async fn a_swap_deletes_and_counts_the_analysts_alerts_and_asks_for_others(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let before = made(&world, &ann).await;
    let (_, deleted) = world.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!(deleted, before.len());
    world.analyse().await;
    let after = made(&world, &ann).await;
    assert!((2..=5).contains(&after.len()));
    assert!(ids(&after).iter().all(|id| !ids(&before).contains(id)));
}

async fn a_swap_without_automatic_alerts_is_analysed_and_makes_no_alerts(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.change(&ann, &item, json!({"auto_alerts_enabled": false})).await;
    world.analyse().await;
    let before = world.item(&ann, "AAPL").await.listed.item.advised;
    world.clock.advance(SignedDuration::from_secs(60));
    world.swap(&ann, &item, "sell").await.unwrap();
    world.analyse().await;
    let after = world.item(&ann, "AAPL").await.listed.item.advised;
    assert!(after.is_some() && after != before, "{after:?}");
    assert!(alerts(&world, &ann).await.is_empty());
    // An item that is put aside is not analysed.
    world.change(&ann, &item, json!({"is_active": false})).await;
    world.clock.advance(SignedDuration::from_secs(60));
    world.swap(&ann, &item, "buy").await.unwrap();
    world.analyse().await;
    assert_eq!(world.item(&ann, "AAPL").await.listed.item.advised, after);
}

async fn what_the_account_has_already_is_not_made_again(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let first = made(&world, &ann).await;
    // Ann writes down one of them herself, and lets the analyst begin anew.
    let one = &first[0].stored.alert;
    let mut body = json!({"symbol": "AAPL", "condition": one.condition.kind().name()});
    if let Some(threshold) = one.condition.threshold() {
        body["threshold"] = json!(threshold.as_f64());
    }
    let own = world.create(&ann, body).await.stored.alert.id;
    world.swap(&ann, &item, "buy").await.unwrap();
    world.analyse().await;
    let second = made(&world, &ann).await;
    let same = |alert: &&AlertItem| alert.stored.alert.condition == one.condition;
    assert_eq!(second.iter().filter(same).count(), 0);
    assert_eq!(second.len() + 1, first.len());
    assert!(ids(&alerts(&world, &ann).await).contains(&own));
}

async fn the_analyst_never_goes_beyond_the_plan(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.watched_stock("AAPL", 100.0).await;
    for number in 0..19 {
        world.create(&ann, above("AAPL", 500.0 + f64::from(number))).await;
    }
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.change(&ann, &item, json!({"auto_alerts_enabled": true})).await;
    world.analyse().await;
    assert_eq!(made(&world, &ann).await.len(), 1);
    assert_eq!(alerts(&world, &ann).await.len(), 20);
    // A refresh stays within it as well. The analyst is at work all the time, so the place is taken while it must not be.
    world.change(&ann, &item, json!({"auto_alerts_enabled": false})).await;
    world.create(&ann, above("AAPL", 600.0)).await;
    world.swap(&ann, &item, "sell").await.unwrap();
    world.change(&ann, &item, json!({"auto_alerts_enabled": true})).await;
    world.analyse().await;
    assert!(made(&world, &ann).await.is_empty());
}

async fn alerts_that_went_stale_are_replaced(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let first = made(&world, &ann).await;
    // Still good.
    world.analyse().await;
    assert_eq!(ids(&made(&world, &ann).await), ids(&first));
    // Their horizon passes.
    world.clock.advance(SignedDuration::from_hours(24 * 45));
    world.service.evaluate().await.unwrap();
    world.quote("AAPL", 101.0).await;
    world.analyse().await;
    let second = made(&world, &ann).await;
    let is_left = |alert: &&AlertItem| ids(&first).contains(&alert.stored.alert.id);
    assert!(
        second
            .iter()
            .filter(is_left)
            .all(|alert| alert.stored.alert.status == Status::Triggered)
    );
    assert!(second.len() > second.iter().filter(is_left).count());
    let advised = world.item(&ann, "AAPL").await.listed.item.advised.unwrap();
    assert_eq!(advised.priced.price, "101".parse().unwrap());
}

async fn another_target_asks_for_other_alerts(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let first = made(&world, &ann).await;
    world.change(&ann, &item, json!({"notes": "patience"})).await;
    world.analyse().await;
    assert_eq!(ids(&made(&world, &ann).await), ids(&first));
    world.change(&ann, &item, json!({"target_price": 93})).await;
    world.analyse().await;
    let second = made(&world, &ann).await;
    assert!(ids(&second).iter().all(|id| !ids(&first).contains(id)));
    let at_target =
        |alert: &AlertItem| alert.stored.alert.condition.threshold().map(|level| level.as_f64()) == Some(93.0);
    assert!(second.iter().any(at_target), "{second:?}");
}

/// Asks about an item, and claims that as a process would that then dies.
async fn claim(world: &World, minutes: i64) -> Vec<store::model::ClaimedAnalysis> {
    let store = world.store().await;
    let until = world
        .clock
        .now()
        .saturating_add(SignedDuration::from_mins(minutes))
        .unwrap();
    let claimed = store.claim_analyses(world.clock.now(), until, 10).await.unwrap();
    store.close().await;
    claimed
}

async fn what_a_process_was_at_when_it_died_is_looked_at_when_its_claim_ends(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let first = made(&world, &ann).await;
    // No process of this service runs while another one claims what is asked next.
    world.service.stop().await;
    let store = world.store().await;
    let asked = Asked(item.listed.item.id, ann.account, world.clock.now());
    store.write(asked).await.unwrap();
    store.close().await;
    assert_eq!(claim(&world, 15).await.len(), 1);
    assert!(claim(&world, 15).await.is_empty());
    let other = world.another_process().await;
    if !other.store().await.is_shared() {
        // Alone on its database, nobody else can have claimed anything, so it does not wait.
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
    world.clock.advance(SignedDuration::from_mins(15));
    other.analyse().await;
    assert!(
        ids(&made(&other, &ann).await)
            .iter()
            .all(|id| !ids(&first).contains(id))
    );
}

async fn what_was_found_out_before_an_item_was_turned_is_not_used(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await.listed.item;
    world.analyse().await;
    world.service.stop().await;
    let store = world.store().await;
    let now = world.clock.now();
    store.write(Asked(item.id, ann.account, now)).await.unwrap();
    let claimed = claim(&world, 15).await;
    store.write(Asked(item.id, ann.account, now)).await.unwrap();
    // It is not claimed twice meanwhile, and due at once when the first look ends.
    assert!(claim(&world, 15).await.is_empty());
    assert!(!store.write(Finished(claimed[0], now)).await.unwrap());
    let again = claim(&world, 15).await;
    assert_eq!(again.len(), 1);
    assert!(store.write(Finished(again[0], now)).await.unwrap());
    assert_eq!(store.next_analysis_due().await.unwrap(), None);
    store.close().await;
}

/// Asks the analyst about an item.
struct Asked(service::watchlist::WatchlistItemId, AccountId, Timestamp);

impl Transaction for Asked {
    type Output = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.request_analysis(self.0, self.1, self.2).await?) })
    }
}

/// Ends a look.
struct Finished(store::model::ClaimedAnalysis, Timestamp);

impl Transaction for Finished {
    type Output = bool;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<bool, Abort<Self::Refusal>>> {
        Box::pin(async move { Ok(unit.finish_analysis(&self.0, self.1).await?) })
    }
}

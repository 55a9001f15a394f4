//! What following the watchlist would have earned.

use alerts::Plan;
use jiff::civil::{Date, date};
use serde_json::json;
use service::Actor;
use service::cron::Job;
use service::watchlist::{PerformanceRange, PerformanceView};

use crate::support::{World, at, on_each_database};

on_each_database! {
    without_trades_there_is_nothing_and_no_fault
    the_return_of_each_session_is_chained_beside_the_benchmark
    a_session_waits_for_its_closes_but_not_for_ever
    the_running_session_is_a_provisional_point
    the_first_day_is_shown_while_its_session_runs
    session_that_waits_for_its_closes_has_the_observed_ones_until_then
    what_becomes_known_late_is_reckoned_in
    following_day_by_day_comes_to_the_same_as_following_at_once
}

async fn performance(world: &World, actor: &Actor) -> PerformanceView {
    world
        .service
        .watchlists
        .paper_performance(actor, PerformanceRange::Max)
        .await
        .unwrap()
}

fn values(view: &PerformanceView) -> Vec<f64> {
    let values = view.performance.watchlist.iter().map(|point| point.value);
    values.map(|value| (value * 1e6).round() / 1e6).collect()
}

/// Delivers the bars of a session, each with one price all day.
async fn close(world: &World, date: &str, prices: &[(&str, f64)]) {
    let bars = prices.iter().map(|(symbol, price)| {
        json!({
            "symbol": symbol, "date": date, "open": price, "high": price, "low": price, "close": price, "volume": 1000,
        })
    });
    world.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn without_trades_there_is_nothing_and_no_fault(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let view = performance(&world, &ann).await;
    assert!(view.performance.watchlist.is_empty() && view.performance.benchmark.is_empty());
    assert_eq!(view.performance.base_date, None);
    assert_eq!(view.performance.summary.watchlist_return_pct, 0.0);
}

async fn the_return_of_each_session_is_chained_beside_the_benchmark(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    // Friday, Monday, Tuesday; one trade that is long from 100.
    world.clock.set(at("2024-03-12T20:00:00Z"));
    close(&world, "2024-03-08", &[("AAPL", 110.0), ("SPY", 500.0)]).await;
    close(&world, "2024-03-11", &[("AAPL", 121.0), ("SPY", 510.0)]).await;
    close(&world, "2024-03-12", &[("AAPL", 108.9), ("SPY", 505.0)]).await;
    let view = performance(&world, &ann).await;
    // The first day is 100, whatever it brought.
    assert_eq!(values(&view), [100.0, 110.0, 99.0]);
    assert_eq!(view.performance.base_date, Some(date(2024, 3, 8)));
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0, 101.0]);
    let summary = view.performance.summary;
    assert!((summary.watchlist_return_pct + 1.0).abs() < 1e-9);
    assert!((summary.alpha_pct.unwrap() + 2.0).abs() < 1e-9);
    // The trade ends in the next session.
    world.clock.set(at("2024-03-13T15:00:00Z"));
    world.quote("AAPL", 120.0).await;
    let item = world.item(&ann, "AAPL").await.listed.item.id;
    world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item)
        .await
        .unwrap();
    world.clock.set(at("2024-03-13T20:00:00Z"));
    close(&world, "2024-03-13", &[("AAPL", 1.0), ("SPY", 505.0)]).await;
    let view = performance(&world, &ann).await;
    assert_eq!(values(&view)[3], (99.0_f64 * 120.0 / 108.9 * 1e6).round() / 1e6);
}

async fn a_session_waits_for_its_closes_but_not_for_ever(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world
        .deliver(
            json!({"stocks": [{"symbol": "MSFT", "name": "Microsoft"}], "quotes": [{"symbol": "MSFT", "price": 50}]}),
        )
        .await;
    world.watch(&ann, "AAPL", "buy").await;
    world.watch(&ann, "MSFT", "buy").await;
    world.clock.set(at("2024-03-08T21:30:00Z"));
    close(&world, "2024-03-08", &[("AAPL", 100.0)]).await;
    // The session that has ended is stored, and nothing makes the followed trades invalid meanwhile.
    world.service.evaluate().await.unwrap();
    assert_eq!(provisional_from(&world, &ann).await, Some(date(2024, 3, 8)));
    // Twenty hours after the close (21:00 in UTC) it is taken as it is.
    world.clock.set(at("2024-03-09T16:59:59Z"));
    assert_eq!(provisional_from(&world, &ann).await, Some(date(2024, 3, 8)));
    world.clock.set(at("2024-03-09T17:00:00Z"));
    assert_eq!(provisional_from(&world, &ann).await, None);
    assert_eq!(values(&performance(&world, &ann).await), [100.0]);
}

async fn provisional_from(world: &World, actor: &Actor) -> Option<Date> {
    performance(world, actor).await.provisional_from
}

async fn the_running_session_is_a_provisional_point(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    world.clock.set(at("2024-03-08T21:30:00Z"));
    close(&world, "2024-03-08", &[("AAPL", 110.0), ("SPY", 500.0)]).await;
    // Before the open of Monday, at 13:30 in UTC, there is nothing to show.
    world.clock.set(at("2024-03-11T13:29:59Z"));
    assert_eq!(values(&performance(&world, &ann).await), [100.0]);
    assert_eq!(provisional_from(&world, &ann).await, None);
    // From the open on the trade stands where it stood, until there is a price.
    world.clock.set(at("2024-03-11T13:30:00Z"));
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 100.0]);
    assert_eq!(provisional_from(&world, &ann).await, Some(date(2024, 3, 11)));
    world.clock.set(at("2024-03-11T14:00:00Z"));
    world.quote("AAPL", 121.0).await;
    world.quote("SPY", 510.0).await;
    let view = performance(&world, &ann).await;
    assert_eq!(values(&view), [100.0, 110.0]);
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0]);
    assert!((view.performance.summary.alpha_pct.unwrap() - 8.0).abs() < 1e-9);
    // The price moves on, and the close ends it.
    world.quote("AAPL", 99.0).await;
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 90.0]);
    world.clock.set(at("2024-03-11T20:30:00Z"));
    close(&world, "2024-03-11", &[("AAPL", 88.0), ("SPY", 510.0)]).await;
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 80.0]);
    assert_eq!(provisional_from(&world, &ann).await, None);
}

async fn the_first_day_is_shown_while_its_session_runs(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    let view = performance(&world, &ann).await;
    assert_eq!(view.performance.base_date, Some(date(2024, 3, 8)));
    assert_eq!(
        (values(&view), view.provisional_from),
        (vec![100.0], Some(date(2024, 3, 8)))
    );
    assert_eq!(view.performance.summary.benchmark_return_pct, None);
}

async fn what_becomes_known_late_is_reckoned_in(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    world.clock.set(at("2024-03-13T00:00:00Z"));
    for (date, price) in [("2024-03-08", 100.0), ("2024-03-11", 110.0), ("2024-03-12", 55.0)] {
        close(&world, date, &[("AAPL", price)]).await;
    }
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 110.0, 55.0]);
    // A bar is corrected, a split becomes known, and a dividend.
    close(&world, "2024-03-11", &[("AAPL", 120.0)]).await;
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 120.0, 55.0]);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-12", "ratio": 2}]}))
        .await;
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 120.0, 110.0]);
    world
        .deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-12", "amount": 5}]}))
        .await;
    assert_eq!(values(&performance(&world, &ann).await), [100.0, 120.0, 120.0]);
}

async fn following_day_by_day_comes_to_the_same_as_following_at_once(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Basic).await);
    let mut random = Numbers(7);
    let calendar = market::Calendar::nyse();
    let mut price = 100.0;
    let mut ann_read = Vec::new();
    for (day, session) in calendar.sessions(date(2024, 3, 8), date(2024, 4, 30)).enumerate() {
        world.clock.set(
            session
                .open
                .saturating_add(jiff::SignedDuration::from_mins(10))
                .unwrap(),
        );
        world.service.evaluate().await.unwrap();
        world.quote("AAPL", price).await;
        for actor in [&ann, &bob] {
            let items = world.service.watchlists.watchlist(actor).await.unwrap();
            match (items.first(), day % 5) {
                (None, _) => _ = world.watch(actor, "AAPL", "buy").await,
                (Some(item), 1) => _ = world.swap(actor, item, "sell").await.unwrap(),
                (Some(item), 2) => _ = world.change(actor, item, json!({"is_active": false})).await,
                (Some(item), 3) => _ = world.change(actor, item, json!({"is_active": true})).await,
                (Some(item), _) if day % 10 == 4 => {
                    world
                        .service
                        .watchlists
                        .delete_watchlist_item(actor, item.listed.item.id)
                        .await
                        .unwrap();
                }
                (Some(item), _) => _ = world.swap(actor, item, "buy").await.unwrap(),
            }
            let open = world
                .trades(actor)
                .await
                .iter()
                .filter(|trade| trade.stored.exit.is_none())
                .count();
            let items = world.service.watchlists.watchlist(actor).await.unwrap();
            assert_eq!(
                open,
                items.iter().filter(|item| item.listed.item.is_active).count(),
                "day {day}"
            );
        }
        price = (price * (0.97 + 0.06 * random.fraction()) * 100.0).round() / 100.0;
        world.clock.set(session.close);
        close(&world, &session.date.to_string(), &[("AAPL", price)]).await;
        // Ann looks every day, Bob's are followed at the end only.
        ann_read = values(&performance(&world, &ann).await);
        assert_eq!(ann_read.len(), day + 1);
    }
    world.service.jobs.run_job(Job::PaperTrades).await.unwrap();
    assert_eq!(values(&performance(&world, &bob).await), ann_read);
    let spread = |values: &[f64]| values.iter().any(|value| (value - 100.0).abs() > 1.0);
    assert!(spread(&ann_read), "{ann_read:?}");
}

/// A small generator of fractions (a 64-bit LCG with Knuth's constants), the same on each run.
struct Numbers(u64);

impl Numbers {
    /// From 0 to below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

async fn session_that_waits_for_its_closes_has_the_observed_ones_until_then(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    world.clock.set(at("2024-03-08T21:30:00Z"));
    close(&world, "2024-03-08", &[("AAPL", 100.0), ("SPY", 500.0)]).await;
    // On Monday prices are pushed, and no bar.
    world.clock.set(at("2024-03-11T19:55:00Z"));
    world.quote("AAPL", 110.0).await;
    world.quote("SPY", 510.0).await;
    // Tuesday at ten in New York: Monday still waits.
    world.clock.set(at("2024-03-12T14:00:00Z"));
    world.quote("AAPL", 121.0).await;
    world.quote("SPY", 520.0).await;
    world.service.evaluate().await.unwrap();
    let view = performance(&world, &ann).await;
    assert_eq!(view.provisional_from, Some(date(2024, 3, 11)));
    assert_eq!(values(&view), [100.0, 110.0, 121.0]);
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0, 104.0]);
}

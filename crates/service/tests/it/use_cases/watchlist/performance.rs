//! The performance of the watchlist.

use alerts::Plan;
use foundation::Actor;
use jiff::civil::{Date, date};
use serde_json::json;
use service::cron::Job;
use watchlist::{PerformanceRange, PerformanceView};

use crate::support::{TestApp, at, on_each_database};

on_each_database! {
    performance_without_trades_is_empty
    session_returns_are_chained_and_compared_with_the_benchmark
    session_waits_for_its_closes_for_a_limited_time
    running_session_is_a_provisional_point
    first_day_is_included_while_its_session_runs
    waiting_session_uses_observed_closes
    late_data_is_included
    daily_following_equals_following_at_once
}

async fn performance(app: &TestApp, actor: &Actor) -> PerformanceView {
    app.service
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
async fn close(app: &TestApp, date: &str, prices: &[(&str, f64)]) {
    let bars = prices.iter().map(|(symbol, price)| {
        json!({
            "symbol": symbol, "date": date, "open": price, "high": price, "low": price, "close": price, "volume": 1000,
        })
    });
    app.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn performance_without_trades_is_empty(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let view = performance(&app, &ann).await;
    assert!(view.performance.watchlist.is_empty() && view.performance.benchmark.is_empty());
    assert_eq!(view.performance.base_date, None);
    assert_eq!(view.performance.summary.watchlist_return_pct, 0.0);
}

async fn session_returns_are_chained_and_compared_with_the_benchmark(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    // Friday, Monday, Tuesday; one long trade from 100.
    app.clock.set(at("2024-03-12T20:00:00Z"));
    close(&app, "2024-03-08", &[("AAPL", 110.0), ("SPY", 500.0)]).await;
    close(&app, "2024-03-11", &[("AAPL", 121.0), ("SPY", 510.0)]).await;
    close(&app, "2024-03-12", &[("AAPL", 108.9), ("SPY", 505.0)]).await;
    let view = performance(&app, &ann).await;
    // The first day is 100 in any case.
    assert_eq!(values(&view), [100.0, 110.0, 99.0]);
    assert_eq!(view.performance.base_date, Some(date(2024, 3, 8)));
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0, 101.0]);
    let summary = view.performance.summary;
    assert!((summary.watchlist_return_pct + 1.0).abs() < 1e-9);
    assert!((summary.alpha_pct.unwrap() + 2.0).abs() < 1e-9);
    // The trade ends in the next session.
    app.clock.set(at("2024-03-13T15:00:00Z"));
    app.quote("AAPL", 120.0).await;
    let item = app.item(&ann, "AAPL").await.listed.item.id;
    app.service.watchlists.delete_watchlist_item(&ann, item).await.unwrap();
    app.clock.set(at("2024-03-13T20:00:00Z"));
    close(&app, "2024-03-13", &[("AAPL", 1.0), ("SPY", 505.0)]).await;
    let view = performance(&app, &ann).await;
    assert_eq!(values(&view)[3], (99.0_f64 * 120.0 / 108.9 * 1e6).round() / 1e6);
}

async fn session_waits_for_its_closes_for_a_limited_time(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.deliver(
        json!({"stocks": [{"symbol": "MSFT", "name": "Microsoft"}], "quotes": [{"symbol": "MSFT", "price": 50}]}),
    )
    .await;
    app.watch(&ann, "AAPL", "buy").await;
    app.watch(&ann, "MSFT", "buy").await;
    app.clock.set(at("2024-03-08T21:30:00Z"));
    close(&app, "2024-03-08", &[("AAPL", 100.0)]).await;
    // The ended session is stored, and nothing invalidates the progress meanwhile.
    app.service.evaluate().await.unwrap();
    assert_eq!(provisional_from(&app, &ann).await, Some(date(2024, 3, 8)));
    // Twenty hours after the close (21:00 UTC) it is taken as it is.
    app.clock.set(at("2024-03-09T16:59:59Z"));
    assert_eq!(provisional_from(&app, &ann).await, Some(date(2024, 3, 8)));
    app.clock.set(at("2024-03-09T17:00:00Z"));
    assert_eq!(provisional_from(&app, &ann).await, None);
    assert_eq!(values(&performance(&app, &ann).await), [100.0]);
}

async fn provisional_from(app: &TestApp, actor: &Actor) -> Option<Date> {
    performance(app, actor).await.provisional_from
}

async fn running_session_is_a_provisional_point(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    app.clock.set(at("2024-03-08T21:30:00Z"));
    close(&app, "2024-03-08", &[("AAPL", 110.0), ("SPY", 500.0)]).await;
    // Before the open of Monday, at 13:30 UTC, there is no provisional point.
    app.clock.set(at("2024-03-11T13:29:59Z"));
    assert_eq!(values(&performance(&app, &ann).await), [100.0]);
    assert_eq!(provisional_from(&app, &ann).await, None);
    // From the open on the trade keeps its value until there is a price.
    app.clock.set(at("2024-03-11T13:30:00Z"));
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 100.0]);
    assert_eq!(provisional_from(&app, &ann).await, Some(date(2024, 3, 11)));
    app.clock.set(at("2024-03-11T14:00:00Z"));
    app.quote("AAPL", 121.0).await;
    app.quote("SPY", 510.0).await;
    let view = performance(&app, &ann).await;
    assert_eq!(values(&view), [100.0, 110.0]);
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0]);
    assert!((view.performance.summary.alpha_pct.unwrap() - 8.0).abs() < 1e-9);
    // The price changes the point, and the close completes it.
    app.quote("AAPL", 99.0).await;
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 90.0]);
    app.clock.set(at("2024-03-11T20:30:00Z"));
    close(&app, "2024-03-11", &[("AAPL", 88.0), ("SPY", 510.0)]).await;
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 80.0]);
    assert_eq!(provisional_from(&app, &ann).await, None);
}

async fn first_day_is_included_while_its_session_runs(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    let view = performance(&app, &ann).await;
    assert_eq!(view.performance.base_date, Some(date(2024, 3, 8)));
    assert_eq!(
        (values(&view), view.provisional_from),
        (vec![100.0], Some(date(2024, 3, 8)))
    );
    assert_eq!(view.performance.summary.benchmark_return_pct, None);
}

async fn late_data_is_included(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    app.clock.set(at("2024-03-13T00:00:00Z"));
    for (date, price) in [("2024-03-08", 100.0), ("2024-03-11", 110.0), ("2024-03-12", 55.0)] {
        close(&app, date, &[("AAPL", price)]).await;
    }
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 110.0, 55.0]);
    // A corrected bar, a late split, and a late dividend.
    close(&app, "2024-03-11", &[("AAPL", 120.0)]).await;
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 120.0, 55.0]);
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-12", "ratio": 2}]}))
        .await;
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 120.0, 110.0]);
    app.deliver(json!({"dividends": [{"symbol": "AAPL", "ex_date": "2024-03-12", "amount": 5}]}))
        .await;
    assert_eq!(values(&performance(&app, &ann).await), [100.0, 120.0, 120.0]);
}

async fn daily_following_equals_following_at_once(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let mut random = Numbers(7);
    let calendar = market::Calendar::nyse();
    let mut price = 100.0;
    let mut ann_read = Vec::new();
    for (day, session) in calendar.sessions(date(2024, 3, 8), date(2024, 4, 30)).enumerate() {
        app.clock.set(
            session
                .open
                .saturating_add(jiff::SignedDuration::from_mins(10))
                .unwrap(),
        );
        app.service.evaluate().await.unwrap();
        app.quote("AAPL", price).await;
        for actor in [&ann, &bob] {
            let items = app.service.watchlists.watchlist(actor).await.unwrap();
            match (items.first(), day % 5) {
                (None, _) => _ = app.watch(actor, "AAPL", "buy").await,
                (Some(item), 1) => _ = app.swap(actor, item, "sell").await.unwrap(),
                (Some(item), 2) => _ = app.change(actor, item, json!({"is_active": false})).await,
                (Some(item), 3) => _ = app.change(actor, item, json!({"is_active": true})).await,
                (Some(item), _) if day % 10 == 4 => {
                    app.service
                        .watchlists
                        .delete_watchlist_item(actor, item.listed.item.id)
                        .await
                        .unwrap();
                }
                (Some(item), _) => _ = app.swap(actor, item, "buy").await.unwrap(),
            }
            let open = app
                .trades(actor)
                .await
                .iter()
                .filter(|trade| trade.stored.exit.is_none())
                .count();
            let items = app.service.watchlists.watchlist(actor).await.unwrap();
            assert_eq!(
                open,
                items.iter().filter(|item| item.listed.item.is_active).count(),
                "day {day}"
            );
        }
        price = (price * (0.97 + 0.06 * random.fraction()) * 100.0).round() / 100.0;
        app.clock.set(session.close);
        close(&app, &session.date.to_string(), &[("AAPL", price)]).await;
        // Ann's performance is read every day, Bob's only at the end.
        ann_read = values(&performance(&app, &ann).await);
        assert_eq!(ann_read.len(), day + 1);
    }
    app.service.jobs.run_job(Job::PaperTrades).await.unwrap();
    assert_eq!(values(&performance(&app, &bob).await), ann_read);
    let spread = |values: &[f64]| values.iter().any(|value| (value - 100.0).abs() > 1.0);
    assert!(spread(&ann_read), "{ann_read:?}");
}

/// A small generator of fractions (a 64-bit LCG with Knuth's constants), the same on each run.
struct Numbers(u64);

impl Numbers {
    /// Returns a fraction from 0 to below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

async fn waiting_session_uses_observed_closes(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    app.clock.set(at("2024-03-08T21:30:00Z"));
    close(&app, "2024-03-08", &[("AAPL", 100.0), ("SPY", 500.0)]).await;
    // On Monday prices are pushed without a bar.
    app.clock.set(at("2024-03-11T19:55:00Z"));
    app.quote("AAPL", 110.0).await;
    app.quote("SPY", 510.0).await;
    // Tuesday at 10:00 in New York: Monday still waits.
    app.clock.set(at("2024-03-12T14:00:00Z"));
    app.quote("AAPL", 121.0).await;
    app.quote("SPY", 520.0).await;
    app.service.evaluate().await.unwrap();
    let view = performance(&app, &ann).await;
    assert_eq!(view.provisional_from, Some(date(2024, 3, 11)));
    assert_eq!(values(&view), [100.0, 110.0, 121.0]);
    let benchmark: Vec<f64> = view.performance.benchmark.iter().map(|point| point.value).collect();
    assert_eq!(benchmark, [100.0, 102.0, 104.0]);
}

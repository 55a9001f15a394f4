//! Alerts over many stocks: each member fires exactly as an alert on its stock does.

use alerts::{AlertId, Plan, Status};
use foundation::Actor;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::support::{TestApp, on_each_database};

on_each_database! {
    members_fire_exactly_as_alerts_on_single_stocks
    members_created_by_another_process_are_evaluated_after_a_comparison
    two_processes_that_fire_the_last_members_end_the_alert
    members_are_adjusted_to_splits_one_by_one
    deleted_alert_gets_no_member_from_a_watchlist_that_changes_meanwhile
}

const SYMBOLS: [&str; 3] = ["AAPL", "MSFT", "TSLA"];

async fn over(app: &TestApp, actor: &Actor, symbols: &[&str], mut body: Value) -> AlertId {
    body["scope"] = json!({"symbols": symbols});
    app.create(actor, body).await.stored.alert.id
}

/// Returns the stock, the time, the price and the reason of each firing, sorted.
async fn firings(app: &TestApp, actor: &Actor) -> Vec<String> {
    let events = app.events(actor).await;
    let mut found: Vec<_> = events
        .iter()
        .map(|event| format!("{} {} {}", event.at, event.data["stock"], event.data["reason"]))
        .collect();
    found.sort();
    found
}

async fn members_fire_exactly_as_alerts_on_single_stocks(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    for symbol in SYMBOLS {
        app.quote(symbol, 100.0).await;
    }
    let bodies = [
        json!({"condition": "price_above", "threshold": 104, "options": {"repeat": "each_time", "rearm": {"at": 102}}}),
        json!({"condition": "price_change_down", "threshold": 2, "options": {"repeat": "each_time", "cooldown": "3m"}}),
        json!({
            "condition": "expression", "parameters": {"when": "price crosses above 101 and change_pct(open) < 6"},
            "options": {"repeat": "each_time"},
        }),
    ];
    for body in &bodies {
        over(&app, &ann, &SYMBOLS, body.clone()).await;
        for symbol in SYMBOLS {
            let mut single = body.clone();
            single["symbol"] = json!(symbol);
            app.create(&bob, single).await;
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut prices = [10_000_u64; 3];
    for _ in 0..60 {
        app.advance(1);
        for (symbol, price) in SYMBOLS.iter().zip(&mut prices) {
            *price = *price + rng.next_u64() % 301 - 150;
            app.quote(symbol, f64::from(u32::try_from(*price).unwrap()) / 100.0)
                .await;
        }
    }
    let expected = firings(&app, &bob).await;
    assert!(expected.len() > 5, "{expected:?}");
    assert_eq!(firings(&app, &ann).await, expected);
}

async fn members_created_by_another_process_are_evaluated_after_a_comparison(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    for symbol in SYMBOLS {
        app.quote(symbol, 100.0).await;
    }
    let other = app.another_process().await;
    let body = json!({"condition": "price_above", "threshold": 110});
    over(&other, &ann, &SYMBOLS, body).await;
    assert_eq!(app.service.compare().await.unwrap(), 3);
    assert_eq!(app.service.compare().await.unwrap(), 0);
    app.quote("MSFT", 111.0).await;
    other.quote("MSFT", 111.0).await;
    assert_eq!(app.events(&ann).await.len(), 1);
}

async fn two_processes_that_fire_the_last_members_end_the_alert(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    for symbol in ["AAPL", "MSFT"] {
        app.quote(symbol, 100.0).await;
    }
    let body = json!({"condition": "price_above", "threshold": 110});
    let id = over(&app, &ann, &["AAPL", "MSFT"], body).await;
    let other = app.another_process().await;
    tokio::join!(app.quote("AAPL", 111.0), other.quote("MSFT", 111.0));
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(app.events(&ann).await.len(), 2);
}

async fn members_are_adjusted_to_splits_one_by_one(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    for symbol in ["AAPL", "MSFT"] {
        app.quote(symbol, 100.0).await;
    }
    let body = json!({"condition": "price_above", "threshold": 120});
    let id = over(&app, &ann, &["AAPL", "MSFT"], body).await;
    app.advance(72 * 60);
    let split = json!({"symbol": "AAPL", "date": "2024-03-11", "ratio": 4});
    app.ingest(json!({"splits": [split]})).await;
    app.quote("AAPL", 30.0).await;
    app.quote("MSFT", 119.0).await;
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0].data["stock"]["symbol"], "AAPL");
    assert_eq!((events[0].alert, app.status(&ann, id).await), (id, Status::Active));
}

async fn deleted_alert_gets_no_member_from_a_watchlist_that_changes_meanwhile(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    for round in 0..8 {
        let body = json!({
            "condition": "price_above", "threshold": 110 + round, "scope": {"watchlist": "all"},
        });
        let id = app.create(&ann, body).await.stored.alert.id;
        let item = json!({"stock_symbol": "AAPL", "intention": "buy"});
        let (deleted, added) = tokio::join!(
            app.service.alerts.delete_alert(&ann, id),
            app.service.watchlists.add_to_watchlist(&ann, &item)
        );
        deleted.unwrap();
        let item = added.unwrap().listed.item.id;
        app.service.watchlists.delete_watchlist_item(&ann, item).await.unwrap();
    }
    app.quote("AAPL", 200.0).await;
    assert_eq!(firings(&app, &ann).await, Vec::<String>::new());
}

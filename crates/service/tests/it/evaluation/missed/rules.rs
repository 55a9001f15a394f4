//! Expressions and options: several stocks, volumes, facts, bids and asks, closes and repeated firings in a gap.

use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::Actor;
use market::records::QuoteRow;
use serde_json::{Value, json};

use super::{evaluate, firings, friday, late, quote};
use crate::support::{TestApp, on_each_database};

on_each_database! {
    rule_is_evaluated_with_the_missed_prices_of_all_its_stocks
    rule_of_another_stock_fires_by_its_missed_price
    unknown_price_of_another_stock_is_in_the_history
    missed_volume_fires_a_rule_and_a_missing_one_is_in_the_history
    missed_prices_use_the_fundamentals_of_another_stock
    missed_bid_fires_a_rule_and_a_missing_one_is_in_the_history
    missed_close_is_evaluated_once
    rule_fires_each_time_within_a_gap_and_continues_live
    rule_fires_each_time_once_in_two_processes
}

/// Creates an expression on AAPL at 15:00, and lets the feed stop until 15:20.
async fn silent(app: &TestApp, when: &str, options: Value) -> (Actor, AlertId) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.quote("MSFT", 400.0).await;
    let body = json!({
        "symbol": "AAPL", "condition": "expression", "parameters": {"when": when}, "options": options,
    });
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(20);
    (ann, id)
}

fn microsoft(price: &str, time: &str) -> QuoteRow {
    quote("MSFT", price, &format!("2024-03-08T{time}Z"))
}

/// Returns the periods in an alert's history that were not evaluated.
async fn not_evaluated(app: &TestApp, ann: &Actor, id: AlertId) -> Vec<String> {
    let rows = app.history(ann, id).await.into_iter();
    let entries = rows.filter(|row| row.entry.action == HistoryAction::NotEvaluated);
    let text = |details: &Value, name: &str| details[name].as_str().unwrap().to_owned();
    entries
        .map(|row| {
            let details = Value::from(row.details.unwrap());
            format!(
                "{} {} {}",
                text(&details, "from"),
                text(&details, "to"),
                text(&details, "reason")
            )
        })
        .collect()
}

async fn rule_is_evaluated_with_the_missed_prices_of_all_its_stocks(app: TestApp) {
    let (ann, id) = silent(&app, "price > 200 and MSFT.price > 410", json!({})).await;
    let missed = [
        friday("201", "15:05:00"),
        microsoft("410", "15:06:00"),
        friday("199", "15:07:00"),
        microsoft("411", "15:08:00"),
        friday("200.01", "15:09:00"),
        friday("198", "15:10:00"),
    ];
    assert_eq!(evaluate(&app, &missed).await.fired, 1);
    assert_eq!(firings(&app, &ann, id).await, late("15:09:00"));
    assert!(not_evaluated(&app, &ann, id).await.is_empty());
}

async fn rule_of_another_stock_fires_by_its_missed_price(app: TestApp) {
    let (ann, id) = silent(&app, "MSFT.price > 410", json!({})).await;
    evaluate(&app, &[microsoft("410", "15:06:00"), microsoft("411", "15:08:00")]).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:08:00"));
}

async fn unknown_price_of_another_stock_is_in_the_history(app: TestApp) {
    let (ann, id) = silent(&app, "price > 200 and MSFT.price > 390", json!({})).await;
    app.quote("MSFT", 401.0).await;
    let missed = [friday("201", "15:05:00"), friday("199", "15:07:00")];
    for _ in 0..2 {
        evaluate(&app, &missed).await;
        let unknown = "2024-03-08T15:05:00.000Z 2024-03-08T15:07:00.000Z the price of MSFT at that time is not known";
        assert_eq!(not_evaluated(&app, &ann, id).await, [unknown]);
    }
    assert_eq!(app.status(&ann, id).await, Status::Active);
}

async fn missed_volume_fires_a_rule_and_a_missing_one_is_in_the_history(app: TestApp) {
    let (ann, id) = silent(&app, "volume >= 1000 and price > 200", json!({})).await;
    evaluate(&app, &[friday("201", "15:05:00")]).await;
    let unknown = "2024-03-08T15:05:00.000Z 2024-03-08T15:05:00.000Z the missed prices of AAPL have no volume";
    assert_eq!(not_evaluated(&app, &ann, id).await, [unknown]);
    let with_volume = |volume, row| QuoteRow {
        volume: Some(volume),
        ..row
    };
    let missed = [
        with_volume(999, friday("201", "15:06:00")),
        friday("201", "15:07:00"),
        with_volume(1_000, friday("201", "15:08:00")),
    ];
    evaluate(&app, &missed).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:08:00"));
    assert_eq!(not_evaluated(&app, &ann, id).await, [unknown]);
}

async fn missed_prices_use_the_fundamentals_of_another_stock(app: TestApp) {
    let figures = |as_of: &str, eps: f64| json!({"fundamentals": [{"symbol": "MSFT", "as_of": as_of, "eps_ttm": eps}]});
    app.deliver(figures("2024-03-01", 10.0)).await;
    let (ann, id) = silent(&app, "MSFT.eps < 8 and price > 200", json!({})).await;
    app.advance(3 * 24 * 60);
    app.deliver(figures("2024-03-11", 5.0)).await;
    let missed = [
        friday("201", "20:00:00"),
        quote("AAPL", "201", "2024-03-11T14:00:00Z"),
        // Both stocks are quoted within the last quarter of an hour of the period.
        quote("MSFT", "400", "2024-03-11T14:00:01Z"),
    ];
    evaluate(&app, &missed).await;
    let crossed = firings(&app, &ann, id).await[0].1.clone();
    assert_eq!(crossed.as_deref(), Some("2024-03-11T14:00:00.000Z"));
}

async fn missed_bid_fires_a_rule_and_a_missing_one_is_in_the_history(app: TestApp) {
    let (ann, id) = silent(&app, "price > 200", json!({"trigger": "bid"})).await;
    evaluate(&app, &[friday("210", "15:05:00")]).await;
    let unknown = "2024-03-08T15:05:00.000Z 2024-03-08T15:05:00.000Z the missed prices of AAPL have no bid and ask";
    assert_eq!(not_evaluated(&app, &ann, id).await, [unknown]);
    let with_bid = |bid: &str, row| QuoteRow {
        bid: Some(bid.parse().unwrap()),
        ..row
    };
    let missed = [
        with_bid("200", friday("210", "15:06:00")),
        with_bid("200.01", friday("210", "15:07:00")),
    ];
    evaluate(&app, &missed).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:07:00"));
}

async fn missed_close_is_evaluated_once(app: TestApp) {
    let options = json!({"trigger": "close", "repeat": "each_time"});
    let (ann, id) = silent(&app, "price > 200", options).await;
    // Monday, 09:20 in New York.
    app.advance(2 * 24 * 60 + 22 * 60);
    app.service.evaluate().await.unwrap();
    assert_eq!(firings(&app, &ann, id).await, []);
    let missed = [friday("205", "15:05:00"), friday("201", "20:59:00")];
    evaluate(&app, &missed).await;
    let crossed: Vec<_> = firings(&app, &ann, id).await.into_iter().map(|(_, at)| at).collect();
    assert_eq!(crossed, [Some("2024-03-08T21:00:00.000Z".to_owned())]);
    app.service.evaluate().await.unwrap();
    let app = app.restarted().await;
    app.service.evaluate().await.unwrap();
    assert_eq!(firings(&app, &ann, id).await.len(), 1);
}

async fn rule_fires_each_time_within_a_gap_and_continues_live(app: TestApp) {
    let (ann, id) = silent(&app, "price > 200", json!({"repeat": "each_time"})).await;
    let missed = [
        friday("201", "15:05:00"),
        friday("199", "15:06:00"),
        friday("201", "15:08:00"),
    ];
    assert_eq!(evaluate(&app, &missed).await.fired, 2);
    let crossed: Vec<_> = firings(&app, &ann, id)
        .await
        .into_iter()
        .filter_map(|(_, at)| at)
        .collect();
    assert_eq!(crossed, ["2024-03-08T15:05:00.000Z", "2024-03-08T15:08:00.000Z"]);
    let alert = app.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.lifecycle.map(|state| state.firings), Some(2));
    assert_eq!(app.service.compare().await.unwrap(), 0);
    // The condition has held since the last missed price, so it fires again only after it was left.
    app.quote("AAPL", 202.0).await;
    assert_eq!(firings(&app, &ann, id).await.len(), 2);
    let app = app.restarted().await;
    app.advance(2);
    app.quote("AAPL", 199.0).await;
    app.advance(2);
    app.quote("AAPL", 201.0).await;
    assert_eq!(firings(&app, &ann, id).await.len(), 3);
}

async fn rule_fires_each_time_once_in_two_processes(app: TestApp) {
    let (ann, id) = silent(&app, "price > 200", json!({"repeat": "each_time"})).await;
    let other = app.another_process().await;
    let missed = [
        friday("201", "15:05:00"),
        friday("199", "15:06:00"),
        friday("201", "15:08:00"),
    ];
    let (one, two) = tokio::join!(evaluate(&app, &missed), evaluate(&other, &missed));
    assert_eq!(one.fired + two.fired, 2);
    // A process that has seen none of this evaluates the gap again.
    let third = app.another_process().await;
    evaluate(&third, &missed).await;
    assert_eq!(firings(&app, &ann, id).await.len(), 2);
}

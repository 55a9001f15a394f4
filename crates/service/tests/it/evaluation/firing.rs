//! From a delivery of market data to a stored firing.

use alerts::{HistoryAction, Plan, Status};
use evaluation::stocks::CandleRange;
use serde_json::json;

use crate::support::{TestApp, above, on_each_database, symbol};

on_each_database! {
    alert_fires_once_at_its_level_with_a_reason
    alert_does_not_fire_just_below_its_level
    alert_with_a_satisfied_condition_fires_at_the_next_evaluation
    paused_alert_does_not_fire
    quote_on_a_closed_market_is_displayed_and_fires_nothing
    quote_older_than_the_last_one_is_rejected
    quote_older_than_the_last_one_is_rejected_if_the_clock_is_behind_both
    repeated_filing_counts_once
    changed_alert_fires_by_its_new_threshold
    event_has_the_note_and_tags_only_if_the_alert_has_them
    change_of_the_note_does_not_arm_an_alert_again
    bar_of_a_running_session_is_rejected
}

async fn alert_fires_once_at_its_level_with_a_reason(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 198.66)).await.stored.alert.id;
    app.quote("AAPL", 198.66).await;
    app.quote("AAPL", 199.0).await;

    let alert = app.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.status, Status::Triggered);
    assert!(alert.triggered_at.is_some());
    let fired: Vec<_> = app.history(&ann, id).await.into_iter().skip(1).collect();
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0].entry.action, HistoryAction::Triggered);
    assert_eq!(fired[0].price.map(|price| price.micros()), Some(198_660_000));
    let events = app.events(&ann).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].alert, id);
    assert_eq!(events[0].data["reason"], "price 198.66 is at or above 198.66");
    assert_eq!(events[0].data["alert"]["status"], "triggered");
    assert_eq!(events[0].data["stock"]["price"], 198.66);
}

async fn alert_does_not_fire_just_below_its_level(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 198.66)).await.stored.alert.id;
    app.quote("AAPL", 198.659_999).await;
    assert_eq!(app.actions(&ann, id).await, [HistoryAction::Created]);
    assert_eq!(app.events(&ann).await, []);
}

async fn alert_with_a_satisfied_condition_fires_at_the_next_evaluation(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let id = app.create(&ann, above("AAPL", 198.0)).await.stored.alert.id;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn paused_alert_does_not_fire(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Paused);
    assert_eq!(app.events(&ann).await, []);
}

async fn quote_on_a_closed_market_is_displayed_and_fires_nothing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    // Friday evening.
    app.advance(8 * 60);
    app.quote("AAPL", 200.0).await;
    app.service.evaluate().await.unwrap();
    assert_eq!(app.status(&ann, id).await, Status::Active);
    let shown = app.service.stocks.stock(symbol("AAPL")).await.unwrap().last_price;
    assert_eq!(shown.map(|price| price.micros()), Some(200_000_000));
}

async fn quote_older_than_the_last_one_is_rejected(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let quote = |price: f64, time: &str| json!({"quotes": [{"symbol": "AAPL", "price": price, "time": time}]});
    app.deliver(quote(198.0, "2024-03-08T14:59:00Z")).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let answer = app.ingest(quote(200.0, "2024-03-08T14:58:59.999Z")).await;
    assert_eq!((answer.rejected.len(), answer.accepted["quotes"]), (1, 0));
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.deliver(quote(200.0, "2024-03-08T14:59:00.001Z")).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

/// A client sends a quote again after a later one, and the service's clock is behind those of its sources.
async fn quote_older_than_the_last_one_is_rejected_if_the_clock_is_behind_both(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let quote = |price: f64, time: &str| json!({"quotes": [{"symbol": "AAPL", "price": price, "time": time}]});
    app.deliver(quote(198.0, "2024-03-08T15:00:05Z")).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let late = quote(200.0, "2024-03-08T15:00:04.999Z");
    assert_eq!(app.ingest(late.clone()).await.rejected.len(), 1);
    app.advance(1);
    assert_eq!(app.ingest(late).await.rejected.len(), 1);
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.deliver(quote(200.0, "2024-03-08T15:00:05Z")).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn repeated_filing_counts_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": 1500});
    let id = app.create(&ann, body).await.stored.alert.id;
    let filing = json!({"insider_transactions": [{
        "symbol": "AAPL", "filed_on": "2024-03-08", "insider": "Jane Doe", "code": "P", "side": "buy",
        "shares": 10, "price": 100,
    }]});
    app.deliver(filing.clone()).await;
    app.deliver(filing).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    let another = json!({"insider_transactions": [{
        "symbol": "AAPL", "filed_on": "2024-03-08", "insider": "Jane Doe", "code": "P", "side": "buy",
        "shares": 5, "price": 100,
    }]});
    app.deliver(another).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn changed_alert_fires_by_its_new_threshold(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    app.service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 210}))
        .await
        .unwrap();
    app.quote("AAPL", 205.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 210.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
}

async fn bar_of_a_running_session_is_rejected(app: TestApp) {
    app.quote("AAPL", 198.0).await;
    let bar =
        json!({"symbol": "AAPL", "date": "2024-03-08", "open": 1, "high": 999, "low": 1, "close": 1, "volume": 1});
    assert_eq!(app.ingest(json!({"bars": [bar]})).await.rejected.len(), 1);
    let candles = app
        .service
        .stocks
        .candles(symbol("AAPL"), CandleRange::Max)
        .await
        .unwrap();
    assert_eq!(candles.len(), 1);
    assert_eq!(candles[0].high.as_f64(), 198.0);
}

async fn event_has_the_note_and_tags_only_if_the_alert_has_them(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let note = "<b>half</b>\r\nX-Evil: 1 \u{202e}🚀";
    let mut body = above("AAPL", 198.66);
    (body["note"], body["tags"]) = (json!(note), json!(["swing", "🚀"]));
    let noted = app.create(&ann, body).await.stored.alert.id;
    let plain = app.create(&ann, above("AAPL", 198.65)).await.stored.alert.id;
    let change = json!({"note": format!("{note}!")});
    app.service.alerts.update_alert(&ann, noted, &change).await.unwrap();
    app.quote("AAPL", 198.66).await;
    let events = app.events(&ann).await;
    let alert_of = |id| &events.iter().find(|event| event.alert == id).unwrap().data["alert"];
    assert_eq!(alert_of(noted)["note"], format!("{note}!"));
    assert_eq!(alert_of(noted)["tags"], json!(["swing", "🚀"]));
    assert_eq!((alert_of(plain).get("note"), alert_of(plain).get("tags")), (None, None));
}

async fn change_of_the_note_does_not_arm_an_alert_again(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let before = app.create(&ann, above("AAPL", 198.66)).await.stored.alert;
    app.advance(60);
    let change = json!({"note": "sell half", "tags": ["swing"]});
    let after = app
        .service
        .alerts
        .update_alert(&ann, before.id, &change)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!((after.armed_at, after.revision), (before.armed_at, before.revision));
    assert_eq!(
        app.actions(&ann, before.id).await,
        [HistoryAction::Created, HistoryAction::Updated]
    );
    app.quote("AAPL", 198.66).await;
    assert_eq!(app.status(&ann, before.id).await, Status::Triggered);
}

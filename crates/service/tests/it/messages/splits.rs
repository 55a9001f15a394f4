//! A split adjusts alerts, and their owners get an email.

use alerts::Plan;
use serde_json::{Value, json};

use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    each_owner_gets_one_email_with_all_adjusted_alerts
    no_email_without_adjusted_alerts
    repeated_split_is_reported_once
    only_one_of_two_processes_reports_a_split
    unverified_guest_gets_no_split_email
}

const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";

fn split() -> Value {
    json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]})
}

/// Minutes until Monday morning.
const WEEKEND: i64 = 3 * 24 * 60;

async fn each_owner_gets_one_email_with_all_adjusted_alerts(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    app.quote("AAPL", 400.0).await;
    let below = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 300});
    app.create(&ann, below).await;
    let paused = app.create(&ann, above("AAPL", 500.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    let percent = json!({"symbol": "AAPL", "condition": "price_change_up", "threshold": 5});
    app.create(&bob, percent).await;
    app.advance(WEEKEND);
    app.deliver(split()).await;
    app.nothing_waits().await;

    let mails = app.outbox(ANN).await;
    assert_eq!(mails.len(), 1);
    let subject = mails[0].subject.as_deref();
    assert_eq!(subject, Some("AAPL was split, and your alerts on it were adjusted"));
    for line in [
        "Since 11 March 2024, AAPL has 4 new shares for each old one.",
        "Alert: AAPL: Price at or below, 300.00 USD is now 75.00 USD; price when set 400.00 USD, now 100.00 USD",
        "Alert: AAPL: Price at or above, 500.00 USD is now 125.00 USD; price when set 400.00 USD, now 100.00 USD",
    ] {
        assert!(mails[0].text.contains(line), "{}", mails[0].text);
    }
    let mails = app.outbox(BOB).await;
    assert_eq!(mails.len(), 1);
    let line = "Alert: AAPL: Price up by, 5.00 %; price when set 400.00 USD, now 100.00 USD";
    assert!(mails[0].text.contains(line), "{}", mails[0].text);
    assert!(!mails[0].text.contains("300.00"), "{}", mails[0].text);
}

async fn no_email_without_adjusted_alerts(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    app.quote("AAPL", 400.0).await;
    app.quote("MSFT", 400.0).await;
    app.create(&ann, above("MSFT", 500.0)).await;
    app.advance(WEEKEND);
    // Bob's alert was created after the split.
    app.quote("AAPL", 100.0).await;
    app.create(&bob, above("AAPL", 125.0)).await;
    app.deliver(split()).await;
    app.nothing_waits().await;
    assert_eq!((app.outbox(ANN).await.len(), app.outbox(BOB).await.len()), (0, 0));
}

async fn repeated_split_is_reported_once(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    app.create(&ann, above("AAPL", 500.0)).await;
    app.advance(WEEKEND);
    app.deliver(split()).await;
    app.deliver(split()).await;
    let app = app.restarted().await;
    app.deliver(split()).await;
    app.nothing_waits().await;
    assert_eq!(app.outbox(ANN).await.len(), 1);
}

async fn only_one_of_two_processes_reports_a_split(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    app.create(&ann, above("AAPL", 500.0)).await;
    app.deliver(split()).await;
    let other = app.another_process().await;
    app.advance(WEEKEND);
    tokio::join!(app.deliver(split()), other.deliver(split()));
    app.nothing_waits().await;
    assert_eq!(app.outbox(ANN).await.len(), 1);
    other.service.stop().await;
}

async fn unverified_guest_gets_no_split_email(app: TestApp) {
    app.quote("AAPL", 400.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 500, "email": "guest@example.com"});
    let wish = app.service.guest_alerts.guest_alert_request(&body).unwrap();
    app.service.guest_alerts.create_guest_alert(wish).await.unwrap();
    app.advance(WEEKEND);
    app.deliver(split()).await;
    app.nothing_waits().await;
    let mails = app.outbox("guest@example.com").await;
    assert_eq!(mails.len(), 1, "the one that asks whether it is wanted");
    assert!(mails[0].subject.as_deref().unwrap().starts_with("Confirm"));
}

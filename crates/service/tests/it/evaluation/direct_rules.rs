//! Options of conditions that are no expressions, from a request to stored firings.

use alerts::{HistoryAction, Plan, Status};
use serde_json::{Value, json};

use crate::support::{TestApp, on_each_database};

on_each_database! {
    golden_cross_fires_each_time_across_a_restart
    daily_reminder_is_triggered_after_its_last_firing
    expired_daily_reminder_is_inactive
    snoozed_reminder_fires_at_the_end_of_its_snooze
    rsi_side_is_kept_by_a_restart
}

fn body(condition: &str, options: Value) -> Value {
    json!({"symbol": "AAPL", "condition": condition, "options": options})
}

/// Delivers sessions of AAPL up to 7 March 2024.
async fn sessions(app: &TestApp, from: &str, close: impl Fn(usize) -> f64) {
    let calendar = market::Calendar::nyse();
    let days = calendar.sessions(from.parse().unwrap(), "2024-03-07".parse().unwrap());
    let bars = days.enumerate().map(|(place, session)| {
        let close = close(place);
        json!({"symbol": "AAPL", "date": session.date.to_string(), "open": close, "high": close, "low": close,
            "close": close, "volume": 1000})
    });
    app.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
}

/// Delivers prices of AAPL, one every two minutes.
async fn prices(app: &TestApp, prices: &[f64]) {
    for price in prices {
        app.advance(2);
        app.quote("AAPL", *price).await;
    }
}

async fn golden_cross_fires_each_time_across_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    sessions(&app, "2023-04-01", |_| 100.0).await;
    app.quote("AAPL", 99.0).await;
    let created = app
        .create(&ann, body("ma_crossover_golden", json!({"repeat": "each_time"})))
        .await;
    let id = created.stored.alert.id;
    prices(&app, &[101.0, 101.5, 99.0]).await;
    let app = app.restarted().await;
    prices(&app, &[102.0, 103.0]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    use HistoryAction::{Created, Triggered};
    assert_eq!(app.actions(&ann, id).await, [Created, Triggered, Triggered]);
    let events = app.events(&ann).await;
    assert_eq!(
        events[0].data["reason"],
        "golden cross: the 50-day average 100.02 is above the 200-day average 100.01"
    );
    assert_eq!(events[0].data["alert"]["status"], "active");
    let explained = app.service.alerts.explain_alert(&ann, id, None, None).await.unwrap();
    assert_eq!(explained.explanation.unwrap().terms.len(), 2);
}

async fn daily_reminder_is_triggered_after_its_last_firing(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let created = app
        .create(&ann, body("daily_reminder", json!({"max_firings": 2})))
        .await;
    let id = created.stored.alert.id;
    // Monday, Tuesday and Wednesday, after the open.
    for (minutes, status) in [
        (3 * 24 * 60, Status::Active),
        (24 * 60, Status::Triggered),
        (24 * 60, Status::Triggered),
    ] {
        app.advance(minutes);
        app.service.evaluate().await.unwrap();
        assert_eq!(app.status(&ann, id).await, status);
    }
    let events = app.events(&ann).await;
    let statuses: Vec<_> = events.iter().map(|event| &event.data["alert"]["status"]).collect();
    assert_eq!(statuses, ["active", "triggered"]);
    assert_eq!(events[0].data["reason"], "daily reminder: the market opens");
}

async fn expired_daily_reminder_is_inactive(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let options = json!({"expires_at": "2024-03-11"});
    let created = app.create(&ann, body("daily_reminder", options)).await;
    let id = created.stored.alert.id;
    for _ in 0..5 {
        app.advance(24 * 60);
        app.service.evaluate().await.unwrap();
    }
    assert_eq!(app.status(&ann, id).await, Status::Inactive);
    use HistoryAction::{Created, Expired, Triggered};
    assert_eq!(app.actions(&ann, id).await, [Created, Triggered, Expired]);
}

async fn snoozed_reminder_fires_at_the_end_of_its_snooze(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let reminder = json!({"symbol": "AAPL", "condition": "reminder", "parameters": {"date": "2024-03-08T15:05:00Z"}});
    let id = app.create(&ann, reminder).await.stored.alert.id;
    let later = json!({"snooze": "30m"});
    app.service.alerts.patch_alert(&ann, id, &later).await.unwrap();
    for (minutes, status) in [(10, Status::Active), (19, Status::Active), (1, Status::Triggered)] {
        app.advance(minutes);
        app.service.evaluate().await.unwrap();
        assert_eq!(app.status(&ann, id).await, status, "{minutes}");
    }
    assert_eq!(app.events(&ann).await[0].data["reason"], "the reminder's time has come");
}

async fn rsi_side_is_kept_by_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    // Equal gains and losses: an unchanged price has the RSI 50.
    sessions(&app, "2024-02-15", |place| if place % 2 == 0 { 100.0 } else { 101.0 }).await;
    let options = json!({"repeat": "each_time"});
    let mut rsi = body("rsi_limit", options);
    rsi["threshold"] = 50.into();
    rsi["parameters"] = json!({"direction": "both"});
    app.quote("AAPL", 90.0).await;
    let id = app.create(&ann, rsi).await.stored.alert.id;
    let app = app.restarted().await;
    prices(&app, &[110.0, 111.0]).await;
    let app = app.restarted().await;
    prices(&app, &[112.0, 90.0]).await;
    use HistoryAction::{Created, Triggered};
    assert_eq!(app.actions(&ann, id).await, [Created, Triggered, Triggered]);
}

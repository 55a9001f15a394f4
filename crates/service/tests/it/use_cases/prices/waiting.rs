//! Alerts that wait for their initial price.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;
use sources::MissedQuotes;

use super::{Source, WAITS, friday, initial, percent};
use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    first_current_price_becomes_the_initial_price_with_one_entry_of_history
    percentage_does_not_fire_by_a_price_from_before_its_initial_price
    level_fires_by_a_price_from_before_its_initial_price
    initial_price_of_a_seldom_traded_stock_is_set_after_confirmation
    initial_price_is_filled_after_a_restart
    initial_price_of_an_alert_of_another_process_is_filled
    price_is_confirmed_by_one_of_two_processes
    paused_alert_stays_without_an_initial_price_until_it_is_activated
    update_to_a_percentage_takes_the_current_price
    initial_prices_are_searched_for_after_a_clock_that_was_ahead
}

async fn first_current_price_becomes_the_initial_price_with_one_entry_of_history(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let made = app.create(&ann, above("AAPL", 300.0)).await.stored.alert;
    app.clock.advance(jiff::SignedDuration::from_mins(5));
    app.quote("AAPL", 200.0).await;
    let filled = app.filled(&ann, made.id).await;
    assert_eq!(initial(&filled).as_deref(), Some("200"));
    assert_eq!((filled.status, filled.armed_at), (Status::Active, made.armed_at));
    app.quote("AAPL", 201.0).await;
    assert_eq!(app.alert_of(&ann, made.id).await, filled);
    assert_eq!(
        app.actions(&ann, made.id).await,
        [HistoryAction::Created, HistoryAction::Adjusted]
    );
    app.quote("AAPL", 300.0).await;
    assert_eq!(app.times_fired(&ann, made.id).await, 1);
}

fn missed(price: &str, time: &str) -> MissedQuotes {
    let quote = market::records::QuoteRow {
        symbol: "AAPL".parse().unwrap(),
        price: price.parse().unwrap(),
        volume: None,
        time: Some(friday(time)),
        bid: None,
        ask: None,
        vwap: None,
    };
    MissedQuotes {
        quotes: vec![quote],
        is_behind: true,
        complete: Vec::new(),
    }
}

/// Returns an alert that was created without a price at 15:00 and got its first price, 100, at 15:20.
async fn filled_at_twenty_past(app: &TestApp, body: serde_json::Value) -> (foundation::Actor, alerts::AlertId) {
    let ann = app.ann(Plan::Premium).await;
    let source = Source::connect(app);
    source.say("AAPL", "90", friday("14:31:00"));
    let id = app.create(&ann, body).await.stored.alert.id;
    app.reach(friday("15:20:00"));
    app.quote("AAPL", 100.0).await;
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("100"));
    (ann, id)
}

async fn percentage_does_not_fire_by_a_price_from_before_its_initial_price(app: TestApp) {
    let (ann, id) = filled_at_twenty_past(&app, percent("price_change_up", 10.0)).await;
    app.reach(friday("15:25:00"));
    let before = app
        .service
        .market_intake
        .evaluate_missed(missed("120", "15:10:00"))
        .await
        .unwrap();
    assert_eq!((before.evaluated, before.fired), (1, 0));
    let after = app
        .service
        .market_intake
        .evaluate_missed(missed("110", "15:24:00"))
        .await
        .unwrap();
    assert_eq!((after.evaluated, after.fired), (1, 1));
    assert_eq!(app.times_fired(&ann, id).await, 1);
}

async fn level_fires_by_a_price_from_before_its_initial_price(app: TestApp) {
    let (ann, id) = filled_at_twenty_past(&app, above("AAPL", 110.0)).await;
    app.reach(friday("15:25:00"));
    let outcome = app
        .service
        .market_intake
        .evaluate_missed(missed("120", "15:10:00"))
        .await
        .unwrap();
    assert_eq!(outcome.fired, 1, "it was armed already");
    assert_eq!(app.times_fired(&ann, id).await, 1);
}

async fn initial_price_of_a_seldom_traded_stock_is_set_after_confirmation(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let source = Source::connect(&app);
    source.say("AAPL", "200", friday("14:50:00"));
    let quote = json!({"symbol": "AAPL", "price": 200, "time": friday("14:50:00").to_string()});
    app.deliver(json!({"quotes": [quote]})).await;
    assert_eq!(app.alert_of(&ann, id).await.initial_price, None);
    // The search of the next minute asks the source.
    app.clock.advance(jiff::SignedDuration::from_mins(1));
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("200"));
    assert_eq!(source.times_asked("AAPL"), 1);
}

async fn initial_price_is_filled_after_a_restart(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let app = app.restarted().await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("200"));
}

async fn initial_price_of_an_alert_of_another_process_is_filled(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let other = app.another_process().await;
    let id = other.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    app.quote("AAPL", 200.0).await;
    // The database is searched once a minute.
    app.clock.advance(jiff::SignedDuration::from_mins(1));
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("200"));
}

async fn price_is_confirmed_by_one_of_two_processes(app: TestApp) {
    if !app.database().is_postgres() {
        return;
    }
    let ann = app.ann(Plan::Premium).await;
    let names = ["AAPL", "MSFT", "GOOG"];
    let stocks: Vec<_> = names.map(|name| json!({"symbol": name, "name": name})).into();
    app.deliver(json!({"stocks": stocks})).await;
    let other = app.another_process().await;
    let mut ids = Vec::new();
    for (name, process) in [("AAPL", &app), ("MSFT", &app), ("GOOG", &other)] {
        ids.push(process.create(&ann, above(name, 300.0)).await.stored.alert.id);
    }
    let sources = [&app, &other].map(Source::connect);
    for process in [&app, &other] {
        let quote = json!({"symbol": "AAPL", "price": 200, "time": friday("14:50:00").to_string()});
        process.deliver(json!({"quotes": [quote]})).await;
    }
    // Each process fills the alert that its next search finds, after it has confirmed prices.
    other.quote("MSFT", 200.0).await;
    app.quote("GOOG", 200.0).await;
    app.clock.advance(jiff::SignedDuration::from_mins(1));
    other.filled(&ann, ids[1]).await;
    app.filled(&ann, ids[2]).await;
    assert_eq!(
        sources.map(|source| source.times_asked("AAPL")).iter().sum::<usize>(),
        1
    );
}

async fn paused_alert_stays_without_an_initial_price_until_it_is_activated(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let paused = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let active = app.create(&ann, above("AAPL", 301.0)).await.stored.alert.id;
    app.service.alerts.pause_alert(&ann, paused).await.unwrap();
    app.quote("AAPL", 200.0).await;
    app.filled(&ann, active).await;
    assert_eq!(app.alert_of(&ann, paused).await.initial_price, None);
    app.quote("AAPL", 210.0).await;
    let activated = app
        .service
        .alerts
        .activate_alert(&ann, paused)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(initial(&activated).as_deref(), Some("210"));
}

async fn update_to_a_percentage_takes_the_current_price(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    let change = json!({"condition": "price_change_up", "threshold": 5});
    let refused = app.service.alerts.update_alert(&ann, id, &change).await.unwrap_err();
    assert_eq!(kind(&refused), "unavailable");
    // It is enough that the source knows the stock.
    let source = Source::connect(&app);
    source.say("AAPL", "90", friday("14:31:00"));
    let updated = app.service.alerts.update_alert(&ann, id, &change).await.unwrap();
    assert_eq!(
        (updated.stored.alert.initial_price, updated.evaluation.unwrap().state),
        (None, WAITS)
    );
    source.say("AAPL", "100", friday("14:59:59"));
    let change = json!({"condition": "price_change_up", "threshold": 6});
    let updated = app
        .service
        .alerts
        .update_alert(&ann, id, &change)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(initial(&updated).as_deref(), Some("100"));
}

async fn initial_prices_are_searched_for_after_a_clock_that_was_ahead(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    let other = app.another_process().await;
    // Monday, so that the market is open.
    app.clock.step_to("2024-03-11T15:00:00Z".parse().unwrap());
    let id = other.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    app.quote("AAPL", 200.0).await;
    app.clock.advance(jiff::SignedDuration::from_mins(1));
    app.filled(&ann, id).await;
    app.clock.step_to(friday("15:00:30"));
    other.service.evaluate().await.unwrap();
    let id = other.create(&ann, above("AAPL", 301.0)).await.stored.alert.id;
    app.quote("AAPL", 201.0).await;
    app.clock.advance(jiff::SignedDuration::from_mins(1));
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("201"));
}

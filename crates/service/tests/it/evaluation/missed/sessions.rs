//! A gap over a night, data of its days, and the live engine afterwards.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, Plan, Status};
use foundation::Actor;
use market::records::QuoteRow;
use serde_json::{Value, json};

use super::{evaluate, firings, friday, late, quote};
use crate::support::{TestApp, above, on_each_database, symbol};

on_each_database! {
    gap_over_a_night_evaluates_both_sessions
    missed_day_is_evaluated_after_its_bar_arrived
    quote_without_volume_fires_no_volume_alert
    missed_quotes_use_the_earnings_of_their_day
    missed_prices_before_a_split_are_evaluated_in_new_shares
    missed_golden_cross_fires
    touch_is_evaluated_by_the_last_missed_price
    missed_touch_fires_once
    touch_fires_with_a_delayed_feed
    missed_prices_count_for_the_session_high
    high_before_the_gap_counts_in_it_after_the_bar_arrived
    extremes_of_a_session_with_a_bar_survive_a_late_period
    extremes_of_a_session_with_a_bar_survive_a_restart
    last_missed_price_is_displayed_and_stored
    blind_alert_recovers_after_a_gap
}

fn monday(price: &str, time: &str) -> QuoteRow {
    quote("AAPL", price, &format!("2024-03-11T{time}Z"))
}

fn bar(date: &str, price: f64) -> Value {
    json!({"symbol": "AAPL", "date": date, "open": price, "high": price, "low": price, "close": price, "volume": 100})
}

async fn crossed_at(app: &TestApp, ann: &Actor, id: AlertId) -> Vec<String> {
    let fired = firings(app, ann, id).await;
    fired.into_iter().filter_map(|(_, crossed)| crossed).collect()
}

async fn gap_over_a_night_evaluates_both_sessions(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let friday_s = app.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let monday_s = app.create(&ann, above("AAPL", 205.0)).await.stored.alert.id;
    let neither = app.create(&ann, above("AAPL", 205.000_001)).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    let missed = [
        friday("200", "20:00:00"),
        // The market is closed.
        friday("300", "21:00:01"),
        monday("205", "13:30:00"),
        monday("202", "14:00:00"),
    ];
    let outcome = evaluate(&app, &missed).await;
    assert_eq!((outcome.evaluated, outcome.left_out, outcome.fired), (3, 1, 2));
    assert_eq!(crossed_at(&app, &ann, friday_s).await, ["2024-03-08T20:00:00.000Z"]);
    assert_eq!(crossed_at(&app, &ann, monday_s).await, ["2024-03-11T13:30:00.000Z"]);
    assert_eq!(app.status(&ann, neither).await, Status::Active);
    let changes = app.events(&ann).await;
    let change = |at: usize| Value::from(changes[at].data.clone())["stock"]["change"].clone();
    // Monday's change is relative to Friday's last price, which was missed as well.
    assert_eq!(change(1), 5.0);
}

async fn missed_day_is_evaluated_after_its_bar_arrived(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 205.0)).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    app.deliver(json!({"bars": [bar("2024-03-08", 206.0)]})).await;
    evaluate(&app, &[friday("206", "20:00:00"), monday("200", "14:00:00")]).await;
    assert_eq!(crossed_at(&app, &ann, id).await, ["2024-03-08T20:00:00.000Z"]);
}

async fn quote_without_volume_fires_no_volume_alert(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let days = (1..=20).map(|day| bar(&format!("2024-02-{day:02}"), 198.0));
    let trading = days.filter(|bar| {
        !["03", "04", "10", "11", "17", "18", "19"]
            .iter()
            .any(|off| bar["date"].as_str().unwrap().ends_with(off))
    });
    let more = ["21", "22", "23", "26", "27", "28", "29"].map(|day| bar(&format!("2024-02-{day}"), 198.0));
    let bars: Vec<Value> = trading.chain(more).collect();
    assert!(bars.len() >= 20, "{}", bars.len());
    app.deliver(json!({"bars": bars})).await;
    let volume = json!({"quotes": [{"symbol": "AAPL", "price": 198, "volume": 149}]});
    app.deliver(volume).await;
    let body = json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 50});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(20);
    evaluate(&app, &[friday("250", "15:10:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    let with_volume = |volume, row| QuoteRow {
        volume: Some(volume),
        ..row
    };
    evaluate(&app, &[with_volume(149, friday("250", "15:11:00"))]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    evaluate(&app, &[with_volume(150, friday("250", "15:12:00"))]).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:12:00"));
}

async fn missed_quotes_use_the_earnings_of_their_day(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let figures = |as_of: &str, eps: f64| json!({"fundamentals": [{"symbol": "AAPL", "as_of": as_of, "eps_ttm": eps}]});
    app.deliver(figures("2024-03-01", 10.0)).await;
    app.quote("AAPL", 200.0).await;
    let body = json!({"symbol": "AAPL", "condition": "pe_ratio_above", "threshold": 40});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    app.deliver(figures("2024-03-11", 5.0)).await;
    // A ratio of 20 on Friday, and of 40 on Monday.
    evaluate(&app, &[friday("200", "20:00:00"), monday("200", "14:00:00")]).await;
    assert_eq!(crossed_at(&app, &ann, id).await, ["2024-03-11T14:00:00.000Z"]);
}

async fn missed_prices_before_a_split_are_evaluated_in_new_shares(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 400.0).await;
    let id = app.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    evaluate(&app, &[friday("419.99", "20:00:00"), monday("104.99", "14:00:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    evaluate(&app, &[monday("105", "14:30:00")]).await;
    assert_eq!(crossed_at(&app, &ann, id).await, ["2024-03-11T14:30:00.000Z"]);
}

/// Delivers two hundred sessions at 100.
async fn two_hundred_sessions(app: &TestApp) {
    let calendar = market::Calendar::nyse();
    let (from, to) = ("2023-04-01".parse().unwrap(), "2024-03-07".parse().unwrap());
    let bars = calendar
        .sessions(from, to)
        .map(|session| bar(&session.date.to_string(), 100.0));
    app.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn missed_golden_cross_fires(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    two_hundred_sessions(&app).await;
    app.quote("AAPL", 99.0).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_crossover_golden"});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(20);
    evaluate(
        &app,
        &[
            friday("100", "15:10:00"),
            friday("100.000001", "15:11:00"),
            friday("99", "15:12:00"),
        ],
    )
    .await;
    assert_eq!(firings(&app, &ann, id).await, late("15:11:00"));
}

/// Sets up an average of 100, a price of `before`, and an alert on the price rising to the average. It is 15:20.
async fn touching(app: &TestApp, before: f64) -> (Actor, AlertId) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"bars": [bar("2024-03-06", 100.0), bar("2024-03-07", 100.0)]}))
        .await;
    app.quote("AAPL", before).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 3});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(20);
    (ann, id)
}

async fn touch_is_evaluated_by_the_last_missed_price(app: TestApp) {
    let (ann, id) = touching(&app, 110.0).await;
    evaluate(&app, &[friday("110", "15:10:00"), friday("90", "15:15:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    app.quote("AAPL", 100.0).await;
    assert_eq!(
        firings(&app, &ann, id).await,
        [("2024-03-08T15:20:00Z".to_owned(), None)]
    );
}

async fn missed_touch_fires_once(app: TestApp) {
    let (ann, id) = touching(&app, 90.0).await;
    let other = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 2});
    let later = app.create(&ann, other).await.stored.alert.id;
    evaluate(&app, &[friday("100", "15:10:00"), friday("110", "15:15:00")]).await;
    assert_eq!(firings(&app, &ann, id).await, late("15:10:00"));
    // It was created after the touch, and a fall from 110 is no touch from below.
    app.quote("AAPL", 111.0).await;
    assert_eq!(app.status(&ann, later).await, Status::Active);
}

async fn touch_fires_with_a_delayed_feed(app: TestApp) {
    let (ann, id) = touching(&app, 90.0).await;
    // It is 15:20, and the feed delivers data of 15:05; then nothing until 15:40.
    app.deliver(json!({"quotes": [{"symbol": "AAPL", "price": 91, "time": "2024-03-08T15:05:00Z"}]}))
        .await;
    app.advance(20);
    evaluate(&app, &[friday("92", "15:05:00"), friday("100", "15:06:00")]).await;
    assert_eq!(crossed_at(&app, &ann, id).await, ["2024-03-08T15:06:00.000Z"]);
}

async fn missed_prices_count_for_the_session_high(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    app.advance(20);
    evaluate(&app, &[friday("210", "15:10:00"), friday("200", "15:15:00")]).await;
    let high = json!({"symbol": "AAPL", "condition": "new_high"});
    let high = app.create(&ann, high).await.stored.alert.id;
    let low = json!({"symbol": "AAPL", "condition": "new_low"});
    let low = app.create(&ann, low).await.stored.alert.id;
    app.quote("AAPL", 210.0).await;
    app.quote("AAPL", 198.0).await;
    assert_eq!(app.status(&ann, high).await, Status::Active);
    assert_eq!(app.status(&ann, low).await, Status::Active);
    app.quote("AAPL", 210.01).await;
    app.quote("AAPL", 197.99).await;
    assert_eq!(app.status(&ann, high).await, Status::Triggered);
    assert_eq!(app.status(&ann, low).await, Status::Triggered);
}

async fn high_before_the_gap_counts_in_it_after_the_bar_arrived(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"bars": [bar("2024-03-07", 190.0)]})).await;
    app.quote("AAPL", 210.0).await;
    app.quote("AAPL", 200.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = app.create(&ann, body).await.stored.alert.id;
    app.advance(3 * 24 * 60);
    app.deliver(json!({"bars": [bar("2024-03-08", 215.0)]})).await;
    evaluate(&app, &[friday("210", "20:00:00")]).await;
    assert_eq!(app.status(&ann, id).await, Status::Active);
    evaluate(&app, &[friday("210.01", "20:30:00")]).await;
    assert_eq!(crossed_at(&app, &ann, id).await, ["2024-03-08T20:30:00.000Z"]);
}

/// Creates Ann's alerts on a new high and a new low. AAPL traded between 190 and 210 on Friday, whose bar has
/// arrived; then a missed period of Friday is evaluated.
async fn with_a_bar_and_a_late_stretch(app: &TestApp) -> (Actor, [AlertId; 2]) {
    let ann = app.ann(Plan::Premium).await;
    app.deliver(json!({"bars": [bar("2024-03-07", 200.0)]})).await;
    for price in [210.0, 190.0, 200.0] {
        app.quote("AAPL", price).await;
    }
    let mut ids = Vec::new();
    for condition in ["new_high", "new_low"] {
        let body = json!({"symbol": "AAPL", "condition": condition});
        ids.push(app.create(&ann, body).await.stored.alert.id);
    }
    app.advance(3 * 24 * 60);
    app.deliver(json!({"bars": [bar("2024-03-08", 200.0)]})).await;
    evaluate(app, &[friday("201", "20:00:00")]).await;
    (ann, ids.try_into().unwrap())
}

/// Asserts that prices within Friday's range fire nothing, and that those beyond it do.
async fn check_by_all_of_friday(app: &TestApp, ann: &Actor, [high, low]: [AlertId; 2]) {
    evaluate(app, &[friday("210", "20:10:00"), friday("190", "20:11:00")]).await;
    assert_eq!(app.status(ann, high).await, Status::Active);
    assert_eq!(app.status(ann, low).await, Status::Active);
    evaluate(app, &[friday("210.01", "20:20:00"), friday("189.99", "20:21:00")]).await;
    assert_eq!(crossed_at(app, ann, high).await, ["2024-03-08T20:20:00.000Z"]);
    assert_eq!(crossed_at(app, ann, low).await, ["2024-03-08T20:21:00.000Z"]);
}

async fn extremes_of_a_session_with_a_bar_survive_a_late_period(app: TestApp) {
    let (ann, ids) = with_a_bar_and_a_late_stretch(&app).await;
    check_by_all_of_friday(&app, &ann, ids).await;
}

async fn extremes_of_a_session_with_a_bar_survive_a_restart(app: TestApp) {
    let (ann, ids) = with_a_bar_and_a_late_stretch(&app).await;
    let app = app.restarted().await;
    check_by_all_of_friday(&app, &ann, ids).await;
}

async fn last_missed_price_is_displayed_and_stored(app: TestApp) {
    app.quote("AAPL", 198.0).await;
    app.advance(20);
    evaluate(&app, &[friday("210", "15:10:00"), friday("201", "15:15:00")]).await;
    let shown = async |app: &TestApp| {
        let view = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
        [view.last_price, view.high_52w].map(|price| price.map(|price| price.as_f64()))
    };
    assert_eq!(shown(&app).await, [Some(201.0), Some(210.0)]);
    let app = app.restarted().await;
    assert_eq!(shown(&app).await, [Some(201.0), Some(210.0)]);
}

async fn blind_alert_recovers_after_a_gap(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 198.0).await;
    let id = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    app.advance(20);
    let state = async || {
        app.service
            .alerts
            .alert(&ann, id)
            .await
            .unwrap()
            .evaluation
            .unwrap()
            .state
    };
    assert_eq!(state().await, EvaluationStatus::Blind(EvaluationIssue::StaleQuotes));
    evaluate(&app, &[friday("199", "15:15:00")]).await;
    assert_eq!(state().await, EvaluationStatus::Ok);
}

//! A gap over a night, figures of their day, and what the live engine knows afterwards.

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{AlertId, Plan, Status};
use market::records::QuoteRow;
use serde_json::{Value, json};
use service::Actor;

use super::super::support::{World, above, on_each_database, symbol};
use super::{firings, friday, judge, late, quote};

on_each_database! {
    a_gap_over_a_night_judges_both_sessions
    a_day_that_was_missed_is_judged_after_its_bar_has_come
    a_quote_without_a_volume_fires_no_alert_on_volume
    earnings_are_those_of_their_day
    prices_from_before_a_split_are_judged_in_new_shares
    a_golden_cross_that_was_missed_is_told
    a_touch_is_judged_by_the_last_price_that_was_missed
    a_touch_that_was_missed_is_told_and_not_told_again
    a_touch_is_noticed_though_the_feed_is_delayed
    what_was_missed_counts_for_the_high_of_the_session
    the_high_before_the_gap_counts_in_it_though_the_bar_has_come
    extremes_of_a_session_with_a_bar_survive_a_late_stretch
    extremes_of_a_session_with_a_bar_survive_a_restart
    the_last_price_that_was_missed_is_shown_and_kept
    an_alert_sees_again_after_what_was_missed
}

fn monday(price: &str, time: &str) -> QuoteRow {
    quote("AAPL", price, &format!("2024-03-11T{time}Z"))
}

fn bar(date: &str, price: f64) -> Value {
    json!({"symbol": "AAPL", "date": date, "open": price, "high": price, "low": price, "close": price, "volume": 100})
}

async fn crossed_at(world: &World, ann: &Actor, id: AlertId) -> Vec<String> {
    let fired = firings(world, ann, id).await;
    fired.into_iter().filter_map(|(_, crossed)| crossed).collect()
}

async fn a_gap_over_a_night_judges_both_sessions(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let friday_s = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let monday_s = world.create(&ann, above("AAPL", 205.0)).await.stored.alert.id;
    let neither = world.create(&ann, above("AAPL", 205.000_001)).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    let missed = [
        friday("200", "20:00:00"),
        // The market is closed.
        friday("300", "21:00:01"),
        monday("205", "13:30:00"),
        monday("202", "14:00:00"),
    ];
    let outcome = judge(&world, &missed).await;
    assert_eq!((outcome.judged, outcome.left_out, outcome.fired), (3, 1, 2));
    assert_eq!(crossed_at(&world, &ann, friday_s).await, ["2024-03-08T20:00:00.000Z"]);
    assert_eq!(crossed_at(&world, &ann, monday_s).await, ["2024-03-11T13:30:00.000Z"]);
    assert_eq!(world.status(&ann, neither).await, Status::Active);
    let changes = world.events(&ann).await;
    let change = |at: usize| Value::from(changes[at].data.clone())["stock"]["change"].clone();
    // Monday's change counts from Friday's last price, which was missed as well.
    assert_eq!(change(1), 5.0);
}

async fn a_day_that_was_missed_is_judged_after_its_bar_has_come(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 205.0)).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    world.deliver(json!({"bars": [bar("2024-03-08", 206.0)]})).await;
    judge(&world, &[friday("206", "20:00:00"), monday("200", "14:00:00")]).await;
    assert_eq!(crossed_at(&world, &ann, id).await, ["2024-03-08T20:00:00.000Z"]);
}

async fn a_quote_without_a_volume_fires_no_alert_on_volume(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let days = (1..=20).map(|day| bar(&format!("2024-02-{day:02}"), 198.0));
    let trading = days.filter(|bar| {
        !["03", "04", "10", "11", "17", "18", "19"]
            .iter()
            .any(|off| bar["date"].as_str().unwrap().ends_with(off))
    });
    let more = ["21", "22", "23", "26", "27", "28", "29"].map(|day| bar(&format!("2024-02-{day}"), 198.0));
    let bars: Vec<Value> = trading.chain(more).collect();
    assert!(bars.len() >= 20, "{}", bars.len());
    world.deliver(json!({"bars": bars})).await;
    let volume = json!({"quotes": [{"symbol": "AAPL", "price": 198, "volume": 149}]});
    world.deliver(volume).await;
    let body = json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 50});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(20);
    judge(&world, &[friday("250", "15:10:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    let with_volume = |volume, row| QuoteRow {
        volume: Some(volume),
        ..row
    };
    judge(&world, &[with_volume(149, friday("250", "15:11:00"))]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    judge(&world, &[with_volume(150, friday("250", "15:12:00"))]).await;
    assert_eq!(firings(&world, &ann, id).await, late("15:12:00"));
}

async fn earnings_are_those_of_their_day(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let figures = |as_of: &str, eps: f64| json!({"fundamentals": [{"symbol": "AAPL", "as_of": as_of, "eps_ttm": eps}]});
    world.deliver(figures("2024-03-01", 10.0)).await;
    world.quote("AAPL", 200.0).await;
    let body = json!({"symbol": "AAPL", "condition": "pe_ratio_above", "threshold": 40});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    world.deliver(figures("2024-03-11", 5.0)).await;
    // A ratio of 20 on Friday, and of 40 on Monday.
    judge(&world, &[friday("200", "20:00:00"), monday("200", "14:00:00")]).await;
    assert_eq!(crossed_at(&world, &ann, id).await, ["2024-03-11T14:00:00.000Z"]);
}

async fn prices_from_before_a_split_are_judged_in_new_shares(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 400.0).await;
    let id = world.create(&ann, above("AAPL", 420.0)).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    judge(&world, &[friday("419.99", "20:00:00"), monday("104.99", "14:00:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    judge(&world, &[monday("105", "14:30:00")]).await;
    assert_eq!(crossed_at(&world, &ann, id).await, ["2024-03-11T14:30:00.000Z"]);
}

/// Two hundred sessions at 100.
async fn two_hundred_sessions(world: &World) {
    let calendar = market::Calendar::nyse();
    let (from, to) = ("2023-04-01".parse().unwrap(), "2024-03-07".parse().unwrap());
    let bars = calendar
        .sessions(from, to)
        .map(|session| bar(&session.date.to_string(), 100.0));
    world.deliver(json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn a_golden_cross_that_was_missed_is_told(world: World) {
    let ann = world.ann(Plan::Premium).await;
    two_hundred_sessions(&world).await;
    world.quote("AAPL", 99.0).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_crossover_golden"});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(20);
    judge(
        &world,
        &[
            friday("100", "15:10:00"),
            friday("100.000001", "15:11:00"),
            friday("99", "15:12:00"),
        ],
    )
    .await;
    assert_eq!(firings(&world, &ann, id).await, late("15:11:00"));
}

/// An average of 100, a price of `before`, and an alert on the price rising to the average; now it is 15:20.
async fn touching(world: &World, before: f64) -> (Actor, AlertId) {
    let ann = world.ann(Plan::Premium).await;
    world
        .deliver(json!({"bars": [bar("2024-03-06", 100.0), bar("2024-03-07", 100.0)]}))
        .await;
    world.quote("AAPL", before).await;
    let body = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 3});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(20);
    (ann, id)
}

async fn a_touch_is_judged_by_the_last_price_that_was_missed(world: World) {
    let (ann, id) = touching(&world, 110.0).await;
    judge(&world, &[friday("110", "15:10:00"), friday("90", "15:15:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 100.0).await;
    assert_eq!(
        firings(&world, &ann, id).await,
        [("2024-03-08T15:20:00Z".to_owned(), None)]
    );
}

async fn a_touch_that_was_missed_is_told_and_not_told_again(world: World) {
    let (ann, id) = touching(&world, 90.0).await;
    let other = json!({"symbol": "AAPL", "condition": "ma_touch_above", "threshold": 2});
    let later = world.create(&ann, other).await.stored.alert.id;
    judge(&world, &[friday("100", "15:10:00"), friday("110", "15:15:00")]).await;
    assert_eq!(firings(&world, &ann, id).await, late("15:10:00"));
    // It was made after the touch, and from 110 there is none.
    world.quote("AAPL", 111.0).await;
    assert_eq!(world.status(&ann, later).await, Status::Active);
}

async fn a_touch_is_noticed_though_the_feed_is_delayed(world: World) {
    let (ann, id) = touching(&world, 90.0).await;
    // It is 15:20, and the feed tells what was at 15:05; nothing after that until 15:40.
    world
        .deliver(json!({"quotes": [{"symbol": "AAPL", "price": 91, "time": "2024-03-08T15:05:00Z"}]}))
        .await;
    world.advance(20);
    judge(&world, &[friday("92", "15:05:00"), friday("100", "15:06:00")]).await;
    assert_eq!(crossed_at(&world, &ann, id).await, ["2024-03-08T15:06:00.000Z"]);
}

async fn what_was_missed_counts_for_the_high_of_the_session(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    world.advance(20);
    judge(&world, &[friday("210", "15:10:00"), friday("200", "15:15:00")]).await;
    let high = json!({"symbol": "AAPL", "condition": "new_high"});
    let high = world.create(&ann, high).await.stored.alert.id;
    let low = json!({"symbol": "AAPL", "condition": "new_low"});
    let low = world.create(&ann, low).await.stored.alert.id;
    world.quote("AAPL", 210.0).await;
    world.quote("AAPL", 198.0).await;
    assert_eq!(world.status(&ann, high).await, Status::Active);
    assert_eq!(world.status(&ann, low).await, Status::Active);
    world.quote("AAPL", 210.01).await;
    world.quote("AAPL", 197.99).await;
    assert_eq!(world.status(&ann, high).await, Status::Triggered);
    assert_eq!(world.status(&ann, low).await, Status::Triggered);
}

async fn the_high_before_the_gap_counts_in_it_though_the_bar_has_come(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.deliver(json!({"bars": [bar("2024-03-07", 190.0)]})).await;
    world.quote("AAPL", 210.0).await;
    world.quote("AAPL", 200.0).await;
    let body = json!({"symbol": "AAPL", "condition": "new_high"});
    let id = world.create(&ann, body).await.stored.alert.id;
    world.advance(3 * 24 * 60);
    world.deliver(json!({"bars": [bar("2024-03-08", 215.0)]})).await;
    judge(&world, &[friday("210", "20:00:00")]).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    judge(&world, &[friday("210.01", "20:30:00")]).await;
    assert_eq!(crossed_at(&world, &ann, id).await, ["2024-03-08T20:30:00.000Z"]);
}

/// Ann's alerts on a new high and a new low. AAPL was seen between 190 and 210 on Friday, whose bar came; then a stretch of
/// Friday in between is judged late.
async fn with_a_bar_and_a_late_stretch(world: &World) -> (Actor, [AlertId; 2]) {
    let ann = world.ann(Plan::Premium).await;
    world.deliver(json!({"bars": [bar("2024-03-07", 200.0)]})).await;
    for price in [210.0, 190.0, 200.0] {
        world.quote("AAPL", price).await;
    }
    let mut ids = Vec::new();
    for condition in ["new_high", "new_low"] {
        let body = json!({"symbol": "AAPL", "condition": condition});
        ids.push(world.create(&ann, body).await.stored.alert.id);
    }
    world.advance(3 * 24 * 60);
    world.deliver(json!({"bars": [bar("2024-03-08", 200.0)]})).await;
    judge(world, &[friday("201", "20:00:00")]).await;
    (ann, ids.try_into().unwrap())
}

/// Prices within what was seen of Friday fire nothing, and those beyond it do.
async fn is_judged_by_all_of_friday(world: &World, ann: &Actor, [high, low]: [AlertId; 2]) {
    judge(world, &[friday("210", "20:10:00"), friday("190", "20:11:00")]).await;
    assert_eq!(world.status(ann, high).await, Status::Active);
    assert_eq!(world.status(ann, low).await, Status::Active);
    judge(world, &[friday("210.01", "20:20:00"), friday("189.99", "20:21:00")]).await;
    assert_eq!(crossed_at(world, ann, high).await, ["2024-03-08T20:20:00.000Z"]);
    assert_eq!(crossed_at(world, ann, low).await, ["2024-03-08T20:21:00.000Z"]);
}

async fn extremes_of_a_session_with_a_bar_survive_a_late_stretch(world: World) {
    let (ann, ids) = with_a_bar_and_a_late_stretch(&world).await;
    is_judged_by_all_of_friday(&world, &ann, ids).await;
}

async fn extremes_of_a_session_with_a_bar_survive_a_restart(world: World) {
    let (ann, ids) = with_a_bar_and_a_late_stretch(&world).await;
    let world = world.restarted().await;
    is_judged_by_all_of_friday(&world, &ann, ids).await;
}

async fn the_last_price_that_was_missed_is_shown_and_kept(world: World) {
    world.quote("AAPL", 198.0).await;
    world.advance(20);
    judge(&world, &[friday("210", "15:10:00"), friday("201", "15:15:00")]).await;
    let shown = async |world: &World| {
        let view = world.service.stocks.stock(symbol("AAPL")).await.unwrap();
        [view.last_price, view.high_52w].map(|price| price.map(|price| price.as_f64()))
    };
    assert_eq!(shown(&world).await, [Some(201.0), Some(210.0)]);
    let world = world.restarted().await;
    assert_eq!(shown(&world).await, [Some(201.0), Some(210.0)]);
}

async fn an_alert_sees_again_after_what_was_missed(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    world.advance(20);
    let state = async || {
        world
            .service
            .alerts
            .alert(&ann, id)
            .await
            .unwrap()
            .evaluation
            .unwrap()
            .state
    };
    assert_eq!(state().await, EvaluationStatus::Blind(EvaluationIssue::StaleQuotes));
    judge(&world, &[friday("199", "15:15:00")]).await;
    assert_eq!(state().await, EvaluationStatus::Ok);
}

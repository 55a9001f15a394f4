//! From a delivery to a firing that is on disk.

use alerts::{HistoryAction, Plan, Status};
use serde_json::json;
use service::stocks::CandleRange;

use super::support::{World, above, on_each_database, symbol};

on_each_database! {
    an_alert_fires_once_at_its_level_and_says_why
    an_alert_stays_quiet_one_step_short_of_its_level
    an_alert_that_holds_already_fires_at_the_next_evaluation
    a_paused_alert_does_not_fire
    a_quote_on_a_closed_market_is_shown_and_judges_nothing
    a_quote_from_before_the_last_one_is_refused
    a_filing_that_is_delivered_twice_is_counted_once
    an_alert_is_judged_by_what_it_was_changed_to
    a_bar_of_a_session_that_goes_on_is_refused_and_not_kept
}

async fn an_alert_fires_once_at_its_level_and_says_why(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 198.66)).await.stored.alert.id;
    world.quote("AAPL", 198.66).await;
    world.quote("AAPL", 199.0).await;

    let alert = world.service.alerts.alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.status, Status::Triggered);
    assert!(alert.triggered_at.is_some());
    let fired: Vec<_> = world.history(&ann, id).await.into_iter().skip(1).collect();
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0].entry.action, HistoryAction::Triggered);
    assert_eq!(fired[0].price.map(|price| price.micros()), Some(198_660_000));
    let events = world.events(&ann).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].alert, id);
    assert_eq!(events[0].data["reason"], "price 198.66 is at or above 198.66");
    assert_eq!(events[0].data["alert"]["status"], "triggered");
    assert_eq!(events[0].data["stock"]["price"], 198.66);
}

async fn an_alert_stays_quiet_one_step_short_of_its_level(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 198.66)).await.stored.alert.id;
    world.quote("AAPL", 198.659_999).await;
    assert_eq!(world.actions(&ann, id).await, [HistoryAction::Created]);
    assert_eq!(world.events(&ann).await, []);
}

async fn an_alert_that_holds_already_fires_at_the_next_evaluation(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 200.0).await;
    let id = world.create(&ann, above("AAPL", 198.0)).await.stored.alert.id;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn a_paused_alert_does_not_fire(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Paused);
    assert_eq!(world.events(&ann).await, []);
}

async fn a_quote_on_a_closed_market_is_shown_and_judges_nothing(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    // Friday evening.
    world.advance(8 * 60);
    world.quote("AAPL", 200.0).await;
    world.service.evaluate().await.unwrap();
    assert_eq!(world.status(&ann, id).await, Status::Active);
    let shown = world.service.stocks.stock(symbol("AAPL")).await.unwrap().last_price;
    assert_eq!(shown.map(|price| price.micros()), Some(200_000_000));
}

async fn a_quote_from_before_the_last_one_is_refused(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let quote = |price: f64, time: &str| json!({"quotes": [{"symbol": "AAPL", "price": price, "time": time}]});
    world.deliver(quote(198.0, "2024-03-08T14:59:00Z")).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    let answer = world.ingest(quote(200.0, "2024-03-08T14:58:59.999Z")).await;
    assert_eq!((answer.rejected.len(), answer.accepted["quotes"]), (1, 0));
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.deliver(quote(200.0, "2024-03-08T14:59:00.001Z")).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn a_filing_that_is_delivered_twice_is_counted_once(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let body = json!({"symbol": "AAPL", "condition": "insider_transactions", "threshold": 1500});
    let id = world.create(&ann, body).await.stored.alert.id;
    let filing = json!({"insider_transactions": [{
        "symbol": "AAPL", "filed_on": "2024-03-08", "insider": "Jane Doe", "code": "P", "side": "buy",
        "shares": 10, "price": 100,
    }]});
    world.deliver(filing.clone()).await;
    world.deliver(filing).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    let another = json!({"insider_transactions": [{
        "symbol": "AAPL", "filed_on": "2024-03-08", "insider": "Jane Doe", "code": "P", "side": "buy",
        "shares": 5, "price": 100,
    }]});
    world.deliver(another).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn an_alert_is_judged_by_what_it_was_changed_to(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.quote("AAPL", 198.0).await;
    let id = world.create(&ann, above("AAPL", 199.0)).await.stored.alert.id;
    world
        .service
        .alerts
        .update_alert(&ann, id, &json!({"threshold": 210}))
        .await
        .unwrap();
    world.quote("AAPL", 205.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Active);
    world.quote("AAPL", 210.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
}

async fn a_bar_of_a_session_that_goes_on_is_refused_and_not_kept(world: World) {
    world.quote("AAPL", 198.0).await;
    let bar =
        json!({"symbol": "AAPL", "date": "2024-03-08", "open": 1, "high": 999, "low": 1, "close": 1, "volume": 1});
    assert_eq!(world.ingest(json!({"bars": [bar]})).await.rejected.len(), 1);
    let candles = world
        .service
        .stocks
        .candles(symbol("AAPL"), CandleRange::Max)
        .await
        .unwrap();
    assert_eq!(candles.len(), 1);
    assert_eq!(candles[0].high.as_f64(), 198.0);
}

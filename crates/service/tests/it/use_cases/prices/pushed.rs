//! Pushed prices: no source can be asked, and a price is current for `market.stale_after`.

use alerts::{HistoryAction, Plan, Status};
use jiff::SignedDuration;
use serde_json::json;
use watchlist::analyst::Intention;

use super::{WAITS, friday, initial, percent};
use crate::support::{TestApp, above, at, kind, on_each_database, settings, symbol};

on_each_database! {
    price_is_current_for_fifteen_minutes_and_never_an_initial_price_after_that
    activation_with_an_old_price_takes_the_next_one_and_does_not_fire_by_the_old_one
    close_of_the_latest_session_is_the_initial_price_while_the_market_is_closed
    price_that_was_pushed_late_is_as_old_as_its_quote
    price_age_decides_on_a_market_that_never_closes
    guest_alert_is_verified_without_an_old_price_and_gets_the_next_one
    paper_trade_opens_at_the_first_current_price
    swap_without_a_current_price_closes_the_trade_and_opens_the_other_one_later
    analysis_needs_a_current_price_and_names_the_last_one
    service_without_data_reports_it
    loading_service_is_not_ready_and_refuses_no_symbol
}

async fn price_is_current_for_fifteen_minutes_and_never_an_initial_price_after_that(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    app.reach(friday("15:15:00"));
    let made = app.create(&ann, above("AAPL", 300.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    let made = app.create(&ann, percent("price_change_up", 50.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));

    app.reach(friday("15:15:01"));
    let made = app.create(&ann, above("AAPL", 301.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
    // It is displayed with its time.
    assert_eq!(made.stock.last_price, "200".parse().ok());
    assert_eq!(made.stock.updated_at, Some(friday("15:00:00")));
    let refused = app.refused(&ann, percent("price_change_up", 51.0)).await;
    assert_eq!(kind(&refused), "unavailable");
}

async fn activation_with_an_old_price_takes_the_next_one_and_does_not_fire_by_the_old_one(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let level = app
        .create(
            &ann,
            json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150}),
        )
        .await;
    let change = app.create(&ann, percent("price_change_up", 50.0)).await;
    let (level, change) = (level.stored.alert.id, change.stored.alert.id);
    for id in [level, change] {
        app.service.alerts.pause_alert(&ann, id).await.unwrap();
    }
    let body = json!({"threshold": 250});
    app.service.alerts.update_alert(&ann, level, &body).await.unwrap();
    app.reach(friday("16:00:00"));
    // The market is at 300 by now, but that price was not pushed.
    let refused = app.service.alerts.activate_alert(&ann, change).await.unwrap_err();
    assert_eq!(kind(&refused), "unavailable");
    let active = app
        .service
        .alerts
        .activate_alert(&ann, level)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!((active.status, active.initial_price), (Status::Active, None));
    assert_eq!(app.times_fired(&ann, level).await, 0, "200 is an old price");

    app.quote("AAPL", 300.0).await;
    let filled = app.filled(&ann, level).await;
    assert_eq!(initial(&filled).as_deref(), Some("300"));
    let change = app
        .service
        .alerts
        .activate_alert(&ann, change)
        .await
        .unwrap()
        .stored
        .alert;
    assert_eq!(initial(&change).as_deref(), Some("300"));
    assert_eq!(app.times_fired(&ann, change.id).await, 0);
    app.quote("AAPL", 450.0).await;
    assert_eq!(app.times_fired(&ann, change.id).await, 1);
    let actions = app.actions(&ann, level).await;
    assert_eq!(actions.last(), Some(&HistoryAction::Adjusted));
    let history = app.history(&ann, level).await;
    let details = history.last().unwrap().details.clone().unwrap();
    assert_eq!(details["initial_price"].as_f64(), Some(300.0));
}

async fn close_of_the_latest_session_is_the_initial_price_while_the_market_is_closed(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let bar = |symbol: &str, date: &str, close: u32| json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 1});
    app.reach(at("2024-03-08T22:00:00Z"));
    let bars = json!({"bars": [bar("AAPL", "2024-03-08", 170), bar("OLD", "2024-03-07", 9)]});
    app.deliver(bars).await;
    app.reach(at("2024-03-10T12:00:00Z"));
    let made = app.create(&ann, percent("price_change_down", 5.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("170"));
    // A stock without a bar of Friday has an old price.
    let made = app.create(&ann, above("OLD", 10.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
    assert_eq!(made.stock.updated_at, Some(at("2024-03-07T21:00:00Z")));
    // Monday, a second after the open.
    app.reach(at("2024-03-11T13:30:01Z"));
    let refused = app.refused(&ann, percent("price_change_down", 6.0)).await;
    assert_eq!(kind(&refused), "unavailable");
}

async fn price_that_was_pushed_late_is_as_old_as_its_quote(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.reach(friday("15:30:00"));
    let quote = |symbol: &str, time: &str| json!({"symbol": symbol, "price": 200, "time": friday(time).to_string()});
    app.deliver(json!({"quotes": [quote("AAPL", "15:15:00"), quote("MSFT", "15:14:59")]}))
        .await;
    let made = app.create(&ann, above("AAPL", 300.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    let made = app.create(&ann, above("MSFT", 300.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
    assert_eq!(made.stock.updated_at, Some(friday("15:14:59")));
    let precise = json!({"symbol": "KO", "price": 60, "time": friday("15:29:59.123").to_string()});
    app.deliver(json!({"quotes": [precise]})).await;

    let app = app.restarted().await;
    let made = app.create(&ann, above("AAPL", 301.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    let made = app.create(&ann, above("MSFT", 301.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
    assert_eq!(made.stock.updated_at, Some(friday("15:14:59")));
    let shown = app.service.stocks.stock(symbol("KO")).await.unwrap();
    assert_eq!(shown.updated_at, Some(friday("15:29:59.123")));
}

async fn price_age_decides_on_a_market_that_never_closes(app: TestApp) {
    let database = match app.store().await.is_shared() {
        true => testkit::Database::postgres().await,
        false => testkit::Database::sqlite(),
    };
    let mut always = settings();
    always.evaluation.calendar = market::Calendar::nyse().always_open();
    let app = TestApp::with(database, always).await;
    let ann = app.ann(Plan::Premium).await;
    // A Saturday.
    app.reach(at("2024-03-09T12:00:00Z"));
    app.quote("AAPL", 200.0).await;
    app.reach(at("2024-03-09T12:15:00Z"));
    let made = app.create(&ann, above("AAPL", 300.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    app.reach(at("2024-03-09T12:15:01Z"));
    let made = app.create(&ann, above("AAPL", 301.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
}

async fn guest_alert_is_verified_without_an_old_price_and_gets_the_next_one(app: TestApp) {
    let guest = "guest@example.com";
    app.quote("AAPL", 200.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 400, "email": guest});
    let wish = app.service.guest_alerts.guest_alert_request(&body).unwrap();
    app.service.guest_alerts.create_guest_alert(wish).await.unwrap();
    let letters = app.mailed(guest).await;
    let (_, link) = letters[0].text.split_once("verify-alert?token=").unwrap();
    let token: String = link.chars().take_while(|c| !c.is_whitespace()).collect();
    app.clock.advance(SignedDuration::from_mins(16));
    let id = app
        .service
        .guest_alerts
        .verify_guest_alert(&json!({"token": token}))
        .await
        .unwrap()
        .id;
    let store = app.store().await;
    let alert = async || store.alerts_by_id(&[id]).await.unwrap().remove(0).alert;
    assert_eq!(
        (alert().await.status, alert().await.initial_price),
        (Status::Active, None)
    );
    app.quote("AAPL", 300.0).await;
    while alert().await.initial_price.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(initial(&alert().await).as_deref(), Some("300"));
    store.close().await;
}

async fn paper_trade_opens_at_the_first_current_price(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    app.clock.advance(SignedDuration::from_mins(16));
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    assert_eq!(item.listed.item.initial_price, None);
    let trades = async || {
        app.service
            .watchlists
            .paper_trades(&ann, crate::support::ALL)
            .await
            .unwrap()
            .items
    };
    assert_eq!(trades().await, []);
    app.quote("AAPL", 300.0).await;
    while trades().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(trades().await[0].entry_price, "300".parse().unwrap());
}

async fn swap_without_a_current_price_closes_the_trade_and_opens_the_other_one_later(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let item = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    app.quote("AAPL", 210.0).await;
    app.clock.advance(SignedDuration::from_mins(16));
    let swap = json!({"item_id": item.listed.item.id.0, "new_intention": "sell", "stock_symbol": "AAPL"});
    let swapped = app
        .service
        .watchlists
        .swap_watchlist_item(&ann, &swap)
        .await
        .unwrap()
        .item;
    assert_eq!(swapped.listed.item.initial_price, None);
    let trades = async || {
        app.service
            .watchlists
            .paper_trades(&ann, crate::support::ALL)
            .await
            .unwrap()
            .items
    };
    let closed = trades().await;
    assert_eq!(closed.len(), 1);
    assert_eq!(
        closed[0].stored.exit.unwrap().price,
        "210".parse().unwrap(),
        "the last known price"
    );
    app.quote("AAPL", 300.0).await;
    while trades().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    let opened = trades().await.remove(0);
    assert_eq!(
        (opened.direction, opened.entry_price),
        ("short", "300".parse().unwrap())
    );
}

async fn analysis_needs_a_current_price_and_names_the_last_one(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let wish = async || {
        app.service
            .analysis
            .request_for(&ann, symbol("AAPL"), Intention::Buy, None)
            .await
            .unwrap()
    };
    app.reach(friday("15:15:00"));
    assert!(app.service.analysis.analyze_by_rules(wish().await).await.is_ok());
    app.reach(friday("15:15:01"));
    let refused = app.service.analysis.analyze_by_rules(wish().await).await.unwrap_err();
    assert_eq!(kind(&refused), "unavailable");
    let message = refused.to_string();
    assert!(
        message.contains("its last known price is 200, of 2024-03-08 15:00:00 UTC"),
        "{message}"
    );
}

async fn service_without_data_reports_it(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let refused = app.refused(&ann, above("AAPL", 300.0)).await;
    assert_eq!(kind(&refused), "no market data");
    assert!(
        refused.to_string().contains("this service has no market data yet"),
        "{refused}"
    );
    app.quote("MSFT", 400.0).await;
    let refused = app.refused(&ann, above("AAPL", 300.0)).await;
    assert_eq!(refused.to_string(), "there is no such stock: AAPL; check its symbol");
}

async fn loading_service_is_not_ready_and_refuses_no_symbol(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    assert!(app.service.ready().await.is_ok());
    app.service.prices.first_load_begins();
    assert_eq!(kind(&app.service.ready().await.unwrap_err()), "unavailable");
    let refused = app.refused(&ann, above("AAPL", 300.0)).await;
    assert_eq!(kind(&refused), "unavailable");
    // Bars of years ago are not a current price.
    let bar = json!({"symbol": "AAPL", "date": "2021-03-08", "open": 9, "high": 9, "low": 9, "close": 9, "volume": 1});
    app.deliver(json!({"bars": [bar]})).await;
    let made = app.create(&ann, above("AAPL", 300.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
    app.service.prices.first_load_ended();
    assert!(app.service.ready().await.is_ok());
    app.quote("AAPL", 200.0).await;
    let filled = app.filled(&ann, made.stored.alert.id).await;
    assert_eq!(initial(&filled).as_deref(), Some("200"));
    assert_ne!(app.state(&ann, filled.id).await, WAITS);
}

//! A source that can be asked for prices.

use alerts::Plan;
use evaluation::prices::PriceSourceConfig;
use evaluation::stocks::CandleRange;
use jiff::SignedDuration;
use serde_json::json;

use super::{Source, WAITS, friday, initial, percent};
use crate::support::{TestApp, above, kind, on_each_database, settings, symbol};

on_each_database! {
    activation_asks_the_source_and_starts_from_its_price
    price_that_a_source_confirms_is_current_until_it_is_stale
    percentage_waits_for_its_price_if_the_source_has_only_an_old_one
    percentage_is_refused_if_the_source_does_not_answer_within_three_seconds
    delayed_plan_counts_its_delay
    read_refused_and_paused_stocks_are_wanted_for_fifteen_minutes
    first_read_of_a_stock_waits_for_the_source_and_later_ones_do_not
    first_read_of_candles_waits_for_bars
    stock_known_only_to_the_source_is_accepted_and_an_unknown_one_is_404
    guest_request_is_counted_before_the_source_is_asked
    reads_ask_the_source_about_a_bounded_number_of_stocks
    one_list_of_quotes_asks_the_source_about_a_few_stocks
}

async fn activation_asks_the_source_and_starts_from_its_price(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let source = Source::connect(&app);
    let id = app.create(&ann, percent("price_change_up", 50.0)).await.stored.alert.id;
    assert_eq!(source.times_asked("AAPL"), 0, "the price is of this moment");
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.reach(friday("15:02:01"));
    source.say("AAPL", "300", friday("15:02:00"));
    let active = app.service.alerts.activate_alert(&ann, id).await.unwrap().stored.alert;
    assert_eq!(initial(&active).as_deref(), Some("300"));
    assert_eq!((source.times_asked("AAPL"), app.times_fired(&ann, id).await), (1, 0));
    app.quote("AAPL", 449.99).await;
    assert_eq!(app.times_fired(&ann, id).await, 0);
    app.quote("AAPL", 450.0).await;
    assert_eq!(app.times_fired(&ann, id).await, 1);
}

async fn price_that_a_source_confirms_is_current_until_it_is_stale(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let source = Source::connect(&app);
    app.quote("AAPL", 200.0).await;
    source.say("AAPL", "200", friday("15:00:00"));
    // There was no trade since.
    app.reach(friday("15:14:00"));
    let made = app.create(&ann, percent("price_change_up", 5.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    app.reach(friday("15:15:01"));
    let made = app.create(&ann, percent("price_change_up", 6.0)).await;
    assert_eq!(made.stored.alert.initial_price, None);
}

async fn percentage_waits_for_its_price_if_the_source_has_only_an_old_one(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let source = Source::connect(&app);
    source.say("AAPL", "200", friday("14:31:00"));
    let id = app.create(&ann, percent("price_change_up", 5.0)).await.stored.alert.id;
    assert_eq!(app.state(&ann, id).await, WAITS);
    app.quote("AAPL", 300.0).await;
    assert_eq!(initial(&app.filled(&ann, id).await).as_deref(), Some("300"));
    app.quote("AAPL", 314.99).await;
    assert_eq!(app.times_fired(&ann, id).await, 0);
    app.quote("AAPL", 315.0).await;
    assert_eq!(app.times_fired(&ann, id).await, 1);
}

async fn percentage_is_refused_if_the_source_does_not_answer_within_three_seconds(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.quote("AAPL", 200.0).await;
    let mut requests = app.service.prices.connect_price_source(PriceSourceConfig {
        current_for: SignedDuration::from_mins(2),
        has_daily_bars: false,
    });
    app.reach(friday("15:10:00"));
    let service = app.service.clone();
    let creating = tokio::spawn(async move {
        service
            .alerts
            .create_alert(&ann, &percent("price_change_up", 5.0))
            .await
    });
    let request = requests.recv().await.unwrap();
    assert_eq!(request.symbol, symbol("AAPL"));
    app.reach(friday("15:10:03"));
    assert_eq!(kind(&creating.await.unwrap().unwrap_err()), "unavailable");
}

async fn delayed_plan_counts_its_delay(app: TestApp) {
    let database = match app.store().await.is_shared() {
        true => testkit::Database::postgres().await,
        false => testkit::Database::sqlite(),
    };
    let mut delayed = settings();
    delayed.evaluation.engine.stale_after = SignedDuration::from_mins(30);
    let app = TestApp::with(database, delayed).await;
    let ann = app.ann(Plan::Premium).await;
    let source = Source::connect_with(&app, SignedDuration::from_mins(17));
    let quote = json!({"symbol": "AAPL", "price": 200, "time": friday("14:45:00").to_string()});
    app.deliver(json!({"quotes": [quote]})).await;
    app.reach(friday("15:02:00"));
    let made = app.create(&ann, above("AAPL", 300.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("200"));
    assert_eq!(source.times_asked("AAPL"), 0);
    app.reach(friday("15:02:01"));
    source.say("AAPL", "201", friday("14:47:01"));
    let made = app.create(&ann, above("AAPL", 301.0)).await;
    assert_eq!(initial(&made.stored.alert).as_deref(), Some("201"));
    assert_eq!(source.times_asked("AAPL"), 1);
}

async fn read_refused_and_paused_stocks_are_wanted_for_fifteen_minutes(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    for stock in ["READ", "REFUSED", "PAUSED"] {
        app.deliver(json!({"stocks": [{"symbol": stock, "name": stock}]})).await;
    }
    let wanted = async || {
        let mut wanted = app.service.market_intake.watched_stocks().await.unwrap();
        wanted.retain(|stock| *stock != symbol("SPY"));
        wanted.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(wanted().await, [""; 0]);
    let changes = app.service.prices.interest_changes();
    app.service.stocks.stock(symbol("READ")).await.unwrap();
    assert!(changes.has_changed().unwrap());
    let refused = json!({"symbol": "REFUSED", "condition": "price_change_up", "threshold": 5});
    assert_eq!(kind(&app.refused(&ann, refused).await), "unavailable");
    let id = app.create(&ann, above("PAUSED", 5.0)).await.stored.alert.id;
    app.clock.advance(SignedDuration::from_mins(20));
    assert_eq!(wanted().await, ["PAUSED"], "by its alert");
    app.service.stocks.stock(symbol("READ")).await.unwrap();
    app.refused(
        &ann,
        json!({"symbol": "REFUSED", "condition": "price_change_up", "threshold": 5}),
    )
    .await;
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    app.clock.advance(SignedDuration::from_secs(899));
    assert_eq!(wanted().await, ["PAUSED", "READ", "REFUSED"]);
    app.clock.advance(SignedDuration::from_secs(1));
    assert_eq!(wanted().await, [""; 0]);
}

async fn first_read_of_a_stock_waits_for_the_source_and_later_ones_do_not(app: TestApp) {
    let source = Source::connect(&app);
    app.deliver(json!({"stocks": [{"symbol": "AAPL", "name": "Apple"}]}))
        .await;
    source.say("AAPL", "200", friday("14:59:59"));
    let shown = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!((shown.last_price, source.times_asked("AAPL")), ("200".parse().ok(), 1));
    app.reach(friday("15:10:00"));
    // By now the source requests it without being asked.
    let shown = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!(
        (shown.updated_at, source.times_asked("AAPL")),
        (Some(friday("14:59:59")), 1)
    );
    app.reach(friday("15:40:00"));
    source.say("AAPL", "201", friday("15:39:59"));
    let shown = app.service.stocks.stock(symbol("AAPL")).await.unwrap();
    assert_eq!((shown.last_price, source.times_asked("AAPL")), ("201".parse().ok(), 2));
}

async fn first_read_of_candles_waits_for_bars(app: TestApp) {
    app.quote("AAPL", 200.0).await;
    let _requests = app.service.prices.connect_price_source(PriceSourceConfig {
        current_for: SignedDuration::from_mins(2),
        has_daily_bars: true,
    });
    let service = app.service.clone();
    let reading = tokio::spawn(async move { service.stocks.candles(symbol("AAPL"), CandleRange::Max).await });
    while app.service.prices.stocks_of_interest().is_empty() {
        tokio::task::yield_now().await;
    }
    let bar = json!({"symbol": "AAPL", "date": "2024-03-07", "open": 9, "high": 9, "low": 9, "close": 9, "volume": 1});
    app.deliver(json!({"bars": [bar]})).await;
    // Yesterday's and today's so far.
    assert_eq!(reading.await.unwrap().unwrap().len(), 2);
}

async fn stock_known_only_to_the_source_is_accepted_and_an_unknown_one_is_404(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let source = Source::connect(&app);
    source.say("NEWCO", "20", friday("14:59:59"));
    let made = app.create(&ann, above("NEWCO", 30.0)).await;
    assert_eq!(
        (made.stock.row.name.as_str(), initial(&made.stored.alert).as_deref()),
        ("NEWCO", Some("20"))
    );
    for _ in 0..3 {
        assert_eq!(kind(&app.refused(&ann, above("NOSUCH", 1.0)).await), "no stock");
        assert_eq!(
            kind(&app.service.stocks.stock(symbol("NOSUCH")).await.unwrap_err()),
            "no stock"
        );
    }
    assert_eq!(source.times_asked("NOSUCH"), 1, "the answer is remembered");
    let quotes = app.service.stocks.quotes(&[symbol("NEWCO"), symbol("NOSUCH")]).await;
    assert_eq!(quotes.len(), 1);
    // With a name it can be added to a watchlist anyway.
    let body = json!({"stock_symbol": "NOSUCH", "stock_name": "No Such", "intention": "buy"});
    assert!(app.service.watchlists.add_to_watchlist(&ann, &body).await.is_ok());
}

async fn guest_request_is_counted_before_the_source_is_asked(app: TestApp) {
    let source = Source::connect(&app);
    let body = json!({"symbol": "NOSUCH", "condition": "price_above", "threshold": 1, "email": "guest@example.com"});
    let wish = app.service.guest_alerts.guest_alert_request(&body).unwrap();
    assert_eq!(source.times_asked("NOSUCH"), 0);
    let refused = app.service.guest_alerts.create_guest_alert(wish).await.unwrap_err();
    assert_eq!((kind(&refused).as_str(), source.times_asked("NOSUCH")), ("no stock", 1));
}

async fn reads_ask_the_source_about_a_bounded_number_of_stocks(app: TestApp) {
    let source = Source::connect(&app);
    let symbols: Vec<_> = (0..100).map(|number| symbol(&format!("X{number}"))).collect();
    for stock in &symbols[..50] {
        source.say(stock.as_str(), "200", friday("14:00:00"));
        let body = json!({"stocks": [{"symbol": stock.as_str(), "name": "A stock"}]});
        app.deliver(body).await;
    }
    for _ in 0..2 {
        for &stock in &symbols {
            // Neither this service nor the source knows the last ones.
            let _ = app.service.stocks.stock(stock).await;
        }
        assert_eq!(source.times_asked_in_all(), 64);
    }
    let refused = app.service.stocks.stock(symbols[99]).await.unwrap_err();
    assert_eq!(kind(&refused), "unavailable");
    // Alerts do not count as reads: the source is always asked.
    let ann = app.ann(Plan::Premium).await;
    app.create(&ann, above(symbols[0].as_str(), 300.0)).await;
    assert_eq!(source.times_asked_in_all(), 65);
    app.clock.advance(SignedDuration::from_mins(15));
    assert_eq!(
        kind(&app.service.stocks.stock(symbols[99]).await.unwrap_err()),
        "no stock"
    );
    assert_eq!(source.times_asked_in_all(), 66);
}

async fn one_list_of_quotes_asks_the_source_about_a_few_stocks(app: TestApp) {
    let source = Source::connect(&app);
    let symbols: Vec<_> = (0..20).map(|number| symbol(&format!("X{number}"))).collect();
    for stock in &symbols {
        source.say(stock.as_str(), "200", friday("14:59:59"));
        let body = json!({"stocks": [{"symbol": stock.as_str(), "name": "A stock"}]});
        app.deliver(body).await;
    }
    for asked in [8, 16, 20, 20] {
        assert_eq!(app.service.stocks.quotes(&symbols).await.len(), 20);
        assert_eq!(source.times_asked_in_all(), asked);
        assert_eq!(app.service.prices.stocks_of_interest().len(), asked);
    }
}

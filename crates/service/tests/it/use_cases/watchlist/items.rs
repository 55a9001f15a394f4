//! Changes of watchlist items, and their paper trades.

use alerts::Plan;
use jiff::SignedDuration;
use market::Decimal;
use serde_json::json;
use watchlist::Intention;

use crate::support::{TestApp, kind, on_each_database, symbol};

on_each_database! {
    new_item_opens_a_paper_trade_at_the_price
    stock_can_be_added_once
    unknown_stock_is_added_under_its_name_and_traded_at_its_first_price
    swap_closes_the_trade_and_opens_the_opposite_one
    swap_must_name_the_stock_of_its_item
    deactivated_item_has_no_trade_and_a_reactivated_one_a_new_trade
    deleted_item_closes_and_keeps_its_trade
    split_adjusts_earlier_prices_and_no_profit
    basic_plan_has_ten_watchlist_items
    items_of_other_accounts_are_not_found
}

fn dollars(text: &str) -> Decimal {
    text.parse().unwrap()
}

async fn new_item_opens_a_paper_trade_at_the_price(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    assert_eq!(item.listed.item.initial_price.unwrap().price, "200".parse().unwrap());
    assert!(!item.listed.item.has_auto_alerts && item.listed.item.is_active);
    let trades = app.trades(&ann).await;
    assert_eq!(trades.len(), 1);
    let trade = &trades[0];
    assert_eq!((trade.direction, trade.quantity), ("long", dollars("5")));
    assert_eq!(trade.stored.notional, dollars("1000"));
    assert_eq!((trade.stored.exit, trade.realized_pnl), (None, None));
    app.quote("AAPL", 210.0).await;
    assert_eq!(app.trades(&ann).await[0].unrealized_pnl, Some(dollars("50")));
}

async fn stock_can_be_added_once(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let bob = app.bob(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    app.watch(&ann, "AAPL", "buy").await;
    let body = json!({"stock_symbol": "aapl", "intention": "sell"});
    let refused = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap_err();
    assert_eq!(kind(&refused), "conflict");
    app.watch(&bob, "AAPL", "sell").await;
    assert_eq!(app.trades(&ann).await.len(), 1);
}

async fn unknown_stock_is_added_under_its_name_and_traded_at_its_first_price(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    // Without any stock the error would be another one.
    app.quote("AAPL", 100.0).await;
    let body = json!({"stock_symbol": "NEW", "intention": "sell"});
    let refused = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap_err();
    assert_eq!(kind(&refused), "no stock");
    let body = json!({"stock_symbol": "NEW", "intention": "sell", "stock_name": "Newcomer Ltd"});
    let item = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    assert_eq!(
        (item.stock.name.as_str(), item.stock.last_price),
        ("Newcomer Ltd", None)
    );
    assert_eq!(item.listed.item.initial_price, None);
    assert!(app.trades(&ann).await.is_empty());
    app.quote("NEW", 50.0).await;
    app.service.jobs.run_job(service::cron::Job::PaperTrades).await.unwrap();
    assert_eq!(
        app.item(&ann, "NEW").await.listed.item.initial_price.unwrap().price,
        "50".parse().unwrap()
    );
    let trades = app.trades(&ann).await;
    assert_eq!(
        (trades.len(), trades[0].direction, trades[0].quantity),
        (1, "short", dollars("20"))
    );
    // The first quote keeps the name.
    assert_eq!(app.item(&ann, "NEW").await.stock.name, "Newcomer Ltd");
    let app = app.restarted().await;
    assert_eq!(app.item(&ann, "NEW").await.stock.name, "Newcomer Ltd");
}

async fn swap_closes_the_trade_and_opens_the_opposite_one(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.advance(1);
    app.quote("AAPL", 220.0).await;
    let (item, deleted) = app.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!((item.listed.item.intention, deleted), (Intention::Sell, 0));
    assert_eq!(item.listed.item.initial_price.unwrap().price, "220".parse().unwrap());
    let trades = app.trades(&ann).await;
    assert_eq!(trades.len(), 2);
    assert_eq!((trades[0].direction, trades[0].stored.exit), ("short", None));
    assert_eq!(
        (trades[1].direction, trades[1].realized_pnl),
        ("long", Some(dollars("100")))
    );
    assert_eq!(trades[1].stored.exit.unwrap().price, "220".parse().unwrap());
    // To the same intention: a new initial price, and the same trade.
    app.quote("AAPL", 230.0).await;
    let (item, _) = app.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!(item.listed.item.initial_price.unwrap().price, "230".parse().unwrap());
    assert_eq!(app.trades(&ann).await.len(), 2);
}

async fn swap_must_name_the_stock_of_its_item(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    let body = json!({"item_id": item.listed.item.id.0, "new_intention": "sell", "stock_symbol": "MSFT"});
    let refused = app
        .service
        .watchlists
        .swap_watchlist_item(&ann, &body)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "invalid stock_symbol");
    assert_eq!(app.item(&ann, "AAPL").await.listed.item.intention, Intention::Buy);
}

async fn deactivated_item_has_no_trade_and_a_reactivated_one_a_new_trade(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.quote("AAPL", 190.0).await;
    let aside = app.change(&ann, &item, json!({"is_active": false})).await;
    assert!(!aside.listed.item.is_active);
    let trades = app.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].realized_pnl), (1, Some(dollars("-50"))));
    // A swap only changes the intention.
    app.swap(&ann, &aside, "sell").await.unwrap();
    assert_eq!(app.trades(&ann).await.len(), 1);
    app.quote("AAPL", 160.0).await;
    let again = app.change(&ann, &aside, json!({"is_active": true})).await;
    assert_eq!(again.listed.item.initial_price.unwrap().price, "160".parse().unwrap());
    let trades = app.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].direction), (2, "short"));
    assert_eq!(trades[0].stored.entry.price, "160".parse().unwrap());
    // A repetition changes nothing.
    app.change(&ann, &again, json!({"is_active": true})).await;
    assert_eq!(app.trades(&ann).await.len(), 2);
}

async fn deleted_item_closes_and_keeps_its_trade(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "sell").await;
    app.quote("AAPL", 100.0).await;
    app.service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await
        .unwrap();
    assert!(app.service.watchlists.watchlist(&ann).await.unwrap().is_empty());
    let trades = app.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].realized_pnl), (1, Some(dollars("500"))));
    let again = app
        .service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await;
    assert_eq!(kind(&again.unwrap_err()), "no watchlist item");
    // The stock can be added again.
    app.watch(&ann, "AAPL", "buy").await;
    assert_eq!(app.trades(&ann).await.len(), 2);
}

async fn split_adjusts_earlier_prices_and_no_profit(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.change(&ann, &item, json!({"target_price": 180})).await;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    app.clock.advance(SignedDuration::from_hours(3 * 24));
    app.service.evaluate().await.unwrap();
    app.quote("AAPL", 55.0).await;
    let item = app.item(&ann, "AAPL").await.listed.item;
    assert_eq!(item.initial_price.unwrap().price, "50".parse().unwrap());
    assert_eq!(item.target_price.unwrap().price, "45".parse().unwrap());
    let trades = app.trades(&ann).await;
    assert_eq!(
        (trades[0].quantity, trades[0].entry_price),
        (dollars("20"), "50".parse().unwrap())
    );
    assert_eq!(trades[0].unrealized_pnl, Some(dollars("100")));
    // Values set after the split are kept, also when the split is delivered again.
    let item = app.item(&ann, "AAPL").await;
    app.change(&ann, &item, json!({"target_price": 40})).await;
    app.deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    assert_eq!(
        app.item(&ann, "AAPL").await.listed.item.target_price.unwrap().price,
        "40".parse().unwrap()
    );
}

async fn basic_plan_has_ten_watchlist_items(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for number in 0..11 {
        app.quote(&format!("S{number}"), 10.0).await;
    }
    for number in 0..10 {
        app.watch(&ann, &format!("S{number}"), "buy").await;
    }
    let body = json!({"stock_symbol": "S10", "intention": "buy"});
    let refused = app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden plan premium");
    let used = app.service.account_settings.subscription(&ann).await.unwrap();
    assert_eq!((used.watchlist_items, used.watchlist_quota), (10, 10));
    let item = app.item(&ann, "S3").await.listed.item.id;
    app.service.watchlists.delete_watchlist_item(&ann, item).await.unwrap();
    app.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
}

async fn items_of_other_accounts_are_not_found(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    app.quote("AAPL", 200.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    let id = item.listed.item.id;
    let refused = app.swap(&bob, &item, "sell").await.unwrap_err();
    assert_eq!(kind(&refused), "no watchlist item");
    let refused = app
        .service
        .watchlists
        .update_watchlist_item(&bob, id, &json!({"is_active": false}))
        .await;
    assert_eq!(kind(&refused.unwrap_err()), "no watchlist item");
    let refused = app.service.watchlists.delete_watchlist_item(&bob, id).await;
    assert_eq!(kind(&refused.unwrap_err()), "no watchlist item");
    assert!(app.trades(&bob).await.is_empty());
    assert_eq!(app.item(&ann, "AAPL").await.stock.symbol, symbol("AAPL"));
}

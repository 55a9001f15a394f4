//! Items as their owner makes and changes them, and their paper trades.

use alerts::Plan;
use jiff::SignedDuration;
use market::Decimal;
use serde_json::json;
use service::watchlist::Intention;

use crate::support::{World, kind, on_each_database, symbol};

on_each_database! {
    a_stock_that_is_watched_opens_a_paper_trade_at_its_price
    a_stock_is_watched_once
    a_stock_that_nobody_knows_is_watched_under_its_name_and_traded_at_its_first_price
    a_swap_closes_the_trade_and_opens_the_opposite_one
    a_swap_names_the_stock_of_its_item
    an_item_that_is_put_aside_has_no_trade_and_one_that_is_taken_up_again_a_new_one
    deleting_an_item_closes_its_trade_which_stays
    a_split_moves_prices_of_before_it_and_no_profit
    the_basic_plan_watches_ten_stocks
    what_is_others_is_not_there
}

fn dollars(text: &str) -> Decimal {
    text.parse().unwrap()
}

async fn a_stock_that_is_watched_opens_a_paper_trade_at_its_price(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    assert_eq!(item.listed.item.initial_price.unwrap().price, "200".parse().unwrap());
    assert!(!item.listed.item.has_auto_alerts && item.listed.item.is_active);
    let trades = world.trades(&ann).await;
    assert_eq!(trades.len(), 1);
    let trade = &trades[0];
    assert_eq!((trade.direction, trade.quantity), ("long", dollars("5")));
    assert_eq!(trade.stored.notional, dollars("1000"));
    assert_eq!((trade.stored.exit, trade.realized_pnl), (None, None));
    world.quote("AAPL", 210.0).await;
    assert_eq!(world.trades(&ann).await[0].unrealized_pnl, Some(dollars("50")));
}

async fn a_stock_is_watched_once(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let bob = world.bob(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    world.watch(&ann, "AAPL", "buy").await;
    let body = json!({"stock_symbol": "aapl", "intention": "sell"});
    let refused = world
        .service
        .watchlists
        .add_to_watchlist(&ann, &body)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "conflict");
    world.watch(&bob, "AAPL", "sell").await;
    assert_eq!(world.trades(&ann).await.len(), 1);
}

async fn a_stock_that_nobody_knows_is_watched_under_its_name_and_traded_at_its_first_price(world: World) {
    let ann = world.ann(Plan::Basic).await;
    // Without any stock at all the refusal would be another one.
    world.quote("AAPL", 100.0).await;
    let body = json!({"stock_symbol": "NEW", "intention": "sell"});
    let refused = world
        .service
        .watchlists
        .add_to_watchlist(&ann, &body)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "no stock");
    let body = json!({"stock_symbol": "NEW", "intention": "sell", "stock_name": "Newcomer Ltd"});
    let item = world.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
    assert_eq!(
        (item.stock.name.as_str(), item.stock.last_price),
        ("Newcomer Ltd", None)
    );
    assert_eq!(item.listed.item.initial_price, None);
    assert!(world.trades(&ann).await.is_empty());
    world.quote("NEW", 50.0).await;
    world
        .service
        .jobs
        .run_job(service::cron::Job::PaperTrades)
        .await
        .unwrap();
    assert_eq!(
        world.item(&ann, "NEW").await.listed.item.initial_price.unwrap().price,
        "50".parse().unwrap()
    );
    let trades = world.trades(&ann).await;
    assert_eq!(
        (trades.len(), trades[0].direction, trades[0].quantity),
        (1, "short", dollars("20"))
    );
    // The name has survived the first quote.
    assert_eq!(world.item(&ann, "NEW").await.stock.name, "Newcomer Ltd");
    let world = world.restarted().await;
    assert_eq!(world.item(&ann, "NEW").await.stock.name, "Newcomer Ltd");
}

async fn a_swap_closes_the_trade_and_opens_the_opposite_one(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.advance(1);
    world.quote("AAPL", 220.0).await;
    let (item, deleted) = world.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!((item.listed.item.intention, deleted), (Intention::Sell, 0));
    assert_eq!(item.listed.item.initial_price.unwrap().price, "220".parse().unwrap());
    let trades = world.trades(&ann).await;
    assert_eq!(trades.len(), 2);
    assert_eq!((trades[0].direction, trades[0].stored.exit), ("short", None));
    assert_eq!(
        (trades[1].direction, trades[1].realized_pnl),
        ("long", Some(dollars("100")))
    );
    assert_eq!(trades[1].stored.exit.unwrap().price, "220".parse().unwrap());
    // To the intention that it has already: a new initial price, and the same trade.
    world.quote("AAPL", 230.0).await;
    let (item, _) = world.swap(&ann, &item, "sell").await.unwrap();
    assert_eq!(item.listed.item.initial_price.unwrap().price, "230".parse().unwrap());
    assert_eq!(world.trades(&ann).await.len(), 2);
}

async fn a_swap_names_the_stock_of_its_item(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    let body = json!({"item_id": item.listed.item.id.0, "new_intention": "sell", "stock_symbol": "MSFT"});
    let refused = world
        .service
        .watchlists
        .swap_watchlist_item(&ann, &body)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "invalid stock_symbol");
    assert_eq!(world.item(&ann, "AAPL").await.listed.item.intention, Intention::Buy);
}

async fn an_item_that_is_put_aside_has_no_trade_and_one_that_is_taken_up_again_a_new_one(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.quote("AAPL", 190.0).await;
    let aside = world.change(&ann, &item, json!({"is_active": false})).await;
    assert!(!aside.listed.item.is_active);
    let trades = world.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].realized_pnl), (1, Some(dollars("-50"))));
    // Turning it only changes what is meant.
    world.swap(&ann, &aside, "sell").await.unwrap();
    assert_eq!(world.trades(&ann).await.len(), 1);
    world.quote("AAPL", 160.0).await;
    let again = world.change(&ann, &aside, json!({"is_active": true})).await;
    assert_eq!(again.listed.item.initial_price.unwrap().price, "160".parse().unwrap());
    let trades = world.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].direction), (2, "short"));
    assert_eq!(trades[0].stored.entry.price, "160".parse().unwrap());
    // Once more changes nothing.
    world.change(&ann, &again, json!({"is_active": true})).await;
    assert_eq!(world.trades(&ann).await.len(), 2);
}

async fn deleting_an_item_closes_its_trade_which_stays(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "sell").await;
    world.quote("AAPL", 100.0).await;
    world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await
        .unwrap();
    assert!(world.service.watchlists.watchlist(&ann).await.unwrap().is_empty());
    let trades = world.trades(&ann).await;
    assert_eq!((trades.len(), trades[0].realized_pnl), (1, Some(dollars("500"))));
    let again = world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item.listed.item.id)
        .await;
    assert_eq!(kind(&again.unwrap_err()), "no watchlist item");
    // And it can be watched anew.
    world.watch(&ann, "AAPL", "buy").await;
    assert_eq!(world.trades(&ann).await.len(), 2);
}

async fn a_split_moves_prices_of_before_it_and_no_profit(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.change(&ann, &item, json!({"target_price": 180})).await;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    world.clock.advance(SignedDuration::from_hours(3 * 24));
    world.service.evaluate().await.unwrap();
    world.quote("AAPL", 55.0).await;
    let item = world.item(&ann, "AAPL").await.listed.item;
    assert_eq!(item.initial_price.unwrap().price, "50".parse().unwrap());
    assert_eq!(item.target_price.unwrap().price, "45".parse().unwrap());
    let trades = world.trades(&ann).await;
    assert_eq!(
        (trades[0].quantity, trades[0].entry_price),
        (dollars("20"), "50".parse().unwrap())
    );
    assert_eq!(trades[0].unrealized_pnl, Some(dollars("100")));
    // What was set after the split stays, also when the split is told again.
    let item = world.item(&ann, "AAPL").await;
    world.change(&ann, &item, json!({"target_price": 40})).await;
    world
        .deliver(json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 4}]}))
        .await;
    assert_eq!(
        world.item(&ann, "AAPL").await.listed.item.target_price.unwrap().price,
        "40".parse().unwrap()
    );
}

async fn the_basic_plan_watches_ten_stocks(world: World) {
    let ann = world.ann(Plan::Basic).await;
    for number in 0..11 {
        world.quote(&format!("S{number}"), 10.0).await;
    }
    for number in 0..10 {
        world.watch(&ann, &format!("S{number}"), "buy").await;
    }
    let body = json!({"stock_symbol": "S10", "intention": "buy"});
    let refused = world
        .service
        .watchlists
        .add_to_watchlist(&ann, &body)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "forbidden plan premium");
    let used = world.service.account_settings.subscription(&ann).await.unwrap();
    assert_eq!((used.watchlist_items, used.watchlist_quota), (10, 10));
    let item = world.item(&ann, "S3").await.listed.item.id;
    world
        .service
        .watchlists
        .delete_watchlist_item(&ann, item)
        .await
        .unwrap();
    world.service.watchlists.add_to_watchlist(&ann, &body).await.unwrap();
}

async fn what_is_others_is_not_there(world: World) {
    let (ann, bob) = (world.ann(Plan::Basic).await, world.bob(Plan::Basic).await);
    world.quote("AAPL", 200.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    let id = item.listed.item.id;
    let refused = world.swap(&bob, &item, "sell").await.unwrap_err();
    assert_eq!(kind(&refused), "no watchlist item");
    let refused = world
        .service
        .watchlists
        .update_watchlist_item(&bob, id, &json!({"is_active": false}))
        .await;
    assert_eq!(kind(&refused.unwrap_err()), "no watchlist item");
    let refused = world.service.watchlists.delete_watchlist_item(&bob, id).await;
    assert_eq!(kind(&refused.unwrap_err()), "no watchlist item");
    assert!(world.trades(&bob).await.is_empty());
    assert_eq!(world.item(&ann, "AAPL").await.stock.symbol, symbol("AAPL"));
}

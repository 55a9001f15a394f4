//! Many changes of a watchlist at once.

use alerts::Plan;
use futures_util::future::join_all;
use serde_json::json;
use service::watchlist::Intention;

use crate::support::{World, kind, on_each_database};

on_each_database! {
    of_fifty_swaps_at_once_one_turns_the_item_and_one_analysis_is_asked_for
    of_fifty_swaps_to_and_fro_the_books_stay_exact
    of_fifty_additions_at_once_one_is_made
    of_fifty_additions_at_the_last_place_one_is_made
}

/// How many do it at once.
const MANY: usize = 50;

async fn of_fifty_swaps_at_once_one_turns_the_item_and_one_analysis_is_asked_for(world: World) {
    let ann = world.ann(Plan::Premium).await;
    world.watched_stock("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    world.analyse().await;
    let before = world.item(&ann, "AAPL").await.listed.active_alerts;
    let swaps = join_all((0..MANY).map(|_| world.swap(&ann, &item, "sell"))).await;
    let deleted: usize = swaps.into_iter().map(|swap| swap.unwrap().1).sum();
    // Each alert is deleted, and counted, once; a look in between may have made others, which were deleted as well.
    assert!(u64::try_from(deleted).unwrap() >= before);
    let trades = world.trades(&ann).await;
    assert_eq!(trades.len(), 2);
    assert_eq!(trades.iter().filter(|trade| trade.stored.exit.is_none()).count(), 1);
    world.analyse().await;
    // What the last analysis has made is there once.
    let item = world.item(&ann, "AAPL").await;
    assert!((2..=5).contains(&item.listed.active_alerts), "{item:?}");
    assert_eq!(item.listed.item.intention, Intention::Sell);
}

async fn of_fifty_swaps_to_and_fro_the_books_stay_exact(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let item = world.watch(&ann, "AAPL", "buy").await;
    let to = |at: usize| if at.is_multiple_of(2) { "sell" } else { "buy" };
    for swap in join_all((0..MANY).map(|at| world.swap(&ann, &item, to(at)))).await {
        swap.unwrap();
    }
    let trades = world.trades(&ann).await;
    let open: Vec<_> = trades.iter().filter(|trade| trade.stored.exit.is_none()).collect();
    let intention = world.item(&ann, "AAPL").await.listed.item.intention;
    assert_eq!((open.len(), open[0].stored.intention), (1, intention));
    // They take turns, the last first.
    for pair in trades.windows(2) {
        assert_ne!(pair[0].direction, pair[1].direction);
    }
}

async fn of_fifty_additions_at_once_one_is_made(world: World) {
    let ann = world.ann(Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let added = join_all((0..MANY).map(|_| world.service.watchlists.add_to_watchlist(&ann, &body))).await;
    let (made, refused): (Vec<_>, Vec<_>) = added.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 1);
    assert!(
        refused
            .into_iter()
            .all(|refused| kind(&refused.unwrap_err()) == "conflict")
    );
    assert_eq!(world.trades(&ann).await.len(), 1);
}

async fn of_fifty_additions_at_the_last_place_one_is_made(world: World) {
    let ann = world.ann(Plan::Basic).await;
    for number in 0..MANY + 9 {
        world.quote(&format!("S{number}"), 10.0).await;
    }
    for number in 0..9 {
        world.watch(&ann, &format!("S{number}"), "buy").await;
    }
    let bodies: Vec<_> = (9..MANY + 9)
        .map(|number| json!({"stock_symbol": format!("S{number}"), "intention": "buy"}))
        .collect();
    let added = join_all(
        bodies
            .iter()
            .map(|body| world.service.watchlists.add_to_watchlist(&ann, body)),
    )
    .await;
    assert_eq!(added.iter().filter(|added| added.is_ok()).count(), 1);
    assert_eq!(world.service.watchlists.watchlist(&ann).await.unwrap().len(), 10);
}

//! Concurrent changes of a watchlist.

use alerts::Plan;
use futures_util::future::join_all;
use serde_json::json;
use watchlist::Intention;

use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    concurrent_swaps_swap_once_and_request_one_analysis
    concurrent_opposite_swaps_keep_trades_consistent
    concurrent_additions_create_one_item
    concurrent_additions_for_the_last_quota_create_one_item
}

/// The number of concurrent requests.
const MANY: usize = 50;

async fn concurrent_swaps_swap_once_and_request_one_analysis(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    app.watched_stock("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    app.analyse().await;
    let before = app.item(&ann, "AAPL").await.listed.active_alerts;
    let swaps = join_all((0..MANY).map(|_| app.swap(&ann, &item, "sell"))).await;
    let deleted: usize = swaps.into_iter().map(|swap| swap.unwrap().1).sum();
    // Each alert is deleted, and counted, once. An analysis in between may have created others, which were deleted as
    // well.
    assert!(u64::try_from(deleted).unwrap() >= before);
    let trades = app.trades(&ann).await;
    assert_eq!(trades.len(), 2);
    assert_eq!(trades.iter().filter(|trade| trade.stored.exit.is_none()).count(), 1);
    app.analyse().await;
    // The alerts of the last analysis exist once.
    let item = app.item(&ann, "AAPL").await;
    assert!((2..=5).contains(&item.listed.active_alerts), "{item:?}");
    assert_eq!(item.listed.item.intention, Intention::Sell);
}

async fn concurrent_opposite_swaps_keep_trades_consistent(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let item = app.watch(&ann, "AAPL", "buy").await;
    let to = |at: usize| if at.is_multiple_of(2) { "sell" } else { "buy" };
    for swap in join_all((0..MANY).map(|at| app.swap(&ann, &item, to(at)))).await {
        swap.unwrap();
    }
    let trades = app.trades(&ann).await;
    let open: Vec<_> = trades.iter().filter(|trade| trade.stored.exit.is_none()).collect();
    let intention = app.item(&ann, "AAPL").await.listed.item.intention;
    assert_eq!((open.len(), open[0].stored.intention), (1, intention));
    // They are sequential, the last first.
    for pair in trades.windows(2) {
        assert_ne!(pair[0].direction, pair[1].direction);
    }
}

async fn concurrent_additions_create_one_item(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
    let added = join_all((0..MANY).map(|_| app.service.watchlists.add_to_watchlist(&ann, &body))).await;
    let (made, refused): (Vec<_>, Vec<_>) = added.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 1);
    assert!(
        refused
            .into_iter()
            .all(|refused| kind(&refused.unwrap_err()) == "conflict")
    );
    assert_eq!(app.trades(&ann).await.len(), 1);
}

async fn concurrent_additions_for_the_last_quota_create_one_item(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for number in 0..MANY + 9 {
        app.quote(&format!("S{number}"), 10.0).await;
    }
    for number in 0..9 {
        app.watch(&ann, &format!("S{number}"), "buy").await;
    }
    let bodies: Vec<_> = (9..MANY + 9)
        .map(|number| json!({"stock_symbol": format!("S{number}"), "intention": "buy"}))
        .collect();
    let added = join_all(
        bodies
            .iter()
            .map(|body| app.service.watchlists.add_to_watchlist(&ann, body)),
    )
    .await;
    assert_eq!(added.iter().filter(|added| added.is_ok()).count(), 1);
    assert_eq!(app.service.watchlists.watchlist(&ann).await.unwrap().len(), 10);
}

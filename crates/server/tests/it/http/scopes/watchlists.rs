//! Alerts that follow a watchlist, and the limit of a plan.

use serde_json::json;

use crate::http::identity::{on_each_database, start_server};
use crate::http::scopes::{
    add_to_watchlist, as_basic, basic_account, created, fired, following, members, over, prices, shown, states,
};
use crate::http::test_server::TestServer;

on_each_database! {
    watchlist_is_followed_as_it_changes
    alert_on_an_empty_watchlist_waits_for_its_first_stock
    members_count_against_the_limit_of_the_plan
    stocks_beyond_the_limit_are_paused
}

async fn watchlist_is_followed_as_it_changes(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    add_to_watchlist(&server, "AAPL", "buy").await;
    let all = created(&server, following("all")).await;
    let to_buy = created(&server, following("buy")).await;
    let item = add_to_watchlist(&server, "MSFT", "sell").await;
    assert_eq!(
        members(&server, &all).await,
        states(&[("AAPL", "active"), ("MSFT", "active")])
    );
    assert_eq!(members(&server, &to_buy).await, states(&[("AAPL", "active")]));
    let swap = json!({"item_id": item, "stock_symbol": "MSFT", "new_intention": "buy"});
    server
        .request("PUT", "/v1/watchlist/order")
        .json(&swap)
        .send()
        .await
        .ok(200);
    assert_eq!(
        members(&server, &to_buy).await,
        states(&[("AAPL", "active"), ("MSFT", "active")])
    );
    prices(&server, &[("MSFT", 130.0)]).await;
    assert_eq!(
        (fired(&server, &all).await, fired(&server, &to_buy).await),
        (vec!["MSFT".to_owned()], vec!["MSFT".to_owned()])
    );
    server
        .request("DELETE", &format!("/v1/watchlist/{item}"))
        .send()
        .await
        .ok(200);
    assert_eq!(members(&server, &all).await, states(&[("AAPL", "active")]));
    assert_eq!(fired(&server, &all).await, ["MSFT"]);
}

async fn alert_on_an_empty_watchlist_waits_for_its_first_stock(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    let id = created(&server, following("all")).await;
    assert_eq!(shown(&server, &id).await["status"], "active");
    assert_eq!(members(&server, &id).await, []);
    add_to_watchlist(&server, "AAPL", "buy").await;
    prices(&server, &[("AAPL", 130.0)]).await;
    assert_eq!(shown(&server, &id).await["status"], "triggered");
}

async fn members_count_against_the_limit_of_the_plan(server: TestServer) {
    let (key, symbols) = basic_account(&server, 21).await;
    let all: Vec<&str> = symbols.iter().map(String::as_str).collect();
    let refused = as_basic(&server, &key, "POST", "/v1/alerts", &over(&all, 125)).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    as_basic(&server, &key, "POST", "/v1/alerts", &over(&all[..20], 125))
        .await
        .ok(201);
    let one_more = json!({"symbol": "S20", "condition": "price_above", "threshold": 125});
    let refused = as_basic(&server, &key, "POST", "/v1/alerts", &one_more).await;
    assert_eq!(refused.status, 403, "{refused:?}");
}

async fn stocks_beyond_the_limit_are_paused(server: TestServer) {
    let (key, symbols) = basic_account(&server, 21).await;
    let all: Vec<&str> = symbols.iter().map(String::as_str).collect();
    as_basic(&server, &key, "POST", "/v1/alerts", &over(&all[..19], 125))
        .await
        .ok(201);
    let made = as_basic(&server, &key, "POST", "/v1/alerts", &following("all"))
        .await
        .ok(201);
    for symbol in &all[19..] {
        let item = json!({"stock_symbol": symbol, "intention": "buy"});
        as_basic(&server, &key, "POST", "/v1/watchlist", &item).await.ok(201);
    }
    let id = made.body["data"]["id"].as_str().unwrap();
    let path = format!("/v1/alerts/{id}/members");
    let found = server
        .anonymous("GET", &path)
        .header("x-api-key", &key)
        .send()
        .await
        .ok(200);
    let found = found.body["data"].as_array().unwrap();
    let states: Vec<_> = found
        .iter()
        .map(|member| (&member["symbol"], &member["state"]))
        .collect();
    assert_eq!(
        states,
        [(&json!("S19"), &json!("active")), (&json!("S20"), &json!("paused"))]
    );
}

//! Changes of alerts over many stocks.

use serde_json::json;

use crate::http::identity::{on_each_database, start_server};
use crate::http::scopes::{change, created, fired, members, over, prices, shown, states};
use crate::http::test_server::TestServer;

on_each_database! {
    pause_and_activation_concern_all_members
    update_changes_all_members
    replaced_symbols_keep_the_state_of_the_others
    alert_on_one_stock_gets_no_scope
}

async fn pause_and_activation_concern_all_members(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    prices(&server, &[("MSFT", 126.0), ("MSFT", 100.0)]).await;
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "paused"), ("MSFT", "triggered")])
    );
    assert_eq!(shown(&server, &id).await["status"], "paused");
    prices(&server, &[("AAPL", 130.0), ("AAPL", 100.0)]).await;
    let activated = server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    assert_eq!(activated.body["data"]["status"], "active", "{activated:?}");
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "active"), ("MSFT", "active")])
    );
    prices(&server, &[("AAPL", 130.0), ("MSFT", 130.0)]).await;
    assert_eq!(fired(&server, &id).await, ["MSFT", "AAPL", "MSFT"]);
    let again = server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    assert_eq!(again.body["data"]["status"], "active", "{again:?}");
}

async fn update_changes_all_members(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    change(&server, "PUT", &id, json!({"threshold": 110, "note": "Sell half."}))
        .await
        .ok(200);
    prices(&server, &[("AAPL", 111.0), ("MSFT", 109.0)]).await;
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "triggered"), ("MSFT", "active")])
    );
    assert_eq!(shown(&server, &id).await["threshold"], 110);
}

async fn replaced_symbols_keep_the_state_of_the_others(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0), ("TSLA", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    prices(&server, &[("MSFT", 126.0)]).await;
    let changed = change(&server, "PATCH", &id, json!({"scope": {"symbols": ["MSFT", "TSLA"]}}))
        .await
        .ok(200);
    assert_eq!(changed.body["data"]["scope"], json!({"symbols": ["MSFT", "TSLA"]}));
    assert_eq!(
        members(&server, &id).await,
        states(&[("MSFT", "triggered"), ("TSLA", "active")])
    );
    prices(&server, &[("AAPL", 130.0), ("TSLA", 130.0)]).await;
    assert_eq!(fired(&server, &id).await, ["MSFT", "TSLA"]);
    change(&server, "PATCH", &id, json!({"scope": null}))
        .await
        .refused(422, "VALIDATION_ERROR");
    let refused = change(
        &server,
        "PATCH",
        &id,
        json!({"scope": {"symbols": ["MSFT", "TSLA", "NOSUCH"]}}),
    )
    .await
    .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["scope.symbols.2"].is_array(),
        "{refused:?}"
    );
}

async fn alert_on_one_stock_gets_no_scope(server: TestServer) {
    prices(&server, &[("AAPL", 100.0)]).await;
    let id = server.create_alert(125).await;
    let refused = change(&server, "PATCH", &id, json!({"scope": {"watchlist": "all"}}))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(
        refused.body["error"]["details"]["fields"]["scope"].is_array(),
        "{refused:?}"
    );
    change(&server, "PATCH", &id, json!({"scope": null, "threshold": 126}))
        .await
        .ok(200);
}

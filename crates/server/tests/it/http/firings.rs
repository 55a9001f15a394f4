//! Firings over HTTP.

use serde_json::{Value, json};

use crate::http::test_server::TestServer;

#[tokio::test]
async fn firing_is_listed_shown_and_acknowledged() {
    let server = TestServer::new().await;
    let alert = fired_alert(&server).await;
    let listed = server.data("/v1/firings").await;
    let firing = &listed[0];
    let expected = json!({
        "id": firing["id"], "alert_id": alert, "symbol": "AAPL", "condition": "price_above", "threshold": 190,
        "trigger_price": 191, "reason": "price 191.00 is at or above 190.00",
        "timeline": {
            "quoted_at": "2024-03-08T15:00:00.000Z", "received_at": "2024-03-08T15:00:00.000Z",
            "judged_at": "2024-03-08T15:00:00.000Z", "committed_at": "2024-03-08T15:00:00.000Z",
        },
        "messages": firing["messages"], "acknowledged": null,
    });
    assert_eq!(*firing, expected);
    assert_eq!(firing["messages"][0]["type"], "email");
    let path = format!("/v1/firings/{}", firing["id"].as_str().unwrap());
    assert_eq!(server.data(&path).await["timeline"], firing["timeline"]);
    for _ in 0..2 {
        let acknowledged = server.post(&format!("{path}/acknowledge"), json!({})).await.ok(200);
        assert_eq!(acknowledged.body["data"]["acknowledged"]["via"], "api");
    }
    assert_eq!(server.data("/v1/firings?unacknowledged=true").await, json!([]));
    let history = server.data(&format!("/v1/alerts/{alert}/history")).await;
    let actions: Vec<&Value> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["action_type"])
        .collect();
    assert_eq!(
        actions.iter().filter(|action| **action == "acknowledged").count(),
        1,
        "{actions:?}"
    );
}

#[tokio::test]
async fn invalid_filters_and_unknown_firings_are_refused() {
    let server = TestServer::new().await;
    let alert = fired_alert(&server).await;
    for query in ["since=yesterday", "alert_id=7", "unacknowledged=maybe", "limit=0"] {
        let refused = server.get(&format!("/v1/firings?{query}")).await;
        let refused = refused.refused(422, "VALIDATION_ERROR");
        let (name, _) = query.split_once('=').unwrap();
        assert!(
            refused.body["error"]["details"]["fields"][name].is_array(),
            "{refused:?}"
        );
    }
    let unknown = "11111111-1111-4111-8111-111111111111";
    let _ = server
        .get(&format!("/v1/firings?alert_id={unknown}"))
        .await
        .refused(404, "NOT_FOUND");
    for id in [unknown, "seven", &alert] {
        let _ = server.get(&format!("/v1/firings/{id}")).await.refused(404, "NOT_FOUND");
        let acknowledged = server.post(&format!("/v1/firings/{id}/acknowledge"), json!({})).await;
        let _ = acknowledged.refused(404, "NOT_FOUND");
    }
}

/// Fires an alert of the server's user, and returns its id.
async fn fired_alert(server: &TestServer) -> String {
    server.set_price("AAPL", 189.2).await;
    let id = server.create_alert(190).await;
    server.set_price("AAPL", 191.0).await;
    id
}

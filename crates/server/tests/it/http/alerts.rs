//! Alerts over HTTP.

use serde_json::{Value, json};

use crate::http::test_server::{TestServer, above};

#[tokio::test]
async fn alert_has_fields_stock_and_evaluation_state() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 189.2).await;
    let made = server.post("/v1/alerts", above(200)).await.ok(201);
    let alert = &made.body["data"];
    for (field, expected) in [
        ("symbol", json!("AAPL")),
        ("condition", json!("price_above")),
        ("threshold", json!(200)),
        ("notification", json!("email")),
        ("status", json!("active")),
        ("created_at", json!("2024-03-08T15:00:00.000Z")),
        ("triggered_at", Value::Null),
        ("initial_price", json!(189.2)),
        ("parameters", Value::Null),
    ] {
        assert_eq!(alert.get(field), Some(&expected), "{field}: {made:?}");
    }
    assert_eq!(alert["stock"]["name"], "AAPL Company");
    assert_eq!(alert["stock"]["last_price"], 189.2);
    assert_eq!(alert["stock"], alert["stocks"]);
    let judged = json!({"state": "ok", "reason": null, "since": "2024-03-08T15:00:00.000Z"});
    assert_eq!(alert["evaluation"], judged);
    assert!(
        made.text.contains(r#""threshold":200,"#),
        "numbers as JavaScript writes them"
    );
    let read = server
        .get(&format!("/v1/alerts/{}", alert["id"].as_str().unwrap()))
        .await
        .ok(200);
    assert_eq!(&read.body["data"], alert);
}

#[tokio::test]
async fn list_size_options_select_the_fields() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(125).await;
    let first = async |query: &str| server.get(&format!("/v1/alerts{query}")).await.ok(200).body["data"][0].clone();
    let minimal = first("?minimal=true&extended=true").await;
    let names: Vec<_> = minimal.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["id", "symbol", "condition", "threshold", "status"]);
    let usual = first("").await;
    assert_eq!(usual["stock"], json!({"name": "AAPL Company", "last_price": 100}));
    assert_eq!(usual["stock"], usual["stocks"]);
    assert_eq!(usual.get("evaluation"), None);
    let extended = first("?extended=True").await;
    assert_eq!(extended["last_metric_value"], 100);
    assert_eq!(extended["distance_pct"], 25);
    assert_eq!(extended["last_evaluated_at"], "2024-03-08T15:00:00.000Z");
    assert_eq!(extended["evaluation"]["state"], "ok");
    assert!(extended["stock"].get("rsi").is_some());
}

#[tokio::test]
async fn list_is_filtered_sorted_and_paged() {
    let server = TestServer::new().await;
    for symbol in ["AAPL", "MSFT"] {
        server.set_price(symbol, 100.0).await;
    }
    for threshold in [300, 200, 400] {
        let _ = server.create_alert(threshold).await;
    }
    let msft = json!({"symbol": "MSFT", "condition": "new_high"});
    let _ = server.post("/v1/alerts", msft).await.ok(201);
    let listed = async |query: &str| {
        let response = server.get(&format!("/v1/alerts?{query}")).await.ok(200);
        let alerts = response.body["data"].as_array().unwrap().clone();
        let thresholds: Vec<_> = alerts.iter().map(|alert| alert["threshold"].clone()).collect();
        (json!(thresholds), response.body["meta"]["pagination"].clone())
    };
    let all = "sort_field=threshold&sort_direction=asc";
    assert_eq!(listed(all).await.0, json!([200, 300, 400, null]));
    let (page, pagination) = listed(&format!("{all}&page=2&limit=3")).await;
    assert_eq!(page, json!([null]));
    assert_eq!(pagination, json!({"page": 2, "limit": 3, "total": 4, "total_pages": 2}));
    assert_eq!(listed("limit=500").await.1["limit"], 100);
    assert_eq!(listed("symbol=msft").await.0, json!([null]));
    assert_eq!(listed("search=msft%20comp").await.0, json!([null]));
    assert_eq!(listed("condition=new_high&status=active").await.0, json!([null]));
    assert_eq!(listed("status=paused").await.0, json!([]));
    assert_eq!(listed("status=nonsense&status=paused&unknown=1").await.0, json!([]));
}

#[tokio::test]
async fn list_continues_after_an_alert() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    for threshold in [300, 200, 400] {
        let _ = server.create_alert(threshold).await;
    }
    let order = "sort_field=threshold&sort_direction=asc&limit=1";
    let (mut thresholds, mut query) = (Vec::new(), format!("/v1/alerts?{order}"));
    loop {
        let page = server.get(&query).await.ok(200);
        let pagination = json!({"page": 1, "limit": 1, "total": 3, "total_pages": 3});
        assert_eq!(page.body["meta"]["pagination"], pagination);
        let Some(alert) = page.body["data"].as_array().unwrap().first() else {
            break;
        };
        thresholds.push(alert["threshold"].clone());
        query = format!("/v1/alerts?{order}&after={}", alert["id"].as_str().unwrap());
    }
    assert_eq!(thresholds, [200, 300, 400]);
}

#[tokio::test]
async fn list_after_no_own_alert_is_refused() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(200).await;
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    for (query, field) in [
        ("after=1".to_owned(), "after"),
        (format!("after={unknown}"), "after"),
        (format!("after={id}&page=1"), "page"),
    ] {
        let refused = server.get(&format!("/v1/alerts?{query}")).await;
        let refused = refused.refused(422, "VALIDATION_ERROR");
        let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), [field], "{query}");
    }
}

#[tokio::test]
async fn query_errors_are_reported_together() {
    let server = TestServer::new().await;
    let query =
        "page=0&limit=x&status=asleep&condition=moon&sort_field=id&sort_direction=up&minimal=2&symbol=A%20B&search=%00";
    let refused = server
        .get(&format!("/v1/alerts?{query}"))
        .await
        .refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    let expected = [
        "condition",
        "limit",
        "minimal",
        "page",
        "search",
        "sort_direction",
        "sort_field",
        "status",
        "symbol",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn alert_transitions_are_recorded_in_its_history() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(200).await;
    let path = format!("/v1/alerts/{id}");
    let paused = server.request("POST", &format!("{path}/pause")).send().await.ok(200);
    assert_eq!(paused.body["data"], json!({"alert_id": id, "status": "paused"}));
    let active = server.request("POST", &format!("{path}/activate")).send().await.ok(200);
    assert_eq!(
        active.body["data"],
        json!({"alert_id": id, "status": "active", "initial_price": 100})
    );
    let changed = server
        .request("PUT", &path)
        .json(&json!({"threshold": 150.5}))
        .send()
        .await
        .ok(200);
    assert_eq!(changed.body["data"]["threshold"], 150.5);
    server.set_price("AAPL", 151.0).await;
    let deleted = server.request("DELETE", &path).send().await.ok(200);
    assert_eq!(
        deleted.body["data"],
        json!({"alert_id": id, "alertId": id, "status": "deleted"})
    );
    let _ = server.get(&path).await.refused(404, "NOT_FOUND");
    let history = server.get(&format!("{path}/history?limit=1000")).await.ok(200);
    assert_eq!(history.body["meta"]["pagination"]["limit"], 200);
    let mut entries = history.body["data"].as_array().unwrap().clone();
    // The history gets the result of the email later.
    entries.retain(|entry| !entry["action_type"].as_str().unwrap().starts_with("notification_"));
    let actions: Vec<_> = entries
        .iter()
        .map(|entry| entry["action_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        ["deleted", "triggered", "updated", "reactivated", "paused", "created"]
    );
    assert_eq!(entries[1]["trigger_price"], 151);
    assert_eq!(entries[1]["previous_status"], "active");
    assert_eq!(entries[1]["new_status"], "triggered");
    assert_eq!(entries[5]["previous_status"], Value::Null);
}

#[tokio::test]
async fn malformed_id_is_422_and_unknown_id_is_404() {
    let server = TestServer::new().await;
    for (method, rest) in [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/activate"),
        ("GET", "/history"),
    ] {
        for id in ["nonsense", "%FF", "11111111111141118111111111111111", "%7B%7D"] {
            let request = server
                .request(method, &format!("/v1/alerts/{id}{rest}"))
                .json(&json!({}));
            let refused = request.send().await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"]["id"].is_array());
        }
        let unknown = format!("/v1/alerts/11111111-1111-4111-8111-111111111111{rest}");
        let _ = server
            .request(method, &unknown)
            .json(&json!({}))
            .send()
            .await
            .refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn condition_outside_the_plan_is_403() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let ann = server
        .account("ann@example.com", alerts::Plan::Basic, false, foundation::Scope::PUBLIC)
        .await;
    let body = json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 50});
    let refused = server
        .anonymous("POST", "/v1/alerts")
        .header("x-api-key", &ann)
        .json(&body);
    let refused = refused.send().await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "plan");
    assert_eq!(refused.body["error"]["details"]["required"], "premium");
}

//! Explanations of alerts over HTTP, at present and at past moments.

use foundation::Scope;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    present_values_and_distances_are_explained
    paused_alert_is_explained_with_its_status
    past_moment_is_explained_from_stored_bars
    status_of_a_past_moment_is_that_of_its_history
    cooldown_of_a_past_moment_is_counted_from_the_recorded_firing
    later_change_of_the_condition_is_told
    moment_must_be_past_and_after_the_creation
    alerts_near_to_firing_are_listed_with_the_nearest_first
    alerts_that_were_near_are_listed
    accounts_have_only_their_own_near_alerts
    agent_gets_the_explanation_of_an_alert
    agent_previews_an_alert_without_creating_it
}

fn expression(when: &str) -> Value {
    json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}})
}

async fn created(server: &TestServer, body: Value) -> String {
    let made = server.post("/v1/alerts", body).await.ok(201);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

async fn explained(server: &TestServer, id: &str, query: &str) -> Value {
    let found = server.get(&format!("/v1/alerts/{id}/explain{query}")).await.ok(200);
    found.body["data"].clone()
}

fn gates(explained: &Value) -> Vec<&str> {
    let gates = explained["gates"].as_array().unwrap();
    gates.iter().map(|gate| gate["gate"].as_str().unwrap()).collect()
}

/// Lets the days up to Wednesday, 13 March 2024, pass, and stores the bars of the sessions before.
async fn pass_days(server: &TestServer) {
    server.clock.set("2024-03-13T14:00:00Z".parse().unwrap());
    let bars = [
        ("2024-03-07", 99, 101, 98, 100),
        ("2024-03-08", 100, 104, 99, 103),
        ("2024-03-11", 103, 109, 102, 108),
        ("2024-03-12", 108, 109, 107, 107),
    ];
    let bars = bars.map(|(date, open, high, low, close)| {
        json!({
            "symbol": "AAPL", "date": date, "open": open, "high": high, "low": low, "close": close, "volume": 10,
        })
    });
    let response = server.post("/v1/market/ingest", json!({"bars": bars})).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

async fn present_values_and_distances_are_explained(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price >= 125 and sma(20) > 5")).await;
    let found = explained(&server, &id, "").await;
    assert_eq!(
        found["terms"][0],
        json!({
            "text": "price >= 125", "left": 100, "right": 125, "holds": false, "distance_pct": 25,
            "as_of": "2024-03-08T15:00:00.000Z", "source": "quotes",
        })
    );
    assert_eq!(found["terms"][1]["source"], "quotes, daily bars");
    assert_eq!(
        (&found["holds"], &found["terms"][1]["holds"]),
        (&json!(false), &Value::Null)
    );
    assert!(found.get("resolution").is_none(), "{found}");
}

async fn paused_alert_is_explained_with_its_status(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    assert_eq!(gates(&explained(&server, &id, "").await), ["paused"]);
}

async fn past_moment_is_explained_from_stored_bars(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price >= 120 and prev_close > 102")).await;
    pass_days(&server).await;
    // The high of the bar counts two thirds into the session.
    let found = explained(&server, &id, "?at=2024-03-11T18:00:00Z").await;
    assert_eq!(
        (&found["terms"][0]["left"], &found["terms"][0]["distance_pct"]),
        (&json!(109), &json!(10.091_743))
    );
    assert_eq!(
        found["terms"][1],
        json!({
            "text": "prev_close > 102", "left": 103, "right": 102, "holds": true, "distance_pct": 0.970_874,
            "as_of": "2024-03-11T17:50:00.000Z", "source": "daily bars",
        })
    );
    assert_eq!((&found["holds"], &found["resolution"]), (&json!(false), &json!("1d")));
    assert_eq!((gates(&found), &found["next_check"]), (vec![], &Value::Null));
    let night = explained(&server, &id, "?at=2024-03-12T02:00:00Z").await;
    assert_eq!(
        (&night["terms"][0]["left"], gates(&night)),
        (&json!(108), vec!["market_closed"])
    );
    assert_eq!(night["gates"][0]["until"], "2024-03-12T13:30:00.000Z");
}

async fn status_of_a_past_moment_is_that_of_its_history(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    server.clock.set("2024-03-11T14:00:00Z".parse().unwrap());
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    pass_days(&server).await;
    server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    for (at, expected) in [
        ("2024-03-08T20:00:00Z", vec![]),
        ("2024-03-11T14:00:00Z", vec!["paused"]),
        ("2024-03-12T15:00:00Z", vec!["paused"]),
        ("2024-03-13T14:00:00Z", vec![]),
    ] {
        let found = explained(&server, &id, &format!("?at={at}")).await;
        assert_eq!(gates(&found), expected, "{at}: {found}");
    }
}

async fn cooldown_of_a_past_moment_is_counted_from_the_recorded_firing(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(105);
    body["options"] = json!({"repeat": "each_time", "cooldown": "2h"});
    let id = created(&server, body).await;
    server.clock.set("2024-03-08T16:00:00Z".parse().unwrap());
    server.set_price("AAPL", 105.0).await;
    pass_days(&server).await;
    for (at, expected) in [
        ("2024-03-08T15:59:59Z", vec![]),
        ("2024-03-08T16:00:00Z", vec!["cooldown"]),
        ("2024-03-08T17:59:59Z", vec!["cooldown"]),
        // The bars of that day stayed below the level, so the condition was left.
        ("2024-03-08T18:00:00Z", vec![]),
    ] {
        let found = explained(&server, &id, &format!("?at={at}")).await;
        assert_eq!(gates(&found), expected, "{at}: {found}");
    }
}

async fn later_change_of_the_condition_is_told(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    pass_days(&server).await;
    let before = explained(&server, &id, "?at=2024-03-11T18:00:00Z").await;
    assert!(before.get("changed_at").is_none(), "{before}");
    let path = format!("/v1/alerts/{id}");
    server
        .request("PUT", &path)
        .json(&json!({"threshold": 130}))
        .send()
        .await
        .ok(200);
    let after = explained(&server, &id, "?at=2024-03-11T18:00:00Z").await;
    assert_eq!(after["changed_at"], "2024-03-13T14:00:00.000Z");
    assert_eq!(after["terms"][0]["right"], 130);
}

async fn moment_must_be_past_and_after_the_creation(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    for at in ["2024-03-08T15:00:01Z", "2024-03-08T14:59:59Z", "yesterday", ""] {
        let path = format!("/v1/alerts/{id}/explain?at={at}");
        let refused = server.get(&path).await.refused(422, "VALIDATION_ERROR");
        assert!(
            refused.body["error"]["details"]["fields"]["at"].is_array(),
            "{refused:?}"
        );
    }
    let path = format!("/v1/alerts/{id}/explain?at=2024-03-08T15:00:00Z");
    server.get(&path).await.ok(200);
    for query in [
        "at=2024-03-08T15:00:01Z",
        "within_pct=101",
        "within_pct=-1",
        "within_pct=x",
    ] {
        server
            .get(&format!("/v1/alerts/near?{query}"))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
}

async fn near_thresholds(server: &TestServer, query: &str) -> Vec<(Value, Value)> {
    let found = server.get(&format!("/v1/alerts/near{query}")).await.ok(200);
    let near = found.body["data"].as_array().unwrap();
    near.iter()
        .map(|alert| (alert["terms"][0]["right"].clone(), alert["distance_pct"].clone()))
        .collect()
}

async fn alerts_near_to_firing_are_listed_with_the_nearest_first(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    for threshold in [110, 102, 101, 103] {
        server.create_alert(threshold).await;
    }
    let paused = server.create_alert(104).await;
    server
        .post(&format!("/v1/alerts/{paused}/pause"), json!({}))
        .await
        .ok(200);
    assert_eq!(
        near_thresholds(&server, "").await,
        [(json!(101), json!(1)), (json!(102), json!(2))]
    );
    assert_eq!(near_thresholds(&server, "?within_pct=1.999999").await.len(), 1);
    assert_eq!(near_thresholds(&server, "?within_pct=10").await.len(), 4);
}

async fn alerts_that_were_near_are_listed(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    server.create_alert(110).await;
    server.create_alert(125).await;
    pass_days(&server).await;
    server.create_alert(109).await;
    assert_eq!(
        near_thresholds(&server, "?at=2024-03-11T18:00:00Z").await,
        [(json!(110), json!(0.917_431))]
    );
    assert_eq!(
        near_thresholds(&server, "?at=2024-03-08T15:00:00Z&within_pct=2").await,
        []
    );
}

async fn accounts_have_only_their_own_near_alerts(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(101).await;
    let key = server
        .account("other@example.com", alerts::Plan::Basic, false, &[Scope::AlertsRead])
        .await;
    for (path, status) in [
        ("/v1/alerts/near".to_owned(), 200),
        (format!("/v1/alerts/{id}/explain"), 404),
    ] {
        let response = server.anonymous("GET", &path).header("x-api-key", &key).send().await;
        assert_eq!(response.status, status, "{response:?}");
        assert!(status == 404 || response.body["data"] == json!([]), "{response:?}");
    }
}

async fn agent_gets_the_explanation_of_an_alert(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    pass_days(&server).await;
    let plain = server.tool("get_alert", json!({"alert_id": id})).await;
    assert!(plain.get("explanation").is_none(), "{plain}");
    let explained = server.tool("get_alert", json!({"alert_id": id, "explain": true})).await;
    assert_eq!(explained["explanation"]["terms"][0]["right"], 125, "{explained}");
    let at = "2024-03-11T18:00:00Z";
    let past = server.tool("get_alert", json!({"alert_id": id, "at": at})).await;
    assert_eq!(past["explanation"]["terms"][0]["left"], 109, "{past}");
}

async fn agent_previews_an_alert_without_creating_it(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    pass_days(&server).await;
    let mut body = expression("price >= 109");
    body["preview"] = json!(true);
    let previewed = server.tool("create_alert", body).await;
    assert_eq!(previewed["preview"]["count"], 2, "{previewed}");
    let listed = server.get("/v1/alerts").await.ok(200);
    assert_eq!(listed.body["data"], json!([]));
}

//! Explanations of alerts over HTTP, at present, and the alerts near to firing.

use alerts::Plan;
use foundation::Scope;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    present_values_and_distances_are_explained
    paused_alert_is_explained_with_its_status
    division_by_zero_is_told
    quiet_hours_are_told
    triggered_and_expired_alerts_are_explained_with_their_status
    sentence_of_a_named_condition_has_the_stock
    alerts_near_to_firing_are_listed_with_the_nearest_first
    alerts_that_were_near_are_listed
    accounts_have_only_their_own_near_alerts
    agent_gets_the_explanation_of_an_alert
    agent_previews_an_alert_without_creating_it
}

pub(super) fn expression(when: &str) -> Value {
    json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": when}})
}

pub(super) async fn created(server: &TestServer, body: Value) -> String {
    let made = server.post("/v1/alerts", body).await.ok(201);
    made.body["data"]["id"].as_str().unwrap().to_owned()
}

pub(super) async fn explained(server: &TestServer, id: &str, query: &str) -> Value {
    let found = server.get(&format!("/v1/alerts/{id}/explain{query}")).await.ok(200);
    found.body["data"].clone()
}

pub(super) fn gates(explained: &Value) -> Vec<&str> {
    let gates = explained["gates"].as_array().unwrap();
    gates.iter().map(|gate| gate["gate"].as_str().unwrap()).collect()
}

/// Lets the days up to Wednesday, 13 March 2024, pass, and stores the bars of the sessions before.
pub(super) async fn pass_days(server: &TestServer) {
    server.clock.set("2024-03-13T14:00:00Z".parse().unwrap());
    let bars = [
        ("2024-03-07", 99, 101, 98, 100),
        ("2024-03-08", 100, 104, 99, 103),
        ("2024-03-11", 103, 109, 102, 108),
        ("2024-03-12", 108, 109, 107, 107),
    ];
    store_bars(server, &bars).await;
}

/// Stores bars of AAPL: the date, open, high, low and close.
pub(super) async fn store_bars(server: &TestServer, bars: &[(&str, i64, i64, i64, i64)]) {
    let bars = bars.iter().map(|(date, open, high, low, close)| {
        json!({
            "symbol": "AAPL", "date": date, "open": open, "high": high, "low": low, "close": close, "volume": 10,
        })
    });
    let bars: Vec<_> = bars.collect();
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

async fn division_by_zero_is_told(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price > 1 and price / (price - 100) > 2")).await;
    let found = explained(&server, &id, "").await;
    assert_eq!((gates(&found), &found["holds"]), (vec!["no_data"], &Value::Null));
    let message = found["gates"][0]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "price / (price - 100) > 2 has no value: a metric is missing, or a division is by zero"
    );
    server.set_price("AAPL", 200.0).await;
    assert_eq!(gates(&explained(&server, &id, "").await), Vec::<&str>::new());
}

async fn quiet_hours_are_told(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let made = ann.post("/v1/alerts", above(125)).await.ok(201);
    let path = format!("/v1/alerts/{}/explain", made.body["data"]["id"].as_str().unwrap());
    let hours = |start: &str, end: &str| json!({"time_zone": "UTC", "quiet_hours": {"start": start, "end": end}});
    for (hours, expected) in [
        (hours("15:00", "15:01"), vec!["quiet_hours"]),
        (hours("15:01", "15:00"), vec![]),
    ] {
        ann.send("PUT", "/v1/user/preferences", hours).await.ok(200);
        let found = ann.get(&path).await.ok(200).body["data"].clone();
        assert_eq!(gates(&found), expected);
        if !expected.is_empty() {
            assert_eq!(found["gates"][0]["until"], "2024-03-08T15:01:00.000Z");
        }
    }
}

async fn paused_alert_is_explained_with_its_status(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    server.set_price("AAPL", 110.0).await;
    let found = explained(&server, &id, "").await;
    assert_eq!(gates(&found), ["paused"]);
    let term = &found["terms"][0];
    assert_eq!(
        (&term["text"], &term["left"], &term["holds"], &found["holds"]),
        (&json!("price >= 125"), &json!(110), &json!(false), &json!(false))
    );
    assert_eq!(found["next_check"], Value::Null);
}

async fn triggered_and_expired_alerts_are_explained_with_their_status(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let fired = server.create_alert(105).await;
    let mut body = expression("price >= 125");
    body["options"] = json!({"expires_at": "2024-03-08T15:10:00Z"});
    let expired = created(&server, body).await;
    server.clock.set("2024-03-08T15:11:00Z".parse().unwrap());
    server.set_price("AAPL", 110.0).await;
    server.service.evaluate().await.unwrap();
    let (fired, expired) = (
        explained(&server, &fired, "").await,
        explained(&server, &expired, "").await,
    );
    assert_eq!((gates(&fired), gates(&expired)), (vec!["triggered"], vec!["inactive"]));
    assert_eq!(
        (&fired["holds"], &fired["terms"][0]["left"]),
        (&json!(true), &json!(110))
    );
    assert_eq!(
        (&expired["holds"], &expired["terms"][0]["left"]),
        (&json!(false), &json!(110))
    );
}

async fn sentence_of_a_named_condition_has_the_stock(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, json!({"symbol": "AAPL", "condition": "ma_crossover_golden"})).await;
    assert_eq!(
        explained(&server, &id, "").await["sentence"],
        "AAPL: fires when the 50-day average crosses above the 200-day average"
    );
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

//! Price moves after the firings of alerts.

use alerts::Plan;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    outcome_is_filled_as_closes_become_known
    last_session_waits_for_both_closes_or_the_next_session
    split_does_not_change_percentages
    moves_match_candles
    firings_are_listed_newest_first_even_after_deletion
    unfired_alert_has_no_outcome_and_foreign_alert_is_404
    recorded_note_is_not_a_firing
}

async fn ingest(server: &TestServer, body: Value) {
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

async fn bars(server: &TestServer, bars: &[(&str, &str, f64)]) {
    let bars = bars.iter().map(|(symbol, date, close)| {
        json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 10})
    });
    ingest(server, json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn quote(server: &TestServer, price: f64) {
    ingest(server, json!({"quotes": [{"symbol": "AAPL", "price": price}]})).await;
}

/// Returns an alert that fired at 106 on Friday, 90 minutes after Thursday's closes became known.
async fn fired(server: &TestServer) -> String {
    bars(server, &[("AAPL", "2024-03-07", 100.0), ("SPY", "2024-03-07", 490.0)]).await;
    quote(server, 100.0).await;
    let id = server.create_alert(105).await;
    quote(server, 106.0).await;
    id
}

async fn outcome(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/v1/alerts/{id}/outcome")).await.ok(200).body["data"].clone()
}

/// Returns the outcome of the only firing after one session.
async fn next_day(server: &TestServer, id: &str) -> Value {
    outcome(server, id).await["outcomes"][0]["after"][0].clone()
}

fn unknown(sessions: u16, date: &str) -> Value {
    json!({
        "sessions": sessions, "date": date, "close": null, "move_pct": null, "since_trigger_pct": null, "benchmark_pct": null,
        "excess_pct": null,
    })
}

fn set(server: &TestServer, at: &str) {
    server.clock.set(at.parse().unwrap());
}

async fn outcome_is_filled_as_closes_become_known(server: TestServer) {
    let id = fired(&server).await;
    let expected = |base_close: Value, first: Value| {
        json!({
            "alert_id": id, "symbol": "AAPL", "benchmark": "SPY",
            "outcomes": [{
                "triggered_at": "2024-03-08T15:00:00.000Z", "trigger_price": 106, "base_date": "2024-03-08",
                "base_close": base_close, "after": [first, unknown(5, "2024-03-15"), unknown(20, "2024-04-08")],
            }],
        })
    };
    let nothing = || unknown(1, "2024-03-11");
    assert_eq!(outcome(&server, &id).await, expected(Value::Null, nothing()));
    // The session includes the instant of its close.
    set(&server, "2024-03-08T21:00:00Z");
    assert_eq!(outcome(&server, &id).await, expected(Value::Null, nothing()));
    set(&server, "2024-03-08T21:00:01Z");
    bars(&server, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    assert_eq!(outcome(&server, &id).await, expected(json!(110), nothing()));
    set(&server, "2024-03-11T20:00:00Z");
    quote(&server, 120.0).await;
    assert_eq!(outcome(&server, &id).await, expected(json!(110), nothing()));
    set(&server, "2024-03-11T20:00:01Z");
    bars(&server, &[("AAPL", "2024-03-11", 121.0), ("SPY", "2024-03-11", 510.0)]).await;
    let known = json!({
        "sessions": 1, "date": "2024-03-11", "close": 121, "move_pct": 10, "since_trigger_pct": 14.150_943, "benchmark_pct": 2,
        "excess_pct": 8,
    });
    assert_eq!(outcome(&server, &id).await, expected(json!(110), known));
}

async fn last_session_waits_for_both_closes_or_the_next_session(server: TestServer) {
    let id = fired(&server).await;
    set(&server, "2024-03-08T21:00:01Z");
    bars(&server, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    set(&server, "2024-03-11T20:30:00Z");
    bars(&server, &[("AAPL", "2024-03-11", 121.0)]).await;
    assert_eq!(next_day(&server, &id).await, unknown(1, "2024-03-11"));
    // The benchmark's close is never received.
    set(&server, "2024-03-12T20:00:00Z");
    assert_eq!(next_day(&server, &id).await, unknown(1, "2024-03-11"));
    set(&server, "2024-03-12T20:00:01Z");
    let alone = next_day(&server, &id).await;
    assert_eq!((&alone["close"], &alone["move_pct"]), (&json!(121), &json!(10)));
    assert_eq!(
        (&alone["benchmark_pct"], &alone["excess_pct"]),
        (&Value::Null, &Value::Null)
    );
    bars(&server, &[("SPY", "2024-03-11", 510.0)]).await;
    assert_eq!(next_day(&server, &id).await["excess_pct"], 8);
}

async fn split_does_not_change_percentages(server: TestServer) {
    let id = fired(&server).await;
    set(&server, "2024-03-08T21:00:01Z");
    bars(&server, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    ingest(
        &server,
        json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 2}]}),
    )
    .await;
    set(&server, "2024-03-11T20:00:01Z");
    bars(&server, &[("AAPL", "2024-03-11", 60.5), ("SPY", "2024-03-11", 510.0)]).await;
    let known = json!({
        "sessions": 1, "date": "2024-03-11", "close": 60.5, "move_pct": 10, "since_trigger_pct": 14.150_943, "benchmark_pct": 2,
        "excess_pct": 8,
    });
    assert_eq!(next_day(&server, &id).await, known);
    let first = outcome(&server, &id).await["outcomes"][0].clone();
    assert_eq!(
        (&first["trigger_price"], &first["base_close"]),
        (&json!(106), &json!(110)),
        "as they were"
    );
}

async fn moves_match_candles(server: TestServer) {
    let id = fired(&server).await;
    let split = |date: &str, ratio: f64| json!({"symbol": "AAPL", "date": date, "ratio": ratio});
    ingest(
        &server,
        json!({"splits": [split("2024-03-13", 4.0), split("2024-04-02", 0.5)]}),
    )
    .await;
    set(&server, "2024-04-15T20:30:00Z");
    let calendar = market::Calendar::nyse();
    let days = calendar.sessions("2024-03-08".parse().unwrap(), "2024-04-15".parse().unwrap());
    let closes: Vec<(String, f64, f64)> = days
        .zip(0_u32..)
        .map(|(session, n)| {
            (
                session.date.to_string(),
                80.0 + f64::from((n * 7919) % 61),
                480.0 + f64::from((n * 4001) % 37),
            )
        })
        .collect();
    let both = closes
        .iter()
        .flat_map(|(date, stock, market)| [("AAPL", date.as_str(), *stock), ("SPY", date.as_str(), *market)]);
    bars(&server, &both.collect::<Vec<_>>()).await;
    let candles = async |symbol: &str| {
        let path = format!("/v1/stocks/{symbol}/candles?range=3m");
        server.get(&path).await.ok(200).body["data"].clone()
    };
    let (stock, market) = (candles("AAPL").await, candles("SPY").await);
    let moved = |candles: &Value, date: &Value| {
        let close = |date: &Value| {
            let candle = candles
                .as_array()
                .unwrap()
                .iter()
                .find(|candle| candle["date"] == *date);
            candle.unwrap()["close"].as_f64().unwrap()
        };
        (close(date) / close(&json!("2024-03-08")) - 1.0) * 100.0
    };
    let found = outcome(&server, &id).await["outcomes"][0]["after"].clone();
    for (after, date) in found
        .as_array()
        .unwrap()
        .iter()
        .zip(["2024-03-11", "2024-03-15", "2024-04-08"])
    {
        assert_eq!(after["date"], date);
        let [ours, theirs] = [&stock, &market].map(|candles| moved(candles, &after["date"]));
        for (field, expected) in [
            ("move_pct", ours),
            ("benchmark_pct", theirs),
            ("excess_pct", ours - theirs),
        ] {
            let shown = after[field].as_f64().unwrap();
            assert!((shown - expected).abs() < 1e-5, "{field}: {after}, not {expected}");
        }
    }
}

async fn firings_are_listed_newest_first_even_after_deletion(server: TestServer) {
    let id = fired(&server).await;
    quote(&server, 101.0).await;
    let _ = server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    set(&server, "2024-03-08T15:05:00Z");
    quote(&server, 107.0).await;
    let prices = |outcome: &Value| {
        let firings = outcome["outcomes"].as_array().unwrap().iter();
        firings
            .map(|firing| (firing["triggered_at"].clone(), firing["trigger_price"].clone()))
            .collect::<Vec<_>>()
    };
    let expected = [
        (json!("2024-03-08T15:05:00.000Z"), json!(107)),
        (json!("2024-03-08T15:00:00.000Z"), json!(106)),
    ];
    assert_eq!(prices(&outcome(&server, &id).await), expected);
    let _ = server
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    assert_eq!(prices(&outcome(&server, &id).await), expected);
}

async fn unfired_alert_has_no_outcome_and_foreign_alert_is_404(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let id = server.create_alert(200).await;
    let expected = json!({"alert_id": id, "symbol": "AAPL", "benchmark": "SPY", "outcomes": []});
    assert_eq!(outcome(&server, &id).await, expected);
    let path = format!("/v1/alerts/{id}/outcome");
    let _ = ann.get(&path).await.refused(404, "NOT_FOUND");
    let unknown = "/v1/alerts/0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11/outcome";
    let _ = server.get(unknown).await.refused(404, "NOT_FOUND");
    let refused = server
        .get("/v1/alerts/nonsense/outcome")
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["id"].is_array());
    let _ = server.anonymous("GET", &path).send().await.refused(401, "UNAUTHORIZED");
    let stocks_only = server
        .another_key("operator@example.com", &[foundation::Scope::StocksRead])
        .await;
    let request = server.anonymous("GET", &path).header("x-api-key", &stocks_only);
    let refused = request.send().await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["required"], "alerts:read");
}

async fn recorded_note_is_not_a_firing(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let ann = server.create_user("ann", Plan::Basic).await;
    let made = ann.post("/v1/alerts", above(105)).await.ok(201);
    let id = made.body["data"]["id"].as_str().unwrap().to_owned();
    let note = json!({
        "alert_id": id, "symbol": "AAPL", "action_type": "triggered", "previous_status": "active", "new_status": "triggered",
        "trigger_price": 1,
    });
    let _ = ann.post("/v1/alerts/history", note).await.ok(200);
    let path = format!("/v1/alerts/{id}/outcome");
    assert_eq!(ann.get(&path).await.ok(200).body["data"]["outcomes"], json!([]));
    quote(&server, 106.0).await;
    let outcomes = ann.send_with_key("GET", &path, None).await.ok(200).body["data"]["outcomes"].clone();
    assert_eq!(
        (outcomes.as_array().unwrap().len(), &outcomes[0]["trigger_price"]),
        (1, &json!(106))
    );
}

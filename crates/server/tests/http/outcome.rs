//! What followed the firings of alerts.

use alerts::Plan;
use serde_json::{Value, json};

use crate::signing::{on_each_database, world};
use crate::world::{World, above};

on_each_database! {
    what_followed_is_told_as_it_becomes_known
    the_last_session_is_told_once_both_closes_are_there_or_the_next_one_is_over
    a_split_moves_no_percentage
    moves_are_what_candles_show
    each_firing_is_told_newest_first_also_of_a_deleted_alert
    an_alert_that_never_fired_has_no_outcome_and_one_of_others_is_not_found
    what_a_client_noted_down_is_no_firing
}

async fn deliver(world: &World, body: Value) {
    let answer = world.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(answer.body["data"]["rejected"], json!([]));
}

async fn bars(world: &World, bars: &[(&str, &str, f64)]) {
    let bars = bars.iter().map(|(symbol, date, close)| {
        json!({"symbol": symbol, "date": date, "open": close, "high": close, "low": close, "close": close, "volume": 10})
    });
    deliver(world, json!({"bars": bars.collect::<Vec<_>>()})).await;
}

async fn quote(world: &World, price: f64) {
    deliver(world, json!({"quotes": [{"symbol": "AAPL", "price": price}]})).await;
}

/// An alert that fired at 106 on Friday, an hour and a half after Thursday's closes became known.
async fn fired(world: &World) -> String {
    bars(world, &[("AAPL", "2024-03-07", 100.0), ("SPY", "2024-03-07", 490.0)]).await;
    quote(world, 100.0).await;
    let id = world.alert(105).await;
    quote(world, 106.0).await;
    id
}

async fn outcome(world: &World, id: &str) -> Value {
    world.get(&format!("/v1/alerts/{id}/outcome")).await.ok(200).body["data"].clone()
}

/// What followed the only firing after one session.
async fn next_day(world: &World, id: &str) -> Value {
    outcome(world, id).await["outcomes"][0]["after"][0].clone()
}

fn unknown(sessions: u16, date: &str) -> Value {
    json!({
        "sessions": sessions, "date": date, "close": null, "move_pct": null, "since_trigger_pct": null, "benchmark_pct": null,
        "excess_pct": null,
    })
}

fn set(world: &World, at: &str) {
    world.clock.set(at.parse().unwrap());
}

async fn what_followed_is_told_as_it_becomes_known(world: World) {
    let id = fired(&world).await;
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
    assert_eq!(outcome(&world, &id).await, expected(Value::Null, nothing()));
    // The instant of the close still belongs to the session.
    set(&world, "2024-03-08T21:00:00Z");
    assert_eq!(outcome(&world, &id).await, expected(Value::Null, nothing()));
    set(&world, "2024-03-08T21:00:01Z");
    bars(&world, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    assert_eq!(outcome(&world, &id).await, expected(json!(110), nothing()));
    set(&world, "2024-03-11T20:00:00Z");
    quote(&world, 120.0).await;
    assert_eq!(outcome(&world, &id).await, expected(json!(110), nothing()));
    set(&world, "2024-03-11T20:00:01Z");
    bars(&world, &[("AAPL", "2024-03-11", 121.0), ("SPY", "2024-03-11", 510.0)]).await;
    let known = json!({
        "sessions": 1, "date": "2024-03-11", "close": 121, "move_pct": 10, "since_trigger_pct": 14.150_943, "benchmark_pct": 2,
        "excess_pct": 8,
    });
    assert_eq!(outcome(&world, &id).await, expected(json!(110), known));
}

async fn the_last_session_is_told_once_both_closes_are_there_or_the_next_one_is_over(world: World) {
    let id = fired(&world).await;
    set(&world, "2024-03-08T21:00:01Z");
    bars(&world, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    set(&world, "2024-03-11T20:30:00Z");
    bars(&world, &[("AAPL", "2024-03-11", 121.0)]).await;
    assert_eq!(next_day(&world, &id).await, unknown(1, "2024-03-11"));
    // The benchmark's close never comes.
    set(&world, "2024-03-12T20:00:00Z");
    assert_eq!(next_day(&world, &id).await, unknown(1, "2024-03-11"));
    set(&world, "2024-03-12T20:00:01Z");
    let alone = next_day(&world, &id).await;
    assert_eq!((&alone["close"], &alone["move_pct"]), (&json!(121), &json!(10)));
    assert_eq!(
        (&alone["benchmark_pct"], &alone["excess_pct"]),
        (&Value::Null, &Value::Null)
    );
    bars(&world, &[("SPY", "2024-03-11", 510.0)]).await;
    assert_eq!(next_day(&world, &id).await["excess_pct"], 8);
}

async fn a_split_moves_no_percentage(world: World) {
    let id = fired(&world).await;
    set(&world, "2024-03-08T21:00:01Z");
    bars(&world, &[("AAPL", "2024-03-08", 110.0), ("SPY", "2024-03-08", 500.0)]).await;
    deliver(
        &world,
        json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 2}]}),
    )
    .await;
    set(&world, "2024-03-11T20:00:01Z");
    bars(&world, &[("AAPL", "2024-03-11", 60.5), ("SPY", "2024-03-11", 510.0)]).await;
    let known = json!({
        "sessions": 1, "date": "2024-03-11", "close": 60.5, "move_pct": 10, "since_trigger_pct": 14.150_943, "benchmark_pct": 2,
        "excess_pct": 8,
    });
    assert_eq!(next_day(&world, &id).await, known);
    let first = outcome(&world, &id).await["outcomes"][0].clone();
    assert_eq!(
        (&first["trigger_price"], &first["base_close"]),
        (&json!(106), &json!(110)),
        "as they were"
    );
}

async fn moves_are_what_candles_show(world: World) {
    let id = fired(&world).await;
    let split = |date: &str, ratio: f64| json!({"symbol": "AAPL", "date": date, "ratio": ratio});
    deliver(
        &world,
        json!({"splits": [split("2024-03-13", 4.0), split("2024-04-02", 0.5)]}),
    )
    .await;
    set(&world, "2024-04-15T20:30:00Z");
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
    bars(&world, &both.collect::<Vec<_>>()).await;
    let candles = async |symbol: &str| {
        let path = format!("/v1/stocks/{symbol}/candles?range=3m");
        world.get(&path).await.ok(200).body["data"].clone()
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
    let found = outcome(&world, &id).await["outcomes"][0]["after"].clone();
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

async fn each_firing_is_told_newest_first_also_of_a_deleted_alert(world: World) {
    let id = fired(&world).await;
    quote(&world, 101.0).await;
    let _ = world
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    set(&world, "2024-03-08T15:05:00Z");
    quote(&world, 107.0).await;
    let told = |outcome: &Value| {
        let firings = outcome["outcomes"].as_array().unwrap().iter();
        firings
            .map(|firing| (firing["triggered_at"].clone(), firing["trigger_price"].clone()))
            .collect::<Vec<_>>()
    };
    let expected = [
        (json!("2024-03-08T15:05:00.000Z"), json!(107)),
        (json!("2024-03-08T15:00:00.000Z"), json!(106)),
    ];
    assert_eq!(told(&outcome(&world, &id).await), expected);
    let _ = world
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    assert_eq!(told(&outcome(&world, &id).await), expected);
}

async fn an_alert_that_never_fired_has_no_outcome_and_one_of_others_is_not_found(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let ann = world.person("ann", Plan::Basic).await;
    let id = world.alert(200).await;
    let expected = json!({"alert_id": id, "symbol": "AAPL", "benchmark": "SPY", "outcomes": []});
    assert_eq!(outcome(&world, &id).await, expected);
    let path = format!("/v1/alerts/{id}/outcome");
    let _ = ann.get(&path).await.refused(404, "NOT_FOUND");
    let nobodys = "/v1/alerts/0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11/outcome";
    let _ = world.get(nobodys).await.refused(404, "NOT_FOUND");
    let refused = world
        .get("/v1/alerts/nonsense/outcome")
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["id"].is_array());
    let _ = world.stranger("GET", &path).send().await.refused(401, "UNAUTHORIZED");
    let stocks_only = world
        .another_key("operator@example.com", &[service::Scope::StocksRead])
        .await;
    let request = world.stranger("GET", &path).header("x-api-key", &stocks_only);
    let refused = request.send().await.refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["required"], "alerts:read");
}

async fn what_a_client_noted_down_is_no_firing(world: World) {
    world.stock_at("AAPL", 100.0).await;
    let ann = world.person("ann", Plan::Basic).await;
    let made = ann.post("/v1/alerts", above(105)).await.ok(201);
    let id = made.body["data"]["id"].as_str().unwrap().to_owned();
    let note = json!({
        "alert_id": id, "symbol": "AAPL", "action_type": "triggered", "previous_status": "active", "new_status": "triggered",
        "trigger_price": 1,
    });
    let _ = ann.post("/v1/alerts/history", note).await.ok(200);
    let path = format!("/v1/alerts/{id}/outcome");
    assert_eq!(ann.get(&path).await.ok(200).body["data"]["outcomes"], json!([]));
    quote(&world, 106.0).await;
    let told = ann.by_key("GET", &path, None).await.ok(200).body["data"]["outcomes"].clone();
    assert_eq!(
        (told.as_array().unwrap().len(), &told[0]["trigger_price"]),
        (1, &json!(106))
    );
}

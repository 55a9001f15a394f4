//! Explanations of alerts at past moments over HTTP.

use serde_json::{Value, json};

use crate::http::explain::{created, explained, expression, gates, pass_days, store_bars};
use crate::http::identity::{on_each_database, start_server, unlimited};
use crate::http::test_server::{TestServer, above};

on_each_database! {
    past_moment_is_explained_from_stored_bars
    status_of_a_past_moment_is_that_of_its_history
    cooldown_of_a_past_moment_is_counted_from_the_recorded_firing
    later_change_of_the_condition_is_told
    moment_must_be_past_and_after_the_creation
    snooze_of_a_past_moment_is_that_of_its_history
    edit_of_a_note_changes_nothing_at_a_past_moment
    expression_is_judged_in_the_shares_of_its_day_after_a_reactivation
    later_expression_is_judged_in_earlier_shares
    sentence_and_terms_of_a_price_have_the_shares_of_the_past_day
    session_with_all_its_intraday_bars_is_explained_by_the_minute
}

async fn patch(server: &TestServer, id: &str, body: Value) {
    let path = format!("/v1/alerts/{id}");
    server.request("PATCH", &path).json(&body).send().await.ok(200);
}

async fn assert_gates(server: &TestServer, id: &str, expected: &[(&str, &[&str])]) {
    for (at, expected) in expected {
        let found = explained(server, id, &format!("?at={at}")).await;
        assert_eq!(&gates(&found), expected, "{at}: {found}");
    }
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
    let expected: [(&str, &[&str]); 4] = [
        ("2024-03-08T20:00:00Z", &[]),
        ("2024-03-11T14:00:00Z", &["paused"]),
        ("2024-03-12T15:00:00Z", &["paused"]),
        ("2024-03-13T14:00:00Z", &[]),
    ];
    assert_gates(&server, &id, &expected).await;
}

async fn cooldown_of_a_past_moment_is_counted_from_the_recorded_firing(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(105);
    body["options"] = json!({"repeat": "each_time", "cooldown": "2h"});
    let id = created(&server, body).await;
    server.clock.set("2024-03-08T16:00:00Z".parse().unwrap());
    server.set_price("AAPL", 105.0).await;
    pass_days(&server).await;
    let expected: [(&str, &[&str]); 4] = [
        ("2024-03-08T15:59:59Z", &[]),
        ("2024-03-08T16:00:00Z", &["cooldown"]),
        ("2024-03-08T17:59:59Z", &["cooldown"]),
        // The bars of that day stayed below the level, so the condition was left.
        ("2024-03-08T18:00:00Z", &[]),
    ];
    assert_gates(&server, &id, &expected).await;
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

async fn snooze_of_a_past_moment_is_that_of_its_history(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    body["options"] = json!({"snoozed_until": "2024-03-08T15:30:00Z"});
    let id = created(&server, body).await;
    server.clock.set("2024-03-08T16:00:00Z".parse().unwrap());
    patch(&server, &id, json!({"snooze": "2h"})).await;
    server.clock.set("2024-03-08T17:00:00Z".parse().unwrap());
    patch(&server, &id, json!({"note": "wait"})).await;
    server.clock.set("2024-03-08T17:30:00Z".parse().unwrap());
    patch(&server, &id, json!({"threshold": 126})).await;
    pass_days(&server).await;
    // A later snooze says nothing about the earlier ones.
    patch(&server, &id, json!({"snooze": "1h"})).await;
    let snoozed: &[&str] = &["snoozed"];
    let expected = [
        ("2024-03-08T15:29:59Z", snoozed),
        ("2024-03-08T15:30:00Z", &[]),
        ("2024-03-08T16:00:00Z", snoozed),
        ("2024-03-08T17:10:00Z", snoozed),
        ("2024-03-08T17:59:59Z", snoozed),
        ("2024-03-08T18:00:00Z", &[]),
        ("2024-03-13T14:00:00Z", snoozed),
    ];
    assert_gates(&server, &id, &expected).await;
    patch(&server, &id, json!({"snooze": null})).await;
    assert_gates(&server, &id, &[("2024-03-13T14:00:00Z", &[])]).await;
}

async fn edit_of_a_note_changes_nothing_at_a_past_moment(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(105);
    body["options"] = json!({"repeat": "each_time", "cooldown": "2h"});
    let id = created(&server, body).await;
    server.clock.set("2024-03-08T16:00:00Z".parse().unwrap());
    server.set_price("AAPL", 105.0).await;
    server.clock.set("2024-03-08T17:00:00Z".parse().unwrap());
    patch(&server, &id, json!({"tags": ["seen"]})).await;
    pass_days(&server).await;
    let expected: [(&str, &[&str]); 2] = [("2024-03-08T17:30:00Z", &["cooldown"]), ("2024-03-08T18:00:00Z", &[])];
    assert_gates(&server, &id, &expected).await;
}

/// Lets 2:1 take effect on 11 March, and stores bars in which the price then is from 49 to 80.
async fn pass_split(server: &TestServer) {
    server.clock.set("2024-03-11T08:00:00Z".parse().unwrap());
    let split = json!({"splits": [{"symbol": "AAPL", "date": "2024-03-11", "ratio": 2}]});
    server.post("/v1/market/ingest", split).await.ok(200);
    server.clock.set("2024-03-13T08:00:00Z".parse().unwrap());
    let bars = [("2024-03-11", 50, 52, 49, 51), ("2024-03-12", 51, 80, 50, 79)];
    store_bars(server, &bars).await;
}

async fn expression_is_judged_in_the_shares_of_its_day_after_a_reactivation(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price > 150")).await;
    server.clock.set("2024-03-11T14:00:00Z".parse().unwrap());
    server.set_price("AAPL", 50.0).await;
    server.post(&format!("/v1/alerts/{id}/pause"), json!({})).await.ok(200);
    server.clock.set("2024-03-11T15:00:00Z".parse().unwrap());
    server
        .post(&format!("/v1/alerts/{id}/activate"), json!({}))
        .await
        .ok(200);
    pass_split(&server).await;
    let found = explained(&server, &id, "?at=2024-03-12T18:30:00Z").await;
    let term = &found["terms"][0];
    assert_eq!(
        (&term["text"], &term["left"], &term["holds"]),
        (&json!("price > 75"), &json!(80), &json!(true))
    );
    assert_eq!(found["sentence"], "AAPL rises above 75.00");
}

async fn later_expression_is_judged_in_earlier_shares(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price > 150")).await;
    pass_split(&server).await;
    patch(&server, &id, json!({"parameters": {"when": "price >= 50"}})).await;
    let found = explained(&server, &id, "?at=2024-03-08T15:00:00Z").await;
    assert_eq!(found["terms"][0]["text"], "price >= 100");
    let found = explained(&server, &id, "?at=2024-03-12T18:30:00Z").await;
    let term = &found["terms"][0];
    assert_eq!(
        (&term["text"], &term["left"], &term["holds"]),
        (&json!("price >= 50"), &json!(80), &json!(true))
    );
}

async fn sentence_and_terms_of_a_price_have_the_shares_of_the_past_day(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    pass_split(&server).await;
    for (at, level, sentence) in [
        ("2024-03-08T15:00:00Z", 125.0, "AAPL rises to 125.00 or above"),
        ("2024-03-12T15:00:00Z", 62.5, "AAPL rises to 62.50 or above"),
    ] {
        let found = explained(&server, &id, &format!("?at={at}")).await;
        assert_eq!(
            (&found["sentence"], found["terms"][0]["right"].as_f64()),
            (&json!(sentence), Some(level))
        );
    }
}

async fn session_with_all_its_intraday_bars_is_explained_by_the_minute(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = created(&server, expression("price >= 120")).await;
    pass_days(&server).await;
    let bar = |time: &str, [open, high, low, close]: [i64; 4]| {
        json!({
            "symbol": "AAPL", "time": format!("2024-03-11T{time}:00Z"), "open": open, "high": high, "low": low,
            "close": close, "volume": 10,
        })
    };
    let bars = [
        bar("13:30", [103, 104, 102, 103]),
        bar("13:31", [103, 109, 103, 107]),
        bar("13:32", [107, 108, 107, 108]),
    ];
    server
        .post("/v1/market/ingest", json!({"intraday_bars": bars}))
        .await
        .ok(200);
    for (at, price, resolution, source) in [
        ("2024-03-08T21:30:00Z", 103, "1d", "daily bars"),
        ("2024-03-11T13:31:00Z", 103, "intraday", "intraday bars"),
        ("2024-03-11T13:31:40Z", 109, "intraday", "intraday bars"),
        ("2024-03-12T12:00:00Z", 108, "intraday", "intraday bars"),
        ("2024-03-12T21:30:00Z", 107, "1d", "daily bars"),
    ] {
        let found = explained(&server, &id, &format!("?at={at}")).await;
        let term = &found["terms"][0];
        assert_eq!(
            (&term["left"], &found["resolution"], &term["source"]),
            (&json!(price), &json!(resolution), &json!(source)),
            "{at}"
        );
    }
}

#[tokio::test]
async fn market_that_never_closes_is_open_at_every_past_moment() {
    let server = TestServer::with_database(testkit::Database::sqlite(), unlimited(), |settings| {
        settings.evaluation.calendar = settings.evaluation.calendar.clone().always_open();
    });
    let server = server.await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    pass_days(&server).await;
    assert_gates(&server, &id, &[("2024-03-10T02:00:00Z", &[])]).await;
}

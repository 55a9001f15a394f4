//! Notes and tags of alerts over HTTP.

use alerts::Plan;
use serde_json::{Value, json};

use crate::http::identity::{ANN, on_each_database, start_server};
use crate::http::test_server::{TestResponse, TestServer, above};

on_each_database! {
    alert_without_note_and_tags_has_no_such_fields
    note_and_tags_are_shown_wherever_the_alert_is
    put_and_patch_replace_note_and_tags_and_keep_what_is_omitted
    equivalent_request_keeps_the_note_and_tags_of_the_alert
    invalid_notes_and_tags_are_422
    list_is_filtered_by_all_tags
    guest_cannot_send_a_note_or_tags
    watchlist_ignores_both_and_the_alerts_of_the_analyst_take_them
}

const HOSTILE: &str = "<script>alert(1)</script> & \"half\"\r\nX-Evil: 1\u{202e}";

async fn create(server: &TestServer, threshold: i64, note: Value, tags: Value) -> TestResponse {
    let mut body = above(threshold);
    (body["note"], body["tags"]) = (note, tags);
    server.post("/v1/alerts", body).await
}

async fn change(server: &TestServer, method: &str, id: &str, body: Value) -> TestResponse {
    server
        .request(method, &format!("/v1/alerts/{id}"))
        .json(&body)
        .send()
        .await
}

fn id_of(response: &TestResponse) -> &str {
    response.body["data"]["id"].as_str().unwrap()
}

async fn alert_without_note_and_tags_has_no_such_fields(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = server.post("/v1/alerts", above(125)).await.ok(201);
    let empty = create(&server, 126, json!(" "), json!([])).await.ok(201);
    for path in ["", "?extended=true", "?minimal=true"] {
        let listed = server.get(&format!("/v1/alerts{path}")).await.ok(200);
        assert!(
            !listed.text.contains("\"note\"") && !listed.text.contains("\"tags\""),
            "{listed:?}"
        );
    }
    for id in [id_of(&made), id_of(&empty)] {
        let read = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
        assert!(
            !read.text.contains("\"note\"") && !read.text.contains("\"tags\""),
            "{read:?}"
        );
    }
}

async fn note_and_tags_are_shown_wherever_the_alert_is(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let ann = server.create_user("ann", Plan::Premium).await;
    let mut body = above(125);
    (body["note"], body["tags"]) = (json!(HOSTILE), json!(["<b>", "swing", "<b>"]));
    let made = ann.post("/v1/alerts", body).await.ok(201);
    let id = id_of(&made);
    let listed = ann.get("/v1/alerts").await.ok(200);
    let extended = ann.get("/v1/alerts?extended=true").await.ok(200);
    let read = ann.get(&format!("/v1/alerts/{id}")).await.ok(200);
    let export = ann.get("/v1/user/account/export").await.ok(200);
    for alert in [
        &made.body["data"],
        &listed.body["data"][0],
        &extended.body["data"][0],
        &read.body["data"],
        &export.body["data"]["alerts"][0],
    ] {
        assert_eq!(
            (&alert["note"], &alert["tags"]),
            (&json!(HOSTILE), &json!(["<b>", "swing"])),
            "{alert}"
        );
    }
    let cookie = server.signed_in(ANN).await.cookie;
    let page = server
        .anonymous("GET", &format!("/alerts/{id}"))
        .header("cookie", &cookie)
        .send()
        .await;
    assert!(
        page.text.contains("<dt>Note</dt>") && page.text.contains("swing"),
        "{}",
        page.text
    );
    assert!(
        !page.text.contains("<script>") && !page.text.contains("<b>"),
        "{}",
        page.text
    );
    let actions = ["pause", "activate"];
    for action in actions {
        let _ = ann.post(&format!("/v1/alerts/{id}/{action}"), json!({})).await.ok(200);
    }
    let after = ann.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(after.body["data"]["note"], HOSTILE);
}

async fn put_and_patch_replace_note_and_tags_and_keep_what_is_omitted(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = create(&server, 125, json!("old"), json!(["a", "b"])).await.ok(201);
    let id = id_of(&made);
    for method in ["PUT", "PATCH"] {
        for (body, note, tags) in [
            (json!({"threshold": 130}), json!("old"), json!(["a", "b"])),
            (json!({"note": "new"}), json!("new"), json!(["a", "b"])),
            (json!({"tags": ["c"]}), json!("new"), json!(["c"])),
            (json!({"note": null, "tags": null}), Value::Null, Value::Null),
            (
                json!({"note": "🚀".repeat(2_000)}),
                json!("🚀".repeat(2_000)),
                Value::Null,
            ),
            (
                json!({"note": "old", "tags": ["a", "b", "a"]}),
                json!("old"),
                json!(["a", "b"]),
            ),
        ] {
            let changed = change(&server, method, id, body.clone()).await.ok(200);
            let alert = &changed.body["data"];
            assert_eq!((&alert["note"], &alert["tags"]), (&note, &tags), "{method} {body}");
            assert_eq!(
                (&alert["threshold"], &alert["status"]),
                (&json!(130), &json!("active")),
                "{alert}"
            );
        }
    }
    let unknown = change(&server, "PATCH", "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", json!({})).await;
    let _ = unknown.refused(404, "NOT_FOUND");
}

async fn equivalent_request_keeps_the_note_and_tags_of_the_alert(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = create(&server, 125, json!("mine"), json!(["a"])).await.ok(201);
    let again = create(&server, 125, json!("other"), json!(["b"])).await.ok(200);
    assert_eq!(again.body["data"], made.body["data"]);
}

async fn invalid_notes_and_tags_are_422(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let made = create(&server, 125, json!("mine"), json!(["a"])).await.ok(201);
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    for (field, value) in [
        ("note", json!("🚀".repeat(2_001))),
        ("note", json!("a\u{1b}[31mb")),
        ("note", json!(5)),
        ("tags", json!("a,b")),
        ("tags", json!(["a,b"])),
        ("tags", json!(["a\nb"])),
        ("tags", json!([""])),
        ("tags", json!(["x".repeat(41)])),
        ("tags", json!(many)),
    ] {
        let mut body = above(126);
        body[field] = value.clone();
        let created = server.post("/v1/alerts", body).await;
        let updated = change(&server, "PATCH", id_of(&made), json!({field: value})).await;
        for refused in [created, updated] {
            let refused = refused.refused(422, "VALIDATION_ERROR");
            assert!(
                refused.body["error"]["details"]["fields"][field].is_array(),
                "{refused:?}"
            );
        }
    }
    for query in [format!("tags={}", "x".repeat(41)), format!("tags={}", many.join(","))] {
        let _ = server
            .get(&format!("/v1/alerts?{query}"))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
}

async fn list_is_filtered_by_all_tags(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    for (threshold, tags) in [
        (125, json!(["swing", "big caps"])),
        (126, json!(["swing"])),
        (127, json!(null)),
    ] {
        let _ = create(&server, threshold, json!(null), tags).await.ok(201);
    }
    for (query, expected) in [
        ("", json!([127, 126, 125])),
        ("tags=", json!([127, 126, 125])),
        ("tags=swing", json!([126, 125])),
        ("tags=swing,+big%20caps", json!([125])),
        ("tags=Swing", json!([])),
        ("tags=swing&status=paused", json!([])),
        ("tags=swing&search=apple&minimal=true", json!([])),
        ("tags=swing&search=aapl&minimal=true", json!([126, 125])),
    ] {
        let listed = server.get(&format!("/v1/alerts?{query}")).await.ok(200);
        let alerts = listed.body["data"].as_array().unwrap();
        let thresholds: Vec<_> = alerts.iter().map(|alert| alert["threshold"].clone()).collect();
        assert_eq!(json!(thresholds), expected, "{query}");
        assert_eq!(listed.body["meta"]["pagination"]["total"], thresholds.len(), "{query}");
    }
}

async fn guest_cannot_send_a_note_or_tags(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut body = above(125);
    body["email"] = json!("guest@example.com");
    for (field, value) in [("note", json!("see evil.example")), ("tags", json!(["a"]))] {
        let mut body = body.clone();
        body[field] = value;
        let refused = server.anonymous("POST", "/v1/alerts").json(&body).send().await;
        let refused = refused.refused(422, "VALIDATION_ERROR");
        let fields = &refused.body["error"]["details"]["fields"];
        assert_eq!(*fields, json!({field: ["needs an account; sign in, or omit it"]}));
    }
    (body["note"], body["tags"]) = (json!(null), json!([]));
    let made = server.anonymous("POST", "/v1/alerts").json(&body).send().await.ok(201);
    assert_eq!(
        (made.body["data"].get("note"), made.body["data"].get("tags")),
        (None, None)
    );
}

async fn watchlist_ignores_both_and_the_alerts_of_the_analyst_take_them(server: TestServer) {
    server.set_price("AAPL", 200.0).await;
    let body = json!({"stock_symbol": "AAPL", "intention": "buy", "note": 5, "tags": "any", "notes": "wait"});
    let item = server.post("/v1/watchlist", body).await.ok(201);
    assert_eq!(item.body["data"]["notes"], "wait");
    assert_eq!(
        (item.body["data"].get("note"), item.body["data"].get("tags")),
        (None, None)
    );
    // An alert that is marked as the analyst's own.
    let mut body = above(250);
    body["parameters"] = json!({"source": "ai", "watchlist_item_id": item.body["data"]["id"]});
    let made = server.post("/v1/alerts", body).await.ok(201);
    let changed = change(&server, "PATCH", id_of(&made), json!({"note": "mine", "tags": ["a"]}))
        .await
        .ok(200);
    assert_eq!(
        (&changed.body["data"]["note"], &changed.body["data"]["tags"]),
        (&json!("mine"), &json!(["a"]))
    );
}

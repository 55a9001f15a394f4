//! What holds of every answer.

use serde_json::json;
use server::Settings;

use crate::world::{World, above};

#[tokio::test]
async fn a_success_says_what_is_left_of_the_limit_in_the_body_as_in_the_headers() {
    let world = World::new().await;
    let answer = world.get("/api/v1/alerts").await.ok(200);
    for (name, header) in [
        ("limit", "x-ratelimit-limit"),
        ("remaining", "x-ratelimit-remaining"),
        ("reset", "x-ratelimit-reset"),
    ] {
        assert_eq!(
            answer.body["meta"]["rate_limit"][name].to_string(),
            answer.header(header)
        );
    }
}

#[tokio::test]
async fn an_unknown_route_is_not_found_in_the_envelope_everywhere() {
    let world = World::new().await;
    for path in [
        "/api/v1",
        "/api/v1/",
        "/v1/nothing",
        "/v1/alerts/",
        "/",
        "/nothing",
        "/api/v2/alerts",
    ] {
        let refused = world.get(path).await.refused(404, "NOT_FOUND");
        let is_api = path.starts_with("/api/v1") || path.starts_with("/v1");
        assert_eq!(refused.headers.contains_key("x-ratelimit-limit"), is_api, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_are_right_and_options_are_answered() {
    let world = World::new().await;
    for (method, path, allowed) in [
        ("DELETE", "/v1/alerts", "GET,HEAD,POST"),
        ("GET", "/v1/market/ingest", "POST"),
        ("POST", "/healthz", "GET,HEAD"),
        ("TRACE", "/v1/alerts", "GET,HEAD,POST"),
    ] {
        let refused = world
            .request(method, path)
            .send()
            .await
            .refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(refused.header("allow"), allowed, "{method} {path}");
    }
    let options = world.stranger("OPTIONS", "/v1/alerts").send().await;
    assert_eq!((options.status, options.header("allow")), (204, "GET,HEAD,POST"));
}

#[tokio::test]
async fn a_head_request_is_answered_like_a_get_without_the_body() {
    let world = World::new().await;
    let get = world.get("/v1/alerts").await.ok(200);
    let head = world.request("HEAD", "/v1/alerts").send().await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), get.text.len().to_string());
}

#[tokio::test]
async fn a_sane_request_id_is_kept_and_any_other_is_replaced() {
    let world = World::new().await;
    for (sent, is_kept) in [("order-66", true), ("", false), ("a b", false)] {
        let answer = world
            .request("GET", "/nothing")
            .header("x-request-id", sent)
            .send()
            .await;
        assert_eq!(answer.header("x-request-id") == sent, is_kept, "{sent}");
    }
    let (one, other) = (world.get("/v1/alerts").await, world.get("/v1/alerts").await);
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_by_what_is_wrong_with_it() {
    let settings = Settings {
        max_body_bytes: 100,
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let large = format!(r#"{{"symbol":"{}"}}"#, "A".repeat(100));
    for (kind, body, status, code) in [
        (Some("application/json"), "{", 400, "BAD_REQUEST"),
        (Some("application/json"), "[]", 400, "BAD_REQUEST"),
        (Some("application/json"), "", 400, "BAD_REQUEST"),
        (None, "", 400, "BAD_REQUEST"),
        (None, "{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (Some("text/plain"), "{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (Some("application/json"), large.as_str(), 413, "PAYLOAD_TOO_LARGE"),
        (Some("application/json; charset=utf-8"), "{}", 422, "VALIDATION_ERROR"),
    ] {
        let mut request = world.request("POST", "/v1/alerts");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let _ = request.body(body.to_owned()).send().await.refused(status, code);
    }
    // Who may not ask at all is told that first.
    let stranger = world.stranger("POST", "/v1/alerts").body("{");
    let _ = stranger.send().await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn a_body_that_is_not_needed_may_be_left_out_but_not_be_nonsense() {
    let world = World::new().await;
    world.stock_at("AAPL", 100.0).await;
    let pause = format!("/v1/alerts/{}/pause", world.alert(200).await);
    let _ = world.request("POST", &pause).send().await.ok(200);
    let json = world.request("POST", &pause).header("content-type", "application/json");
    let _ = json.send().await.ok(200);
    let _ = world.request("POST", &pause).json(&json!({})).send().await.ok(200);
    let nonsense = world
        .request("POST", &pause)
        .header("content-type", "application/json")
        .body("nonsense");
    let _ = nonsense.send().await.refused(400, "BAD_REQUEST");
    let untyped = world.request("POST", &pause).body("{}");
    let _ = untyped.send().await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[tokio::test]
async fn the_same_routes_answer_under_both_prefixes() {
    let world = World::new().await;
    world.stock_at("AAPL", 100.0).await;
    let first = world.post("/v1/alerts", above(200)).await.ok(201);
    let again = world.post("/api/v1/alerts", above(200)).await.ok(200);
    assert_eq!(first.body["data"], again.body["data"]);
}

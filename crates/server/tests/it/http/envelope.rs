//! Properties of every response.

use serde_json::json;
use server::HttpConfig;

use crate::http::test_server::{TestServer, above};

#[tokio::test]
async fn success_has_the_rate_limit_in_body_and_headers() {
    let server = TestServer::new().await;
    let response = server.get("/api/v1/alerts").await.ok(200);
    for (name, header) in [
        ("limit", "x-ratelimit-limit"),
        ("remaining", "x-ratelimit-remaining"),
        ("reset", "x-ratelimit-reset"),
    ] {
        assert_eq!(
            response.body["meta"]["rate_limit"][name].to_string(),
            response.header(header)
        );
    }
}

#[tokio::test]
async fn unknown_route_is_404_in_the_envelope() {
    let server = TestServer::new().await;
    for path in [
        "/api/v1",
        "/api/v1/",
        "/v1/nothing",
        "/v1/alerts/",
        "/nothing",
        "/api/v2/alerts",
    ] {
        let refused = server.get(path).await.refused(404, "NOT_FOUND");
        let is_api = path.starts_with("/api/v1") || path.starts_with("/v1");
        assert_eq!(refused.headers.contains_key("x-ratelimit-limit"), is_api, "{path}");
    }
}

#[tokio::test]
async fn unsupported_method_is_405_with_allow_and_options_is_204() {
    let server = TestServer::new().await;
    for (method, path, allowed) in [
        ("DELETE", "/v1/alerts", "GET,HEAD,POST"),
        ("GET", "/v1/market/ingest", "POST"),
        ("POST", "/healthz", "GET,HEAD"),
        ("TRACE", "/v1/alerts", "GET,HEAD,POST"),
    ] {
        let refused = server
            .request(method, path)
            .send()
            .await
            .refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(refused.header("allow"), allowed, "{method} {path}");
    }
    let options = server.anonymous("OPTIONS", "/v1/alerts").send().await;
    assert_eq!((options.status, options.header("allow")), (204, "GET,HEAD,POST"));
}

#[tokio::test]
async fn head_request_has_no_body() {
    let server = TestServer::new().await;
    let get = server.get("/v1/alerts").await.ok(200);
    let head = server.request("HEAD", "/v1/alerts").send().await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), get.text.len().to_string());
}

#[tokio::test]
async fn valid_request_id_is_kept_and_invalid_one_is_replaced() {
    let server = TestServer::new().await;
    for (sent, is_kept) in [("order-66", true), ("", false), ("a b", false)] {
        let response = server
            .request("GET", "/nothing")
            .header("x-request-id", sent)
            .send()
            .await;
        assert_eq!(response.header("x-request-id") == sent, is_kept, "{sent}");
    }
    let (one, other) = (server.get("/v1/alerts").await, server.get("/v1/alerts").await);
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
}

#[tokio::test]
async fn unreadable_body_is_rejected_with_the_reason() {
    let settings = HttpConfig {
        max_body_bytes: 100,
        ..HttpConfig::default()
    };
    let server = TestServer::with_config(settings).await;
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
        let mut request = server.request("POST", "/v1/alerts");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let _ = request.body(body.to_owned()).send().await.refused(status, code);
    }
    // Missing permission is reported first.
    let unauthenticated = server.anonymous("POST", "/v1/alerts").body("{");
    let _ = unauthenticated.send().await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn optional_body_may_be_omitted_but_must_be_valid() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let pause = format!("/v1/alerts/{}/pause", server.create_alert(200).await);
    let _ = server.request("POST", &pause).send().await.ok(200);
    let json = server
        .request("POST", &pause)
        .header("content-type", "application/json");
    let _ = json.send().await.ok(200);
    let _ = server.request("POST", &pause).json(&json!({})).send().await.ok(200);
    let nonsense = server
        .request("POST", &pause)
        .header("content-type", "application/json")
        .body("nonsense");
    let _ = nonsense.send().await.refused(400, "BAD_REQUEST");
    let untyped = server.request("POST", &pause).body("{}");
    let _ = untyped.send().await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[tokio::test]
async fn routes_have_both_prefixes() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let first = server.post("/v1/alerts", above(200)).await.ok(201);
    let again = server.post("/api/v1/alerts", above(200)).await.ok(200);
    assert_eq!(first.body["data"], again.body["data"]);
}

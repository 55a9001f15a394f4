//! Rules for every response, including unknown routes.

use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    routes_work_under_both_prefixes,
    unknown_route_is_404,
    wrong_method_is_405_with_allow_header,
    body_that_is_not_a_json_object_is_400,
    other_content_type_is_415,
    oversized_body_is_413,
    valid_request_id_is_echoed,
    empty_body_is_400,
];

const PREFIXES: [&str; 2] = ["/api/v1", "/v1"];

async fn routes_work_under_both_prefixes(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for prefix in PREFIXES {
        let operator = env.operator.with_prefix(prefix);
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
        let created = operator.post("/alerts", &body).await;
        ids.push(created.id());
        let _ = operator.get("/alerts").await.expect_ok(200);
        let _ = operator
            .get(&format!("/alerts/{}/history", created.id()))
            .await
            .expect_ok(200);
        let _ = operator.get("/stocks/AAPL").await.expect_ok(200);
        let _ = operator.get("/market/status").await.expect_ok_without_limit(200);
    }
    assert_eq!(ids[0], ids[1]);
}

async fn unknown_route_is_404(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for prefix in PREFIXES {
        for path in ["", "/", "/nothing", "/alerts/", "/alerts/x/y/z", "/stocks/AAPL/nothing"] {
            let response = env.operator.with_prefix(prefix).get(path).await;
            let _ = response.expect_error(404, "NOT_FOUND");
        }
    }
}

async fn wrong_method_is_405_with_allow_header(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for prefix in PREFIXES {
        let operator = env.operator.with_prefix(prefix);
        for (method, path, allowed) in [
            (Method::DELETE, "/alerts", vec!["GET", "POST"]),
            (
                Method::POST,
                "/alerts/11111111-1111-4111-8111-111111111111",
                vec!["GET", "PUT", "PATCH", "DELETE"],
            ),
            (
                Method::GET,
                "/alerts/11111111-1111-4111-8111-111111111111/pause",
                vec!["POST"],
            ),
            (Method::POST, "/stocks/AAPL", vec!["GET"]),
            (Method::GET, "/market/ingest", vec!["POST"]),
        ] {
            let refused = operator
                .request(method, path)
                .send()
                .await
                .expect_error(405, "METHOD_NOT_ALLOWED");
            let allow = refused.header("allow").unwrap_or_default().to_owned();
            for method in allowed {
                assert!(allow.contains(method), "Allow: {allow}: {refused}");
            }
        }
    }
}

async fn body_that_is_not_a_json_object_is_400(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for body in [
        "{",
        "[]",
        "null",
        "7",
        "\"text\"",
        "{\"symbol\": }",
        "nonsense",
        "{} {}",
        "{\"a\":1,}",
    ] {
        for path in ["/alerts", "/market/ingest"] {
            let response = env.operator.request(Method::POST, path).raw_json(body).send().await;
            let _ = response.expect_error(400, "BAD_REQUEST");
        }
    }
}

async fn empty_body_is_400(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let _ = env
        .operator
        .request(Method::POST, "/alerts")
        .raw_json("")
        .send()
        .await
        .expect_error(400, "BAD_REQUEST");
}

async fn other_content_type_is_415(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let body = r#"{"symbol": "AAPL", "condition": "new_high"}"#;
    for kind in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "nonsense",
    ] {
        let request = env
            .operator
            .request(Method::POST, "/alerts")
            .header("content-type", kind)
            .body_without_content_type(body);
        let _ = request.send().await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON"] {
        let request = env
            .operator
            .request(Method::POST, "/alerts")
            .header("content-type", kind)
            .body_without_content_type(body);
        let _ = request.send().await.expect_error(404, "NOT_FOUND"); // The content type is accepted; the stock does not exist.
    }
}

async fn oversized_body_is_413(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    // The service rejects the request by its Content-Length before it reads the body.
    let request = format!(
        "POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000000000\r\n\r\n{{",
        env.operator.key()
    );
    let response = acceptance::raw_http::exchange(env.server.address(), request.as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 413"), "{response}");
    assert!(response.contains("PAYLOAD_TOO_LARGE"), "{response}");
}

async fn valid_request_id_is_echoed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let with = async |id: &str| {
        let response = env
            .operator
            .request(Method::GET, "/alerts")
            .header("X-Request-Id", id)
            .send()
            .await;
        response.expect_ok(200).header("x-request-id").unwrap().to_owned()
    };
    for valid in ["abc-123", "6e8bc430-9c3a-4f7e-8c52-9a6d0a8c9a10"] {
        assert_eq!(with(valid).await, valid);
    }
    let long = "x".repeat(5000);
    for invalid in ["", "a b\tc", "<script>", long.as_str()] {
        let id = with(invalid).await;
        assert!(id != invalid && !id.is_empty(), "{id:?}");
    }
    let first = env.operator.get("/alerts").await.expect_ok(200);
    let second = env.operator.get("/alerts").await.expect_ok(200);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let missing = env
        .operator
        .request(Method::GET, "/nothing")
        .header("X-Request-Id", "mine")
        .send()
        .await;
    assert_eq!(
        missing.expect_error(404, "NOT_FOUND").header("x-request-id"),
        Some("mine")
    );
}

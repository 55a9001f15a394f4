//! What holds of every answer, also where no route is.

use acceptance::{Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    the_same_routes_answer_under_both_prefixes,
    an_unknown_route_is_not_found,
    a_wrong_method_says_which_are_right,
    a_body_that_is_no_json_object_is_a_bad_request,
    another_content_type_is_refused,
    a_body_too_large_is_refused,
    a_request_id_is_kept_if_it_is_sane,
    an_empty_body_where_one_belongs_is_a_bad_request,
];

const PREFIXES: [&str; 2] = ["/api/v1", "/v1"];

async fn the_same_routes_answer_under_both_prefixes(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for prefix in PREFIXES {
        let me = world.me.under(prefix);
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200});
        let made = me.post("/alerts", &body).await;
        ids.push(made.id());
        let _ = me.get("/alerts").await.ok(200);
        let _ = me.get(&format!("/alerts/{}/history", made.id())).await.ok(200);
        let _ = me.get("/stocks/AAPL").await.ok(200);
        let _ = me.get("/market/status").await.ok_unlimited(200);
    }
    assert_eq!(ids[0], ids[1]);
}

async fn an_unknown_route_is_not_found(setup: Setup) {
    let world = setup.world().await;
    for prefix in PREFIXES {
        for path in ["", "/", "/nothing", "/alerts/", "/alerts/x/y/z", "/stocks/AAPL/nothing"] {
            let answer = world.me.under(prefix).get(path).await;
            let _ = answer.refused(404, "NOT_FOUND");
        }
    }
}

async fn a_wrong_method_says_which_are_right(setup: Setup) {
    let world = setup.world().await;
    for prefix in PREFIXES {
        let me = world.me.under(prefix);
        for (method, path, allowed) in [
            (Method::DELETE, "/alerts", vec!["GET", "POST"]),
            (
                Method::PATCH,
                "/alerts/11111111-1111-4111-8111-111111111111",
                vec!["GET", "PUT", "DELETE"],
            ),
            (
                Method::GET,
                "/alerts/11111111-1111-4111-8111-111111111111/pause",
                vec!["POST"],
            ),
            (Method::POST, "/stocks/AAPL", vec!["GET"]),
            (Method::GET, "/market/ingest", vec!["POST"]),
        ] {
            let refused = me.request(method, path).send().await.refused(405, "METHOD_NOT_ALLOWED");
            let allow = refused.header("allow").unwrap_or_default().to_owned();
            for method in allowed {
                assert!(allow.contains(method), "Allow: {allow}: {refused}");
            }
        }
    }
}

async fn a_body_that_is_no_json_object_is_a_bad_request(setup: Setup) {
    let world = setup.world().await;
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
            let answer = world.me.request(Method::POST, path).raw(body).send().await;
            let _ = answer.refused(400, "BAD_REQUEST");
        }
    }
}

async fn an_empty_body_where_one_belongs_is_a_bad_request(setup: Setup) {
    let world = setup.world().await;
    let _ = world
        .me
        .request(Method::POST, "/alerts")
        .raw("")
        .send()
        .await
        .refused(400, "BAD_REQUEST");
}

async fn another_content_type_is_refused(setup: Setup) {
    let world = setup.world().await;
    let body = r#"{"symbol": "AAPL", "condition": "new_high"}"#;
    for kind in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "nonsense",
    ] {
        let request = world
            .me
            .request(Method::POST, "/alerts")
            .header("content-type", kind)
            .untyped(body);
        let _ = request.send().await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON"] {
        let request = world
            .me
            .request(Method::POST, "/alerts")
            .header("content-type", kind)
            .untyped(body);
        let _ = request.send().await.refused(404, "NOT_FOUND"); // The stock is not there; the type is fine.
    }
}

async fn a_body_too_large_is_refused(setup: Setup) {
    let world = setup.world().await;
    // Whoever says how much is coming is refused before it comes.
    let request = format!(
        "POST /api/v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000000000\r\n\r\n{{",
        world.me.key()
    );
    let answer = acceptance::raw::exchange(world.server.address(), request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("PAYLOAD_TOO_LARGE"), "{answer}");
}

async fn a_request_id_is_kept_if_it_is_sane(setup: Setup) {
    let world = setup.world().await;
    let with = async |id: &str| {
        let answer = world
            .me
            .request(Method::GET, "/alerts")
            .header("X-Request-Id", id)
            .send()
            .await;
        answer.ok(200).header("x-request-id").unwrap().to_owned()
    };
    for sane in ["abc-123", "6e8bc430-9c3a-4f7e-8c52-9a6d0a8c9a10"] {
        assert_eq!(with(sane).await, sane);
    }
    let long = "x".repeat(5000);
    for insane in ["", "a b\tc", "<script>", long.as_str()] {
        let id = with(insane).await;
        assert!(id != insane && !id.is_empty(), "{id:?}");
    }
    let first = world.me.get("/alerts").await.ok(200);
    let second = world.me.get("/alerts").await.ok(200);
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    let missing = world
        .me
        .request(Method::GET, "/nothing")
        .header("X-Request-Id", "mine")
        .send()
        .await;
    assert_eq!(missing.refused(404, "NOT_FOUND").header("x-request-id"), Some("mine"));
}

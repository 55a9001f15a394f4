//! Idempotent requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use foundation::Scope;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::http::test_server::{TestResponse, TestServer, above};

async fn post(server: &TestServer, path: &str, key: &str, body: &Value) -> TestResponse {
    let request = server.request("POST", path).header("idempotency-key", key);
    request.json(body).send().await
}

async fn start_server() -> TestServer {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    server
}

/// Returns the body without the rate limit, which is always current.
fn body_without_rate_limit(response: &TestResponse) -> &str {
    response.text.split_once(",\"meta\":").unwrap().0
}

async fn alerts(server: &TestServer) -> usize {
    server.get("/v1/alerts").await.ok(200).body["data"]
        .as_array()
        .unwrap()
        .len()
}

#[tokio::test]
async fn repeat_gets_the_first_response_with_a_header() {
    let server = start_server().await;
    let first = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let id = first.body["data"]["id"].as_str().unwrap();
    let _ = server
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    let repeat = post(&server, "/api/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(body_without_rate_limit(&repeat), body_without_rate_limit(&first));
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(alerts(&server).await, 0, "nothing was done again");
    assert!(post(&server, "/v1/alerts", "two", &above(200)).await.ok(201).body["data"]["id"] != id);
}

#[tokio::test]
async fn repeat_after_a_restart_gets_the_first_response() {
    let server = start_server().await;
    let first = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    let server = server.restarted().await;
    let repeat = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(body_without_rate_limit(&repeat), body_without_rate_limit(&first));
}

#[tokio::test]
async fn key_reuse_with_a_different_body_is_422() {
    let server = start_server().await;
    let first = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    let refused = post(&server, "/v1/alerts", "one", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["Idempotency-Key"].is_array());
    let id = first.body["data"]["id"].as_str().unwrap();
    let paused = post(&server, &format!("/v1/alerts/{id}/pause"), "one", &json!({}))
        .await
        .ok(200);
    assert_eq!(paused.body["data"]["status"], "paused");
}

#[tokio::test]
async fn key_is_scoped_to_its_account() {
    let server = start_server().await;
    let ann = server
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let mine = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    let theirs = server.anonymous("POST", "/v1/alerts").header("x-api-key", &ann);
    let theirs = theirs
        .header("idempotency-key", "one")
        .json(&above(201))
        .send()
        .await
        .ok(201);
    assert_ne!(mine.body["data"]["id"], theirs.body["data"]["id"]);
}

#[tokio::test]
async fn first_response_requires_the_same_credential() {
    let server = start_server().await;
    let ann = server.create_user("ann", alerts::Plan::Premium).await;
    let reader = server.another_key(&ann.email, &[Scope::AlertsRead]).await;
    let (path, body) = ("/v1/api-keys", json!({"name": "all of it"}));
    let made = ann.request("POST", path).header("idempotency-key", "one");
    let made = made.json(&body).send().await.ok(201);
    let secret = made.body["data"]["api_key"].as_str().unwrap();
    for key in [&reader, &ann.key] {
        let repeat = server.anonymous("POST", path).header("x-api-key", key);
        let repeat = repeat.header("idempotency-key", "one").json(&body).send().await;
        assert!(!repeat.text.contains(secret), "{repeat:?}");
        let _ = repeat.refused(403, "FORBIDDEN");
    }
    let (token, _) = ann.sign_in(crate::http::test_user::PASSWORD).await.unwrap();
    let elsewhere = server
        .anonymous("POST", path)
        .header("authorization", &format!("Bearer {token}"));
    let elsewhere = elsewhere
        .header("idempotency-key", "one")
        .json(&body)
        .send()
        .await
        .ok(201);
    assert_ne!(elsewhere.body["data"]["api_key"], made.body["data"]["api_key"]);
    // The session cookie identifies the same session.
    let by_cookie = server
        .anonymous("POST", path)
        .header("cookie", &format!("__Host-bellwether_session={}", ann.cookie));
    let by_cookie = by_cookie
        .header("sec-fetch-site", "same-origin")
        .header("idempotency-key", "one");
    let repeat = by_cookie.json(&body).send().await.ok(201);
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(body_without_rate_limit(&repeat), body_without_rate_limit(&made));
}

#[tokio::test]
async fn retryable_errors_are_not_stored() {
    let server = start_server().await;
    let reader = server.another_key("operator@example.com", &[Scope::AlertsRead]).await;
    let refused = server.anonymous("POST", "/v1/alerts").header("x-api-key", &reader);
    let refused = refused.header("idempotency-key", "one").json(&above(200)).send().await;
    let _ = refused.refused(403, "FORBIDDEN");
    let _ = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    let unknown = json!({"symbol": "MSFT", "condition": "new_high"});
    let _ = post(&server, "/v1/alerts", "two", &unknown)
        .await
        .refused(404, "NOT_FOUND");
    server.set_price("MSFT", 100.0).await;
    let _ = post(&server, "/v1/alerts", "two", &unknown)
        .await
        .refused(404, "NOT_FOUND");
    let percent = json!({"symbol": "NEWCO", "condition": "price_change_up", "threshold": 5});
    let _ = server
        .post(
            "/v1/market/ingest",
            json!({"stocks": [{"symbol": "NEWCO", "name": "New"}]}),
        )
        .await
        .ok(200);
    let _ = post(&server, "/v1/alerts", "three", &percent)
        .await
        .refused(503, "SERVICE_UNAVAILABLE");
    server.set_price("NEWCO", 100.0).await;
    let _ = post(&server, "/v1/alerts", "three", &percent).await.ok(201);
}

#[tokio::test]
async fn key_expires_after_a_day() {
    let server = start_server().await;
    let first = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    server
        .clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_secs(1));
    let _ = post(&server, "/v1/alerts", "one", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    server.clock.advance(SignedDuration::from_secs(1));
    let other = post(&server, "/v1/alerts", "one", &above(201)).await.ok(201);
    assert_ne!(first.body["data"]["id"], other.body["data"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_repeats_run_once() {
    let server = std::sync::Arc::new(start_server().await);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let server = std::sync::Arc::clone(&server);
        tasks.spawn(async move { post(&server, "/v1/alerts", "one", &above(200)).await });
    }
    let responses = tasks.join_all().await;
    let first = responses.iter().find(|response| response.status == 201).unwrap();
    for response in &responses {
        assert!(
            response.status == 409 || body_without_rate_limit(response) == body_without_rate_limit(first),
            "{response:?}"
        );
    }
    let new = responses.iter().filter(|response| response.status == 201);
    let done = new
        .filter(|response| !response.headers.contains_key("idempotent-replayed"))
        .count();
    assert_eq!((done, alerts(&server).await), (1, 1));
}

#[tokio::test]
async fn request_finishes_after_client_disconnect() {
    let server = start_server().await;
    // Polled once: the request starts, and then its client disconnects.
    let body = above(200);
    let sending = post(&server, "/v1/alerts", "one", &body);
    assert!(futures_util::FutureExt::now_or_never(sending).is_none());
    let repeat = testkit::eventually_some("the first request has finished", async || {
        let repeat = post(&server, "/v1/alerts", "one", &above(200)).await;
        (repeat.status != 409).then_some(repeat)
    });
    let repeat = repeat.await.ok(201);
    assert_eq!(alerts(&server).await, 1);
    let again = post(&server, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(body_without_rate_limit(&again), body_without_rate_limit(&repeat));
}

#[tokio::test]
async fn ingest_body_is_read_only_with_permission() {
    let server = start_server().await;
    let ann = server
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let reader = server.another_key("operator@example.com", Scope::PUBLIC).await;
    for (key, status) in [(&ann, 403), (&reader, 403), (&server.key, 200)] {
        for names_the_request in [false, true] {
            let is_read = Arc::new(AtomicBool::new(false));
            let reading = Arc::clone(&is_read);
            let body = Body::from_stream(futures_util::stream::once(async move {
                reading.store(true, Ordering::Relaxed);
                Ok::<_, std::io::Error>("{}")
            }));
            let mut request = server
                .anonymous("POST", "/v1/market/ingest")
                .header("x-api-key", key)
                .header("content-type", "application/json");
            if names_the_request {
                request = request.header("idempotency-key", "one");
            }
            let response = request.body(body).send().await;
            assert_eq!(response.status, status, "{response:?}");
            assert_eq!(is_read.load(Ordering::Relaxed), status == 200);
        }
    }
}

#[tokio::test]
async fn malformed_key_is_rejected_and_401_is_not_stored() {
    let server = start_server().await;
    let long = "k".repeat(256);
    for key in ["", long.as_str(), "a\tb"] {
        let _ = post(&server, "/v1/alerts", key, &above(200))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
    let unauthenticated = server
        .anonymous("POST", "/v1/alerts")
        .header("idempotency-key", "one")
        .json(&above(200));
    let _ = unauthenticated.send().await.refused(401, "UNAUTHORIZED");
}

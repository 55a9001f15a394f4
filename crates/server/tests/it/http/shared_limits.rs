//! Rate limits of several processes on one database.

use alerts::Plan;
use foundation::Scope;
use jiff::SignedDuration;
use serde_json::json;
use server::{HttpConfig, RateLimits};
use testkit::Database;
use tokio::task::JoinSet;

use crate::http::test_server::{TestResponse, TestServer};

async fn start_server(database: Database) -> TestServer {
    TestServer::with_database(database, HttpConfig::default(), |_| ()).await
}

async fn alerts(server: &TestServer, key: &str) -> TestResponse {
    let request = server.anonymous("GET", "/v1/alerts").header("x-api-key", key);
    request.send().await
}

async fn basic_account(server: &TestServer) -> String {
    server
        .account("ann@example.com", Plan::Basic, false, Scope::PUBLIC)
        .await
}

/// Sends requests to both servers, concurrently, and returns their statuses.
async fn statuses(first: TestServer, second: TestServer, key: &str, count: u32) -> Vec<u16> {
    let mut requests = JoinSet::new();
    for server in [first, second].map(std::sync::Arc::new) {
        for _ in 0..count {
            let (server, key) = (std::sync::Arc::clone(&server), key.to_owned());
            requests.spawn(async move { alerts(&server, &key).await.status });
        }
    }
    requests.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_to_two_processes_never_pass_the_limit() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let key = basic_account(&first).await;
    let statuses = statuses(first, second, &key, 70).await;
    let allowed = statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(allowed, 100, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_those_of_the_limit_of_two_processes() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let key = basic_account(&first).await;
    let response = alerts(&first, &key).await.ok(200);
    assert_eq!(response.header("x-ratelimit-remaining"), "99");
    assert_eq!(response.body["meta"]["rate_limit"]["remaining"], 99);
    let mut allowed = 1;
    while alerts(&second, &key).await.status == 200 {
        allowed += 1;
    }
    assert!((90..=100).contains(&allowed), "{allowed}");
    first.clock.advance(SignedDuration::from_secs(1));
    let _ = alerts(&first, &key).await.ok(200);
    let refused = alerts(&first, &key).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    // Both processes report the same end.
    let reset = refused.header("x-ratelimit-reset");
    assert_eq!(response.header("x-ratelimit-reset"), reset);
    assert_eq!(alerts(&second, &key).await.header("x-ratelimit-reset"), reset);
    let seconds: u32 = refused.header("retry-after").parse().unwrap();
    assert!((3000..=3600).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn login_limit_holds_for_two_processes_together() {
    let first = start_server(Database::postgres().await).await;
    let second = first.another_process().await;
    let limit = RateLimits::default().login_per_minute;
    for attempt in 0..limit {
        let server = if attempt % 2 == 0 { &first } else { &second };
        let body = json!({"email": format!("{attempt}@example.com"), "type": "magic_link"});
        let request = server.anonymous("POST", "/v1/auth/login").json(&body);
        let response = request.send().await;
        assert_ne!(response.status, 429, "{response:?}");
        assert_eq!(
            response.header("x-ratelimit-remaining"),
            (limit - 1 - attempt).to_string()
        );
    }
    for server in [&first, &second] {
        let body = json!({"email": "ann@example.com", "type": "magic_link"});
        let request = server.anonymous("POST", "/v1/auth/login").json(&body);
        let _ = request.send().await.refused(429, "RATE_LIMITED");
    }
}

#[tokio::test]
async fn request_over_the_own_chunk_is_503_without_the_database() {
    let server = start_server(Database::postgres().await).await;
    let asked = async || server.anonymous("GET", "/v1/alerts").send().await;
    let _ = asked().await.refused(401, "UNAUTHORIZED");
    server.store.close().await;
    // The chunk of 2 requests has one left.
    let _ = asked().await.refused(401, "UNAUTHORIZED");
    let refused = asked().await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(refused.header("retry-after"), "5");
}

#[tokio::test]
async fn limits_are_kept_in_memory_on_sqlite() {
    let first = start_server(Database::sqlite()).await;
    let key = basic_account(&first).await;
    let _ = alerts(&first, &key).await.ok(200);
    for left in (0..99).rev() {
        let response = alerts(&first, &key).await.ok(200);
        assert_eq!(response.header("x-ratelimit-remaining"), left.to_string());
    }
    let _ = alerts(&first, &key).await.refused(429, "RATE_LIMITED");
    assert!(first.store.shared_limits().is_none());
    first.clock.advance(SignedDuration::from_hours(1));
    let _ = alerts(&first, &key).await.ok(200);
}

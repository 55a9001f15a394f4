//! Jobs started by external schedulers.

use serde_json::json;
use server::{HttpConfig, RateLimits};
use service::cron::{CronSecret, Job};

use crate::http::test_server::{TestResponse, TestServer, above};

const SECRET: &str = "a secret for schedules";

async fn start_server(secret: Option<&str>) -> TestServer {
    let settings = HttpConfig {
        limits: RateLimits {
            basic_per_hour: 3,
            ..RateLimits::default()
        },
        cron_secret: secret.map(CronSecret::new),
        ..HttpConfig::default()
    };
    TestServer::with_config(settings).await
}

async fn start(server: &TestServer, job: &str, secret: &str) -> TestResponse {
    let request = server.anonymous("POST", &format!("/v1/cron/{job}"));
    request
        .header("authorization", &format!("Bearer {secret}"))
        .send()
        .await
}

#[tokio::test]
async fn every_job_has_an_unlimited_route() {
    let server = start_server(Some(SECRET)).await;
    for job in Job::ALL {
        let done = start(&server, job.name(), SECRET).await.ok(200);
        assert_eq!(done.body["data"]["job"], job.name());
        let says_nothing = done.body["data"]["detail"]
            .as_str()
            .unwrap()
            .starts_with("nothing to do");
        assert_eq!(done.body["data"]["has_run"], !says_nothing);
    }
    let _ = start(&server, "nonsense", SECRET).await.refused(404, "NOT_FOUND");
    let get = server.anonymous("GET", "/v1/cron/evaluate");
    let get = get.header("authorization", &format!("Bearer {SECRET}")).send().await;
    let _ = get.refused(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn job_finishes_before_the_response() {
    let server = start_server(Some(SECRET)).await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(90).await;
    let _ = start(&server, "evaluate", SECRET).await.ok(200);
    let alert = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(alert.body["data"]["status"], "triggered");
    let _ = server.post("/v1/alerts", above(91)).await.ok(201);
}

#[tokio::test]
async fn jobs_require_the_secret_and_guessing_is_limited() {
    let server = start_server(Some(SECRET)).await;
    let key = server.key.clone();
    for guess in ["", key.as_str(), "a secret for schedule"] {
        let _ = start(&server, "cleanup", guess).await.refused(401, "UNAUTHORIZED");
    }
    // An operator's key is no job secret. Its rejected request counts for the account.
    let _ = start(&server, "cleanup", "another guess")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = start(&server, "cleanup", "another guess")
        .await
        .refused(429, "RATE_LIMITED");
    let _ = start(&server, "cleanup", SECRET).await.ok(200);
}

#[tokio::test]
async fn jobs_are_disabled_without_a_secret() {
    let server = start_server(None).await;
    let refused = start(&server, "evaluate", SECRET).await.refused(401, "UNAUTHORIZED");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("operator.cron_secret"), "{message}");
}

#[tokio::test]
async fn secret_is_valid_only_for_jobs() {
    let server = start_server(Some(SECRET)).await;
    for (method, path) in [
        ("GET", "/v1/alerts"),
        ("POST", "/v1/market/ingest"),
        ("GET", "/v1/user/session"),
    ] {
        let request = server
            .anonymous(method, path)
            .header("authorization", &format!("Bearer {SECRET}"));
        let _ = request.json(&json!({})).send().await.refused(401, "UNAUTHORIZED");
    }
}

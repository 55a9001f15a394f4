//! Jobs that are started from outside.

use serde_json::json;
use server::{Limits, Settings};
use service::cron::{Job, Secret};

use crate::world::{Answer, World, above};

const SECRET: &str = "a secret for schedules";

async fn world(secret: Option<&str>) -> World {
    let settings = Settings {
        limits: Limits {
            basic_per_hour: 3,
            ..Limits::default()
        },
        cron_secret: secret.map(Secret::new),
        ..Settings::default()
    };
    World::with(settings).await
}

async fn start(world: &World, job: &str, secret: &str) -> Answer {
    let request = world.stranger("POST", &format!("/v1/cron/{job}"));
    request
        .header("authorization", &format!("Bearer {secret}"))
        .send()
        .await
}

#[tokio::test]
async fn every_job_has_a_route_and_is_not_limited() {
    let world = world(Some(SECRET)).await;
    for job in Job::ALL {
        let done = start(&world, job.name(), SECRET).await.ok(200);
        assert_eq!(done.body["data"]["job"], job.name());
        let says_nothing = done.body["data"]["detail"]
            .as_str()
            .unwrap()
            .starts_with("nothing to do");
        assert_eq!(done.body["data"]["has_run"], !says_nothing);
    }
    let _ = start(&world, "nonsense", SECRET).await.refused(404, "NOT_FOUND");
    let get = world.stranger("GET", "/v1/cron/evaluate");
    let get = get.header("authorization", &format!("Bearer {SECRET}")).send().await;
    let _ = get.refused(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn a_job_is_done_before_the_answer() {
    let world = world(Some(SECRET)).await;
    world.stock_at("AAPL", 100.0).await;
    let id = world.alert(90).await;
    let _ = start(&world, "evaluate", SECRET).await.ok(200);
    let alert = world.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert_eq!(alert.body["data"]["status"], "triggered");
    let _ = world.post("/v1/alerts", above(91)).await.ok(201);
}

#[tokio::test]
async fn without_the_secret_no_job_is_started_and_guessing_ends() {
    let world = world(Some(SECRET)).await;
    let key = world.key.clone();
    for guess in ["", key.as_str(), "a secret for schedule"] {
        let _ = start(&world, "cleanup", guess).await.refused(401, "UNAUTHORIZED");
    }
    // Operators have their own ways: what their key was refused for was counted for them.
    let _ = start(&world, "cleanup", "another guess")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = start(&world, "cleanup", "another guess")
        .await
        .refused(429, "RATE_LIMITED");
    let _ = start(&world, "cleanup", SECRET).await.ok(200);
}

#[tokio::test]
async fn where_there_is_no_secret_nobody_starts_jobs() {
    let world = world(None).await;
    let refused = start(&world, "evaluate", SECRET).await.refused(401, "UNAUTHORIZED");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("operator.cron_secret"), "{message}");
}

#[tokio::test]
async fn the_secret_opens_nothing_else() {
    let world = world(Some(SECRET)).await;
    for (method, path) in [
        ("GET", "/v1/alerts"),
        ("POST", "/v1/market/ingest"),
        ("GET", "/v1/user/session"),
    ] {
        let request = world
            .stranger(method, path)
            .header("authorization", &format!("Bearer {SECRET}"));
        let _ = request.json(&json!({})).send().await.refused(401, "UNAUTHORIZED");
    }
}

//! Requests that are repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::Scope;

use crate::world::{Answer, World, above};

async fn post(world: &World, path: &str, key: &str, body: &Value) -> Answer {
    let request = world.request("POST", path).header("idempotency-key", key);
    request.json(body).send().await
}

async fn world() -> World {
    let world = World::new().await;
    world.stock_at("AAPL", 100.0).await;
    world
}

/// What an answer says but for the rate limit, which is always that of now.
fn said(answer: &Answer) -> &str {
    answer.text.split_once(",\"meta\":").unwrap().0
}

async fn alerts(world: &World) -> usize {
    world.get("/v1/alerts").await.ok(200).body["data"]
        .as_array()
        .unwrap()
        .len()
}

#[tokio::test]
async fn a_repeat_gets_the_first_answer_and_says_so() {
    let world = world().await;
    let first = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let id = first.body["data"]["id"].as_str().unwrap();
    let _ = world
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    let repeat = post(&world, "/api/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(said(&repeat), said(&first));
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(alerts(&world).await, 0, "nothing was done again");
    assert!(post(&world, "/v1/alerts", "two", &above(200)).await.ok(201).body["data"]["id"] != id);
}

#[tokio::test]
async fn a_repeat_after_a_restart_gets_the_first_answer() {
    let world = world().await;
    let first = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    let world = world.restarted().await;
    let repeat = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(said(&repeat), said(&first));
}

#[tokio::test]
async fn the_same_key_for_another_body_is_refused_and_for_another_route_is_another() {
    let world = world().await;
    let first = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    let refused = post(&world, "/v1/alerts", "one", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["Idempotency-Key"].is_array());
    let id = first.body["data"]["id"].as_str().unwrap();
    let paused = post(&world, &format!("/v1/alerts/{id}/pause"), "one", &json!({}))
        .await
        .ok(200);
    assert_eq!(paused.body["data"]["status"], "paused");
}

#[tokio::test]
async fn a_key_belongs_to_its_account() {
    let world = world().await;
    let ann = world
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let mine = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    let theirs = world.stranger("POST", "/v1/alerts").header("x-api-key", &ann);
    let theirs = theirs
        .header("idempotency-key", "one")
        .json(&above(201))
        .send()
        .await
        .ok(201);
    assert_ne!(mine.body["data"]["id"], theirs.body["data"]["id"]);
}

#[tokio::test]
async fn a_first_answer_is_for_whoever_showed_what_its_sender_did() {
    let world = world().await;
    let ann = world.person("ann", alerts::Plan::Premium).await;
    let reader = world.another_key(&ann.email, &[Scope::AlertsRead]).await;
    let (path, body) = ("/v1/api-keys", json!({"name": "all of it"}));
    let made = ann.request("POST", path).header("idempotency-key", "one");
    let made = made.json(&body).send().await.ok(201);
    let secret = made.body["data"]["api_key"].as_str().unwrap();
    for key in [&reader, &ann.key] {
        let repeat = world.stranger("POST", path).header("x-api-key", key);
        let repeat = repeat.header("idempotency-key", "one").json(&body).send().await;
        assert!(!repeat.text.contains(secret), "{repeat:?}");
        let _ = repeat.refused(403, "FORBIDDEN");
    }
    let (token, _) = ann.sign_in(crate::people::PASSWORD).await.unwrap();
    let elsewhere = world
        .stranger("POST", path)
        .header("authorization", &format!("Bearer {token}"));
    let elsewhere = elsewhere
        .header("idempotency-key", "one")
        .json(&body)
        .send()
        .await
        .ok(201);
    assert_ne!(elsewhere.body["data"]["api_key"], made.body["data"]["api_key"]);
    // The session's cookie is another way to show the same session.
    let by_cookie = world
        .stranger("POST", path)
        .header("cookie", &format!("__Host-bellwether_session={}", ann.cookie));
    let by_cookie = by_cookie
        .header("sec-fetch-site", "same-origin")
        .header("idempotency-key", "one");
    let repeat = by_cookie.json(&body).send().await.ok(201);
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(said(&repeat), said(&made));
}

#[tokio::test]
async fn a_refusal_that_a_repeat_could_better_is_not_kept_and_one_it_could_not_is() {
    let world = world().await;
    let reader = world.another_key("operator@example.com", &[Scope::AlertsRead]).await;
    let refused = world.stranger("POST", "/v1/alerts").header("x-api-key", &reader);
    let refused = refused.header("idempotency-key", "one").json(&above(200)).send().await;
    let _ = refused.refused(403, "FORBIDDEN");
    let _ = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    let unknown = json!({"symbol": "MSFT", "condition": "new_high"});
    let _ = post(&world, "/v1/alerts", "two", &unknown)
        .await
        .refused(404, "NOT_FOUND");
    world.stock_at("MSFT", 100.0).await;
    let _ = post(&world, "/v1/alerts", "two", &unknown)
        .await
        .refused(404, "NOT_FOUND");
    let percent = json!({"symbol": "NEWCO", "condition": "price_change_up", "threshold": 5});
    let _ = world
        .post(
            "/v1/market/ingest",
            json!({"stocks": [{"symbol": "NEWCO", "name": "New"}]}),
        )
        .await
        .ok(200);
    let _ = post(&world, "/v1/alerts", "three", &percent)
        .await
        .refused(503, "SERVICE_UNAVAILABLE");
    world.stock_at("NEWCO", 100.0).await;
    let _ = post(&world, "/v1/alerts", "three", &percent).await.ok(201);
}

#[tokio::test]
async fn after_a_day_a_key_is_as_good_as_new() {
    let world = world().await;
    let first = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    world
        .clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_secs(1));
    let _ = post(&world, "/v1/alerts", "one", &above(201))
        .await
        .refused(422, "VALIDATION_ERROR");
    world.clock.advance(SignedDuration::from_secs(1));
    let other = post(&world, "/v1/alerts", "one", &above(201)).await.ok(201);
    assert_ne!(first.body["data"]["id"], other.body["data"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_are_one_request() {
    let world = std::sync::Arc::new(world().await);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let world = std::sync::Arc::clone(&world);
        tasks.spawn(async move { post(&world, "/v1/alerts", "one", &above(200)).await });
    }
    let answers = tasks.join_all().await;
    let first = answers.iter().find(|answer| answer.status == 201).unwrap();
    for answer in &answers {
        assert!(answer.status == 409 || said(answer) == said(first), "{answer:?}");
    }
    let new = answers.iter().filter(|answer| answer.status == 201);
    let done = new
        .filter(|answer| !answer.headers.contains_key("idempotent-replayed"))
        .count();
    assert_eq!((done, alerts(&world).await), (1, 1));
}

#[tokio::test]
async fn a_request_whose_client_went_away_is_done_and_its_repeat_is_told() {
    let world = world().await;
    // Polled once: it begins, and then its client is gone.
    let body = above(200);
    let sending = post(&world, "/v1/alerts", "one", &body);
    assert!(futures_util::FutureExt::now_or_never(sending).is_none());
    let repeat = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(alerts(&world).await, 1);
    let again = post(&world, "/v1/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(said(&again), said(&repeat));
}

#[tokio::test]
async fn who_may_not_push_is_refused_unread_and_so_without_a_claim_and_who_may_is_read() {
    let world = world().await;
    let ann = world
        .account("ann@example.com", alerts::Plan::Basic, false, Scope::PUBLIC)
        .await;
    let reader = world.another_key("operator@example.com", Scope::PUBLIC).await;
    for (key, status) in [(&ann, 403), (&reader, 403), (&world.key, 200)] {
        for names_the_request in [false, true] {
            let is_read = Arc::new(AtomicBool::new(false));
            let reading = Arc::clone(&is_read);
            let body = Body::from_stream(futures_util::stream::once(async move {
                reading.store(true, Ordering::Relaxed);
                Ok::<_, std::io::Error>("{}")
            }));
            let mut request = world
                .stranger("POST", "/v1/market/ingest")
                .header("x-api-key", key)
                .header("content-type", "application/json");
            if names_the_request {
                request = request.header("idempotency-key", "one");
            }
            let answer = request.body(body).send().await;
            assert_eq!(answer.status, status, "{answer:?}");
            assert_eq!(is_read.load(Ordering::Relaxed), status == 200);
        }
    }
}

#[tokio::test]
async fn malformed_key_is_refused_and_a_401_is_not_kept() {
    let world = world().await;
    let long = "k".repeat(256);
    for key in ["", long.as_str(), "a\tb"] {
        let _ = post(&world, "/v1/alerts", key, &above(200))
            .await
            .refused(422, "VALIDATION_ERROR");
    }
    let stranger = world
        .stranger("POST", "/v1/alerts")
        .header("idempotency-key", "one")
        .json(&above(200));
    let _ = stranger.send().await.refused(401, "UNAUTHORIZED");
}

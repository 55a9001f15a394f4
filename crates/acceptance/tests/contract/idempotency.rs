//! `Idempotency-Key` on POST.

use acceptance::{Answer, Client, Setup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    a_repeat_gets_the_first_answer,
    a_repeat_after_a_crash_gets_the_first_answer,
    the_same_key_with_another_body_is_refused,
    a_key_belongs_to_its_account,
    a_repeat_of_a_transition_does_nothing_twice,
    many_repeats_at_once_are_one_request,
];

async fn post(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    let request = client.request(Method::POST, path).header("Idempotency-Key", key);
    request.json(body).send().await
}

fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

async fn a_repeat_gets_the_first_answer(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let first = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    let _ = world.me.delete(&format!("/alerts/{}", first.id())).await.ok(200);
    let repeat = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(repeat.data(), first.data());
    assert_eq!(
        world.me.get("/alerts").await.ok(200).items().len(),
        0,
        "the repeat made nothing"
    );
    let other = post(&world.me, "/alerts", "two", &above(200)).await.ok(201);
    assert_ne!(other.id(), first.id());
}

async fn a_repeat_after_a_crash_gets_the_first_answer(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let first = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    let world = world.restart().await;
    let repeat = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    assert_eq!(repeat.data(), first.data());
}

async fn the_same_key_with_another_body_is_refused(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let _ = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    let refused = post(&world.me, "/alerts", "one", &above(201)).await;
    let _ = refused.refused(422, "VALIDATION_ERROR");
    assert_eq!(world.me.get("/alerts").await.ok(200).items().len(), 1);
}

async fn a_key_belongs_to_its_account(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let other = world.account("premium").await;
    let mine = post(&world.me, "/alerts", "one", &above(200)).await.ok(201);
    let theirs = post(&other, "/alerts", "one", &above(201)).await.ok(201);
    assert_ne!(mine.id(), theirs.id());
}

async fn a_repeat_of_a_transition_does_nothing_twice(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let id = world.me.post("/alerts", &above(200)).await.ok(201).id();
    let pause = async || {
        let path = format!("/alerts/{id}/pause");
        let request = world.me.request(Method::POST, &path).header("Idempotency-Key", "pause");
        request.send().await.ok(200)
    };
    let first = pause().await;
    let _ = world.me.post_empty(&format!("/alerts/{id}/activate")).await.ok(200);
    assert_eq!(pause().await.data(), first.data());
    assert_eq!(world.status_of(&id).await, "active", "the repeat paused nothing");
}

async fn many_repeats_at_once_are_one_request(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let me = world.me.clone();
        tasks.spawn(async move { post(&me, "/alerts", "one", &above(200)).await });
    }
    let answers = tasks.join_all().await;
    // One that comes while the first is still being worked on may be told to come again; none may do the work.
    let done: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert!(!done.is_empty(), "{answers:#?}");
    assert!(done.iter().all(|answer| answer.id() == done[0].id()), "{answers:#?}");
    assert!(
        answers.iter().all(|answer| matches!(answer.status, 201 | 409)),
        "{answers:#?}"
    );
    assert_eq!(world.me.get("/alerts").await.ok(200).items().len(), 1);
}

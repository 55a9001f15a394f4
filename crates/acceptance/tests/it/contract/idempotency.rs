//! `Idempotency-Key` on POST.

use acceptance::{ApiClient, CheckedResponse, ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::{Value, json};

on_both_databases![
    repeated_request_gets_the_first_response,
    repeated_request_after_crash_gets_the_first_response,
    same_key_with_different_body_is_422,
    keys_are_separate_per_account,
    repeated_transition_is_applied_once,
    concurrent_repeats_are_processed_once,
];

async fn post(client: &ApiClient, path: &str, key: &str, body: &Value) -> CheckedResponse {
    let request = client.request(Method::POST, path).header("Idempotency-Key", key);
    request.json(body).send().await
}

fn above(threshold: i64) -> Value {
    json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
}

async fn repeated_request_gets_the_first_response(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let first = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    let _ = env
        .operator
        .delete(&format!("/alerts/{}", first.id()))
        .await
        .expect_ok(200);
    let repeat = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    assert_eq!(repeat.data(), first.data());
    assert_eq!(
        env.operator.get("/alerts").await.expect_ok(200).items().len(),
        0,
        "the repeated request created nothing"
    );
    let other = post(&env.operator, "/alerts", "two", &above(200)).await.expect_ok(201);
    assert_ne!(other.id(), first.id());
}

async fn repeated_request_after_crash_gets_the_first_response(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let first = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    let env = env.restart().await;
    let repeat = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    assert_eq!(repeat.data(), first.data());
}

async fn same_key_with_different_body_is_422(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let _ = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    let refused = post(&env.operator, "/alerts", "one", &above(201)).await;
    let _ = refused.expect_error(422, "VALIDATION_ERROR");
    assert_eq!(env.operator.get("/alerts").await.expect_ok(200).items().len(), 1);
}

async fn keys_are_separate_per_account(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let other = env.account("premium").await;
    let mine = post(&env.operator, "/alerts", "one", &above(200)).await.expect_ok(201);
    let theirs = post(&other, "/alerts", "one", &above(201)).await.expect_ok(201);
    assert_ne!(mine.id(), theirs.id());
}

async fn repeated_transition_is_applied_once(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let id = env.operator.post("/alerts", &above(200)).await.expect_ok(201).id();
    let pause = async || {
        let path = format!("/alerts/{id}/pause");
        let request = env
            .operator
            .request(Method::POST, &path)
            .header("Idempotency-Key", "pause");
        request.send().await.expect_ok(200)
    };
    let first = pause().await;
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{id}/activate"))
        .await
        .expect_ok(200);
    assert_eq!(pause().await.data(), first.data());
    assert_eq!(
        env.status_of(&id).await,
        "active",
        "the repeated request paused nothing"
    );
}

async fn concurrent_repeats_are_processed_once(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let operator = env.operator.clone();
        tasks.spawn(async move { post(&operator, "/alerts", "one", &above(200)).await });
    }
    let responses = tasks.join_all().await;
    // A request that arrives while the first is in progress may get 409; the service must not process it.
    let succeeded: Vec<_> = responses.iter().filter(|response| response.status == 201).collect();
    assert!(!succeeded.is_empty(), "{responses:#?}");
    assert!(
        succeeded.iter().all(|response| response.id() == succeeded[0].id()),
        "{responses:#?}"
    );
    assert!(
        responses.iter().all(|response| matches!(response.status, 201 | 409)),
        "{responses:#?}"
    );
    assert_eq!(env.operator.get("/alerts").await.expect_ok(200).items().len(), 1);
}

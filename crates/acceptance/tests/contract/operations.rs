//! Health, metrics, the command line.

use acceptance::clock::wait_for;
use acceptance::{Setup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    health_and_readiness_are_told_without_credentials,
    metrics_are_in_the_form_of_prometheus,
    a_changed_plan_counts_within_seconds,
    a_key_that_is_made_shows_what_it_is,
    an_address_can_have_one_account_only,
];

async fn health_and_readiness_are_told_without_credentials(setup: Setup) {
    let server = setup.start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = server.anybody().request_to(Method::GET, path).send().await;
        assert_eq!(answer.status, 200, "{answer}");
    }
}

async fn metrics_are_in_the_form_of_prometheus(setup: Setup) {
    let world = setup.world().await;
    let _ = world.me.get("/alerts").await.ok(200);
    let answer = world.server.anybody().request_to(Method::GET, "/metrics").send().await;
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.text.contains("# TYPE "), "{answer}");
    assert!(!answer.text.contains(world.me.key()));
}

async fn a_changed_plan_counts_within_seconds(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let account = world.account("basic").await;
    let body = json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 50});
    let _ = account.post("/alerts", &body).await.forbidden("plan");
    let _ = world
        .setup
        .admin(&["set-plan", "--email", "basic0@example.com", "--plan", "premium"])
        .await;
    // A program may trust what it has looked up for some seconds.
    wait_for("the new plan", async || {
        let answer = account.post("/alerts", &body).await;
        (answer.status == 201).then_some(())
    })
    .await;
}

async fn a_key_that_is_made_shows_what_it_is(setup: Setup) {
    setup.create_user("a@example.com", "basic", &[]).await;
    let made = setup
        .admin(&["create-key", "--email", "a@example.com", "--name", "script"])
        .await;
    assert_eq!(made["name"], "script");
    let key = made["api_key"].as_str().unwrap();
    assert!(key.starts_with(made["key_prefix"].as_str().unwrap()));
    assert!(
        made["key_prefix"].as_str().unwrap().len() < 20,
        "the prefix gives the key away"
    );
    for field in ["id", "scopes", "rate_limit_tier", "created_at"] {
        assert!(!made[field].is_null(), "no {field}");
    }
    let scopes: Vec<_> = made["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|scope| scope.as_str())
        .collect();
    assert_eq!(scopes.len(), 7, "all public scopes, and no other: {scopes:?}");
}

async fn an_address_can_have_one_account_only(setup: Setup) {
    setup.create_user("a@example.com", "basic", &[]).await;
    let arguments = [
        "admin",
        "create-user",
        "--email",
        "A@Example.com",
        "--password",
        "correct horse",
    ];
    let output = setup.run(&arguments).await;
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("account"), "{told}");
}

//! Health checks, metrics and the command line.

use acceptance::clock::wait_for;
use acceptance::{ServiceSetup, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    health_and_readiness_need_no_credentials,
    metrics_use_the_prometheus_format,
    plan_change_takes_effect_within_seconds,
    create_key_prints_every_field,
    email_address_is_unique,
];

async fn health_and_readiness_need_no_credentials(setup: ServiceSetup) {
    let server = setup.start().await;
    for path in ["/healthz", "/readyz"] {
        let response = server.anonymous_client().request_to(Method::GET, path).send().await;
        assert_eq!(response.status, 200, "{response}");
    }
}

async fn metrics_use_the_prometheus_format(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let _ = env.operator.get("/alerts").await.expect_ok(200);
    let response = env
        .server
        .anonymous_client()
        .request_to(Method::GET, "/metrics")
        .send()
        .await;
    assert_eq!(response.status, 200, "{response}");
    assert!(response.text.contains("# TYPE "), "{response}");
    assert!(!response.text.contains(env.operator.key()));
}

async fn plan_change_takes_effect_within_seconds(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let account = env.account("basic").await;
    let body = json!({"symbol": "AAPL", "condition": "volume_change", "threshold": 50});
    let _ = account.post("/alerts", &body).await.expect_forbidden("plan");
    let _ = env
        .setup
        .admin(&["set-plan", "--email", "basic0@example.com", "--plan", "premium"])
        .await;
    // The service may cache the plan for some seconds.
    wait_for("the new plan", async || {
        let response = account.post("/alerts", &body).await;
        (response.status == 201).then_some(())
    })
    .await;
}

async fn create_key_prints_every_field(setup: ServiceSetup) {
    setup.create_user("a@example.com", "basic", &[]).await;
    let created = setup
        .admin(&["create-key", "--email", "a@example.com", "--name", "script"])
        .await;
    assert_eq!(created["name"], "script");
    let key = created["api_key"].as_str().unwrap();
    assert!(key.starts_with(created["key_prefix"].as_str().unwrap()));
    assert!(
        created["key_prefix"].as_str().unwrap().len() < 20,
        "the prefix reveals the key"
    );
    for field in ["id", "scopes", "rate_limit_tier", "created_at"] {
        assert!(!created[field].is_null(), "no {field}");
    }
    let scopes: Vec<_> = created["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|scope| scope.as_str())
        .collect();
    assert_eq!(scopes.len(), 7, "all public scopes and no others: {scopes:?}");
}

async fn email_address_is_unique(setup: ServiceSetup) {
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
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("account"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn program_creates_its_tables_in_an_empty_postgres() {
    let env = ServiceSetup::on_empty_postgres().await.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 150});
    let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
}

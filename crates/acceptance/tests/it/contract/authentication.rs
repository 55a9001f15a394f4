//! Authentication of requests.

use acceptance::{CheckedResponse, ServiceSetup, TestEnvironment, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    api_key_is_accepted_in_all_header_forms,
    missing_or_invalid_key_is_401,
    error_and_log_do_not_contain_the_key,
    key_created_on_the_command_line_works_without_restart,
    every_non_public_route_requires_credentials,
];

async fn with_header(env: &TestEnvironment, name: &str, value: &str) -> CheckedResponse {
    let anonymous = env.server.anonymous_client();
    anonymous
        .request(Method::GET, "/alerts")
        .header(name, value)
        .send()
        .await
}

async fn api_key_is_accepted_in_all_header_forms(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let key = env.operator.key();
    assert!(
        key.starts_with("sk_") && key.len() == 3 + 64,
        "a key is sk_ and 64 characters"
    );
    for (name, value) in [
        ("X-API-Key", key.to_owned()),
        ("Authorization", format!("ApiKey {key}")),
        ("Authorization", format!("Bearer {key}")),
        ("authorization", format!("bearer {key}")),
        ("Authorization", format!("apikey {key}")),
    ] {
        let _ = with_header(&env, name, &value).await.expect_ok(200);
    }
}

async fn missing_or_invalid_key_is_401(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let key = env.operator.key();
    let wrong = format!("sk_{}", "0".repeat(64));
    let longer = format!("{key}0");
    let shorter = &key[..key.len() - 1];
    let _ = env
        .server
        .anonymous_client()
        .get("/alerts")
        .await
        .expect_error(401, "UNAUTHORIZED");
    for (name, value) in [
        ("X-API-Key", ""),
        ("X-API-Key", "sk_"),
        ("X-API-Key", wrong.as_str()),
        ("X-API-Key", longer.as_str()),
        ("X-API-Key", shorter),
        ("Authorization", ""),
        ("Authorization", "Bearer"),
        ("Authorization", "Bearer not.a.token"),
        ("Authorization", "Basic b3BlcmF0b3I6eA=="),
        ("Authorization", key),
    ] {
        let _ = with_header(&env, name, value).await.expect_error(401, "UNAUTHORIZED");
    }
}

async fn error_and_log_do_not_contain_the_key(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let wrong = format!("sk_{}", "ab".repeat(32));
    let refused = with_header(&env, "X-API-Key", &wrong)
        .await
        .expect_error(401, "UNAUTHORIZED");
    assert!(!refused.text.contains("abab"), "{refused}");
    assert!(!env.server.log().contains(env.operator.key()), "a key is in the log");
}

async fn key_created_on_the_command_line_works_without_restart(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let other = env.account("basic").await;
    let _ = other.get("/alerts").await.expect_ok(200);
}

/// Returns whether a route needs no credentials.
fn is_public(path: &str) -> bool {
    let Some(path) = path.strip_prefix("/api/v1") else {
        // Pages, the OpenAPI document and health checks.
        return true;
    };
    // These routes authenticate by a token that was mailed.
    let token_routes = ["/alerts/verify", "/user/account/email/confirm", "/redirect"];
    let is_sign_in = path.starts_with("/auth/") && !["/auth/session", "/auth/logout"].contains(&path);
    token_routes.contains(&path) || is_sign_in
}

async fn every_non_public_route_requires_credentials(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let anonymous = env.server.anonymous_client();
    let document = anonymous.request_to(Method::GET, "/openapi.json").send().await;
    let mut checked = 0;
    for (path, operations) in document.body["paths"].as_object().unwrap() {
        let concrete: String = path
            .split('/')
            .map(|part| match part {
                "{symbol}" => "AAPL",
                part if part.starts_with('{') => "11111111-1111-4111-8111-111111111111",
                part => part,
            })
            .collect::<Vec<_>>()
            .join("/");
        for method in operations.as_object().unwrap().keys() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else {
                continue;
            };
            let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
            if !known.contains(&method) || is_public(path) {
                continue;
            }
            let response = anonymous
                .request_to(method.clone(), &concrete)
                .json(&json!({}))
                .send()
                .await;
            let _ = response.expect_error(401, "UNAUTHORIZED");
            checked += 1;
        }
    }
    assert!(
        checked >= 12,
        "the document has only {checked} routes that require credentials"
    );
}

//! Who asks.

use acceptance::{Answer, Setup, World, on_both_databases};
use reqwest::Method;
use serde_json::json;

on_both_databases![
    a_key_is_taken_in_three_headers,
    without_a_key_or_with_a_wrong_one_nothing_is_answered,
    a_refusal_does_not_repeat_the_key,
    a_key_from_the_command_line_works_while_the_program_runs,
    every_route_of_the_document_asks_for_credentials,
];

async fn with_header(world: &World, name: &str, value: &str) -> Answer {
    let anybody = world.server.anybody();
    anybody.request(Method::GET, "/alerts").header(name, value).send().await
}

async fn a_key_is_taken_in_three_headers(setup: Setup) {
    let world = setup.world().await;
    let key = world.me.key();
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
        let _ = with_header(&world, name, &value).await.ok(200);
    }
}

async fn without_a_key_or_with_a_wrong_one_nothing_is_answered(setup: Setup) {
    let world = setup.world().await;
    let key = world.me.key();
    let wrong = format!("sk_{}", "0".repeat(64));
    let longer = format!("{key}0");
    let shorter = &key[..key.len() - 1];
    let _ = world.server.anybody().get("/alerts").await.refused(401, "UNAUTHORIZED");
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
        let _ = with_header(&world, name, value).await.refused(401, "UNAUTHORIZED");
    }
}

async fn a_refusal_does_not_repeat_the_key(setup: Setup) {
    let world = setup.world().await;
    let wrong = format!("sk_{}", "ab".repeat(32));
    let refused = with_header(&world, "X-API-Key", &wrong)
        .await
        .refused(401, "UNAUTHORIZED");
    assert!(!refused.text.contains("abab"), "{refused}");
    assert!(!world.server.log().contains(world.me.key()), "a key is in the log");
}

async fn a_key_from_the_command_line_works_while_the_program_runs(setup: Setup) {
    let world = setup.world().await;
    let other = world.account("basic").await;
    let _ = other.get("/alerts").await.ok(200);
}

/// What anybody may ask.
fn is_public(path: &str) -> bool {
    let Some(path) = path.strip_prefix("/api/v1") else {
        // Pages, the document, health.
        return true;
    };
    // Whoever shows what was mailed to them needs to show nothing else.
    let by_what_was_sent = ["/alerts/verify", "/user/account/email/confirm", "/redirect"];
    let is_signing_in = path.starts_with("/auth/") && !["/auth/session", "/auth/logout"].contains(&path);
    by_what_was_sent.contains(&path) || is_signing_in
}

async fn every_route_of_the_document_asks_for_credentials(setup: Setup) {
    let world = setup.world().await;
    let anybody = world.server.anybody();
    let document = anybody.request_to(Method::GET, "/openapi.json").send().await;
    let mut asked = 0;
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
            let answer = anybody
                .request_to(method.clone(), &concrete)
                .json(&json!({}))
                .send()
                .await;
            let _ = answer.refused(401, "UNAUTHORIZED");
            asked += 1;
        }
    }
    assert!(
        asked >= 12,
        "the document has only {asked} routes that ask who is there"
    );
}

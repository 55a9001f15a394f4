//! If addresses must be confirmed, responses do not reveal whether an address has an account. Without that requirement, a
//! registration signs in immediately, which reveals it.

use serde_json::json;
use testkit::Database;

use crate::http::identity::{ANN, OTHER_PASSWORD, PASSWORD, on_each_database, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    responses_do_not_reveal_whether_an_account_exists
    password_sign_in_requires_a_confirmed_address
}

async fn start_server(database: Database) -> TestServer {
    TestServer::with_database(database, unlimited(), |settings| {
        settings.identity.require_email_confirmation = true
    })
    .await
}

/// Returns everything that a client sees of a response, except its request id and the end of its rate limit window: on PostgreSQL that
/// follows the database's clock, and each client's window begins with its request.
fn visible_parts(response: &TestResponse) -> (u16, String, Vec<(String, String)>) {
    let headers = response.headers.iter();
    let headers = headers.filter(|(name, _)| !["x-request-id", "x-ratelimit-reset"].contains(&name.as_str()));
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    let reset = response.headers.get("x-ratelimit-reset").unwrap().to_str().unwrap();
    (response.status, response.text.replace(reset, "RESET"), headers)
}

async fn responses_do_not_reveal_whether_an_account_exists(server: TestServer) {
    let (unconfirmed, passwordless) = ("unconfirmed@example.com", "passwordless@example.com");
    server.confirmed(ANN).await;
    let _ = server.register(unconfirmed, PASSWORD).await;
    // An account that is confirmed by a magic link has no password.
    let _ = server.register(passwordless, PASSWORD).await;
    let token = server.magic_link(passwordless).await;
    let _ = server.post_auth("magic-link", json!({"token": token})).await.ok(200);
    let emails = ["nobody@example.com", ANN, unconfirmed, passwordless];
    // Each request has a different client address, so that each is the first in its rate limit window.
    let mut client = 0;
    for (route, status, more) in [
        ("login", 401, json!({"password": OTHER_PASSWORD})),
        ("register", 201, json!({"password": OTHER_PASSWORD})),
        (
            "register",
            201,
            json!({"password": OTHER_PASSWORD, "full_name": "Somebody Else"}),
        ),
        // The registered password does not reveal it either.
        ("login", 401, json!({"password": OTHER_PASSWORD})),
        ("login", 401, json!({"password": ""})),
        ("login", 200, json!({"type": "magic_link"})),
        ("request-reset", 200, json!({})),
        (
            "reset-confirm",
            400,
            json!({"token": "A".repeat(43), "new_password": OTHER_PASSWORD}),
        ),
        (
            "reset-confirm",
            422,
            json!({"token": "A".repeat(43), "new_password": "short"}),
        ),
    ] {
        let mut responses = Vec::new();
        for email in emails {
            let mut body = more.clone();
            body["email"] = json!(email);
            client += 1;
            let request = server
                .auth_request(route, &body)
                .at_address(&format!("198.51.100.{client}"));
            responses.push(visible_parts(&request.send().await));
        }
        assert_eq!(responses[0].0, status, "{route} {more}");
        for (email, other) in emails.iter().zip(&responses) {
            assert_eq!(responses[0], *other, "{route} {more} {email}");
        }
    }
    // The throttling of guesses does not reveal it either.
    let waits = async |email: &str, password: &str, client: &str| {
        let mut waited = Vec::new();
        for _ in 0..7 {
            let body = json!({"email": email, "password": password});
            let response = server.auth_request("login", &body).at_address(client).send().await;
            waited.push((response.status, response.text));
        }
        waited
    };
    let unknown = waits("nobody2@example.com", PASSWORD, "203.0.113.1").await;
    assert_eq!(unknown, waits(unconfirmed, PASSWORD, "203.0.113.2").await);
    assert_eq!(unknown, waits(ANN, OTHER_PASSWORD, "203.0.113.3").await);
}

async fn password_sign_in_requires_a_confirmed_address(server: TestServer) {
    let token = server.register(ANN, PASSWORD).await;
    let refused = server.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("confirm"), "it says what may be missing: {message}");
    let _ = server.post_auth("confirm", json!({"token": token})).await.ok(200);
    let _ = server.login(ANN, PASSWORD).await.ok(200);
}

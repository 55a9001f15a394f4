//! Registration and sign-in.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use crate::http::identity::{ANN, OTHER_PASSWORD, PASSWORD, SignedIn, on_each_database, start_server};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    register_confirm_sign_in_and_sign_out
    magic_link_signs_in_and_confirms_the_address
    registration_with_a_foreign_address_gives_no_access
    link_is_single_use_time_limited_and_bound_to_its_purpose
    only_one_of_fifty_concurrent_link_uses_succeeds
    password_reset_ends_all_sessions_and_links
    password_guessing_throttles_only_the_attacker
    concurrent_password_guesses_are_counted
    email_links_are_limited_per_address_without_revealing_it
}

async fn register_confirm_sign_in_and_sign_out(server: TestServer) {
    let body = json!({"email": " Ann@Example.com ", "password": PASSWORD, "full_name": "Ann Example"});
    let registered = server.post_auth("register", body).await.ok(201);
    assert!(
        !registered.headers.contains_key("set-cookie"),
        "registration does not sign in"
    );
    let confirmed = server
        .post_auth("confirm", json!({"token": server.latest_token()}))
        .await
        .ok(200);
    assert!(confirmed.body["data"]["message"].as_str().unwrap().contains("sign in"));

    let response = server.login(ANN, PASSWORD).await.ok(200);
    assert_eq!(response.header("cache-control"), "no-store");
    let data = &response.body["data"];
    assert_eq!(
        (&data["token_type"], &data["expires_in"]),
        (&json!("Bearer"), &json!(900))
    );
    let user = &data["user"];
    assert_eq!(
        (
            &user["email"],
            &user["full_name"],
            &user["is_verified"],
            &user["account_type"]
        ),
        (&json!(ANN), &json!("Ann Example"), &json!(true), &json!("basic"))
    );
    assert!(user.get("password_hash").is_none() && !response.text.contains("argon2"));
    let first = SignedIn::of(&response);
    for session in [
        server.session(&first.access).await.ok(200),
        server.session_of_cookie(&first.cookie).await.ok(200),
    ] {
        assert_eq!(session.body["data"]["user"]["email"], ANN);
        assert_eq!(
            session.body["data"]["session"]["created_at"],
            "2024-03-08T15:00:00.000Z"
        );
    }

    server.clock.advance(SignedDuration::from_mins(15));
    let _ = server.session(&first.access).await.refused(401, "UNAUTHORIZED");
    let refreshed = server.refresh(&first.refresh).await.ok(200);
    assert!(
        !refreshed.headers.contains_key("set-cookie"),
        "the browser keeps the one it has"
    );
    let access = refreshed.body["data"]["access_token"].as_str().unwrap();
    let _ = server.session(access).await.ok(200);

    let sign_out = server.anonymous("POST", "/v1/auth/logout");
    let sign_out = sign_out.header("authorization", &format!("Bearer {access}"));
    let signed_out = sign_out.send().await.ok(200);
    assert!(signed_out.header("set-cookie").contains("Max-Age=0"));
    let _ = server.session(access).await.refused(401, "UNAUTHORIZED");
    let _ = server
        .session_of_cookie(&first.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let next = refreshed.body["data"]["refresh_token"].as_str().unwrap();
    let _ = server.refresh(next).await.refused(401, "UNAUTHORIZED");
}

async fn magic_link_signs_in_and_confirms_the_address(server: TestServer) {
    let _ = server.register(ANN, PASSWORD).await;
    let token = server.magic_link(ANN).await;
    let response = server.post_auth("magic-link", json!({"token": token})).await.ok(200);
    assert_eq!(response.body["data"]["user"]["is_verified"], true);
    let ann = SignedIn::of(&response);
    let _ = server.session_of_cookie(&ann.cookie).await.ok(200);
    let _ = server.refresh(&ann.refresh).await.ok(200);
}

async fn registration_with_a_foreign_address_gives_no_access(server: TestServer) {
    let mallorys = server.register(ANN, "mallory's password").await;
    let mallory = SignedIn::of(&server.login(ANN, "mallory's password").await);
    // Ann, who reads the email, registers too. She follows one of the links without knowing which one is hers.
    let anns = server.register(ANN, PASSWORD).await;
    let confirmed = server.post_auth("confirm", json!({"token": mallorys})).await.ok(200);
    let message = confirmed.body["data"]["message"].as_str().unwrap();
    assert!(message.contains("no password is valid"), "{message}");
    let _ = server.session(&mallory.access).await.refused(401, "UNAUTHORIZED");
    let _ = server
        .session_of_cookie(&mallory.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.refresh(&mallory.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = server
        .login(ANN, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let other = server.post_auth("confirm", json!({"token": anns})).await;
    let _ = other.refused(400, "BAD_REQUEST");
    let token = server.reset_link(ANN).await;
    let _ = server.reset(ANN, &token, PASSWORD).await.ok(200);
    let _ = server.login(ANN, PASSWORD).await.ok(200);

    // Bob only requests a magic link. The attacker's pending password stays invalid.
    let bob = "bob@example.com";
    let _ = server.register(bob, "mallory's password").await;
    let mallory = SignedIn::of(&server.login(bob, "mallory's password").await);
    let token = server.magic_link(bob).await;
    let _ = server.post_auth("magic-link", json!({"token": token})).await.ok(200);
    let _ = server
        .login(bob, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.refresh(&mallory.refresh).await.refused(401, "UNAUTHORIZED");

    // Registering with the address of a confirmed account does not change the account.
    let _ = server.register(ANN, "mallory's password").await;
    let generated_secrets = server.latest_token();
    let _ = server.post_auth("confirm", json!({"token": generated_secrets})).await;
    let _ = server
        .login(ANN, "mallory's password")
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.login(ANN, PASSWORD).await.ok(200);
}

/// Sends the request that uses a link's token.
async fn use_link(server: &TestServer, purpose: &str, token: &str) -> TestResponse {
    match purpose {
        "reset-confirm" => server.reset(ANN, token, OTHER_PASSWORD).await,
        route => server.post_auth(route, json!({"token": token})).await,
    }
}

/// Requests a link for Ann, and returns its token.
async fn link(server: &TestServer, purpose: &str) -> String {
    match purpose {
        "confirm" => server.register(ANN, PASSWORD).await,
        "magic-link" => server.magic_link(ANN).await,
        _ => server.reset_link(ANN).await,
    }
}

/// The purposes of links, with their lifetimes.
const PURPOSES: [(&str, SignedDuration); 3] = [
    ("confirm", SignedDuration::from_hours(48)),
    ("magic-link", SignedDuration::from_mins(15)),
    ("reset-confirm", SignedDuration::from_hours(1)),
];

async fn link_is_single_use_time_limited_and_bound_to_its_purpose(server: TestServer) {
    let second = SignedDuration::from_secs(1);
    let _ = server.register(ANN, PASSWORD).await;
    for (purpose, life) in PURPOSES {
        let token = link(&server, purpose).await;
        for (other, _) in PURPOSES.iter().filter(|(other, _)| *other != purpose) {
            let _ = use_link(&server, other, &token).await.refused(400, "BAD_REQUEST");
        }
        server.clock.advance(life - second);
        let _ = use_link(&server, purpose, &token).await.ok(200);
        let _ = use_link(&server, purpose, &token).await.refused(400, "BAD_REQUEST");
        // Using the link invalidated later links too, so request a new one.
        server.clock.advance(SignedDuration::from_hours(48));
        let late = link(&server, purpose).await;
        server.clock.advance(life);
        let refused = use_link(&server, purpose, &late).await.refused(400, "BAD_REQUEST");
        assert!(!refused.text.contains(&late));
    }
    for token in ["", "x", &"A".repeat(43), &"A".repeat(5_000), "' OR 1=1 --"] {
        for (purpose, _) in PURPOSES {
            let _ = use_link(&server, purpose, token).await.refused(400, "BAD_REQUEST");
        }
    }
    // A reset link is valid only for its own email address.
    server.confirmed("bob@example.com").await;
    let token = server.reset_link(ANN).await;
    let of_another = server.reset("bob@example.com", &token, OTHER_PASSWORD).await;
    let _ = of_another.refused(400, "BAD_REQUEST");
    let _ = server.login("bob@example.com", PASSWORD).await.ok(200);
}

async fn only_one_of_fifty_concurrent_link_uses_succeeds(server: TestServer) {
    let _ = server.register(ANN, PASSWORD).await;
    for (purpose, _) in PURPOSES {
        let token = link(&server, purpose).await;
        let uses = join_all((0..50).map(|_| use_link(&server, purpose, &token))).await;
        let count = |status: u16| uses.iter().filter(|response| response.status == status).count();
        assert_eq!((count(200), count(400)), (1, 49), "{purpose}: {uses:?}");
    }
}

async fn password_reset_ends_all_sessions_and_links(server: TestServer) {
    server.confirmed(ANN).await;
    let sessions = [server.signed_in(ANN).await, server.signed_in(ANN).await];
    let older = server.reset_link(ANN).await;
    let sign_in = server.magic_link(ANN).await;
    let token = server.reset_link(ANN).await;
    let too_short = server.reset(ANN, &token, "1234567").await;
    let refused = too_short.refused(422, "VALIDATION_ERROR");
    assert!(refused.body["error"]["details"]["fields"]["new_password"].is_array());
    let _ = server.reset(ANN, &token, OTHER_PASSWORD).await.ok(200);
    for session in &sessions {
        let _ = server.session(&session.access).await.refused(401, "UNAUTHORIZED");
        let _ = server
            .session_of_cookie(&session.cookie)
            .await
            .refused(401, "UNAUTHORIZED");
        let _ = server.refresh(&session.refresh).await.refused(401, "UNAUTHORIZED");
    }
    let _ = server.reset(ANN, &older, PASSWORD).await.refused(400, "BAD_REQUEST");
    let by_link = server.post_auth("magic-link", json!({"token": sign_in})).await;
    let _ = by_link.refused(400, "BAD_REQUEST");
    let _ = server.login(ANN, PASSWORD).await.refused(401, "UNAUTHORIZED");
    let _ = server.login(ANN, OTHER_PASSWORD).await.ok(200);
}

async fn password_guessing_throttles_only_the_attacker(server: TestServer) {
    server.confirmed(ANN).await;
    let guess = async |email: &str, password: &str, address: &str| {
        let body = json!({"email": email, "password": password});
        server.auth_request("login", &body).at_address(address).send().await
    };
    let (attacker, owner) = ("203.0.113.66", "192.0.2.7");
    for number in 0..5 {
        let wrong = guess(ANN, &format!("guess {number}"), attacker).await;
        let _ = wrong.refused(401, "UNAUTHORIZED");
    }
    // Now even the right password is rejected from this address, so the attacker cannot confirm it.
    let refused = guess(ANN, PASSWORD, attacker).await.refused(429, "RATE_LIMITED");
    assert_eq!(refused.header("retry-after"), "2");
    for number in 0..5 {
        let _ = guess("nobody@example.com", &format!("guess {number}"), attacker).await;
    }
    let unknown_account = guess("nobody@example.com", PASSWORD, attacker).await;
    assert_eq!(
        unknown_account.text, refused.text,
        "an address without an account looks the same"
    );

    let _ = guess(ANN, PASSWORD, owner).await.ok(200);
    // A magic link still works from the attacker's address.
    let asked = json!({"email": ANN, "type": "magic_link"});
    let _ = server
        .auth_request("login", &asked)
        .at_address(attacker)
        .send()
        .await
        .ok(200);
    let token = json!({"token": server.latest_token()});
    let by_link = server.auth_request("magic-link", &token).at_address(attacker);
    let _ = by_link.send().await.ok(200);
    // The password works after the wait.
    server.clock.advance(SignedDuration::from_secs(2));
    let _ = guess(ANN, PASSWORD, attacker).await.ok(200);
}

async fn concurrent_password_guesses_are_counted(server: TestServer) {
    server.confirmed(ANN).await;
    let guesses: Vec<_> = (0..50).map(|number| format!("guess {number}")).collect();
    let responses = join_all(guesses.iter().map(|guess| server.login(ANN, guess))).await;
    let count = |status: u16| responses.iter().filter(|response| response.status == status).count();
    assert_eq!((count(401), count(429)), (5, 45), "{responses:?}");
}

async fn email_links_are_limited_per_address_without_revealing_it(server: TestServer) {
    server.confirmed(ANN).await;
    let mut responses = Vec::new();
    let mut tokens = Vec::new();
    for _ in 0..6 {
        let body = json!({"email": ANN, "type": "magic_link"});
        let response = server.post_auth("login", body).await.ok(200);
        tokens.push(server.latest_token());
        responses.push(response.body["data"].clone());
    }
    assert!(responses.iter().all(|response| *response == responses[0]));
    let beyond = server.post_auth("magic-link", json!({"token": tokens[5]})).await;
    let _ = beyond.refused(400, "BAD_REQUEST");
    // An attacker who requests links for Ann cannot invalidate her earlier links.
    let _ = server
        .post_auth("magic-link", json!({"token": tokens[0]}))
        .await
        .ok(200);
    server.clock.advance(SignedDuration::from_mins(15));
    let token = server.magic_link(ANN).await;
    let _ = server.post_auth("magic-link", json!({"token": token})).await.ok(200);
}

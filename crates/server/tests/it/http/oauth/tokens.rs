//! Code exchange, and the validity of tokens.

use super::{ALL, CALLBACK, OAuthFixture, Tokens, VERIFIER, assert_oauth_error, redirect_params, start_server, with};
use crate::http::identity::on_each_database;
use crate::http::test_server::TestServer;

on_each_database! {
    code_exchange_returns_tokens_for_the_account
    code_is_bound_to_client_redirect_uri_and_verifier
    code_expires_after_a_minute
    code_reuse_revokes_the_grant
    only_one_of_twenty_concurrent_exchanges_succeeds
    access_token_expires_after_an_hour
    mcp_token_is_invalid_for_the_rest_api
    invalid_token_requests_return_oauth_errors
}

async fn code_exchange_returns_tokens_for_the_account(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    assert_eq!(tokens.scope, ALL.join(" "));
    let actor = server.actor_of(&tokens.access).await.unwrap();
    assert_eq!(actor.email, "ann@example.com");
    let foundation::AuthMethod::Grant { client, .. } = &actor.auth_method else {
        panic!("{actor:?}")
    };
    assert_eq!(client, "Agent");
    for text in [
        &tokens.refresh,
        &tokens.access[..49],
        &format!("{}x", tokens.access),
        "mcp_at_",
        "",
    ] {
        assert!(!server.is_valid(text).await, "{text}");
    }
}

async fn code_is_bound_to_client_redirect_uri_and_verifier(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let other = server.registered(&[CALLBACK]).await;
    let code = fixture.code(&server, &ALL).await;
    let right = fixture.exchange(&code);
    let long = "a".repeat(129);
    for (change, status, error) in [
        (&[("client_id", other.as_str())][..], 400, "invalid_grant"),
        (&[("client_id", "nobody")], 401, "invalid_client"),
        (
            &[("redirect_uri", "https://app.example.com/callback/")],
            400,
            "invalid_grant",
        ),
        (
            &[("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX")],
            400,
            "invalid_grant",
        ),
        (&[("code_verifier", &VERIFIER[1..])], 400, "invalid_request"),
        (&[("code_verifier", &long)], 400, "invalid_request"),
        (&[("code_verifier", "")], 400, "invalid_request"),
        (&[("code_verifier", super::CHALLENGE)], 400, "invalid_grant"),
        (
            &[("code", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")],
            400,
            "invalid_grant",
        ),
        (&[("code", "x")], 400, "invalid_grant"),
        (&[("resource", "https://evil.example/mcp")], 400, "invalid_target"),
    ] {
        assert_oauth_error(&server.token(&with(&right, change)).await, status, error);
    }
    // The failed attempts do not use up the code, because only a client with the verifier can.
    assert_eq!(server.token(&right).await.status, 200);
    // OAuth 2.1 requires no redirect URI here, because the verifier replaces it.
    let code = fixture.code(&server, &ALL).await;
    let bare = with(&fixture.exchange(&code), &[("redirect_uri", ""), ("resource", "")]);
    assert_eq!(server.token(&bare).await.status, 200);
}

async fn code_expires_after_a_minute(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let code = fixture.code(&server, &ALL).await;
    let late = fixture.code(&server, &ALL).await;
    server.later(59);
    assert_eq!(server.token(&fixture.exchange(&code)).await.status, 200);
    server.later(1);
    assert_oauth_error(&server.token(&fixture.exchange(&late)).await, 400, "invalid_grant");
}

async fn code_reuse_revokes_the_grant(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let other = fixture.tokens(&server, &ALL).await;
    let code = fixture.code(&server, &ALL).await;
    let first = Tokens::of(&server.token(&fixture.exchange(&code)).await);
    let second = Tokens::of(&fixture.renewed(&server, &first.refresh).await);
    assert!(server.is_valid(&first.access).await && server.is_valid(&second.access).await);
    // The second request revokes the grant even without the verifier.
    let unknown = VERIFIER.replace('d', "e");
    let wrong = with(&fixture.exchange(&code), &[("code_verifier", &unknown)]);
    assert_oauth_error(&server.token(&wrong).await, 400, "invalid_grant");
    for token in [&first.access, &second.access] {
        assert!(!server.is_valid(token).await, "at once");
    }
    assert_oauth_error(&fixture.renewed(&server, &second.refresh).await, 400, "invalid_grant");
    assert!(server.is_valid(&other.access).await, "other grants stay valid");
}

async fn only_one_of_twenty_concurrent_exchanges_succeeds(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let code = fixture.code(&server, &ALL).await;
    let pairs = fixture.exchange(&code);
    let responses = futures_util::future::join_all((0..20).map(|_| server.token(&pairs))).await;
    let good: Vec<_> = responses.iter().filter(|response| response.status == 200).collect();
    assert_eq!(good.len(), 1);
    for response in responses.iter().filter(|response| response.status != 200) {
        assert_oauth_error(response, 400, "invalid_grant");
    }
    assert!(
        !server.is_valid(&Tokens::of(good[0]).access).await,
        "it may be the thief who was first"
    );
}

async fn access_token_expires_after_an_hour(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    server.later(3599);
    assert!(server.is_valid(&tokens.access).await);
    server.later(6);
    assert!(!server.is_valid(&tokens.access).await);
    assert_eq!(fixture.renewed(&server, &tokens.refresh).await.status, 200);
}

async fn mcp_token_is_invalid_for_the_rest_api(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    for token in [&tokens.access, &tokens.refresh] {
        for path in [
            "/v1/alerts",
            "/v1/watchlist",
            "/v1/auth/session",
            "/v1/api-keys",
            "/v1/oauth/grants",
        ] {
            for (name, value) in [
                ("authorization", format!("Bearer {token}")),
                ("x-api-key", (*token).clone()),
            ] {
                let response = server.anonymous("GET", path).header(name, &value).send().await;
                let _ = response.refused(401, "UNAUTHORIZED");
            }
        }
    }
}

async fn invalid_token_requests_return_oauth_errors(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let code = fixture.code(&server, &ALL).await;
    let right = fixture.exchange(&code);
    for (change, status, error) in [
        (&[("grant_type", "")][..], 400, "invalid_request"),
        (&[("grant_type", "password")], 400, "unsupported_grant_type"),
        (&[("grant_type", "client_credentials")], 400, "unsupported_grant_type"),
        (&[("client_id", "")], 400, "invalid_request"),
        (&[("code", "")], 400, "invalid_request"),
        (&[("client_secret", "s")], 401, "invalid_client"),
        (&[("code", &code), ("code", &code)], 400, "invalid_request"),
    ] {
        assert_oauth_error(&server.token(&with(&right, change)).await, status, error);
    }
    let basic = server
        .submit_form("/oauth/token", &[("authorization", "Basic YTpi")], &right)
        .await;
    assert_oauth_error(&basic, 401, "invalid_client");
    assert!(basic.header("www-authenticate").starts_with("Basic"));
    let json = server
        .anonymous("POST", "/oauth/token")
        .json(&serde_json::json!({"grant_type": "refresh_token"}));
    assert_oauth_error(&json.send().await, 400, "invalid_request");
    let large = server
        .submit_form("/oauth/token", &[], &[("grant_type", &"x".repeat(70_000))])
        .await;
    assert_oauth_error(&large, 400, "invalid_request");
    let read = server.anonymous("GET", "/oauth/token").send().await;
    assert_eq!((read.status, read.header("allow")), (405, "POST"));
    assert_eq!(
        server.token(&right).await.status,
        200,
        "none of that has used the code up"
    );
    assert!(redirect_params(&fixture.allow(&server, &ALL).await, CALLBACK).contains_key("code"));
}

#[tokio::test]
async fn token_requests_are_limited_per_address_and_minute() {
    let server = TestServer::new().await;
    let pairs = [
        ("grant_type", "refresh_token"),
        ("client_id", "nobody"),
        ("refresh_token", "x"),
    ];
    for _ in 0..300 {
        assert_oauth_error(&server.token(&pairs).await, 401, "invalid_client");
    }
    let response = server.token(&pairs).await;
    assert_oauth_error(&response, 429, "temporarily_unavailable");
    assert_eq!(response.header("retry-after"), "60");
}

//! Revocation of grants: by the user, by the client, and by changes of the account.

use serde_json::{Value, json};

use super::{ALL, CALLBACK, OAuthFixture, Tokens, assert_oauth_error, start_server};
use crate::http::identity::{ANN, OTHER_PASSWORD, PASSWORD, on_each_database};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    user_lists_and_revokes_grants
    grants_of_other_users_are_not_visible
    api_key_cannot_list_grants
    revoking_a_refresh_token_revokes_the_grant
    revoking_an_access_token_keeps_the_grant
    invalid_revocation_requests_return_errors
    password_change_revokes_grants
    password_reset_revokes_grants
    account_takeover_by_confirmation_revokes_grants
    account_deletion_revokes_grants
    export_lists_grants_without_secrets
}

async fn call(server: &TestServer, method: &str, path: &str, access: &str) -> TestResponse {
    let bearer = format!("Bearer {access}");
    server
        .anonymous(method, path)
        .header("authorization", &bearer)
        .send()
        .await
}

async fn grants(server: &TestServer, access: &str) -> Vec<Value> {
    let response = call(server, "GET", "/v1/oauth/grants", access).await.ok(200);
    response.body["data"].as_array().unwrap().clone()
}

async fn user_lists_and_revokes_grants(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &["alerts:read"]).await;
    server.later(1);
    let second = fixture.tokens(&server, &ALL).await;
    let listed = grants(&server, &fixture.access).await;
    let expected = json!({
        "id": listed[0]["id"],
        "client_id": fixture.client,
        "client_name": "Agent",
        "scopes": ["alerts:read"],
        "created_at": "2024-03-08T15:00:00.000Z",
        "last_used_at": "2024-03-08T15:00:00.000Z",
        "expires_at": "2024-04-07T15:00:00.000Z",
    });
    assert_eq!((listed.len(), &listed[0]), (2, &expected));
    let path = format!("/v1/oauth/grants/{}", listed[0]["id"].as_str().unwrap());
    assert!(server.is_valid(&first.access).await);
    let ended = call(&server, "DELETE", &path, &fixture.access).await.ok(200);
    assert_eq!(ended.body["data"], json!({"id": listed[0]["id"], "deleted": true}));
    assert!(!server.is_valid(&first.access).await, "at once");
    assert_oauth_error(&fixture.renewed(&server, &first.refresh).await, 400, "invalid_grant");
    assert!(server.is_valid(&second.access).await);
    assert_eq!(grants(&server, &fixture.access).await, listed[1..]);
    let _ = call(&server, "DELETE", &path, &fixture.access)
        .await
        .refused(404, "NOT_FOUND");
    let _ = call(&server, "DELETE", "/v1/oauth/grants/x", &fixture.access)
        .await
        .refused(404, "NOT_FOUND");
}

async fn grants_of_other_users_are_not_visible(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    let id = grants(&server, &fixture.access).await[0]["id"].clone();
    server.confirmed("bob@example.com").await;
    let bob = server.signed_in("bob@example.com").await;
    assert_eq!(grants(&server, &bob.access).await, [] as [Value; 0]);
    let path = format!("/v1/oauth/grants/{}", id.as_str().unwrap());
    let _ = call(&server, "DELETE", &path, &bob.access)
        .await
        .refused(404, "NOT_FOUND");
    let cookie = server
        .anonymous("DELETE", &path)
        .header("cookie", &fixture.cookie)
        .send()
        .await;
    let _ = cookie.refused(403, "FORBIDDEN");
    assert!(server.is_valid(&tokens.access).await);
}

async fn api_key_cannot_list_grants(server: TestServer) {
    let response = server.get("/v1/oauth/grants").await.refused(403, "FORBIDDEN");
    assert_eq!(response.body["error"]["details"]["reason"], "session_required");
}

async fn revoking_a_refresh_token_revokes_the_grant(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let (first, other) = (fixture.tokens(&server, &ALL).await, fixture.tokens(&server, &ALL).await);
    let second = Tokens::of(&fixture.renewed(&server, &first.refresh).await);
    assert!(server.is_valid(&second.access).await);
    for _ in 0..2 {
        let pairs = [("token", second.refresh.as_str()), ("client_id", &fixture.client)];
        let response = server.submit_form("/oauth/revoke", &[], &pairs).await;
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        assert_eq!(response.header("access-control-allow-origin"), "*");
    }
    assert!(!server.is_valid(&first.access).await && !server.is_valid(&second.access).await);
    assert_oauth_error(&fixture.renewed(&server, &second.refresh).await, 400, "invalid_grant");
    assert!(server.is_valid(&other.access).await);
}

async fn revoking_an_access_token_keeps_the_grant(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    assert!(server.is_valid(&tokens.access).await);
    let pairs = [("token", tokens.access.as_str()), ("token_type_hint", "refresh_token")];
    assert_eq!(server.submit_form("/oauth/revoke", &[], &pairs).await.status, 200);
    assert!(!server.is_valid(&tokens.access).await);
    assert_eq!(fixture.renewed(&server, &tokens.refresh).await.status, 200);
}

async fn invalid_revocation_requests_return_errors(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    let other = server.registered(&[CALLBACK]).await;
    for token in [&tokens.access, &tokens.refresh] {
        let pairs = [("token", token.as_str()), ("client_id", &other)];
        assert_oauth_error(
            &server.submit_form("/oauth/revoke", &[], &pairs).await,
            400,
            "invalid_grant",
        );
    }
    assert_oauth_error(
        &server
            .submit_form("/oauth/revoke", &[], &[("client_id", &fixture.client)])
            .await,
        400,
        "invalid_request",
    );
    let known = tokens.access.replace("mcp_at_", "mcp_rt_");
    for unknown in [
        "x",
        "mcp_at_",
        known.as_str(),
        server.key.as_str(),
        fixture.access.as_str(),
    ] {
        let response = server.submit_form("/oauth/revoke", &[], &[("token", unknown)]).await;
        assert_eq!(response.status, 200, "{unknown}");
    }
    assert!(server.is_valid(&tokens.access).await);
    assert_eq!(fixture.renewed(&server, &tokens.refresh).await.status, 200);
}

async fn password_change_revokes_grants(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    let code = fixture.code(&server, &ALL).await;
    assert!(server.is_valid(&tokens.access).await);
    let body = json!({"current_password": PASSWORD, "new_password": OTHER_PASSWORD});
    let request = server.anonymous("POST", "/v1/user/account/password").json(&body);
    let bearer = format!("Bearer {}", fixture.access);
    let _ = request.header("authorization", &bearer).send().await.ok(200);
    assert!(!server.is_valid(&tokens.access).await);
    assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
    assert_oauth_error(&server.token(&fixture.exchange(&code)).await, 400, "invalid_grant");
    assert_eq!(grants(&server, &fixture.access).await, [] as [Value; 0]);
}

async fn password_reset_revokes_grants(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    assert!(server.is_valid(&tokens.access).await);
    let link = server.reset_link(ANN).await;
    let _ = server.reset(ANN, &link, OTHER_PASSWORD).await.ok(200);
    assert!(!server.is_valid(&tokens.access).await);
    assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
}

async fn account_takeover_by_confirmation_revokes_grants(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    // An attacker registers with Bob's address and authorizes a client before Bob confirms the address.
    server.register("bob@example.com", PASSWORD).await;
    let attacker = server.signed_in("bob@example.com").await;
    let fixture = OAuthFixture {
        cookie: attacker.cookie,
        ..fixture
    };
    let tokens = fixture.tokens(&server, &ALL).await;
    assert!(server.is_valid(&tokens.access).await);
    let link = server.magic_link("bob@example.com").await;
    let _ = server.post_auth("magic-link", json!({"token": link})).await.ok(200);
    assert!(!server.is_valid(&tokens.access).await);
    assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
}

async fn account_deletion_revokes_grants(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    let code = fixture.code(&server, &ALL).await;
    assert!(server.is_valid(&tokens.access).await);
    let request = server
        .anonymous("DELETE", "/v1/user/account")
        .json(&json!({"confirmation": "DELETE"}));
    let bearer = format!("Bearer {}", fixture.access);
    let _ = request.header("authorization", &bearer).send().await.ok(200);
    assert!(!server.is_valid(&tokens.access).await);
    assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
    assert_oauth_error(&server.token(&fixture.exchange(&code)).await, 400, "invalid_grant");
}

async fn export_lists_grants_without_secrets(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &["alerts:read"]).await;
    let response = call(&server, "GET", "/v1/user/account/export", &fixture.access).await;
    let grant = &response.body["data"]["app_grants"][0];
    assert_eq!(
        (&grant["client_name"], &grant["scopes"]),
        (&json!("Agent"), &json!(["alerts:read"]))
    );
    assert_eq!(grant["ended_at"], Value::Null);
    for secret in [&tokens.access, &tokens.refresh] {
        assert!(!response.text.contains(&secret[7..]), "no token is in it");
    }
}

//! Registered OAuth clients, and clients with a metadata document URL.

use super::{ALL, CALLBACK, OAuthFixture, assert_error_page, assert_oauth_error, start_server, with};
use crate::http::identity::on_each_database;
use crate::http::test_server::TestServer;
use serde_json::json;

on_each_database! {
    client_registration_returns_its_metadata_without_a_secret
    unused_client_is_deleted_after_a_week
}

async fn client_registration_returns_its_metadata_without_a_secret(server: TestServer) {
    let body = json!({
        "client_name": "  My\u{202e} agent ",
        "redirect_uris": [CALLBACK, "http://localhost:3000/cb", "com.example.app:/cb"],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "logo_uri": "https://app.example.com/logo.png",
    });
    let response = server.register_client(&body).await;
    assert_eq!(response.status, 201, "{response:?}");
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(response.header("access-control-allow-origin"), "*");
    let expected = json!({
        "client_id": response.body["client_id"],
        "client_id_issued_at": 1_709_910_000,
        "client_name": "My agent",
        "redirect_uris": body["redirect_uris"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": ALL.join(" "),
    });
    assert_eq!(response.body, expected);
    let another = server.register_client(&body).await;
    assert_ne!(another.body["client_id"], response.body["client_id"]);
}

async fn unused_client_is_deleted_after_a_week(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let used = server.registered(&[CALLBACK]).await;
    let used = OAuthFixture {
        client: used,
        ..fixture
    };
    used.code(&server, &["alerts:read"]).await;
    let unused = server.registered(&[CALLBACK]).await;
    for (seconds, is_known) in [(7 * 24 * 3600 - 1, true), (2, false)] {
        server.later(seconds);
        server.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
        let response = server
            .get_authorize("", &with(&used.params(), &[("client_id", &unused)]))
            .await;
        assert_eq!(response.status, if is_known { 200 } else { 400 }, "{response:?}");
    }
    let response = server.get_authorize("", &used.params()).await;
    assert_eq!(response.status, 200, "{response:?}");
}

#[tokio::test]
async fn client_metadata_is_validated() {
    let server = TestServer::with_config(crate::http::identity::unlimited()).await;
    let uris = |number| vec![CALLBACK; number];
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({"redirect_uris": []}), "invalid_redirect_uri"),
        (json!({"redirect_uris": uris(11)}), "invalid_redirect_uri"),
        (json!({"redirect_uris": CALLBACK}), "invalid_redirect_uri"),
        (json!({"redirect_uris": [7]}), "invalid_redirect_uri"),
        (
            json!({"redirect_uris": [CALLBACK, "javascript:alert(1)"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": ["http://app.example.com/cb"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": ["https://app.example.com/cb#x"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": [CALLBACK], "client_name": "x".repeat(101)}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [CALLBACK], "client_name": 7}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [CALLBACK], "grant_types": ["client_credentials"]}),
            "invalid_client_metadata",
        ),
        (
            json!({"redirect_uris": [CALLBACK], "response_types": ["token"]}),
            "invalid_client_metadata",
        ),
    ] {
        assert_oauth_error(&server.register_client(&body).await, 400, error);
    }
    for body in [
        json!({"redirect_uris": uris(10)}),
        json!({"redirect_uris": [CALLBACK], "client_name": "x".repeat(100)}),
        json!({"redirect_uris": [CALLBACK], "client_name": null}),
    ] {
        assert_eq!(server.register_client(&body).await.status, 201);
    }
    for (kind, body) in [
        ("application/json", "{"),
        ("application/json", "[]"),
        ("text/plain", "{}"),
    ] {
        let request = server.anonymous("POST", "/oauth/register").header("content-type", kind);
        assert_oauth_error(&request.body(body).send().await, 400, "invalid_client_metadata");
    }
}

#[tokio::test]
async fn client_registration_is_limited_per_address_and_minute() {
    let server = TestServer::new().await;
    let body = json!({"redirect_uris": [CALLBACK]});
    for _ in 0..60 {
        let response = server.register_client(&body).await;
        assert_eq!(response.status, 201, "{response:?}");
    }
    let response = server.register_client(&body).await;
    assert_oauth_error(&response, 429, "temporarily_unavailable");
    assert_eq!(response.header("retry-after"), "60");
    let elsewhere = server
        .anonymous("POST", "/oauth/register")
        .json(&body)
        .at_address("192.0.2.77");
    assert_eq!(elsewhere.send().await.status, 201);
    server.later(60);
    assert_eq!(server.register_client(&body).await.status, 201);
}

#[tokio::test]
async fn client_metadata_document_is_fetched_only_from_public_addresses() {
    let server = TestServer::with_config(crate::http::identity::unlimited()).await;
    let fixture = OAuthFixture::on(&server).await;
    for id in [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/client.json",
        "https://192.168.1.1:8443/client.json",
    ] {
        let response = fixture.authorize(&server, &[("client_id", id)]).await;
        assert_error_page(&response, 400, "not on the public internet");
    }
    for id in [
        "https://app.example.com",
        "https://app.example.com/",
        "https://app.example.com/a/../client.json",
        "https://ann@app.example.com/client.json",
        "https://app.example.com/client.json#x",
        "https://2130706433/client.json",
    ] {
        let response = fixture.authorize(&server, &[("client_id", id)]).await;
        assert_error_page(&response, 400, "is not a valid URL");
    }
    for id in [
        "http://app.example.com/client.json",
        "nobody",
        "ftp://app.example.com/client.json",
    ] {
        let response = fixture.authorize(&server, &[("client_id", id)]).await;
        assert_error_page(&response, 400, "not registered here");
    }
}

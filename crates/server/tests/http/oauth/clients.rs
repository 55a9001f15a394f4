//! Programs that register, and those that go by the URL of a document.

use super::{ALL, CALLBACK, Stage, refused, shown, with, world};
use crate::signing::on_each_database;
use crate::world::World;
use serde_json::json;

on_each_database! {
    whoever_registers_is_told_what_it_has_and_gets_no_secret
    a_client_that_nobody_uses_is_forgotten_after_a_week
}

async fn whoever_registers_is_told_what_it_has_and_gets_no_secret(world: World) {
    let body = json!({
        "client_name": "  My\u{202e} agent ",
        "redirect_uris": [CALLBACK, "http://localhost:3000/cb", "com.example.app:/cb"],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "logo_uri": "https://app.example.com/logo.png",
    });
    let answer = world.register_client(&body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let expected = json!({
        "client_id": answer.body["client_id"],
        "client_id_issued_at": 1_709_910_000,
        "client_name": "My agent",
        "redirect_uris": body["redirect_uris"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": ALL.join(" "),
    });
    assert_eq!(answer.body, expected);
    let another = world.register_client(&body).await;
    assert_ne!(another.body["client_id"], answer.body["client_id"]);
}

async fn a_client_that_nobody_uses_is_forgotten_after_a_week(world: World) {
    let stage = Stage::on(&world).await;
    let used = world.registered(&[CALLBACK]).await;
    let used = Stage { client: used, ..stage };
    used.code(&world, &["alerts:read"]).await;
    let unused = world.registered(&[CALLBACK]).await;
    for (seconds, is_known) in [(7 * 24 * 3600 - 1, true), (2, false)] {
        world.later(seconds);
        world.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
        let answer = world.show("", &with(&used.params(), &[("client_id", &unused)])).await;
        assert_eq!(answer.status, if is_known { 200 } else { 400 }, "{answer:?}");
    }
    let answer = world.show("", &used.params()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn what_a_client_says_of_itself_is_bounded() {
    let world = World::with(crate::signing::unlimited()).await;
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
        refused(&world.register_client(&body).await, 400, error);
    }
    for body in [
        json!({"redirect_uris": uris(10)}),
        json!({"redirect_uris": [CALLBACK], "client_name": "x".repeat(100)}),
        json!({"redirect_uris": [CALLBACK], "client_name": null}),
    ] {
        assert_eq!(world.register_client(&body).await.status, 201);
    }
    for (kind, body) in [
        ("application/json", "{"),
        ("application/json", "[]"),
        ("text/plain", "{}"),
    ] {
        let request = world.stranger("POST", "/oauth/register").header("content-type", kind);
        refused(&request.body(body).send().await, 400, "invalid_client_metadata");
    }
}

#[tokio::test]
async fn so_many_register_a_minute_from_one_address_and_no_more() {
    let world = World::new().await;
    let body = json!({"redirect_uris": [CALLBACK]});
    for _ in 0..60 {
        let answer = world.register_client(&body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let answer = world.register_client(&body).await;
    refused(&answer, 429, "temporarily_unavailable");
    assert_eq!(answer.header("retry-after"), "60");
    let elsewhere = world
        .stranger("POST", "/oauth/register")
        .json(&body)
        .at_address("192.0.2.77");
    assert_eq!(elsewhere.send().await.status, 201);
    world.later(60);
    assert_eq!(world.register_client(&body).await.status, 201);
}

#[tokio::test]
async fn a_document_is_fetched_from_where_webhooks_are_called_and_from_nowhere_else() {
    let world = World::with(crate::signing::unlimited()).await;
    let stage = Stage::on(&world).await;
    for id in [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/client.json",
        "https://192.168.1.1:8443/client.json",
    ] {
        let answer = stage.ask(&world, &[("client_id", id)]).await;
        shown(&answer, 400, "not on the public internet");
    }
    for id in [
        "https://app.example.com",
        "https://app.example.com/",
        "https://app.example.com/a/../client.json",
        "https://ann@app.example.com/client.json",
        "https://app.example.com/client.json#x",
        "https://2130706433/client.json",
    ] {
        let answer = stage.ask(&world, &[("client_id", id)]).await;
        shown(&answer, 400, "cannot be one of a client");
    }
    for id in [
        "http://app.example.com/client.json",
        "nobody",
        "ftp://app.example.com/client.json",
    ] {
        let answer = stage.ask(&world, &[("client_id", id)]).await;
        shown(&answer, 400, "not known here");
    }
}

//! What was allowed ends: by the person, by the program, and with what might have been somebody else's.

use serde_json::{Value, json};

use super::{ALL, CALLBACK, Stage, Tokens, refused, world};
use crate::signing::{ANN, ANOTHER, PASSWORD, on_each_database};
use crate::world::{Answer, World};

on_each_database! {
    people_see_what_they_have_allowed_and_end_it
    what_others_have_allowed_is_not_theirs_to_see_or_end
    a_key_does_not_see_what_apps_are_allowed
    a_program_gives_a_refresh_token_back_with_all_it_came_with
    a_program_gives_back_one_access_token
    what_is_given_back_wrongly_is_said
    another_password_ends_what_apps_are_allowed
    a_new_password_ends_what_apps_are_allowed
    whoever_takes_an_account_over_ends_what_was_allowed_before
    what_was_allowed_goes_with_the_account
    an_export_says_what_was_allowed_without_secrets
}

async fn call(world: &World, method: &str, path: &str, access: &str) -> Answer {
    let bearer = format!("Bearer {access}");
    world
        .stranger(method, path)
        .header("authorization", &bearer)
        .send()
        .await
}

async fn grants(world: &World, access: &str) -> Vec<Value> {
    let answer = call(world, "GET", "/v1/oauth/grants", access).await.ok(200);
    answer.body["data"].as_array().unwrap().clone()
}

async fn people_see_what_they_have_allowed_and_end_it(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &["alerts:read"]).await;
    world.later(1);
    let second = stage.tokens(&world, &ALL).await;
    let listed = grants(&world, &stage.access).await;
    let expected = json!({
        "id": listed[0]["id"],
        "client_id": stage.client,
        "client_name": "Agent",
        "scopes": ["alerts:read"],
        "created_at": "2024-03-08T15:00:00.000Z",
        "last_used_at": "2024-03-08T15:00:00.000Z",
        "expires_at": "2024-04-07T15:00:00.000Z",
    });
    assert_eq!((listed.len(), &listed[0]), (2, &expected));
    let path = format!("/v1/oauth/grants/{}", listed[0]["id"].as_str().unwrap());
    assert!(world.is_good(&first.access).await);
    let ended = call(&world, "DELETE", &path, &stage.access).await.ok(200);
    assert_eq!(ended.body["data"], json!({"id": listed[0]["id"], "deleted": true}));
    assert!(!world.is_good(&first.access).await, "at once");
    refused(&stage.renewed(&world, &first.refresh).await, 400, "invalid_grant");
    assert!(world.is_good(&second.access).await);
    assert_eq!(grants(&world, &stage.access).await, listed[1..]);
    let _ = call(&world, "DELETE", &path, &stage.access)
        .await
        .refused(404, "NOT_FOUND");
    let _ = call(&world, "DELETE", "/v1/oauth/grants/x", &stage.access)
        .await
        .refused(404, "NOT_FOUND");
}

async fn what_others_have_allowed_is_not_theirs_to_see_or_end(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    let id = grants(&world, &stage.access).await[0]["id"].clone();
    world.confirmed("bob@example.com").await;
    let bob = world.signed_in("bob@example.com").await;
    assert_eq!(grants(&world, &bob.access).await, [] as [Value; 0]);
    let path = format!("/v1/oauth/grants/{}", id.as_str().unwrap());
    let _ = call(&world, "DELETE", &path, &bob.access)
        .await
        .refused(404, "NOT_FOUND");
    let cookie = world
        .stranger("DELETE", &path)
        .header("cookie", &stage.cookie)
        .send()
        .await;
    let _ = cookie.refused(403, "FORBIDDEN");
    assert!(world.is_good(&tokens.access).await);
}

async fn a_key_does_not_see_what_apps_are_allowed(world: World) {
    let answer = world.get("/v1/oauth/grants").await.refused(403, "FORBIDDEN");
    assert_eq!(answer.body["error"]["details"]["reason"], "session_required");
}

async fn a_program_gives_a_refresh_token_back_with_all_it_came_with(world: World) {
    let stage = Stage::on(&world).await;
    let (first, other) = (stage.tokens(&world, &ALL).await, stage.tokens(&world, &ALL).await);
    let second = Tokens::of(&stage.renewed(&world, &first.refresh).await);
    assert!(world.is_good(&second.access).await);
    for _ in 0..2 {
        let pairs = [("token", second.refresh.as_str()), ("client_id", &stage.client)];
        let answer = world.press("/oauth/revoke", &[], &pairs).await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), "*");
    }
    assert!(!world.is_good(&first.access).await && !world.is_good(&second.access).await);
    refused(&stage.renewed(&world, &second.refresh).await, 400, "invalid_grant");
    assert!(world.is_good(&other.access).await);
}

async fn a_program_gives_back_one_access_token(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    assert!(world.is_good(&tokens.access).await);
    let pairs = [("token", tokens.access.as_str()), ("token_type_hint", "refresh_token")];
    assert_eq!(world.press("/oauth/revoke", &[], &pairs).await.status, 200);
    assert!(!world.is_good(&tokens.access).await);
    assert_eq!(stage.renewed(&world, &tokens.refresh).await.status, 200);
}

async fn what_is_given_back_wrongly_is_said(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    let other = world.registered(&[CALLBACK]).await;
    for token in [&tokens.access, &tokens.refresh] {
        let pairs = [("token", token.as_str()), ("client_id", &other)];
        refused(&world.press("/oauth/revoke", &[], &pairs).await, 400, "invalid_grant");
    }
    refused(
        &world.press("/oauth/revoke", &[], &[("client_id", &stage.client)]).await,
        400,
        "invalid_request",
    );
    let known = tokens.access.replace("mcp_at_", "mcp_rt_");
    for unknown in [
        "x",
        "mcp_at_",
        known.as_str(),
        world.key.as_str(),
        stage.access.as_str(),
    ] {
        let answer = world.press("/oauth/revoke", &[], &[("token", unknown)]).await;
        assert_eq!(answer.status, 200, "{unknown}");
    }
    assert!(world.is_good(&tokens.access).await);
    assert_eq!(stage.renewed(&world, &tokens.refresh).await.status, 200);
}

async fn another_password_ends_what_apps_are_allowed(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    let code = stage.code(&world, &ALL).await;
    assert!(world.is_good(&tokens.access).await);
    let body = json!({"current_password": PASSWORD, "new_password": ANOTHER});
    let request = world.stranger("POST", "/v1/user/account/password").json(&body);
    let bearer = format!("Bearer {}", stage.access);
    let _ = request.header("authorization", &bearer).send().await.ok(200);
    assert!(!world.is_good(&tokens.access).await);
    refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
    refused(&world.token(&stage.exchange(&code)).await, 400, "invalid_grant");
    assert_eq!(grants(&world, &stage.access).await, [] as [Value; 0]);
}

async fn a_new_password_ends_what_apps_are_allowed(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    assert!(world.is_good(&tokens.access).await);
    let link = world.reset_link(ANN).await;
    let _ = world.reset(ANN, &link, ANOTHER).await.ok(200);
    assert!(!world.is_good(&tokens.access).await);
    refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
}

async fn whoever_takes_an_account_over_ends_what_was_allowed_before(world: World) {
    let stage = Stage::on(&world).await;
    // Somebody registers with Bob's address, and lets an app in, before Bob has shown that it is his.
    world.register("bob@example.com", PASSWORD).await;
    let stranger = world.signed_in("bob@example.com").await;
    let stage = Stage {
        cookie: stranger.cookie,
        ..stage
    };
    let tokens = stage.tokens(&world, &ALL).await;
    assert!(world.is_good(&tokens.access).await);
    let link = world.magic_link("bob@example.com").await;
    let _ = world.ask("magic-link", json!({"token": link})).await.ok(200);
    assert!(!world.is_good(&tokens.access).await);
    refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
}

async fn what_was_allowed_goes_with_the_account(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    let code = stage.code(&world, &ALL).await;
    assert!(world.is_good(&tokens.access).await);
    let request = world
        .stranger("DELETE", "/v1/user/account")
        .json(&json!({"confirmation": "DELETE"}));
    let bearer = format!("Bearer {}", stage.access);
    let _ = request.header("authorization", &bearer).send().await.ok(200);
    assert!(!world.is_good(&tokens.access).await);
    refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
    refused(&world.token(&stage.exchange(&code)).await, 400, "invalid_grant");
}

async fn an_export_says_what_was_allowed_without_secrets(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &["alerts:read"]).await;
    let answer = call(&world, "GET", "/v1/user/account/export", &stage.access).await;
    let grant = &answer.body["data"]["app_grants"][0];
    assert_eq!(
        (&grant["client_name"], &grant["scopes"]),
        (&json!("Agent"), &json!(["alerts:read"]))
    );
    assert_eq!(grant["ended_at"], Value::Null);
    for secret in [&tokens.access, &tokens.refresh] {
        assert!(!answer.text.contains(&secret[7..]), "no token is in it");
    }
}

//! A code is exchanged for tokens, and what those are good for.

use super::{ALL, CALLBACK, Stage, Tokens, VERIFIER, refused, told, with, world};
use crate::signing::on_each_database;
use crate::world::World;

on_each_database! {
    a_code_is_exchanged_for_tokens_that_act_for_the_account
    a_code_is_for_one_client_one_address_and_one_verifier
    a_code_is_good_for_a_minute
    a_code_that_is_shown_twice_ends_what_came_of_it
    of_twenty_exchanges_of_a_code_at_once_one_succeeds
    an_access_token_is_good_for_an_hour
    a_token_is_good_for_nothing_on_rest
    what_is_sent_wrongly_is_said_in_oauths_words
}

async fn a_code_is_exchanged_for_tokens_that_act_for_the_account(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    assert_eq!(tokens.scope, ALL.join(" "));
    let actor = world.acting(&tokens.access).await.unwrap();
    assert_eq!(actor.email, "ann@example.com");
    let service::Via::Grant { client, .. } = &actor.via else {
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
        assert!(!world.is_good(text).await, "{text}");
    }
}

async fn a_code_is_for_one_client_one_address_and_one_verifier(world: World) {
    let stage = Stage::on(&world).await;
    let other = world.registered(&[CALLBACK]).await;
    let code = stage.code(&world, &ALL).await;
    let right = stage.exchange(&code);
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
        refused(&world.token(&with(&right, change)).await, status, error);
    }
    // None of that has used it up: only who knows the verifier can.
    assert_eq!(world.token(&right).await.status, 200);
    // As OAuth 2.1 has it, without the address, which the verifier stands for.
    let code = stage.code(&world, &ALL).await;
    let bare = with(&stage.exchange(&code), &[("redirect_uri", ""), ("resource", "")]);
    assert_eq!(world.token(&bare).await.status, 200);
}

async fn a_code_is_good_for_a_minute(world: World) {
    let stage = Stage::on(&world).await;
    let code = stage.code(&world, &ALL).await;
    let late = stage.code(&world, &ALL).await;
    world.later(59);
    assert_eq!(world.token(&stage.exchange(&code)).await.status, 200);
    world.later(1);
    refused(&world.token(&stage.exchange(&late)).await, 400, "invalid_grant");
}

async fn a_code_that_is_shown_twice_ends_what_came_of_it(world: World) {
    let stage = Stage::on(&world).await;
    let other = stage.tokens(&world, &ALL).await;
    let code = stage.code(&world, &ALL).await;
    let first = Tokens::of(&world.token(&stage.exchange(&code)).await);
    let second = Tokens::of(&stage.renewed(&world, &first.refresh).await);
    assert!(world.is_good(&first.access).await && world.is_good(&second.access).await);
    // Whoever shows it need not even know the verifier.
    let unknown = VERIFIER.replace('d', "e");
    let wrong = with(&stage.exchange(&code), &[("code_verifier", &unknown)]);
    refused(&world.token(&wrong).await, 400, "invalid_grant");
    for token in [&first.access, &second.access] {
        assert!(!world.is_good(token).await, "at once");
    }
    refused(&stage.renewed(&world, &second.refresh).await, 400, "invalid_grant");
    assert!(world.is_good(&other.access).await, "what was allowed besides goes on");
}

async fn of_twenty_exchanges_of_a_code_at_once_one_succeeds(world: World) {
    let stage = Stage::on(&world).await;
    let code = stage.code(&world, &ALL).await;
    let pairs = stage.exchange(&code);
    let answers = futures_util::future::join_all((0..20).map(|_| world.token(&pairs))).await;
    let good: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(good.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        refused(answer, 400, "invalid_grant");
    }
    assert!(
        !world.is_good(&Tokens::of(good[0]).access).await,
        "it may be the thief who was first"
    );
}

async fn an_access_token_is_good_for_an_hour(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    world.later(3599);
    assert!(world.is_good(&tokens.access).await);
    world.later(6);
    assert!(!world.is_good(&tokens.access).await);
    assert_eq!(stage.renewed(&world, &tokens.refresh).await.status, 200);
}

async fn a_token_is_good_for_nothing_on_rest(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
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
                let answer = world.stranger("GET", path).header(name, &value).send().await;
                let _ = answer.refused(401, "UNAUTHORIZED");
            }
        }
    }
}

async fn what_is_sent_wrongly_is_said_in_oauths_words(world: World) {
    let stage = Stage::on(&world).await;
    let code = stage.code(&world, &ALL).await;
    let right = stage.exchange(&code);
    for (change, status, error) in [
        (&[("grant_type", "")][..], 400, "invalid_request"),
        (&[("grant_type", "password")], 400, "unsupported_grant_type"),
        (&[("grant_type", "client_credentials")], 400, "unsupported_grant_type"),
        (&[("client_id", "")], 400, "invalid_request"),
        (&[("code", "")], 400, "invalid_request"),
        (&[("client_secret", "s")], 401, "invalid_client"),
        (&[("code", &code), ("code", &code)], 400, "invalid_request"),
    ] {
        refused(&world.token(&with(&right, change)).await, status, error);
    }
    let basic = world
        .press("/oauth/token", &[("authorization", "Basic YTpi")], &right)
        .await;
    refused(&basic, 401, "invalid_client");
    assert!(basic.header("www-authenticate").starts_with("Basic"));
    let json = world
        .stranger("POST", "/oauth/token")
        .json(&serde_json::json!({"grant_type": "refresh_token"}));
    refused(&json.send().await, 400, "invalid_request");
    let large = world
        .press("/oauth/token", &[], &[("grant_type", &"x".repeat(70_000))])
        .await;
    refused(&large, 400, "invalid_request");
    let read = world.stranger("GET", "/oauth/token").send().await;
    assert_eq!((read.status, read.header("allow")), (405, "POST"));
    assert_eq!(
        world.token(&right).await.status,
        200,
        "none of that has used the code up"
    );
    assert!(told(&stage.allow(&world, &ALL).await, CALLBACK).contains_key("code"));
}

#[tokio::test]
async fn so_many_exchange_something_a_minute_from_one_address_and_no_more() {
    let world = World::new().await;
    let pairs = [
        ("grant_type", "refresh_token"),
        ("client_id", "nobody"),
        ("refresh_token", "x"),
    ];
    for _ in 0..300 {
        refused(&world.token(&pairs).await, 401, "invalid_client");
    }
    let answer = world.token(&pairs).await;
    refused(&answer, 429, "temporarily_unavailable");
    assert_eq!(answer.header("retry-after"), "60");
}

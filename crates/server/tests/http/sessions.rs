//! Sessions: how they go on, and how they end.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use crate::signing::{ANN, PASSWORD, SignedIn, on_each_database, unlimited, world};
use crate::world::{Answer, World};

on_each_database! {
    a_refresh_token_is_good_once_and_showing_it_again_ends_its_session
    of_fifty_refreshes_at_once_one_succeeds_and_the_session_ends
    a_session_ends_when_it_is_not_used_for_thirty_days_or_after_a_hundred_and_eighty
    signing_out_ends_this_session_and_no_other
    a_session_survives_a_restart_and_a_changed_name_shows_at_once
    an_access_token_that_was_tampered_with_is_refused
}

fn text(answer: &Answer, name: &str) -> String {
    answer.body["data"][name].as_str().unwrap().to_owned()
}

async fn a_refresh_token_is_good_once_and_showing_it_again_ends_its_session(world: World) {
    world.confirmed(ANN).await;
    let (stolen, other) = (world.signed_in(ANN).await, world.signed_in(ANN).await);
    let refreshed = world.refresh(&stolen.refresh).await.ok(200);
    let (access, next) = (text(&refreshed, "access_token"), text(&refreshed, "refresh_token"));
    assert_ne!(next, stolen.refresh);
    let _ = world.session(&access).await.ok(200);
    let _ = world.refresh(&stolen.refresh).await.refused(401, "UNAUTHORIZED");
    // All that came of the session has ended, whoever has it.
    let _ = world.refresh(&next).await.refused(401, "UNAUTHORIZED");
    for access in [&access, &stolen.access] {
        let _ = world.session(access).await.refused(401, "UNAUTHORIZED");
    }
    let _ = world
        .session_of_cookie(&stolen.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = world.session(&other.access).await.ok(200);
    let _ = world.refresh(&other.refresh).await.ok(200);
    for token in ["", "x", &"A".repeat(43), &other.access, &"A".repeat(5_000)] {
        let _ = world.refresh(token).await.refused(401, "UNAUTHORIZED");
    }
}

async fn of_fifty_refreshes_at_once_one_succeeds_and_the_session_ends(world: World) {
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    let answers = join_all((0..50).map(|_| world.refresh(&ann.refresh))).await;
    let (good, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((good.len(), refused.len()), (1, 49));
    assert!(refused.iter().all(|answer| answer.status == 401), "{refused:?}");
    let next = text(good[0], "refresh_token");
    let _ = world.refresh(&next).await.refused(401, "UNAUTHORIZED");
    let _ = world.session_of_cookie(&ann.cookie).await.refused(401, "UNAUTHORIZED");
}

async fn a_session_ends_when_it_is_not_used_for_thirty_days_or_after_a_hundred_and_eighty(world: World) {
    let (day, second) = (SignedDuration::from_hours(24), SignedDuration::from_secs(1));
    world.confirmed(ANN).await;
    let idle = world.signed_in(ANN).await;
    world.clock.advance(day * 30 - second);
    let mut refresh = text(&world.refresh(&idle.refresh).await.ok(200), "refresh_token");
    let _ = world.session_of_cookie(&idle.cookie).await.ok(200);
    for _ in 0..5 {
        world.clock.advance(day * 29);
        refresh = text(&world.refresh(&refresh).await.ok(200), "refresh_token");
    }
    // 175 days and almost 24 hours: the end is near, however much it is used.
    world.clock.advance(day * 5);
    let _ = world.session_of_cookie(&idle.cookie).await.ok(200);
    world.clock.advance(second);
    let _ = world.session_of_cookie(&idle.cookie).await.refused(401, "UNAUTHORIZED");
    let _ = world.refresh(&refresh).await.refused(401, "UNAUTHORIZED");

    let unused = world.signed_in(ANN).await;
    world.clock.advance(day * 30);
    let _ = world.refresh(&unused.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = world
        .session_of_cookie(&unused.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
}

async fn signing_out_ends_this_session_and_no_other(world: World) {
    world.confirmed(ANN).await;
    let (this, other) = (world.signed_in(ANN).await, world.signed_in(ANN).await);
    let sign_out = async || {
        let request = world.stranger("POST", "/v1/auth/logout").header("cookie", &this.cookie);
        request.header("sec-fetch-site", "same-origin").send().await
    };
    let signed_out = sign_out().await.ok(200);
    assert!(
        signed_out
            .header("set-cookie")
            .starts_with("__Host-bellwether_session=;")
    );
    let _ = sign_out().await.refused(401, "UNAUTHORIZED");
    let _ = world.session(&this.access).await.refused(401, "UNAUTHORIZED");
    let _ = world.refresh(&this.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = world.session(&other.access).await.ok(200);
    // A key is no session.
    let refused = world
        .request("POST", "/v1/auth/logout")
        .send()
        .await
        .refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
}

async fn a_session_survives_a_restart_and_a_changed_name_shows_at_once(world: World) {
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    let world = world.restarted().await;
    let _ = world.session(&ann.access).await.ok(200);
    let change = async |body| {
        let request = world.stranger("PATCH", "/v1/auth/session").json(&body);
        let request = request.header("authorization", &format!("Bearer {}", ann.access));
        request.send().await
    };
    let changed = change(json!({"full_name": "Ann Example", "time_zone": "Europe/Berlin"}))
        .await
        .ok(200);
    let user = &changed.body["data"]["user"];
    assert_eq!(
        (&user["full_name"], &user["time_zone"]),
        (&json!("Ann Example"), &json!("Europe/Berlin"))
    );
    let removed = change(json!({"full_name": null, "email": "eve@example.com", "account_type": "premium"}))
        .await
        .ok(200);
    let user = &removed.body["data"]["user"];
    assert_eq!(
        (&user["full_name"], &user["email"], &user["account_type"]),
        (&json!(null), &json!(ANN), &json!("basic"))
    );
    let refused = change(json!({"full_name": "Ann\r\nBcc: eve@example.com", "time_zone": "Mars/Olympus"})).await;
    let refused = refused.refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["full_name", "time_zone"]);
}

async fn an_access_token_that_was_tampered_with_is_refused(world: World) {
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    let (body, _) = ann.access.rsplit_once('.').unwrap();
    let (head, claims) = body.split_once('.').unwrap();
    let none = crate::signing::base64(br#"{"typ":"at+jwt","alg":"none"}"#);
    for token in [
        body.to_owned(),
        format!("{body}."),
        format!("{none}.{claims}."),
        format!("{head}.{claims}.{}", "A".repeat(86)),
        "eyJ".to_owned(),
        "mcp_at_x".to_owned(),
        ann.refresh.clone(),
        ann.cookie.split_once('=').unwrap().1.to_owned(),
    ] {
        let refused = world.session(&token).await.refused(401, "UNAUTHORIZED");
        assert!(!refused.text.contains(&token));
    }
}

#[tokio::test]
async fn a_token_of_another_service_is_refused_even_if_it_is_signed_with_the_same_key() {
    let at = async |url: &str| {
        let database = testkit::Database::sqlite();
        World::on(database, unlimited(), |house| url.clone_into(&mut house.public_url)).await
    };
    let here = at("https://alerts.example.com").await;
    let there = at("https://other.example.com").await;
    there.confirmed(ANN).await;
    here.confirmed(ANN).await;
    let token = there.signed_in(ANN).await.access;
    let _ = there.session(&token).await.ok(200);
    let _ = here.session(&token).await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn the_keys_that_tokens_are_verified_with_are_told_to_everybody() {
    let world = World::new().await;
    let answer = world.stranger("GET", "/.well-known/jwks.json").send().await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/json")
    );
    let keys = answer.body["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!((&keys[0]["kty"], &keys[0]["crv"]), (&json!("OKP"), &json!("Ed25519")));
    assert!(keys[0].get("d").is_none(), "the private key stays here");
    world.confirmed(ANN).await;
    let answer = world.login(ANN, PASSWORD).await;
    let token = SignedIn::of(&answer).access;
    let head = token.split('.').next().unwrap();
    let named = format!(r#""kid":"{}""#, keys[0]["kid"].as_str().unwrap());
    let head = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, head).unwrap();
    assert!(String::from_utf8(head).unwrap().contains(&named));
}

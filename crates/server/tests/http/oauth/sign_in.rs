//! Signing in on the way to a decision.

use server::{Limits, Settings};

use super::{CALLBACK, FROM_HERE, Stage, form, hidden, shown, told, with, world};
use crate::signing::{ANN, PASSWORD, cookie, on_each_database};
use crate::world::{Answer, World};

on_each_database! {
    whoever_signs_in_comes_back_to_the_very_question
    a_wrong_password_asks_again_and_does_not_tell_whether_there_is_an_account
    whoever_wants_another_account_signs_in_to_it
    nobody_is_signed_in_by_another_site
    nobody_is_led_elsewhere_by_signing_in
}

async fn sign_in(
    world: &World,
    params: &[(&str, &str)],
    headers: &[(&str, &str)],
    email: &str,
    password: &str,
) -> Answer {
    let page = world.show("", params).await;
    assert_eq!(page.status, 200, "{page:?}");
    let nonce = hidden(&page, "form");
    let path = format!("/oauth/{}", action(&page));
    let pairs = [("form", nonce.as_str()), ("email", email), ("password", password)];
    world.press(&path, headers, &pairs).await
}

/// Where a page's form leads, as a browser reads it.
fn action(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("method=\"post\" action=\"").unwrap();
    let text = rest.split('"').next().unwrap();
    text.replace("&#38;", "&").replace("&amp;", "&")
}

async fn whoever_signs_in_comes_back_to_the_very_question(world: World) {
    let stage = Stage::on(&world).await;
    let params = with(&stage.params(), &[("scope", "alerts:read")]);
    let page = world.show("", &params).await;
    for text in [
        "An app that calls itself “<bdi>Agent</bdi>”",
        "Have a link mailed",
        "type=\"password\"",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let answer = sign_in(&world, &params, &[FROM_HERE], ANN, PASSWORD).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = answer.header("location");
    assert_eq!(location, format!("authorize?{}", form(&params)));
    assert!(answer.header("set-cookie").contains("HttpOnly; SameSite=Lax; Secure"));
    let cookie = cookie(&answer);
    assert_ne!(cookie, stage.cookie, "it is a session of its own");
    let again = world
        .stranger("GET", &format!("/oauth/{location}"))
        .header("cookie", &cookie)
        .send()
        .await;
    let decided = world.decide(&cookie, &again, "allow", &["alerts:read"]).await;
    let told = told(&decided, CALLBACK);
    assert_eq!(
        world.token(&stage.exchange(&told["code"])).await.body["scope"],
        "alerts:read"
    );
}

async fn a_wrong_password_asks_again_and_does_not_tell_whether_there_is_an_account(world: World) {
    let stage = Stage::on(&world).await;
    let params = stage.params();
    let mut texts = Vec::new();
    for (email, password) in [(ANN, "wrong horse"), ("nobody@example.com", PASSWORD)] {
        let answer = sign_in(&world, &params, &[FROM_HERE], email, password).await;
        shown(&answer, 401, "There is no account with this address and password");
        assert!(answer.headers.get("set-cookie").is_none());
        assert!(!answer.text.contains(password), "what was typed is not shown again");
        texts.push(answer.text.replace(&hidden(&answer, "form"), ""));
    }
    assert_eq!(texts[0], texts[1]);
    let nothing = sign_in(&world, &params, &[FROM_HERE], ANN, "").await;
    shown(&nothing, 401, "There is no account with this address and password");
    shown(&sign_in(&world, &params, &[FROM_HERE], "", "").await, 400, "email");
}

async fn whoever_wants_another_account_signs_in_to_it(world: World) {
    let stage = Stage::on(&world).await;
    world.confirmed("bob@example.com").await;
    let page = stage.ask(&world, &[]).await;
    let (_, rest) = page.text.split_once("<a href=\"authorize?").unwrap();
    let query = rest
        .split('"')
        .next()
        .unwrap()
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    assert_eq!(query, format!("{}&prompt=login", form(&stage.params())));
    let path = format!("/oauth/authorize?{query}");
    let page = world
        .stranger("GET", &path)
        .header("cookie", &stage.cookie)
        .send()
        .await;
    assert_eq!(action(&page), format!("authorize?{}", form(&stage.params())));
    let pairs = [("email", "bob@example.com"), ("password", PASSWORD)];
    let headers = [FROM_HERE, ("cookie", stage.cookie.as_str())];
    let answer = world
        .press(&format!("/oauth/{}", action(&page)), &headers, &pairs)
        .await;
    assert_eq!(
        answer.header("location"),
        format!("authorize?{}", form(&stage.params()))
    );
    let bob = cookie(&answer);
    let page = world.show(&bob, &stage.params()).await;
    assert!(
        page.text.contains("signed in as <strong>bob@example.com</strong>"),
        "{page:?}"
    );
}

async fn nobody_is_signed_in_by_another_site(world: World) {
    let stage = Stage::on(&world).await;
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        let answer = sign_in(&world, &stage.params(), headers, ANN, PASSWORD).await;
        shown(&answer, 403, "did not come from this service");
        assert!(answer.headers.get("set-cookie").is_none());
    }
}

async fn nobody_is_led_elsewhere_by_signing_in(world: World) {
    let stage = Stage::on(&world).await;
    let elsewhere = "https://evil.example/callback";
    for params in [
        with(&stage.params(), &[("redirect_uri", elsewhere)]),
        with(&stage.params(), &[("client_id", "nobody")]),
    ] {
        let path = format!("/oauth/authorize?{}", form(&params));
        let pairs = [("email", ANN), ("password", PASSWORD)];
        let answer = world.press(&path, &[FROM_HERE], &pairs).await;
        shown(&answer, 400, "Nothing was allowed");
        assert!(answer.headers.get("set-cookie").is_none());
    }
    let more = [
        ("next", elsewhere),
        ("return_to", "//evil.example"),
        ("state", "\r\nLocation: https://evil.example"),
    ];
    let params = with(&stage.params(), &more);
    let answer = sign_in(&world, &params, &[FROM_HERE], ANN, PASSWORD).await;
    assert_eq!(answer.header("location"), format!("authorize?{}", form(&params)));
}

#[tokio::test]
async fn so_many_sign_in_a_minute_from_one_address_and_no_more() {
    let limits = Limits {
        login_per_minute: 3,
        register_per_hour: 100,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let stage = Stage::on(&world).await;
    // One to confirm the address and one to sign in were counted, too.
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let answer = sign_in(&world, &stage.params(), &[FROM_HERE], ANN, "wrong horse").await;
        statuses.push(answer.status);
        if answer.status == 429 {
            assert_eq!(answer.header("retry-after"), "60");
        }
    }
    assert_eq!(statuses, [401, 429]);
}

#[tokio::test]
async fn a_password_that_is_guessed_at_is_slowed_down_here_too() {
    let world = World::with(crate::signing::unlimited()).await;
    let stage = Stage::on(&world).await;
    let mut last = 0;
    for _ in 0..7 {
        last = sign_in(&world, &stage.params(), &[FROM_HERE], ANN, "wrong horse")
            .await
            .status;
    }
    assert_eq!(last, 429);
}

//! The page on which somebody decides, and what comes of it.

use serde_json::json;

use super::{ALL, CALLBACK, FROM_HERE, Stage, Tokens, hidden, shown, told, with, world};
use crate::signing::{ANN, PASSWORD, on_each_database};
use crate::world::{Answer, World};

on_each_database! {
    the_page_says_who_wants_what_and_where_one_will_be_sent
    what_a_client_says_of_itself_stays_text
    no_page_is_shown_within_another_or_kept
    whoever_allows_something_is_sent_back_with_a_code
    what_is_not_ticked_is_not_allowed
    nothing_can_be_allowed_that_was_not_asked_for
    whoever_ticks_nothing_or_denies_is_sent_back_with_that
    a_decision_counts_for_the_session_that_was_asked
    a_decision_from_another_site_does_nothing
    a_page_can_be_answered_for_ten_minutes
    an_account_allows_something_sixty_times_an_hour
    an_account_that_rests_allows_nothing
    whoever_has_to_confirm_their_address_allows_nothing_before
}

async fn the_page_says_who_wants_what_and_where_one_will_be_sent(world: World) {
    let stage = Stage::on(&world).await;
    let page = stage.ask(&world, &[]).await;
    for text in [
        "Let “<bdi>Agent</bdi>” use your account?",
        "signed in as <strong>ann@example.com</strong>",
        "is what it says of itself; nobody has checked that",
        "You will be sent to <strong>app.example.com</strong>. Go on only if you came from there.",
        r#"<form method="post" action="authorize">"#,
        r#"<button type="submit" name="decision" value="allow">"#,
        r#"<button type="submit" name="decision" value="deny""#,
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(world.acting("mcp_at_").await.is_none());
    assert_eq!(grants(&world, &stage).await, json!([]), "asking allows nothing");
}

async fn what_a_client_says_of_itself_stays_text(world: World) {
    let stage = Stage::on(&world).await;
    let evil = r#"</bdi>"><script>alert(1)</script>"#;
    let body = json!({"client_name": evil, "redirect_uris": [CALLBACK]});
    let client = world.register_client(&body).await.body["client_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for cookie in [stage.cookie.as_str(), ""] {
        let state = r#""><script>alert(2)</script>"#;
        let params = with(&stage.params(), &[("client_id", &client), ("state", state)]);
        let page = world.show(cookie, &params).await;
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("<script"), "{}", page.text);
        assert!(page.text.contains("&#60;script&#62;alert(1)"), "{}", page.text);
    }
}

async fn no_page_is_shown_within_another_or_kept(world: World) {
    let stage = Stage::on(&world).await;
    let pages = [
        stage.ask(&world, &[]).await,
        world.show("", &stage.params()).await,
        stage.ask(&world, &[("client_id", "nobody")]).await,
    ];
    for page in pages {
        assert_eq!(page.header("x-frame-options"), "DENY");
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        let policy = page.header("content-security-policy");
        for part in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        // A form that says where it may lead is held to it on the whole way back to the client.
        assert_eq!(policy.contains("form-action"), !page.text.contains("<form"), "{policy}");
    }
}

async fn whoever_allows_something_is_sent_back_with_a_code(world: World) {
    let stage = Stage::on(&world).await;
    let answer = stage.allow(&world, &ALL).await;
    assert_eq!(answer.status, 303, "what was posted is not posted again");
    let told = told(&answer, "https://app.example.com/callback?");
    let mut names: Vec<_> = told.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["code", "iss", "state"]);
    assert_eq!((told["code"].len(), told["state"].as_str()), (43, "a&b=%c d"));
}

async fn what_is_not_ticked_is_not_allowed(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &["alerts:read", "watchlist:write"]).await;
    assert_eq!(tokens.scope, "alerts:read watchlist:write");
    let actor = world.acting(&tokens.access).await.unwrap();
    for scope in service::Scope::ALL {
        let expected = ["alerts:read", "watchlist:write"].contains(&scope.name());
        assert_eq!(actor.require(*scope).is_ok(), expected, "{}", scope.name());
    }
}

async fn nothing_can_be_allowed_that_was_not_asked_for(world: World) {
    let stage = Stage::on(&world).await;
    let page = stage.ask(&world, &[("scope", "alerts:read")]).await;
    let scopes = ["alerts:read", "alerts:write", "webhooks:write", "market:write"];
    let told = told(&world.decide(&stage.cookie, &page, "allow", &scopes).await, CALLBACK);
    let tokens = Tokens::of(&world.token(&stage.exchange(&told["code"])).await);
    assert_eq!(tokens.scope, "alerts:read");
}

async fn whoever_ticks_nothing_or_denies_is_sent_back_with_that(world: World) {
    let stage = Stage::on(&world).await;
    for (decision, scopes, why) in [
        ("allow", &[][..], "nothing of what was asked for"),
        ("allow", &["webhooks:read"], "nothing of what was asked for"),
        ("deny", &[], "does not want this"),
        ("deny", &ALL, "does not want this"),
    ] {
        let page = stage.ask(&world, &[]).await;
        let told = told(&world.decide(&stage.cookie, &page, decision, scopes).await, CALLBACK);
        assert_eq!(
            (told["error"].as_str(), told["state"].as_str()),
            ("access_denied", "a&b=%c d")
        );
        assert!(told["error_description"].contains(why) && !told.contains_key("code"));
    }
    let page = stage.ask(&world, &[]).await;
    shown(
        &world.decide(&stage.cookie, &page, "perhaps", &ALL).await,
        400,
        "allow or deny",
    );
    assert_eq!(grants(&world, &stage).await, json!([]));
}

async fn a_decision_counts_for_the_session_that_was_asked(world: World) {
    let stage = Stage::on(&world).await;
    world.confirmed("bob@example.com").await;
    let (bob, again) = (world.signed_in("bob@example.com").await, world.signed_in(ANN).await);
    let page = stage.ask(&world, &[]).await;
    for cookie in [&bob.cookie, &again.cookie] {
        shown(
            &world.decide(cookie, &page, "allow", &ALL).await,
            400,
            "open for too long",
        );
    }
    let nobody = world
        .press(
            "/oauth/authorize",
            &[FROM_HERE],
            &answered(&page, &hidden(&page, "request")),
        )
        .await;
    shown(&nobody, 401, "not signed in");
    for request in ["", "AAAA", "not base64", &hidden(&page, "request")[2..]] {
        let headers = [("cookie", stage.cookie.as_str()), FROM_HERE];
        let answer = world
            .press("/oauth/authorize", &headers, &answered(&page, request))
            .await;
        shown(&answer, 400, "open for too long");
    }
    let _ = world
        .stranger("POST", "/v1/auth/logout")
        .header("authorization", &format!("Bearer {}", stage.access))
        .send()
        .await;
    shown(
        &world.decide(&stage.cookie, &page, "allow", &ALL).await,
        401,
        "not signed in",
    );
}

fn answered<'a>(page: &'a Answer, request: &'a str) -> Vec<(&'a str, &'a str)> {
    assert_eq!(page.status, 200);
    vec![("request", request), ("decision", "allow"), ("scope", "alerts:read")]
}

async fn a_decision_from_another_site_does_nothing(world: World) {
    let stage = Stage::on(&world).await;
    let page = stage.ask(&world, &[]).await;
    let (request, nonce) = (hidden(&page, "request"), hidden(&page, "form"));
    let pairs = |form: &'static str| {
        let nonce = if form == "right" {
            nonce.clone()
        } else {
            form.to_owned()
        };
        [
            ("request".to_owned(), request.clone()),
            ("form".to_owned(), nonce),
            ("decision".to_owned(), "allow".to_owned()),
            ("scope".to_owned(), "alerts:read".to_owned()),
        ]
    };
    let both = format!("{}; __Host-bellwether_form={nonce}", stage.cookie);
    for (cookie, headers, form, is_taken) in [
        (stage.cookie.as_str(), &[][..], "right", false),
        (&both, &[], "wrong", false),
        (&both, &[("sec-fetch-site", "cross-site")], "right", false),
        (&both, &[("sec-fetch-site", "same-site")], "right", false),
        (&both, &[("origin", "https://evil.example")], "right", false),
        (&both, &[("origin", "null")], "right", true),
        (&both, &[], "right", true),
        (
            &stage.cookie,
            &[("origin", "https://alerts.example.com")],
            "wrong",
            true,
        ),
        (&stage.cookie, &[("sec-fetch-site", "same-origin")], "wrong", true),
    ] {
        let pairs = pairs(form);
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let mut all = vec![("cookie", cookie)];
        all.extend(headers);
        let answer = world.press("/oauth/authorize", &all, &pairs).await;
        if is_taken {
            assert!(told(&answer, CALLBACK).contains_key("code"), "{headers:?} {form}");
        } else {
            shown(&answer, 403, "did not come from this service");
        }
    }
}

async fn a_page_can_be_answered_for_ten_minutes(world: World) {
    let stage = Stage::on(&world).await;
    let page = stage.ask(&world, &[]).await;
    world.later(599);
    assert_eq!(world.decide(&stage.cookie, &page, "allow", &ALL).await.status, 303);
    world.later(1);
    shown(
        &world.decide(&stage.cookie, &page, "allow", &ALL).await,
        400,
        "open for too long",
    );
}

async fn an_account_allows_something_sixty_times_an_hour(world: World) {
    let stage = Stage::on(&world).await;
    let page = stage.ask(&world, &[]).await;
    let allow = async || world.decide(&stage.cookie, &page, "allow", &["alerts:read"]).await;
    for number in 0..60 {
        assert_eq!(allow().await.status, 303, "{number}");
    }
    let answer = allow().await;
    shown(&answer, 429, "at most 60 apps something in an hour");
    assert_eq!(answer.header("retry-after"), "3600");
    let denied = world.decide(&stage.cookie, &page, "deny", &[]).await;
    assert_eq!(told(&denied, CALLBACK)["error"], "access_denied", "that is no grant");
    // What nobody has come with a code for is forgotten, but not before it has counted.
    world.later(3599);
    world.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    let page = stage.ask(&world, &[]).await;
    let again = world.decide(&stage.cookie, &page, "allow", &["alerts:read"]).await;
    shown(&again, 429, "in an hour");
    world.later(1);
    let again = world.decide(&stage.cookie, &page, "allow", &["alerts:read"]).await;
    assert_eq!(again.status, 303, "{again:?}");
}

async fn an_account_that_rests_allows_nothing(world: World) {
    let stage = Stage::on(&world).await;
    let tokens = stage.tokens(&world, &ALL).await;
    let bearer = format!("Bearer {}", stage.access);
    let rest = world
        .stranger("POST", "/v1/user/account/deactivate")
        .header("authorization", &bearer);
    let _ = rest.send().await.ok(200);
    shown(&stage.allow(&world, &ALL).await, 403, "deactivated");
    assert!(world.is_good(&tokens.access).await, "what was allowed before goes on");
}

async fn whoever_has_to_confirm_their_address_allows_nothing_before(world: World) {
    let open = Stage::on(&world).await;
    world.register("bob@example.com", PASSWORD).await;
    let bob = world.signed_in("bob@example.com").await;
    let stage = Stage {
        cookie: bob.cookie,
        ..open
    };
    assert_eq!(stage.allow(&world, &ALL).await.status, 303, "nobody has to here");
    let strict = World::on(testkit::Database::sqlite(), crate::signing::unlimited(), |house| {
        house.identity.require_email_confirmation = true;
    })
    .await;
    strict.register("bob@example.com", PASSWORD).await;
    let client = strict.registered(&[CALLBACK]).await;
    let params = with(&stage.params(), &[("client_id", &client)]);
    let page = strict.show("", &params).await;
    let path = format!("/oauth/authorize?{}", super::form(&params));
    let pairs = [
        ("email", "bob@example.com"),
        ("password", PASSWORD),
        ("form", &hidden(&page, "form")),
    ];
    let answer = strict.press(&path, &[FROM_HERE], &pairs).await;
    shown(&answer, 401, "not confirmed yet");
    assert!(answer.headers.get("set-cookie").is_none());
}

async fn grants(world: &World, stage: &Stage) -> serde_json::Value {
    let request = world.stranger("GET", "/v1/oauth/grants");
    let bearer = format!("Bearer {}", stage.access);
    request.header("authorization", &bearer).send().await.ok(200).body["data"].clone()
}

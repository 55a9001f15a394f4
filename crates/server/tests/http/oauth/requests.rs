//! What a program sends somebody's browser with: what only the person is told, and what the program is.

use super::{ALL, CALLBACK, CHALLENGE, Stage, shown, told, world};
use crate::signing::on_each_database;
use crate::world::World;

on_each_database! {
    until_it_is_known_where_answers_may_go_nobody_is_sent_anywhere
    what_is_wrong_with_a_request_the_program_is_told
    who_has_not_signed_in_is_sent_to_no_host_by_a_wrong_request_but_sees_where_a_link_leads
    who_has_not_signed_in_is_sent_to_a_program_on_their_own_machine
    what_is_asked_for_is_what_there_is_of_it
    on_ones_own_machine_the_port_may_be_another
}

async fn until_it_is_known_where_answers_may_go_nobody_is_sent_anywhere(world: World) {
    let stage = Stage::on(&world).await;
    for spelling in [
        "https://app.example.com/callback/",
        "https://app.example.com/callbackx",
        "https://app.example.com/callback?x=1",
        "https://app.example.com/callback#x",
        "https://app.example.com/call",
        "https://app.example.com/a/../callback",
        "https://app.example.com/%63allback",
        "https://app.example.com/callback%2f..%2fevil",
        "https://app.example.com:443/callback",
        "https://APP.example.com/callback",
        "HTTPS://app.example.com/callback",
        "http://app.example.com/callback",
        "https://app.example.com@evil.example/callback",
        "https://evil.example/callback",
        "https://app.example.com.evil.example/callback",
        "https://evil.example/?https://app.example.com/callback",
        "//app.example.com/callback",
        "javascript:alert(1)",
        " https://app.example.com/callback",
        "https://app.example.com/callback\0",
    ] {
        for cookie in [stage.cookie.as_str(), ""] {
            let params = super::with(&stage.params(), &[("redirect_uri", spelling)]);
            shown(&world.show(cookie, &params).await, 400, "has not registered");
        }
    }
    shown(
        &stage.ask(&world, &[("redirect_uri", "")]).await,
        400,
        "without a redirect_uri",
    );
    shown(
        &stage.ask(&world, &[("client_id", "")]).await,
        400,
        "without a client_id",
    );
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    shown(
        &stage.ask(&world, &[("client_id", unknown)]).await,
        400,
        "not known here",
    );
    for name in ["client_id", "redirect_uri"] {
        let mut params = stage.params();
        let again = params.iter().find(|(found, _)| *found == name).copied().unwrap();
        params.push(again);
        shown(&world.show(&stage.cookie, &params).await, 400, "more than once");
    }
    let long = "s".repeat(4097);
    shown(&stage.ask(&world, &[("state", &long)]).await, 400, "too long");
}

async fn what_is_wrong_with_a_request_the_program_is_told(world: World) {
    let stage = Stage::on(&world).await;
    for (change, error) in [
        (&[("response_type", "")][..], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_type", "code token")], "unsupported_response_type"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", &CHALLENGE[1..])], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "s256")], "invalid_request"),
        (&[("scope", "moon:read")], "invalid_scope"),
        (&[("scope", "stocks:read market:write")], "invalid_scope"),
        (&[("resource", "https://alerts.example.com")], "invalid_target"),
        (&[("resource", "https://alerts.example.com/mcp/")], "invalid_target"),
        (&[("resource", "https://alerts.example.com/api/v1")], "invalid_target"),
        (&[("resource", "https://evil.example/mcp")], "invalid_target"),
        (
            &[("resource", super::RESOURCE), ("resource", "https://evil.example/mcp")],
            "invalid_target",
        ),
        (&[("scope", "alerts:read"), ("scope", "alerts:read")], "invalid_request"),
    ] {
        let params = super::with(&stage.params(), change);
        let answer = world.show(&stage.cookie, &params).await;
        assert_eq!(answer.status, 302, "{change:?} {answer:?}");
        let told = told(&answer, "https://app.example.com/callback?");
        assert_eq!(
            (told["error"].as_str(), told["state"].as_str()),
            (error, "a&b=%c d"),
            "{change:?}"
        );
        assert!(!told["error_description"].is_empty() && !told.contains_key("code"));
        // The very same, where a link leads.
        shown(&world.show("", &params).await, 400, &format!("error={error}&"));
    }
    let answer = stage.ask(&world, &[("state", ""), ("response_type", "token")]).await;
    assert!(!told(&answer, CALLBACK).contains_key("state"), "none was sent");
}

async fn who_has_not_signed_in_is_sent_to_no_host_by_a_wrong_request_but_sees_where_a_link_leads(world: World) {
    let stage = Stage::on(&world).await;
    let params = super::with(&stage.params(), &[("response_type", "token")]);
    let nobody = world.show("", &params).await;
    let over = world.show("__Host-bellwether_session=over", &params).await;
    for page in [&nobody, &over] {
        shown(page, 400, "response_type must be code");
        assert!(
            page.text.contains("takes you to app.example.com, away from here"),
            "{page:?}"
        );
        let (_, link) = page.text.split_once("<a href=\"").unwrap();
        let (link, label) = link.split_once("\">").unwrap();
        assert!(label.starts_with("Go to app.example.com</a>"), "{label}");
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        assert!(link.starts_with("https://app.example.com/callback?"), "{link}");
        let link = url::Url::parse(&link).unwrap();
        let told: Vec<_> = link.query_pairs().into_owned().collect();
        for (name, value) in [
            ("error", "unsupported_response_type"),
            ("state", "a&b=%c d"),
            ("iss", super::ISSUER),
        ] {
            assert!(told.contains(&(name.to_owned(), value.to_owned())), "{name}: {told:?}");
        }
    }
}

async fn who_has_not_signed_in_is_sent_to_a_program_on_their_own_machine(world: World) {
    let stage = Stage::on(&world).await;
    let uris = ["http://127.0.0.1/cb", "com.example.app:/cb"];
    let client = world.registered(&uris).await;
    for uri in uris {
        let change = [
            ("client_id", client.as_str()),
            ("redirect_uri", uri),
            ("response_type", "token"),
        ];
        let answer = world.show("", &super::with(&stage.params(), &change)).await;
        assert_eq!(told(&answer, uri)["error"], "unsupported_response_type");
    }
}

async fn what_is_asked_for_is_what_there_is_of_it(world: World) {
    let stage = Stage::on(&world).await;
    for (change, expected) in [
        (&[][..], &ALL[..]),
        (&[("resource", "")], &ALL),
        (&[("scope", "offline_access")], &ALL),
        (
            &[("scope", "watchlist:read alerts:read")],
            &["alerts:read", "watchlist:read"],
        ),
        (&[("scope", "alerts:write openid offline_access")], &["alerts:write"]),
        (&[("response_mode", "query"), ("prompt", "consent")], &ALL),
    ] {
        let page = stage.ask(&world, change).await;
        assert_eq!(page.status, 200, "{change:?} {page:?}");
        for scope in ALL {
            let choice = format!("<input type=\"checkbox\" name=\"scope\" value=\"{scope}\" checked>");
            assert_eq!(
                page.text.contains(&choice),
                expected.contains(&scope),
                "{change:?} {scope}"
            );
        }
    }
}

async fn on_ones_own_machine_the_port_may_be_another(world: World) {
    let stage = Stage::on(&world).await;
    let uris = [
        "http://127.0.0.1/cb",
        "http://[::1]:9/cb",
        "http://localhost:3000/cb",
        "com.example.app:/cb?a=1",
    ];
    let stage = Stage {
        client: world.registered(&uris).await,
        ..stage
    };
    for uri in [
        "http://127.0.0.1:51004/cb",
        "http://[::1]:51004/cb",
        "http://localhost/cb",
        "com.example.app:/cb?a=1",
    ] {
        let page = stage.ask(&world, &[("redirect_uri", uri)]).await;
        assert!(page.text.contains("an app on this device"), "{page:?}");
        let answer = world.decide(&stage.cookie, &page, "allow", &["alerts:read"]).await;
        let told = told(&answer, uri);
        assert_eq!(told["code"].len(), 43);
        let code = &told["code"];
        // The very address that the code went to, port and all.
        let other = stage.exchange(code);
        super::refused(
            &world.token(&super::with(&other, &[("redirect_uri", uris[0])])).await,
            400,
            "invalid_grant",
        );
        let tokens = world.token(&super::with(&other, &[("redirect_uri", uri)])).await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
    }
    for uri in [
        "http://127.0.0.1:51004/cb/",
        "http://127.0.0.1:80@evil.example/cb",
        "https://localhost:3000/cb",
        "http://127.0.0.2/cb",
    ] {
        shown(
            &stage.ask(&world, &[("redirect_uri", uri)]).await,
            400,
            "has not registered",
        );
    }
}

//! The consent page and its decisions.

use serde_json::json;

use super::{
    ALL, CALLBACK, FROM_HERE, OAuthFixture, Tokens, assert_error_page, hidden, redirect_params, start_server, with,
};
use crate::http::identity::{ANN, PASSWORD, on_each_database};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    consent_page_shows_client_scopes_and_redirect_host
    client_metadata_is_escaped
    pages_forbid_framing_and_caching
    consent_redirects_with_a_code
    unchecked_scopes_are_not_granted
    consent_cannot_grant_unrequested_scopes
    denial_redirects_with_access_denied
    decision_is_bound_to_its_session
    decision_from_another_site_is_rejected
    consent_page_expires_after_ten_minutes
    consent_is_limited_per_account_and_hour
    deactivated_account_cannot_consent
    unconfirmed_account_cannot_consent
}

async fn consent_page_shows_client_scopes_and_redirect_host(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let page = fixture.authorize(&server, &[]).await;
    for text in [
        "Allow “<bdi>Agent</bdi>” to access your account?",
        "signed in as <strong>ann@example.com</strong>",
        "This name is not verified.",
        "You will be redirected to <strong>app.example.com</strong>. Continue only if you came from there.",
        r#"method="post" action="authorize">"#,
        r#"<button type="submit" name="decision" value="allow">"#,
        r#"<button type="submit" name="decision" value="deny""#,
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    assert!(server.actor_of("mcp_at_").await.is_none());
    assert_eq!(grants(&server, &fixture).await, json!([]), "asking allows nothing");
}

async fn client_metadata_is_escaped(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let evil = r#"</bdi>"><script>alert(1)</script>"#;
    let body = json!({"client_name": evil, "redirect_uris": [CALLBACK]});
    let client = server.register_client(&body).await.body["client_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for cookie in [fixture.cookie.as_str(), ""] {
        let state = r#""><script>alert(2)</script>"#;
        let params = with(&fixture.params(), &[("client_id", &client), ("state", state)]);
        let page = server.get_authorize(cookie, &params).await;
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("<script"), "{}", page.text);
        assert!(page.text.contains("&#60;script&#62;alert(1)"), "{}", page.text);
    }
}

async fn pages_forbid_framing_and_caching(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let pages = [
        fixture.authorize(&server, &[]).await,
        server.get_authorize("", &fixture.params()).await,
        fixture.authorize(&server, &[("client_id", "nobody")]).await,
    ];
    for page in pages {
        assert_eq!(page.header("x-frame-options"), "DENY");
        assert_eq!(page.header("cache-control"), "no-store");
        let referrer = page.header("referrer-policy");
        assert!(["no-referrer", "same-origin"].contains(&referrer), "{referrer}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        let policy = page.header("content-security-policy");
        for part in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        // Browsers apply `form-action` to all redirects back to the client.
        let redirects = policy.contains("form-action 'self' https://app.example.com;");
        assert_eq!(redirects, page.text.contains("<form"), "{policy}");
        assert!(redirects || policy.contains("form-action 'self';"), "{policy}");
    }
}

async fn consent_redirects_with_a_code(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let response = fixture.allow(&server, &ALL).await;
    assert_eq!(response.status, 303, "the redirect uses GET");
    let redirect = redirect_params(&response, "https://app.example.com/callback?");
    let mut names: Vec<_> = redirect.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["code", "iss", "state"]);
    assert_eq!((redirect["code"].len(), redirect["state"].as_str()), (43, "a&b=%c d"));
}

async fn unchecked_scopes_are_not_granted(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &["alerts:read", "watchlist:write"]).await;
    assert_eq!(tokens.scope, "alerts:read watchlist:write");
    let actor = server.actor_of(&tokens.access).await.unwrap();
    for scope in foundation::Scope::ALL {
        let expected = ["alerts:read", "watchlist:write"].contains(&scope.name());
        assert_eq!(actor.require(*scope).is_ok(), expected, "{}", scope.name());
    }
}

async fn consent_cannot_grant_unrequested_scopes(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let page = fixture.authorize(&server, &[("scope", "alerts:read")]).await;
    let scopes = ["alerts:read", "alerts:write", "webhooks:write", "market:write"];
    let redirect = redirect_params(&server.decide(&fixture.cookie, &page, "allow", &scopes).await, CALLBACK);
    let tokens = Tokens::of(&server.token(&fixture.exchange(&redirect["code"])).await);
    assert_eq!(tokens.scope, "alerts:read");
}

async fn denial_redirects_with_access_denied(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    for (decision, scopes, why) in [
        ("allow", &[][..], "none of the requested scopes"),
        ("allow", &["webhooks:read"], "none of the requested scopes"),
        ("deny", &[], "denied the request"),
        ("deny", &ALL, "denied the request"),
    ] {
        let page = fixture.authorize(&server, &[]).await;
        let redirect = redirect_params(&server.decide(&fixture.cookie, &page, decision, scopes).await, CALLBACK);
        assert_eq!(
            (redirect["error"].as_str(), redirect["state"].as_str()),
            ("access_denied", "a&b=%c d")
        );
        assert!(redirect["error_description"].contains(why) && !redirect.contains_key("code"));
    }
    let page = fixture.authorize(&server, &[]).await;
    assert_error_page(
        &server.decide(&fixture.cookie, &page, "perhaps", &ALL).await,
        400,
        "allow or deny",
    );
    assert_eq!(grants(&server, &fixture).await, json!([]));
}

async fn decision_is_bound_to_its_session(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    server.confirmed("bob@example.com").await;
    let (bob, again) = (server.signed_in("bob@example.com").await, server.signed_in(ANN).await);
    let page = fixture.authorize(&server, &[]).await;
    for cookie in [&bob.cookie, &again.cookie] {
        assert_error_page(
            &server.decide(cookie, &page, "allow", &ALL).await,
            400,
            "This page has expired",
        );
    }
    let unauthenticated = server
        .submit_form(
            "/oauth/authorize",
            &[FROM_HERE],
            &answered(&page, &hidden(&page, "request")),
        )
        .await;
    assert_error_page(&unauthenticated, 401, "no longer signed in");
    for request in ["", "AAAA", "not base64", &hidden(&page, "request")[2..]] {
        let headers = [("cookie", fixture.cookie.as_str()), FROM_HERE];
        let response = server
            .submit_form("/oauth/authorize", &headers, &answered(&page, request))
            .await;
        assert_error_page(&response, 400, "This page has expired");
    }
    let _ = server
        .anonymous("POST", "/v1/auth/logout")
        .header("authorization", &format!("Bearer {}", fixture.access))
        .send()
        .await;
    assert_error_page(
        &server.decide(&fixture.cookie, &page, "allow", &ALL).await,
        401,
        "no longer signed in",
    );
}

fn answered<'a>(page: &'a TestResponse, request: &'a str) -> Vec<(&'a str, &'a str)> {
    assert_eq!(page.status, 200);
    vec![("request", request), ("decision", "allow"), ("scope", "alerts:read")]
}

async fn decision_from_another_site_is_rejected(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let page = fixture.authorize(&server, &[]).await;
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
    let both = format!("{}; __Host-bellwether_form={nonce}", fixture.cookie);
    for (cookie, headers, form, is_taken) in [
        (fixture.cookie.as_str(), &[][..], "right", false),
        (&both, &[], "wrong", false),
        (&both, &[("sec-fetch-site", "cross-site")], "right", false),
        (&both, &[("sec-fetch-site", "same-site")], "right", false),
        (&both, &[("origin", "https://evil.example")], "right", false),
        (&both, &[("origin", "null")], "right", true),
        (&both, &[], "right", true),
        (
            &fixture.cookie,
            &[("origin", "https://alerts.example.com")],
            "wrong",
            true,
        ),
        (&fixture.cookie, &[("sec-fetch-site", "same-origin")], "wrong", true),
    ] {
        let pairs = pairs(form);
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let mut all = vec![("cookie", cookie)];
        all.extend(headers);
        let response = server.submit_form("/oauth/authorize", &all, &pairs).await;
        if is_taken {
            assert!(
                redirect_params(&response, CALLBACK).contains_key("code"),
                "{headers:?} {form}"
            );
        } else {
            assert_error_page(&response, 403, "does not come from this service");
        }
    }
}

async fn consent_page_expires_after_ten_minutes(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let page = fixture.authorize(&server, &[]).await;
    server.later(599);
    assert_eq!(server.decide(&fixture.cookie, &page, "allow", &ALL).await.status, 303);
    server.later(1);
    assert_error_page(
        &server.decide(&fixture.cookie, &page, "allow", &ALL).await,
        400,
        "This page has expired",
    );
}

async fn consent_is_limited_per_account_and_hour(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let page = fixture.authorize(&server, &[]).await;
    let allow = async || server.decide(&fixture.cookie, &page, "allow", &["alerts:read"]).await;
    for number in 0..60 {
        assert_eq!(allow().await.status, 303, "{number}");
    }
    let response = allow().await;
    assert_error_page(&response, 429, "at most 60 apps per hour");
    assert_eq!(response.header("retry-after"), "3600");
    let denied = server.decide(&fixture.cookie, &page, "deny", &[]).await;
    assert_eq!(
        redirect_params(&denied, CALLBACK)["error"],
        "access_denied",
        "that is no grant"
    );
    // An unused code expires, but its grant has counted.
    server.later(3599);
    server.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    let page = fixture.authorize(&server, &[]).await;
    let again = server.decide(&fixture.cookie, &page, "allow", &["alerts:read"]).await;
    assert_error_page(&again, 429, "per hour");
    server.later(1);
    let again = server.decide(&fixture.cookie, &page, "allow", &["alerts:read"]).await;
    assert_eq!(again.status, 303, "{again:?}");
}

async fn deactivated_account_cannot_consent(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let tokens = fixture.tokens(&server, &ALL).await;
    let bearer = format!("Bearer {}", fixture.access);
    let rest = server
        .anonymous("POST", "/v1/user/account/deactivate")
        .header("authorization", &bearer);
    let _ = rest.send().await.ok(200);
    assert_error_page(&fixture.allow(&server, &ALL).await, 403, "deactivated");
    assert!(server.is_valid(&tokens.access).await, "earlier grants stay valid");
}

async fn unconfirmed_account_cannot_consent(server: TestServer) {
    let open = OAuthFixture::on(&server).await;
    server.register("bob@example.com", PASSWORD).await;
    let bob = server.signed_in("bob@example.com").await;
    let fixture = OAuthFixture {
        cookie: bob.cookie,
        ..open
    };
    assert_eq!(
        fixture.allow(&server, &ALL).await.status,
        303,
        "confirmation is not required here"
    );
    let strict = TestServer::with_database(
        testkit::Database::sqlite(),
        crate::http::identity::unlimited(),
        |settings| {
            settings.identity.require_email_confirmation = true;
        },
    )
    .await;
    strict.register("bob@example.com", PASSWORD).await;
    let client = strict.registered(&[CALLBACK]).await;
    let params = with(&fixture.params(), &[("client_id", &client)]);
    let page = strict.get_authorize("", &params).await;
    let path = format!("/oauth/authorize?{}", super::form(&params));
    let pairs = [
        ("email", "bob@example.com"),
        ("password", PASSWORD),
        ("form", &hidden(&page, "form")),
    ];
    let response = strict.submit_form(&path, &[FROM_HERE], &pairs).await;
    assert_error_page(&response, 401, "not confirmed yet");
    assert!(response.headers.get("set-cookie").is_none());
}

async fn grants(server: &TestServer, fixture: &OAuthFixture) -> serde_json::Value {
    let request = server.anonymous("GET", "/v1/oauth/grants");
    let bearer = format!("Bearer {}", fixture.access);
    request.header("authorization", &bearer).send().await.ok(200).body["data"].clone()
}

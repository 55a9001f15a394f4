//! Authorization requests: errors shown to the user, and errors sent to the client.

use super::{ALL, CALLBACK, CHALLENGE, OAuthFixture, assert_error_page, redirect_params, start_server};
use crate::http::identity::on_each_database;
use crate::http::test_server::TestServer;

on_each_database! {
    invalid_client_or_redirect_uri_does_not_redirect
    request_errors_are_sent_to_the_client
    signed_out_error_shows_a_link_instead_of_a_redirect
    signed_out_error_redirects_to_local_apps
    unknown_scopes_are_ignored
    loopback_redirect_uri_may_have_any_port
}

async fn invalid_client_or_redirect_uri_does_not_redirect(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
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
        for cookie in [fixture.cookie.as_str(), ""] {
            let params = super::with(&fixture.params(), &[("redirect_uri", spelling)]);
            assert_error_page(&server.get_authorize(cookie, &params).await, 400, "is not registered");
        }
    }
    assert_error_page(
        &fixture.authorize(&server, &[("redirect_uri", "")]).await,
        400,
        "has no redirect_uri",
    );
    assert_error_page(
        &fixture.authorize(&server, &[("client_id", "")]).await,
        400,
        "has no client_id",
    );
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    assert_error_page(
        &fixture.authorize(&server, &[("client_id", unknown)]).await,
        400,
        "not registered here",
    );
    for name in ["client_id", "redirect_uri"] {
        let mut params = fixture.params();
        let again = params.iter().find(|(found, _)| *found == name).copied().unwrap();
        params.push(again);
        assert_error_page(
            &server.get_authorize(&fixture.cookie, &params).await,
            400,
            "more than once",
        );
    }
    let long = "s".repeat(4097);
    assert_error_page(&fixture.authorize(&server, &[("state", &long)]).await, 400, "too long");
}

async fn request_errors_are_sent_to_the_client(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
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
        let params = super::with(&fixture.params(), change);
        let response = server.get_authorize(&fixture.cookie, &params).await;
        assert_eq!(response.status, 302, "{change:?} {response:?}");
        let redirect = redirect_params(&response, "https://app.example.com/callback?");
        assert_eq!(
            (redirect["error"].as_str(), redirect["state"].as_str()),
            (error, "a&b=%c d"),
            "{change:?}"
        );
        assert!(!redirect["error_description"].is_empty() && !redirect.contains_key("code"));
        // The link has the same URL.
        assert_error_page(
            &server.get_authorize("", &params).await,
            400,
            &format!("error={error}&"),
        );
    }
    let response = fixture
        .authorize(&server, &[("state", ""), ("response_type", "token")])
        .await;
    assert!(
        !redirect_params(&response, CALLBACK).contains_key("state"),
        "none was sent"
    );
}

async fn signed_out_error_shows_a_link_instead_of_a_redirect(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let params = super::with(&fixture.params(), &[("response_type", "token")]);
    let unauthenticated = server.get_authorize("", &params).await;
    let over = server.get_authorize("__Host-bellwether_session=over", &params).await;
    for page in [&unauthenticated, &over] {
        assert_error_page(page, 400, "response_type must be code");
        assert!(
            page.text.contains("takes you to app.example.com, away from this site"),
            "{page:?}"
        );
        let (_, link) = page.text.split_once("<a href=\"").unwrap();
        let (link, label) = link.split_once("\">").unwrap();
        assert!(label.starts_with("Go to app.example.com</a>"), "{label}");
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        assert!(link.starts_with("https://app.example.com/callback?"), "{link}");
        let link = url::Url::parse(&link).unwrap();
        let redirect: Vec<_> = link.query_pairs().into_owned().collect();
        for (name, value) in [
            ("error", "unsupported_response_type"),
            ("state", "a&b=%c d"),
            ("iss", super::ISSUER),
        ] {
            assert!(
                redirect.contains(&(name.to_owned(), value.to_owned())),
                "{name}: {redirect:?}"
            );
        }
    }
}

async fn signed_out_error_redirects_to_local_apps(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let uris = ["http://127.0.0.1/cb", "com.example.app:/cb"];
    let client = server.registered(&uris).await;
    for uri in uris {
        let change = [
            ("client_id", client.as_str()),
            ("redirect_uri", uri),
            ("response_type", "token"),
        ];
        let response = server.get_authorize("", &super::with(&fixture.params(), &change)).await;
        assert_eq!(redirect_params(&response, uri)["error"], "unsupported_response_type");
    }
}

async fn unknown_scopes_are_ignored(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
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
        let page = fixture.authorize(&server, change).await;
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

async fn loopback_redirect_uri_may_have_any_port(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let uris = [
        "http://127.0.0.1/cb",
        "http://[::1]:9/cb",
        "http://localhost:3000/cb",
        "com.example.app:/cb?a=1",
    ];
    let fixture = OAuthFixture {
        client: server.registered(&uris).await,
        ..fixture
    };
    for uri in [
        "http://127.0.0.1:51004/cb",
        "http://[::1]:51004/cb",
        "http://localhost/cb",
        "com.example.app:/cb?a=1",
    ] {
        let page = fixture.authorize(&server, &[("redirect_uri", uri)]).await;
        assert!(page.text.contains("an app on this device"), "{page:?}");
        let response = server.decide(&fixture.cookie, &page, "allow", &["alerts:read"]).await;
        let redirect = redirect_params(&response, uri);
        assert_eq!(redirect["code"].len(), 43);
        let code = &redirect["code"];
        // The token request needs the exact redirect URI of the code, including the port.
        let other = fixture.exchange(code);
        super::assert_oauth_error(
            &server.token(&super::with(&other, &[("redirect_uri", uris[0])])).await,
            400,
            "invalid_grant",
        );
        let tokens = server.token(&super::with(&other, &[("redirect_uri", uri)])).await;
        assert_eq!(tokens.status, 200, "{tokens:?}");
    }
    for uri in [
        "http://127.0.0.1:51004/cb/",
        "http://127.0.0.1:80@evil.example/cb",
        "https://localhost:3000/cb",
        "http://127.0.0.2/cb",
    ] {
        assert_error_page(
            &fixture.authorize(&server, &[("redirect_uri", uri)]).await,
            400,
            "is not registered",
        );
    }
}

//! Sign-in before OAuth consent.

use server::{HttpConfig, RateLimits};

use super::{CALLBACK, FROM_HERE, OAuthFixture, assert_error_page, form, hidden, redirect_params, start_server, with};
use crate::http::identity::{ANN, PASSWORD, cookie, on_each_database};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    sign_in_returns_to_the_consent_request
    wrong_password_does_not_reveal_whether_the_account_exists
    user_can_switch_accounts_before_consent
    sign_in_form_of_another_site_is_rejected
    sign_in_redirects_only_to_the_consent_page
}

async fn sign_in(
    server: &TestServer,
    params: &[(&str, &str)],
    headers: &[(&str, &str)],
    email: &str,
    password: &str,
) -> TestResponse {
    let page = server.get_authorize("", params).await;
    assert_eq!(page.status, 200, "{page:?}");
    let nonce = hidden(&page, "form");
    let path = format!("/oauth/{}", action(&page));
    let pairs = [("form", nonce.as_str()), ("email", email), ("password", password)];
    server.submit_form(&path, headers, &pairs).await
}

/// Returns the action URL of a page's form, resolved as in a browser.
fn action(page: &TestResponse) -> String {
    let (_, rest) = page.text.split_once("method=\"post\" action=\"").unwrap();
    let text = rest.split('"').next().unwrap();
    text.replace("&#38;", "&").replace("&amp;", "&")
}

async fn sign_in_returns_to_the_consent_request(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let params = with(&fixture.params(), &[("scope", "alerts:read")]);
    let page = server.get_authorize("", &params).await;
    for text in [
        "An app named “<bdi>Agent</bdi>”",
        "Email me a sign-in link",
        "type=\"password\"",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let response = sign_in(&server, &params, &[FROM_HERE], ANN, PASSWORD).await;
    assert_eq!(response.status, 303, "{response:?}");
    let location = response.header("location");
    assert_eq!(location, format!("authorize?{}", form(&params)));
    assert!(response.header("set-cookie").contains("HttpOnly; SameSite=Lax; Secure"));
    let cookie = cookie(&response);
    assert_ne!(cookie, fixture.cookie, "sign-in starts a new session");
    let again = server
        .anonymous("GET", &format!("/oauth/{location}"))
        .header("cookie", &cookie)
        .send()
        .await;
    let decided = server.decide(&cookie, &again, "allow", &["alerts:read"]).await;
    let redirect = redirect_params(&decided, CALLBACK);
    assert_eq!(
        server.token(&fixture.exchange(&redirect["code"])).await.body["scope"],
        "alerts:read"
    );
}

async fn wrong_password_does_not_reveal_whether_the_account_exists(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let params = fixture.params();
    let mut texts = Vec::new();
    for (email, password) in [(ANN, "wrong horse"), ("nobody@example.com", PASSWORD)] {
        let response = sign_in(&server, &params, &[FROM_HERE], email, password).await;
        assert_error_page(&response, 401, "No account has this address and password");
        assert!(response.headers.get("set-cookie").is_none());
        assert!(
            !response.text.contains(password),
            "the page must not contain the password"
        );
        texts.push(response.text.replace(&hidden(&response, "form"), ""));
    }
    assert_eq!(texts[0], texts[1]);
    let nothing = sign_in(&server, &params, &[FROM_HERE], ANN, "").await;
    assert_error_page(&nothing, 401, "No account has this address and password");
    assert_error_page(&sign_in(&server, &params, &[FROM_HERE], "", "").await, 400, "email");
}

async fn user_can_switch_accounts_before_consent(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    server.confirmed("bob@example.com").await;
    let page = fixture.authorize(&server, &[]).await;
    let (_, rest) = page.text.split_once("<a href=\"authorize?").unwrap();
    let query = rest
        .split('"')
        .next()
        .unwrap()
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    assert_eq!(query, format!("{}&prompt=login", form(&fixture.params())));
    let path = format!("/oauth/authorize?{query}");
    let page = server
        .anonymous("GET", &path)
        .header("cookie", &fixture.cookie)
        .send()
        .await;
    assert_eq!(action(&page), format!("authorize?{}", form(&fixture.params())));
    let pairs = [("email", "bob@example.com"), ("password", PASSWORD)];
    let headers = [FROM_HERE, ("cookie", fixture.cookie.as_str())];
    let response = server
        .submit_form(&format!("/oauth/{}", action(&page)), &headers, &pairs)
        .await;
    assert_eq!(
        response.header("location"),
        format!("authorize?{}", form(&fixture.params()))
    );
    let bob = cookie(&response);
    let page = server.get_authorize(&bob, &fixture.params()).await;
    assert!(
        page.text.contains("signed in as <strong>bob@example.com</strong>"),
        "{page:?}"
    );
}

async fn sign_in_form_of_another_site_is_rejected(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        let response = sign_in(&server, &fixture.params(), headers, ANN, PASSWORD).await;
        assert_error_page(&response, 403, "does not come from this service");
        assert!(response.headers.get("set-cookie").is_none());
    }
}

async fn sign_in_redirects_only_to_the_consent_page(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let elsewhere = "https://evil.example/callback";
    for params in [
        with(&fixture.params(), &[("redirect_uri", elsewhere)]),
        with(&fixture.params(), &[("client_id", "nobody")]),
    ] {
        let path = format!("/oauth/authorize?{}", form(&params));
        let pairs = [("email", ANN), ("password", PASSWORD)];
        let response = server.submit_form(&path, &[FROM_HERE], &pairs).await;
        assert_error_page(&response, 400, "No access was granted");
        assert!(response.headers.get("set-cookie").is_none());
    }
    let more = [
        ("next", elsewhere),
        ("return_to", "//evil.example"),
        ("state", "\r\nLocation: https://evil.example"),
    ];
    let params = with(&fixture.params(), &more);
    let response = sign_in(&server, &params, &[FROM_HERE], ANN, PASSWORD).await;
    assert_eq!(response.header("location"), format!("authorize?{}", form(&params)));
}

#[tokio::test]
async fn sign_in_is_limited_per_address_and_minute() {
    let limits = RateLimits {
        login_per_minute: 3,
        register_per_hour: 100,
        ..RateLimits::default()
    };
    let settings = HttpConfig {
        limits,
        ..HttpConfig::default()
    };
    let server = TestServer::with_config(settings).await;
    let fixture = OAuthFixture::on(&server).await;
    // The requests to confirm the address and to sign in count too.
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let response = sign_in(&server, &fixture.params(), &[FROM_HERE], ANN, "wrong horse").await;
        statuses.push(response.status);
        if response.status == 429 {
            assert_eq!(response.header("retry-after"), "60");
        }
    }
    assert_eq!(statuses, [401, 429]);
}

#[tokio::test]
async fn password_guessing_is_throttled_on_the_sign_in_page() {
    let server = TestServer::with_config(crate::http::identity::unlimited()).await;
    let fixture = OAuthFixture::on(&server).await;
    let mut last = 0;
    for _ in 0..7 {
        last = sign_in(&server, &fixture.params(), &[FROM_HERE], ANN, "wrong horse")
            .await
            .status;
    }
    assert_eq!(last, 429);
}

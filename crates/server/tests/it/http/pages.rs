//! The pages behind email links, for browsers without scripts and for link scanners.

use serde_json::json;
use url::form_urlencoded;

use crate::http::identity::{ANN, OTHER_PASSWORD, PASSWORD, on_each_database, start_server, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    opening_a_link_changes_nothing_and_its_form_works_once
    reset_page_validates_the_new_password
    magic_link_page_signs_the_browser_in
    sign_in_page_emails_a_link
    forgotten_password_page_emails_a_reset_link
    competing_registrations_are_offered_a_link
    sign_in_form_of_another_site_is_rejected
}

const SECOND: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

async fn open(server: &TestServer, path: &str) -> TestResponse {
    protected(server.anonymous("GET", path).send().await)
}

async fn submit(server: &TestServer, path: &str, headers: &[(&str, &str)], form: &[(&str, &str)]) -> TestResponse {
    let response = submit_form(server, path, headers, form).await;
    if response.status == 303 {
        response
    } else {
        protected(response)
    }
}

async fn submit_form(server: &TestServer, path: &str, headers: &[(&str, &str)], form: &[(&str, &str)]) -> TestResponse {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let mut request = server.anonymous("POST", path).body(body);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.send().await
}

const FROM_HERE: [(&str, &str); 1] = [("sec-fetch-site", "same-origin")];

/// Asserts that a page forbids caching, framing, scripts and referrers.
#[track_caller]
fn protected(response: TestResponse) -> TestResponse {
    assert_eq!(
        response.header("content-type"),
        "text/html; charset=utf-8",
        "{response:?}"
    );
    assert_eq!(response.header("cache-control"), "no-store");
    let referrer = response.header("referrer-policy");
    assert!(["no-referrer", "same-origin"].contains(&referrer), "{referrer}");
    assert_eq!(response.header("x-content-type-options"), "nosniff");
    assert_eq!(response.header("x-frame-options"), "DENY");
    let policy = response.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!response.text.contains("<script"), "{}", response.text);
    assert_eq!(response.text.contains("<form"), response.text.contains("<button"));
    response
}

#[track_caller]
fn assert_page(response: &TestResponse, status: u16, text: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert!(response.text.contains(text), "{text:?} is not in {}", response.text);
}

/// Returns the value of a hidden field of a page's form.
#[track_caller]
fn hidden(page: &TestResponse, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {name}: {}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

async fn opening_a_link_changes_nothing_and_its_form_works_once(server: TestServer) {
    let token = server.register(ANN, PASSWORD).await;
    let link = format!("/confirm?token={token}");
    for _ in 0..3 {
        let page = open(&server, &link).await;
        assert_page(&page, 200, "Confirm my address");
        assert_eq!(hidden(&page, "token"), token);
        assert!(
            page.text.contains(r#"method="post" action="confirm">"#),
            "{}",
            page.text
        );
        let head = server.anonymous("HEAD", &link).send().await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
    }
    let ann = server.signed_in(ANN).await;
    let verified = async || server.session(&ann.access).await.ok(200).body["data"]["user"]["is_verified"].clone();
    assert_eq!(verified().await, false);
    assert_page(
        &submit(&server, "/confirm", &[], &[("token", &token)]).await,
        200,
        "Your address is confirmed",
    );
    assert_eq!(verified().await, true);
    assert_page(
        &submit(&server, "/confirm", &[], &[("token", &token)]).await,
        400,
        "no longer works",
    );
    // The token is invalid for other pages.
    let another = server.register("bob@example.com", PASSWORD).await;
    for page in ["/confirm-address", "/verify-alert"] {
        assert_page(
            &submit(&server, page, &[], &[("token", &another)]).await,
            400,
            "no longer works",
        );
    }
}

async fn reset_page_validates_the_new_password(server: TestServer) {
    server.confirmed(ANN).await;
    let before = server.signed_in(ANN).await;
    let token = server.reset_link(ANN).await;
    let page = open(
        &server,
        &format!("/reset-password?email=ann%40example.com&token={token}"),
    )
    .await;
    assert_page(&page, 200, "For the account ann@example.com.");
    assert!(page.text.contains(r#"type="password""#) && page.text.contains(r#"autocomplete="new-password""#));
    assert_eq!(
        (hidden(&page, "email"), hidden(&page, "token")),
        (ANN.to_owned(), token.clone())
    );
    let send = async |password: &str| {
        let form = [("email", ANN), ("token", token.as_str()), ("new_password", password)];
        submit(&server, "/reset-password", &[], &form).await
    };
    let again = send("short").await;
    assert_page(&again, 422, "must have 8 to 200 characters");
    assert_eq!(hidden(&again, "token"), token);
    assert!(!again.text.contains("short"), "the page must not contain the password");
    assert_page(&send(OTHER_PASSWORD).await, 200, "Your password is set");
    assert_page(&send(OTHER_PASSWORD).await, 400, "no longer works");
    let _ = server.session(&before.access).await.refused(401, "UNAUTHORIZED");
    let _ = server.login(ANN, OTHER_PASSWORD).await.ok(200);
}

async fn magic_link_page_signs_the_browser_in(server: TestServer) {
    server.confirmed(ANN).await;
    let token = server.magic_link(ANN).await;
    let page = open(&server, &format!("/sign-in?token={token}")).await;
    assert_page(&page, 200, "Sign in?");
    let done = submit(&server, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    assert_eq!((done.status, done.header("location")), (303, "/"));
    let _ = server
        .session_of_cookie(&crate::http::identity::cookie(&done))
        .await
        .ok(200);
    let again = submit(&server, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    assert_page(&again, 400, "no longer works");
    assert!(!again.headers.contains_key("set-cookie"));
}

async fn sign_in_page_emails_a_link(server: TestServer) {
    server.confirmed(ANN).await;
    let page = open(&server, "/sign-in").await;
    assert_page(&page, 200, "Email me a sign-in link");
    let ask = async |email: &str| submit(&server, "/sign-in", &FROM_HERE, &[("email", email), ("by", "link")]).await;
    assert_page(&ask("ann").await, 422, "must be an email address");
    let known = ask(ANN).await;
    let token = server.latest_token();
    let unknown = ask("nobody@example.com").await;
    assert_page(&known, 200, "Check your email");
    assert_eq!(known.text, unknown.text);
    let done = submit(&server, "/sign-in", &FROM_HERE, &[("token", &token)]).await;
    assert_eq!((done.status, done.header("location")), (303, "/"));
}

async fn forgotten_password_page_emails_a_reset_link(server: TestServer) {
    server.confirmed(ANN).await;
    let page = open(&server, "/sign-in").await;
    assert_page(&page, 200, "I have forgotten my password");
    let ask = async |email: &str| {
        let form = [("email", email), ("by", "reset")];
        submit(&server, "/sign-in", &FROM_HERE, &form).await
    };
    assert_page(&ask("ann").await, 422, "must be an email address");
    let known = ask(ANN).await;
    let token = server.latest_token();
    let unknown = ask("nobody@example.com").await;
    assert_page(&known, 200, "a link to choose a new password");
    assert_eq!(known.text, unknown.text);
    let _ = server.reset(ANN, &token, OTHER_PASSWORD).await.ok(200);
    let _ = server.login(ANN, OTHER_PASSWORD).await.ok(200);
}

async fn competing_registrations_are_offered_a_link(server: TestServer) {
    let first = server.register(ANN, "mallory's password").await;
    let _ = server.register(ANN, PASSWORD).await;
    let page = submit(&server, "/confirm", &[], &[("token", &first)]).await;
    assert_page(&page, 200, "no password is valid yet");
    assert_page(&page, 200, r#"<a href="sign-in">"#);
}

async fn sign_in_form_of_another_site_is_rejected(server: TestServer) {
    server.confirmed(ANN).await;
    let token = server.magic_link(ANN).await;
    let page = open(&server, &format!("/sign-in?token={token}")).await;
    let set = page.header("set-cookie");
    assert!(set.starts_with("__Host-bellwether_form="), "{set}");
    assert!(
        set.ends_with("; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure"),
        "{set}"
    );
    let cookie = crate::http::identity::cookie(&page);
    let nonce = hidden(&page, "form");
    let form = [("token", token.as_str()), ("form", nonce.as_str())];
    let bare = [("token", token.as_str())];
    let none: [(&str, &str); 1] = [("origin", "null")];
    let other = format!("__Host-bellwether_form={}", "0".repeat(32));
    for (headers, form) in [
        (&[][..], &form[..]),
        (&none, &form),
        (&[("cookie", cookie.as_str())], &bare),
        (&[("cookie", other.as_str())], &form),
        (
            &[("cookie", "__Host-bellwether_form=")],
            &[("token", token.as_str()), ("form", "")],
        ),
        (&[("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")], &form),
        (&[("cookie", cookie.as_str()), ("sec-fetch-site", "same-site")], &form),
        (
            &[("cookie", cookie.as_str()), ("origin", "https://evil.example.com")],
            &form,
        ),
    ] {
        let refused = submit(&server, "/sign-in", headers, form).await;
        assert_page(&refused, 403, "does not come from this service&#39;s page");
        assert!(!refused.headers.contains_key("set-cookie"));
    }
    // A page that was opened at another address of the service has no way in; its owner learns the fix.
    let elsewhere = [("origin", "http://192.168.1.5:8080"), ("host", "192.168.1.5:8080")];
    let refused = submit(&server, "/sign-in", &elsewhere, &form).await;
    assert_page(
        &refused,
        403,
        "opened at http://192.168.1.5:8080, but the address of this service is https://alerts.example.com",
    );
    assert!(refused.text.contains("server.public_url"), "{}", refused.text);
    // An old browser, or one without HTTPS, sends no origin. The cookie proves the form's origin.
    let headers = [("cookie", cookie.as_str()), none[0]];
    let done = submit(&server, "/sign-in", &headers, &form).await;
    assert_eq!((done.status, done.header("location")), (303, "/"));
}

#[tokio::test]
async fn invalid_link_shows_an_error_page_with_escaped_input() {
    let server = start_server(testkit::Database::sqlite()).await;
    let evil = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    for page in ["confirm", "confirm-address", "verify-alert", "reset-password"] {
        for query in [
            "",
            "?token=",
            "?token=short",
            &format!("?token={evil}"),
            &format!("?token={}", "A".repeat(44)),
        ] {
            assert_page(
                &open(&server, &format!("/{page}{query}")).await,
                400,
                "This link does not work",
            );
        }
        assert_page(
            &submit(&server, &format!("/{page}"), &[], &[]).await,
            400,
            "no longer works",
        );
        let form = [
            ("token", "\"><script>"),
            ("email", "<script>"),
            ("new_password", PASSWORD),
        ];
        let refused = submit(&server, &format!("/{page}"), &[], &form).await;
        assert_page(&refused, 400, "no longer works");
    }
    let page = open(&server, &format!("/reset-password?email={evil}&token={SECOND}")).await;
    assert_page(&page, 200, "&#60;script&#62;");
    assert_page(
        &open(&server, &format!("/sign-in?token={evil}")).await,
        200,
        "Email me a sign-in link",
    );
    let json = server.auth_request("x", &json!({})).send().await;
    let _ = json.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn page_requests_share_the_api_limits() {
    let mut settings = unlimited();
    settings.limits.login_per_minute = 2;
    let server = TestServer::with_database(testkit::Database::sqlite(), settings, |_| ()).await;
    assert_page(
        &submit(&server, "/confirm", &[], &[("token", SECOND)]).await,
        400,
        "no longer works",
    );
    let _ = server
        .post_auth("confirm", json!({"token": SECOND}))
        .await
        .refused(400, "BAD_REQUEST");
    for page in [
        "/confirm",
        "/confirm-address",
        "/verify-alert",
        "/reset-password",
        "/sign-in",
    ] {
        let refused = submit(&server, page, &FROM_HERE, &[("token", SECOND)]).await;
        assert_page(&refused, 429, "Too many requests");
        assert_eq!(refused.header("retry-after"), "60");
        assert_page(
            &open(&server, &format!("{page}?token={SECOND}&email=a%40example.com")).await,
            200,
            "<form",
        );
    }
}

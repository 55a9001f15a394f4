//! Access of visitors to pages, forms and files.

use super::Browser;
use crate::http::test_server::TestServer;

const PAGES: [&str; 20] = [
    "/",
    "/alerts",
    "/alerts?status=active&search=a%20b",
    "/alerts/new?text=AAPL+%3C+180",
    "/alerts/00000000-0000-4000-8000-000000000000",
    "/alerts/00000000-0000-4000-8000-000000000000/edit",
    "/approvals",
    "/deliveries",
    "/fired",
    "/operator",
    "/settings",
    "/settings/account",
    "/settings/agents",
    "/settings/channels",
    "/settings/channels/new",
    "/settings/keys",
    "/settings/sessions",
    "/settings/webhooks",
    "/stocks/AAPL",
    "/watchlist",
];

const FORMS: [&str; 26] = [
    "/alerts/00000000-0000-4000-8000-000000000000/edit",
    "/alerts/actions",
    "/alerts/new",
    "/alerts/undo",
    "/appearance",
    "/approvals",
    "/deliveries/messages/resend",
    "/deliveries/recover",
    "/deliveries/resend",
    "/fired/acknowledge",
    "/fired/rearm",
    "/fired/seen",
    "/operator/jobs",
    "/settings",
    "/settings/account",
    "/settings/agents",
    "/settings/channels",
    "/settings/channels/new",
    "/settings/keys",
    "/settings/sessions",
    "/settings/webhooks",
    "/sign-out",
    "/watchlist",
    "/watchlist/alert",
    "/watchlist/change",
    "/watchlist/proposal",
];

#[tokio::test]
async fn each_address_leads_a_signed_out_browser_to_the_sign_in_page_and_back() {
    let server = TestServer::new().await;
    for path in PAGES {
        let response = server.anonymous("GET", path).send().await.is(303);
        let location = response.header("location");
        let next: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
        let expected = if path == "/" {
            "/sign-in".to_owned()
        } else {
            format!("/sign-in?next={next}")
        };
        assert_eq!(location, expected);
        // htmx would put a followed redirect into a part of the page.
        let part = server
            .anonymous("GET", path)
            .header("hx-request", "true")
            .send()
            .await
            .is(204);
        assert_eq!(part.header("hx-redirect"), location);
    }
}

#[tokio::test]
async fn sign_in_returns_only_to_addresses_of_this_service() {
    let server = TestServer::new().await;
    for (next, expected) in [
        ("/alerts?status=active", "/alerts?status=active"),
        ("https://evil.example", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("", "/"),
    ] {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("email", "operator@example.com"),
                ("password", "correct horse"),
                ("next", next),
            ])
            .finish();
        let request = server
            .anonymous("POST", "/sign-in")
            .header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(body).send().await.is(303);
        assert_eq!(response.header("location"), expected, "{next:?}");
    }
}

#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    let browser = Browser::operator(&server).await;
    for path in FORMS {
        let form = [
            ("action", "delete"),
            ("id", id.as_str()),
            ("alert", id.as_str()),
            ("text", "AAPL < 90"),
            ("decision", "approve"),
        ];
        let refused = browser.post_from("https://evil.example", path, &form).await.is(403);
        assert!(refused.text.contains("was refused"), "{path}: {}", refused.text);
    }
    let kept = server.get("/v1/alerts").await.ok(200);
    assert_eq!(kept.body["data"].as_array().unwrap().len(), 1);
    assert_eq!(kept.body["data"][0]["status"], "active");
    let _ = browser.get("/").await.is(200);
}

#[tokio::test]
async fn opening_an_address_changes_nothing() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(125).await;
    let browser = Browser::operator(&server).await;
    let before = server.get("/v1/alerts").await.ok(200).body["data"].clone();
    for path in FORMS {
        let query = format!(
            "id={id}&action=delete&decision=approve&text=AAPL+%3C+90&symbol=AAPL&full_name=x&confirm=DELETE&job=cleanup"
        );
        for method in ["GET", "HEAD"] {
            let response = browser.request(method, &format!("{path}?{query}")).send().await;
            // Some addresses of forms have a page, too.
            let status = response.status;
            assert!(![302, 303, 500].contains(&status), "{method} {path}: {status}");
            assert!(!response.headers.contains_key("set-cookie"), "{method} {path}");
        }
    }
    assert_eq!(server.get("/v1/alerts").await.ok(200).body["data"], before);
    let watched = server.get("/v1/watchlist").await.ok(200);
    assert_eq!(watched.body["data"], serde_json::json!([]));
    let _ = browser.get("/").await.is(200);
}

#[tokio::test]
async fn pages_forbid_foreign_scripts_framing_and_caching() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    for path in PAGES {
        let page = browser.get(path).await;
        assert!(
            page.header("content-security-policy")
                .contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
    }
    for path in ["/sign-in", "/register", "/reset-password?token=x", "/nothing"] {
        let page = server.anonymous("GET", path).header("accept", "text/html");
        let page = page.send().await;
        assert!(
            page.header("content-security-policy")
                .contains("frame-ancestors 'none'"),
            "{path}"
        );
    }
    let page = browser.get("/alerts").await.is(200);
    assert_eq!(
        page.header("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types bellwether"
    );
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert!(page.header("vary").contains("HX-Request"));
}

#[tokio::test]
async fn sign_in_starts_a_session_of_its_own() {
    let server = TestServer::new().await;
    let planted = Browser::operator(&server).await;
    let (name, _) = planted.cookie().split_once('=').unwrap();
    for cookie in [planted.cookie().to_owned(), format!("{name}=planted-by-another-site")] {
        let _ = planted.post("/sign-out", &[]).await.is(303);
        let form = "email=operator%40example.com&password=correct+horse";
        let request = server.anonymous("POST", "/sign-in").header("cookie", &cookie);
        let request = request.header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(form).send().await.is(303);
        let set = response.header("set-cookie");
        assert!(set.starts_with(name) && !set.starts_with(&cookie), "{set}");
        let _ = server
            .anonymous("GET", "/")
            .header("cookie", &cookie)
            .send()
            .await
            .is(303);
    }
}

#[tokio::test]
async fn worker_of_the_browser_keeps_the_offline_page_alone() {
    let server = TestServer::new().await;
    let worker = server.anonymous("GET", "/sw.js").send().await.is(200);
    assert_eq!(worker.text.matches("cache.add").count(), 1, "{}", worker.text);
    assert!(worker.text.contains("/offline"), "{}", worker.text);
    for path in ["/assets/app.webmanifest", "/assets/icon.svg"] {
        let page = server.anonymous("GET", "/sign-in").send().await.is(200);
        let digest = page
            .text
            .split("/assets/")
            .nth(1)
            .unwrap()
            .split('/')
            .next()
            .unwrap()
            .to_owned();
        let path = path.replace("/assets/", &format!("/assets/{digest}/"));
        let _ = server.anonymous("GET", &path).send().await.is(200);
    }
}

#[tokio::test]
async fn sign_out_ends_the_session() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let done = browser.post("/sign-out", &[]).await.is(303);
    assert!(done.header("set-cookie").contains("Max-Age=0"));
    let _ = browser.get("/").await.is(303);
}

#[tokio::test]
async fn unknown_address_is_a_page_for_browsers_and_an_error_for_programs() {
    let server = TestServer::new().await;
    let browser = server
        .anonymous("GET", "/nothing")
        .header("accept", "text/html,*/*;q=0.8");
    let page = browser.send().await.is(404);
    assert!(page.text.contains("<h1>Page not found</h1>"), "{}", page.text);
    let _ = server
        .anonymous("GET", "/nothing")
        .send()
        .await
        .refused(404, "NOT_FOUND");
    let api = server.anonymous("GET", "/api/v1/nothing").header("accept", "text/html");
    let _ = api.send().await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn demo_link_exists_only_in_the_demo() {
    let server = TestServer::new().await;
    let _ = server.anonymous("GET", "/demo").send().await.is(404);
}

#[tokio::test]
async fn files_are_kept_forever_under_their_digest() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/").await.is(200);
    let (_, rest) = page.text.split_once("rel=\"stylesheet\" href=\"").unwrap();
    let address = rest.split('"').next().unwrap();
    let style = server.anonymous("GET", address).send().await.is(200);
    assert_eq!(style.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    for path in ["/assets/0000000000000000/app.css", "/assets/x/../../Cargo.toml"] {
        let _ = server.anonymous("GET", path).send().await.is(404);
    }
}

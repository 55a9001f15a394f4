//! Signed redirect links.

use crate::http::test_server::{TestResponse, TestServer};

async fn follow(server: &TestServer, link: &str) -> TestResponse {
    let path = link.strip_prefix("https://alerts.example.com").unwrap_or(link);
    server.anonymous("GET", path).send().await
}

#[tokio::test]
async fn signed_link_redirects() {
    let server = TestServer::new().await;
    for (target, location) in [
        ("https://example.com/a?b=c&d=e#f", "https://example.com/a?b=c&d=e#f"),
        ("http://example.com", "http://example.com/"),
        (
            "https://example.com/\r\nSet-Cookie: a=b",
            "https://example.com/Set-Cookie:%20a=b",
        ),
        (
            "https://example.com/?q=\"<script>",
            "https://example.com/?q=%22%3Cscript%3E",
        ),
    ] {
        let link = server.service.redirects.signed_redirect(target).unwrap();
        assert!(
            link.starts_with("https://alerts.example.com/api/v1/redirect?u="),
            "{link}"
        );
        let response = follow(&server, &link).await.ok(302);
        assert_eq!(response.header("location"), location);
        assert_eq!(response.body["data"]["location"], location);
        assert_eq!(
            (response.header("referrer-policy"), response.header("cache-control")),
            ("no-referrer", "no-store")
        );
        assert!(!response.headers.contains_key("set-cookie"));
    }
}

#[tokio::test]
async fn invalid_link_does_not_redirect() {
    let server = TestServer::new().await;
    let link = server
        .service
        .redirects
        .signed_redirect("https://example.com/")
        .unwrap();
    let (_, signature) = link.split_once("&sig=").unwrap();
    let other = server
        .service
        .redirects
        .signed_redirect("https://example.org/")
        .unwrap();
    let (_, others) = other.split_once("&sig=").unwrap();
    let mut changed = signature.to_owned();
    changed.replace_range(..1, if signature.starts_with('A') { "B" } else { "A" });
    for path in [
        "/v1/redirect".to_owned(),
        "/v1/redirect?u=https://example.com/".to_owned(),
        format!("/v1/redirect?sig={signature}"),
        format!("/v1/redirect?u=https://example.org/&sig={signature}"),
        format!("/v1/redirect?u=https://example.com/&sig={others}"),
        format!("/v1/redirect?u=https://example.com/&sig={changed}"),
        format!("/v1/redirect?u=https://example.com/&sig={}", &signature[1..]),
        format!("/v1/redirect?u=https://example.com/&sig={signature}A"),
        format!("/v1/redirect?u=https://example.com/x&sig={signature}"),
        "/v1/redirect?u=javascript:alert(1)&sig=".to_owned(),
        format!("/v1/redirect?u={}&sig=%00", "a".repeat(5000)),
    ] {
        let refused = follow(&server, &path).await.refused(400, "BAD_REQUEST");
        assert!(!refused.headers.contains_key("location"), "{path}");
    }
    let _ = follow(&server, &link).await.ok(302);
    for target in ["javascript:alert(1)", "data:text/html,x", "//example.com", "/local", ""] {
        assert!(server.service.redirects.signed_redirect(target).is_err(), "{target}");
    }
}

//! Cross-site requests with cookies.

use http::Method;
use serde_json::json;

use crate::http::identity::{ANN, SignedIn, start_server, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

async fn ann() -> (TestServer, SignedIn) {
    let server = start_server(testkit::Database::sqlite()).await;
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    (server, ann)
}

async fn send(server: &TestServer, method: &Method, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let mut request = server.anonymous(method.as_str(), path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if *method == Method::GET {
        request.send().await
    } else {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": 200, "full_name": "Ann"});
        request.json(&body).send().await
    }
}

const WRITES: [(Method, &str); 5] = [
    (Method::POST, "/v1/alerts"),
    (Method::PATCH, "/api/v1/auth/session"),
    (Method::PUT, "/v1/alerts/11111111-1111-4111-8111-111111111111"),
    (Method::DELETE, "/v1/alerts/11111111-1111-4111-8111-111111111111"),
    (Method::POST, "/v1/auth/logout"),
];

#[tokio::test]
async fn cookie_write_requires_a_same_origin_request() {
    let (server, ann) = ann().await;
    server.set_price("AAPL", 190.0).await;
    let cookie = ("cookie", ann.cookie.as_str());
    for (method, path) in &WRITES {
        for headers in [
            &[cookie][..],
            &[cookie, ("sec-fetch-site", "cross-site")],
            &[cookie, ("sec-fetch-site", "same-site")],
            &[cookie, ("sec-fetch-site", "none")],
            &[cookie, ("origin", "https://evil.example.com")],
            &[cookie, ("origin", "null")],
            &[cookie, ("origin", "https://alerts.example.com.evil.example")],
            &[cookie, ("referer", "https://alerts.example.com/")],
            &[
                cookie,
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://alerts.example.com"),
            ],
        ] {
            let refused = send(&server, method, path, headers).await.refused(403, "FORBIDDEN");
            assert_eq!(
                refused.body["error"]["details"]["reason"], "cross_origin",
                "{method} {path}"
            );
        }
    }
    let _ = server.session_of_cookie(&ann.cookie).await.ok(200);
    for headers in [
        [cookie, ("sec-fetch-site", "same-origin")],
        [cookie, ("origin", "https://alerts.example.com")],
    ] {
        let made = send(&server, &Method::POST, "/v1/alerts", &headers).await;
        assert!(matches!(made.status, 200 | 201), "{made:?}");
        let _ = send(&server, &Method::PATCH, "/v1/auth/session", &headers)
            .await
            .ok(200);
    }
}

#[tokio::test]
async fn cookie_read_and_token_write_need_no_origin() {
    let (server, ann) = ann().await;
    server.set_price("AAPL", 190.0).await;
    let from_elsewhere = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example.com")];
    let cookie = [("cookie", ann.cookie.as_str()), from_elsewhere[0], from_elsewhere[1]];
    let _ = send(&server, &Method::GET, "/v1/alerts", &cookie).await.ok(200);
    let bearer = format!("Bearer {}", ann.access);
    for shown in [("authorization", bearer.as_str()), ("x-api-key", server.key.as_str())] {
        let headers = [shown, from_elsewhere[0], from_elsewhere[1]];
        let _ = send(&server, &Method::POST, "/v1/alerts", &headers).await.ok(201);
    }
    // Another site cannot make a browser send a token, so an additional cookie is harmless.
    let both = [("authorization", bearer.as_str()), cookie[0], from_elsewhere[0]];
    let _ = send(&server, &Method::PATCH, "/v1/auth/session", &both).await.ok(200);
}

#[tokio::test]
async fn cookie_and_token_of_different_users_are_rejected() {
    let (server, ann) = ann().await;
    server.confirmed("bob@example.com").await;
    let bob = server.signed_in("bob@example.com").await;
    let bearer = format!("Bearer {}", bob.access);
    let headers = [("authorization", bearer.as_str()), ("cookie", ann.cookie.as_str())];
    let _ = send(&server, &Method::GET, "/v1/alerts", &headers)
        .await
        .refused(401, "UNAUTHORIZED");
    let twice = format!("{}; {}", ann.cookie, bob.cookie);
    let _ = server.session_of_cookie(&twice).await.refused(401, "UNAUTHORIZED");
    let _ = server
        .session_of_cookie(&format!("theme=dark; {}", ann.cookie))
        .await
        .ok(200);
}

#[tokio::test]
async fn https_cookie_has_the_host_prefix() {
    for (url, expected) in [
        (
            "https://alerts.example.com",
            (
                "__Host-bellwether_session=",
                "; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure",
            ),
        ),
        (
            "http://192.0.2.1:8080",
            (
                "bellwether_session=",
                "; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax",
            ),
        ),
    ] {
        let database = testkit::Database::sqlite();
        let server = TestServer::with_database(database, unlimited(), |settings| {
            url.clone_into(&mut settings.delivery.public_url)
        })
        .await;
        server.confirmed(ANN).await;
        let response = server.login(ANN, crate::http::identity::PASSWORD).await;
        let set = response.header("set-cookie");
        assert!(set.starts_with(expected.0) && set.ends_with(expected.1), "{set}");
        assert_eq!(response.headers.get_all("set-cookie").iter().count(), 1);
        let _ = server
            .session_of_cookie(&crate::http::identity::cookie(&response))
            .await
            .ok(200);
    }
}

//! What other sites make a browser send.

use http::Method;
use serde_json::json;

use crate::signing::{ANN, SignedIn, unlimited, world};
use crate::world::{Answer, World};

async fn ann() -> (World, SignedIn) {
    let world = world(testkit::Database::sqlite()).await;
    world.confirmed(ANN).await;
    let ann = world.signed_in(ANN).await;
    (world, ann)
}

async fn send(world: &World, method: &Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = world.stranger(method.as_str(), path);
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
async fn a_write_with_a_cookie_is_done_only_if_it_comes_from_our_own_pages() {
    let (world, ann) = ann().await;
    world.stock_at("AAPL", 190.0).await;
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
            let refused = send(&world, method, path, headers).await.refused(403, "FORBIDDEN");
            assert_eq!(
                refused.body["error"]["details"]["reason"], "cross_origin",
                "{method} {path}"
            );
        }
    }
    let _ = world.session_of_cookie(&ann.cookie).await.ok(200);
    for headers in [
        [cookie, ("sec-fetch-site", "same-origin")],
        [cookie, ("origin", "https://alerts.example.com")],
    ] {
        let made = send(&world, &Method::POST, "/v1/alerts", &headers).await;
        assert!(matches!(made.status, 200 | 201), "{made:?}");
        let _ = send(&world, &Method::PATCH, "/v1/auth/session", &headers).await.ok(200);
    }
}

#[tokio::test]
async fn reading_with_a_cookie_and_writing_with_a_token_or_a_key_need_no_origin() {
    let (world, ann) = ann().await;
    world.stock_at("AAPL", 190.0).await;
    let from_elsewhere = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example.com")];
    let cookie = [("cookie", ann.cookie.as_str()), from_elsewhere[0], from_elsewhere[1]];
    let _ = send(&world, &Method::GET, "/v1/alerts", &cookie).await.ok(200);
    let bearer = format!("Bearer {}", ann.access);
    for shown in [("authorization", bearer.as_str()), ("x-api-key", world.key.as_str())] {
        let headers = [shown, from_elsewhere[0], from_elsewhere[1]];
        let _ = send(&world, &Method::POST, "/v1/alerts", &headers).await.ok(201);
    }
    // No other site can make a browser show a token, so the cookie that comes with it does no harm.
    let both = [("authorization", bearer.as_str()), cookie[0], from_elsewhere[0]];
    let _ = send(&world, &Method::PATCH, "/v1/auth/session", &both).await.ok(200);
}

#[tokio::test]
async fn a_cookie_and_a_token_of_different_people_contradict_each_other() {
    let (world, ann) = ann().await;
    world.confirmed("bob@example.com").await;
    let bob = world.signed_in("bob@example.com").await;
    let bearer = format!("Bearer {}", bob.access);
    let headers = [("authorization", bearer.as_str()), ("cookie", ann.cookie.as_str())];
    let _ = send(&world, &Method::GET, "/v1/alerts", &headers)
        .await
        .refused(401, "UNAUTHORIZED");
    let twice = format!("{}; {}", ann.cookie, bob.cookie);
    let _ = world.session_of_cookie(&twice).await.refused(401, "UNAUTHORIZED");
    let _ = world
        .session_of_cookie(&format!("theme=dark; {}", ann.cookie))
        .await
        .ok(200);
}

#[tokio::test]
async fn the_cookie_is_bound_to_the_host_where_people_come_by_https() {
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
        let world = World::on(database, unlimited(), |house| url.clone_into(&mut house.public_url)).await;
        world.confirmed(ANN).await;
        let answer = world.login(ANN, crate::signing::PASSWORD).await;
        let set = answer.header("set-cookie");
        assert!(set.starts_with(expected.0) && set.ends_with(expected.1), "{set}");
        assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 1);
        let _ = world.session_of_cookie(&crate::signing::cookie(&answer)).await.ok(200);
    }
}

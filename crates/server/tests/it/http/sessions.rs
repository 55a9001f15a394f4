//! Renewal and end of sessions.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use crate::http::identity::{ANN, PASSWORD, SignedIn, on_each_database, start_server, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    refresh_token_reuse_ends_the_session
    only_one_of_fifty_concurrent_refreshes_succeeds
    session_expires_after_30_unused_or_180_total_days
    sign_out_ends_only_the_current_session
    session_survives_a_restart_and_shows_profile_changes
    tampered_access_token_is_rejected
}

fn text(response: &TestResponse, name: &str) -> String {
    response.body["data"][name].as_str().unwrap().to_owned()
}

async fn refresh_token_reuse_ends_the_session(server: TestServer) {
    server.confirmed(ANN).await;
    let (stolen, other) = (server.signed_in(ANN).await, server.signed_in(ANN).await);
    let refreshed = server.refresh(&stolen.refresh).await.ok(200);
    let (access, next) = (text(&refreshed, "access_token"), text(&refreshed, "refresh_token"));
    assert_ne!(next, stolen.refresh);
    let _ = server.session(&access).await.ok(200);
    let _ = server.refresh(&stolen.refresh).await.refused(401, "UNAUTHORIZED");
    // All tokens of the session are revoked.
    let _ = server.refresh(&next).await.refused(401, "UNAUTHORIZED");
    for access in [&access, &stolen.access] {
        let _ = server.session(access).await.refused(401, "UNAUTHORIZED");
    }
    let _ = server
        .session_of_cookie(&stolen.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.session(&other.access).await.ok(200);
    let _ = server.refresh(&other.refresh).await.ok(200);
    for token in ["", "x", &"A".repeat(43), &other.access, &"A".repeat(5_000)] {
        let _ = server.refresh(token).await.refused(401, "UNAUTHORIZED");
    }
}

async fn only_one_of_fifty_concurrent_refreshes_succeeds(server: TestServer) {
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    let responses = join_all((0..50).map(|_| server.refresh(&ann.refresh))).await;
    let (good, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 200);
    assert_eq!((good.len(), refused.len()), (1, 49));
    assert!(refused.iter().all(|response| response.status == 401), "{refused:?}");
    let next = text(good[0], "refresh_token");
    let _ = server.refresh(&next).await.refused(401, "UNAUTHORIZED");
    let _ = server.session_of_cookie(&ann.cookie).await.refused(401, "UNAUTHORIZED");
}

async fn session_expires_after_30_unused_or_180_total_days(server: TestServer) {
    let (day, second) = (SignedDuration::from_hours(24), SignedDuration::from_secs(1));
    server.confirmed(ANN).await;
    let idle = server.signed_in(ANN).await;
    server.clock.advance(day * 30 - second);
    let mut refresh = text(&server.refresh(&idle.refresh).await.ok(200), "refresh_token");
    let _ = server.session_of_cookie(&idle.cookie).await.ok(200);
    for _ in 0..5 {
        server.clock.advance(day * 29);
        refresh = text(&server.refresh(&refresh).await.ok(200), "refresh_token");
    }
    // 175 days and almost 24 hours: the absolute end is near despite the use.
    server.clock.advance(day * 5);
    let _ = server.session_of_cookie(&idle.cookie).await.ok(200);
    server.clock.advance(second);
    let _ = server
        .session_of_cookie(&idle.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
    let _ = server.refresh(&refresh).await.refused(401, "UNAUTHORIZED");

    let unused = server.signed_in(ANN).await;
    server.clock.advance(day * 30);
    let _ = server.refresh(&unused.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = server
        .session_of_cookie(&unused.cookie)
        .await
        .refused(401, "UNAUTHORIZED");
}

async fn sign_out_ends_only_the_current_session(server: TestServer) {
    server.confirmed(ANN).await;
    let (this, other) = (server.signed_in(ANN).await, server.signed_in(ANN).await);
    let sign_out = async || {
        let request = server
            .anonymous("POST", "/v1/auth/logout")
            .header("cookie", &this.cookie);
        request.header("sec-fetch-site", "same-origin").send().await
    };
    let signed_out = sign_out().await.ok(200);
    assert!(
        signed_out
            .header("set-cookie")
            .starts_with("__Host-bellwether_session=;")
    );
    let _ = sign_out().await.refused(401, "UNAUTHORIZED");
    let _ = server.session(&this.access).await.refused(401, "UNAUTHORIZED");
    let _ = server.refresh(&this.refresh).await.refused(401, "UNAUTHORIZED");
    let _ = server.session(&other.access).await.ok(200);
    // An API key is not a session.
    let refused = server
        .request("POST", "/v1/auth/logout")
        .send()
        .await
        .refused(403, "FORBIDDEN");
    assert_eq!(refused.body["error"]["details"]["reason"], "session_required");
}

async fn session_survives_a_restart_and_shows_profile_changes(server: TestServer) {
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    let server = server.restarted().await;
    let _ = server.session(&ann.access).await.ok(200);
    let change = async |body| {
        let request = server.anonymous("PATCH", "/v1/auth/session").json(&body);
        let request = request.header("authorization", &format!("Bearer {}", ann.access));
        request.send().await
    };
    let changed = change(json!({"full_name": "Ann Example", "time_zone": "Europe/Berlin"}))
        .await
        .ok(200);
    let user = &changed.body["data"]["user"];
    assert_eq!(
        (&user["full_name"], &user["time_zone"]),
        (&json!("Ann Example"), &json!("Europe/Berlin"))
    );
    let removed = change(json!({"full_name": null, "email": "eve@example.com", "account_type": "premium"}))
        .await
        .ok(200);
    let user = &removed.body["data"]["user"];
    assert_eq!(
        (&user["full_name"], &user["email"], &user["account_type"]),
        (&json!(null), &json!(ANN), &json!("basic"))
    );
    let refused = change(json!({"full_name": "Ann\r\nBcc: eve@example.com", "time_zone": "Mars/Olympus"})).await;
    let refused = refused.refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["full_name", "time_zone"]);
}

async fn tampered_access_token_is_rejected(server: TestServer) {
    server.confirmed(ANN).await;
    let ann = server.signed_in(ANN).await;
    let (body, _) = ann.access.rsplit_once('.').unwrap();
    let (head, claims) = body.split_once('.').unwrap();
    let none = crate::http::identity::base64(br#"{"typ":"at+jwt","alg":"none"}"#);
    for token in [
        body.to_owned(),
        format!("{body}."),
        format!("{none}.{claims}."),
        format!("{head}.{claims}.{}", "A".repeat(86)),
        "eyJ".to_owned(),
        "mcp_at_x".to_owned(),
        ann.refresh.clone(),
        ann.cookie.split_once('=').unwrap().1.to_owned(),
    ] {
        let refused = server.session(&token).await.refused(401, "UNAUTHORIZED");
        assert!(!refused.text.contains(&token));
    }
}

#[tokio::test]
async fn token_of_another_issuer_is_rejected() {
    let at = async |url: &str| {
        let database = testkit::Database::sqlite();
        TestServer::with_database(database, unlimited(), |settings| {
            url.clone_into(&mut settings.delivery.public_url)
        })
        .await
    };
    let here = at("https://alerts.example.com").await;
    let there = at("https://other.example.com").await;
    there.confirmed(ANN).await;
    here.confirmed(ANN).await;
    let token = there.signed_in(ANN).await.access;
    let _ = there.session(&token).await.ok(200);
    let _ = here.session(&token).await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn jwks_is_public() {
    let server = TestServer::new().await;
    let response = server.anonymous("GET", "/.well-known/jwks.json").send().await;
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, "application/json")
    );
    let keys = response.body["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!((&keys[0]["kty"], &keys[0]["crv"]), (&json!("OKP"), &json!("Ed25519")));
    assert!(keys[0].get("d").is_none(), "the private key stays here");
    server.confirmed(ANN).await;
    let response = server.login(ANN, PASSWORD).await;
    let token = SignedIn::of(&response).access;
    let head = token.split('.').next().unwrap();
    let named = format!(r#""kid":"{}""#, keys[0]["kid"].as_str().unwrap());
    let head = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, head).unwrap();
    assert!(String::from_utf8(head).unwrap().contains(&named));
}

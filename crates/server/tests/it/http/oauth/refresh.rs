//! Refresh tokens, which are single-use.

use super::{ALL, CALLBACK, OAuthFixture, Tokens, assert_oauth_error, start_server, with};
use crate::http::identity::on_each_database;
use crate::http::test_server::TestServer;

on_each_database! {
    refresh_token_is_single_use
    refresh_token_reuse_revokes_the_grant
    refresh_token_reuse_by_another_client_revokes_the_grant
    refresh_is_limited_per_hour_and_keeps_refused_tokens_valid
    only_one_of_twenty_concurrent_refreshes_succeeds
    refresh_can_narrow_scopes_but_not_widen_them
    refresh_token_is_bound_to_its_client
    unused_grant_expires_after_30_days
    grant_expires_after_half_a_year_of_use
}

const DAY_S: i64 = 24 * 3600;

async fn refresh_token_is_single_use(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &["alerts:read", "alerts:write"]).await;
    let mut last = first.clone();
    for _ in 0..3 {
        let next = Tokens::of(&fixture.renewed(&server, &last.refresh).await);
        assert_ne!((&next.access, &next.refresh), (&last.access, &last.refresh));
        assert_eq!(next.scope, "alerts:read alerts:write");
        last = next;
    }
    let server = server.restarted().await;
    assert!(server.is_valid(&first.access).await, "its hour is not over");
    assert!(server.is_valid(&last.access).await);
    assert_eq!(fixture.renewed(&server, &last.refresh).await.status, 200);
}

async fn refresh_token_reuse_revokes_the_grant(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let (first, other) = (fixture.tokens(&server, &ALL).await, fixture.tokens(&server, &ALL).await);
    let second = Tokens::of(&fixture.renewed(&server, &first.refresh).await);
    let third = Tokens::of(&fixture.renewed(&server, &second.refresh).await);
    for tokens in [&first, &second, &third] {
        assert!(server.is_valid(&tokens.access).await);
    }
    assert_oauth_error(&fixture.renewed(&server, &first.refresh).await, 400, "invalid_grant");
    for tokens in [&first, &second, &third] {
        assert!(!server.is_valid(&tokens.access).await, "at once");
        assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
    }
    assert!(server.is_valid(&other.access).await);
    assert_eq!(fixture.renewed(&server, &other.refresh).await.status, 200);
}

async fn refresh_token_reuse_by_another_client_revokes_the_grant(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &ALL).await;
    assert_eq!(fixture.renewed(&server, &first.refresh).await.status, 200);
    // The second use revokes the grant, whichever client sends it. Afterwards the token is unknown.
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let shown_by_another = with(&fixture.renewal(&first.refresh), &[("client_id", unknown)]);
    assert_oauth_error(&server.token(&shown_by_another).await, 400, "invalid_grant");
    for _ in 0..2 {
        assert_oauth_error(&server.token(&shown_by_another).await, 401, "invalid_client");
        assert_oauth_error(&fixture.renewed(&server, &first.refresh).await, 400, "invalid_grant");
    }
}

async fn refresh_is_limited_per_hour_and_keeps_refused_tokens_valid(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let mut tokens = fixture.tokens(&server, &ALL).await;
    for number in 0..60 {
        server.later(1);
        let response = fixture.renewed(&server, &tokens.refresh).await;
        assert_eq!(response.status, 200, "{number} {response:?}");
        tokens = Tokens::of(&response);
    }
    server.later(10);
    let response = fixture.renewed(&server, &tokens.refresh).await;
    assert_oauth_error(&response, 429, "temporarily_unavailable");
    let wait: i64 = response.header("retry-after").parse().unwrap();
    assert_eq!(
        wait,
        3600 - 70,
        "the first token came a second before the first renewal"
    );
    // The refused request does not count as token reuse.
    server.later(wait - 1);
    assert_oauth_error(
        &fixture.renewed(&server, &tokens.refresh).await,
        429,
        "temporarily_unavailable",
    );
    server.later(1);
    assert_eq!(fixture.renewed(&server, &tokens.refresh).await.status, 200);
}

async fn only_one_of_twenty_concurrent_refreshes_succeeds(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &ALL).await;
    let responses = futures_util::future::join_all((0..20).map(|_| fixture.renewed(&server, &first.refresh))).await;
    let good: Vec<_> = responses.iter().filter(|response| response.status == 200).collect();
    assert_eq!(good.len(), 1);
    for response in responses.iter().filter(|response| response.status != 200) {
        assert_oauth_error(response, 400, "invalid_grant");
    }
    let next = Tokens::of(good[0]);
    assert!(!server.is_valid(&next.access).await && !server.is_valid(&first.access).await);
    assert_oauth_error(&fixture.renewed(&server, &next.refresh).await, 400, "invalid_grant");
}

async fn refresh_can_narrow_scopes_but_not_widen_them(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &["alerts:read", "watchlist:read"]).await;
    let asked = |token: String, scope: &'static str| {
        let (server, fixture) = (&server, &fixture);
        async move { server.token(&with(&fixture.renewal(&token), &[("scope", scope)])).await }
    };
    for scope in [
        "alerts:write",
        "alerts:read alerts:write",
        "alerts:read moon:read",
        "stocks:read",
    ] {
        assert_oauth_error(&asked(first.refresh.clone(), scope).await, 400, "invalid_scope");
    }
    let narrow = Tokens::of(&asked(first.refresh.clone(), "watchlist:read offline_access").await);
    assert_eq!(narrow.scope, "watchlist:read");
    let actor = server.actor_of(&narrow.access).await.unwrap();
    assert!(
        actor.require(foundation::Scope::AlertsRead).is_err()
            && actor.require(foundation::Scope::WatchlistRead).is_ok()
    );
    // The access token is narrowed, not the grant.
    let wide = Tokens::of(&fixture.renewed(&server, &narrow.refresh).await);
    assert_eq!(wide.scope, "alerts:read watchlist:read");
    assert_oauth_error(
        &asked(wide.refresh, "alerts:read alerts:write").await,
        400,
        "invalid_scope",
    );
}

async fn refresh_token_is_bound_to_its_client(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let first = fixture.tokens(&server, &ALL).await;
    let other = server.registered(&[CALLBACK]).await;
    for (change, status, error) in [
        (&[("client_id", other.as_str())][..], 400, "invalid_grant"),
        (
            &[("client_id", "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11")],
            401,
            "invalid_client",
        ),
        (&[("client_id", "")], 400, "invalid_request"),
        (&[("refresh_token", "")], 400, "invalid_request"),
        (&[("refresh_token", &first.access)], 400, "invalid_grant"),
        (&[("resource", "https://evil.example/mcp")], 400, "invalid_target"),
    ] {
        assert_oauth_error(
            &server.token(&with(&fixture.renewal(&first.refresh), change)).await,
            status,
            error,
        );
    }
    assert_eq!(fixture.renewed(&server, &first.refresh).await.status, 200);
}

async fn unused_grant_expires_after_30_days(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let (kept, left) = (fixture.tokens(&server, &ALL).await, fixture.tokens(&server, &ALL).await);
    server.later(30 * DAY_S - 1);
    assert_eq!(fixture.renewed(&server, &kept.refresh).await.status, 200);
    server.later(1);
    assert_oauth_error(&fixture.renewed(&server, &left.refresh).await, 400, "invalid_grant");
}

async fn grant_expires_after_half_a_year_of_use(server: TestServer) {
    let fixture = OAuthFixture::on(&server).await;
    let mut tokens = fixture.tokens(&server, &ALL).await;
    for _ in 0..8 {
        server.later(20 * DAY_S);
        tokens = Tokens::of(&fixture.renewed(&server, &tokens.refresh).await);
        server.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    }
    server.later(20 * DAY_S - 1);
    tokens = Tokens::of(&fixture.renewed(&server, &tokens.refresh).await);
    assert!(server.is_valid(&tokens.access).await);
    server.later(6);
    assert!(!server.is_valid(&tokens.access).await, "also an access token ends then");
    assert_oauth_error(&fixture.renewed(&server, &tokens.refresh).await, 400, "invalid_grant");
}

//! Refresh tokens: each is good once.

use super::{ALL, CALLBACK, Stage, Tokens, refused, with, world};
use crate::signing::on_each_database;
use crate::world::World;

on_each_database! {
    a_refresh_token_gets_the_next_tokens_and_is_used_up
    a_refresh_token_that_is_shown_twice_ends_all_that_came_of_it
    what_is_shown_again_of_what_is_over_ends_and_says_nothing_more
    a_grant_is_renewed_sixty_times_an_hour_and_what_is_refused_is_not_used_up
    of_twenty_at_once_one_succeeds
    less_can_be_asked_for_and_never_more
    a_refresh_token_is_its_clients_own
    what_is_not_used_ends_after_thirty_days
    however_much_it_is_used_it_ends_after_half_a_year
}

const DAY_S: i64 = 24 * 3600;

async fn a_refresh_token_gets_the_next_tokens_and_is_used_up(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &["alerts:read", "alerts:write"]).await;
    let mut last = first.clone();
    for _ in 0..3 {
        let next = Tokens::of(&stage.renewed(&world, &last.refresh).await);
        assert_ne!((&next.access, &next.refresh), (&last.access, &last.refresh));
        assert_eq!(next.scope, "alerts:read alerts:write");
        last = next;
    }
    let world = world.restarted().await;
    assert!(world.is_good(&first.access).await, "its hour is not over");
    assert!(world.is_good(&last.access).await);
    assert_eq!(stage.renewed(&world, &last.refresh).await.status, 200);
}

async fn a_refresh_token_that_is_shown_twice_ends_all_that_came_of_it(world: World) {
    let stage = Stage::on(&world).await;
    let (first, other) = (stage.tokens(&world, &ALL).await, stage.tokens(&world, &ALL).await);
    let second = Tokens::of(&stage.renewed(&world, &first.refresh).await);
    let third = Tokens::of(&stage.renewed(&world, &second.refresh).await);
    for tokens in [&first, &second, &third] {
        assert!(world.is_good(&tokens.access).await);
    }
    refused(&stage.renewed(&world, &first.refresh).await, 400, "invalid_grant");
    for tokens in [&first, &second, &third] {
        assert!(!world.is_good(&tokens.access).await, "at once");
        refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
    }
    assert!(world.is_good(&other.access).await);
    assert_eq!(stage.renewed(&world, &other.refresh).await.status, 200);
}

async fn what_is_shown_again_of_what_is_over_ends_and_says_nothing_more(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &ALL).await;
    assert_eq!(stage.renewed(&world, &first.refresh).await.status, 200);
    // A second time ends what was allowed, whoever shows it; afterwards it is as if there had never been such a token.
    let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
    let shown_by_another = with(&stage.renewal(&first.refresh), &[("client_id", unknown)]);
    refused(&world.token(&shown_by_another).await, 400, "invalid_grant");
    for _ in 0..2 {
        refused(&world.token(&shown_by_another).await, 401, "invalid_client");
        refused(&stage.renewed(&world, &first.refresh).await, 400, "invalid_grant");
    }
}

async fn a_grant_is_renewed_sixty_times_an_hour_and_what_is_refused_is_not_used_up(world: World) {
    let stage = Stage::on(&world).await;
    let mut tokens = stage.tokens(&world, &ALL).await;
    for number in 0..60 {
        world.later(1);
        let answer = stage.renewed(&world, &tokens.refresh).await;
        assert_eq!(answer.status, 200, "{number} {answer:?}");
        tokens = Tokens::of(&answer);
    }
    world.later(10);
    let answer = stage.renewed(&world, &tokens.refresh).await;
    refused(&answer, 429, "temporarily_unavailable");
    let wait: i64 = answer.header("retry-after").parse().unwrap();
    assert_eq!(
        wait,
        3600 - 70,
        "the first token came a second before the first renewal"
    );
    // Nor is it taken for one that was shown twice.
    world.later(wait - 1);
    refused(
        &stage.renewed(&world, &tokens.refresh).await,
        429,
        "temporarily_unavailable",
    );
    world.later(1);
    assert_eq!(stage.renewed(&world, &tokens.refresh).await.status, 200);
}

async fn of_twenty_at_once_one_succeeds(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &ALL).await;
    let answers = futures_util::future::join_all((0..20).map(|_| stage.renewed(&world, &first.refresh))).await;
    let good: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(good.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        refused(answer, 400, "invalid_grant");
    }
    let next = Tokens::of(good[0]);
    assert!(!world.is_good(&next.access).await && !world.is_good(&first.access).await);
    refused(&stage.renewed(&world, &next.refresh).await, 400, "invalid_grant");
}

async fn less_can_be_asked_for_and_never_more(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &["alerts:read", "watchlist:read"]).await;
    let asked = |token: String, scope: &'static str| {
        let (world, stage) = (&world, &stage);
        async move { world.token(&with(&stage.renewal(&token), &[("scope", scope)])).await }
    };
    for scope in [
        "alerts:write",
        "alerts:read alerts:write",
        "alerts:read moon:read",
        "stocks:read",
    ] {
        refused(&asked(first.refresh.clone(), scope).await, 400, "invalid_scope");
    }
    let narrow = Tokens::of(&asked(first.refresh.clone(), "watchlist:read offline_access").await);
    assert_eq!(narrow.scope, "watchlist:read");
    let actor = world.acting(&narrow.access).await.unwrap();
    assert!(actor.require(service::Scope::AlertsRead).is_err() && actor.require(service::Scope::WatchlistRead).is_ok());
    // It is the access token that is narrow, not what was allowed.
    let wide = Tokens::of(&stage.renewed(&world, &narrow.refresh).await);
    assert_eq!(wide.scope, "alerts:read watchlist:read");
    refused(
        &asked(wide.refresh, "alerts:read alerts:write").await,
        400,
        "invalid_scope",
    );
}

async fn a_refresh_token_is_its_clients_own(world: World) {
    let stage = Stage::on(&world).await;
    let first = stage.tokens(&world, &ALL).await;
    let other = world.registered(&[CALLBACK]).await;
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
        refused(
            &world.token(&with(&stage.renewal(&first.refresh), change)).await,
            status,
            error,
        );
    }
    assert_eq!(stage.renewed(&world, &first.refresh).await.status, 200);
}

async fn what_is_not_used_ends_after_thirty_days(world: World) {
    let stage = Stage::on(&world).await;
    let (kept, left) = (stage.tokens(&world, &ALL).await, stage.tokens(&world, &ALL).await);
    world.later(30 * DAY_S - 1);
    assert_eq!(stage.renewed(&world, &kept.refresh).await.status, 200);
    world.later(1);
    refused(&stage.renewed(&world, &left.refresh).await, 400, "invalid_grant");
}

async fn however_much_it_is_used_it_ends_after_half_a_year(world: World) {
    let stage = Stage::on(&world).await;
    let mut tokens = stage.tokens(&world, &ALL).await;
    for _ in 0..8 {
        world.later(20 * DAY_S);
        tokens = Tokens::of(&stage.renewed(&world, &tokens.refresh).await);
        world.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    }
    world.later(20 * DAY_S - 1);
    tokens = Tokens::of(&stage.renewed(&world, &tokens.refresh).await);
    assert!(world.is_good(&tokens.access).await);
    world.later(6);
    assert!(!world.is_good(&tokens.access).await, "also an access token ends then");
    refused(&stage.renewed(&world, &tokens.refresh).await, 400, "invalid_grant");
}

//! Accounts and API keys.

use alerts::Plan;
use jiff::SignedDuration;
use service::access::{CreatedKey, NewKey, NewUser};
use service::{Actor, Scope, Via};

use crate::support::{OPEN, PASSWORD, World, above, at, kind, on_each_database};

on_each_database! {
    an_address_is_one_address_however_it_is_written
    every_fault_of_an_account_is_told_at_once
    a_key_says_who_shows_it_and_what_they_may_do
    an_unknown_key_is_refused
    an_account_that_is_not_there_gets_no_key_and_no_plan
    operators_scopes_are_for_operators
    basic_has_one_key_and_the_operator_may_make_more
    a_deleted_key_is_refused_at_once_and_only_its_owner_can_delete_it
    a_new_plan_counts_at_once
    the_use_of_a_key_is_noted_at_most_once_a_minute
}

fn user(email: &str, password: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: password.to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    }
}

fn key(name: &str, scopes: &[Scope]) -> NewKey {
    NewKey {
        name: name.to_owned(),
        scopes: scopes.to_vec(),
    }
}

async fn cara(world: &World) -> CreatedKey {
    world
        .service
        .accounts
        .create_user(user("cara@example.com", PASSWORD))
        .await
        .unwrap();
    let key = key("script", &[Scope::AlertsRead]);
    world
        .service
        .accounts
        .create_key_for("cara@example.com", key)
        .await
        .unwrap()
}

async fn an_address_is_one_address_however_it_is_written(world: World) {
    let account = world
        .service
        .accounts
        .create_user(user(" Cara@Example.COM ", PASSWORD))
        .await
        .unwrap();
    assert_eq!(account.email, "cara@example.com");
    assert_eq!(
        (account.plan, account.is_operator, account.is_verified),
        (Plan::Basic, false, false)
    );
    assert_eq!(account.created_at, at(OPEN));
    let hash = account.password_hash.unwrap();
    assert!(hash.starts_with("$argon2id$") && !hash.contains(PASSWORD), "{hash}");
    let again = world
        .service
        .accounts
        .create_user(user("cara@example.com", PASSWORD))
        .await;
    assert_eq!(kind(&again.unwrap_err()), "conflict");
    let changed = world
        .service
        .accounts
        .set_plan("CARA@example.com", Plan::Premium)
        .await
        .unwrap();
    assert_eq!((changed.id, changed.plan), (account.id, Plan::Premium));
}

async fn every_fault_of_an_account_is_told_at_once(world: World) {
    let create = async |email: &str, password: &str| {
        let refused = world.service.accounts.create_user(user(email, password)).await;
        kind(&refused.unwrap_err())
    };
    assert_eq!(create("cara", "1234567").await, "invalid email password");
    assert_eq!(create("cara@example.com", "1234567").await, "invalid password");
    assert_eq!(create("cara@example.com", &"a".repeat(201)).await, "invalid password");
    assert_eq!(create("", PASSWORD).await, "invalid email");
}

async fn a_key_says_who_shows_it_and_what_they_may_do(world: World) {
    let made = cara(&world).await;
    assert_eq!((made.secret.len(), made.tier), (67, Plan::Basic));
    assert!(made.secret.starts_with("sk_") && made.secret.starts_with(&made.key.prefix));
    assert_eq!(made.key.prefix.len(), 11);
    let actor = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    assert_eq!((actor.account, actor.plan), (made.key.account, Plan::Basic));
    let expected = Via::Key {
        id: made.key.id,
        name: "script".to_owned(),
        scopes: vec![Scope::AlertsRead],
    };
    assert_eq!(actor.via, expected);
    assert!(actor.require(Scope::AlertsRead).is_ok());
    let refused = actor.require(Scope::AlertsWrite).unwrap_err();
    assert_eq!(kind(&refused), "forbidden scope alerts:write");
}

async fn an_unknown_key_is_refused(world: World) {
    let made = cara(&world).await;
    for text in [
        String::new(),
        made.secret.to_uppercase(),
        made.secret[..66].to_owned(),
        format!("sk_{}", "0".repeat(64)),
    ] {
        let refused = world.service.authenticator.authenticate_key(&text).await.unwrap_err();
        assert_eq!(kind(&refused), "unauthenticated", "{text}");
    }
}

async fn an_account_that_is_not_there_gets_no_key_and_no_plan(world: World) {
    let made = world
        .service
        .accounts
        .create_key_for("nobody@example.com", key("x", Scope::PUBLIC))
        .await;
    assert_eq!(kind(&made.unwrap_err()), "no account");
    let plan = world
        .service
        .accounts
        .set_plan("nobody@example.com", Plan::Premium)
        .await;
    assert_eq!(kind(&plan.unwrap_err()), "no account");
}

async fn operators_scopes_are_for_operators(world: World) {
    cara(&world).await;
    let scopes = [Scope::AlertsRead, Scope::MarketWrite];
    let made = world
        .service
        .accounts
        .create_key_for("cara@example.com", key("x", &scopes))
        .await;
    assert_eq!(kind(&made.unwrap_err()), "invalid scopes");
    let made = world
        .service
        .accounts
        .create_key_for("operator@example.com", key("x", &scopes))
        .await
        .unwrap();
    let actor = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    assert!(actor.is_operator && actor.require(Scope::MarketWrite).is_ok());
    assert!(actor.require(Scope::OutboxRead).is_err());
}

async fn basic_has_one_key_and_the_operator_may_make_more(world: World) {
    world
        .service
        .accounts
        .create_user(user("cara@example.com", PASSWORD))
        .await
        .unwrap();
    let first = world
        .service
        .accounts
        .create_key_for("cara@example.com", key("one", Scope::PUBLIC))
        .await
        .unwrap();
    let cara = world
        .service
        .authenticator
        .authenticate_key(&first.secret)
        .await
        .unwrap();
    let second = world
        .service
        .accounts
        .create_api_key(&cara, key("two", Scope::PUBLIC))
        .await;
    assert_eq!(kind(&second.unwrap_err()), "forbidden plan premium");
    world
        .service
        .accounts
        .create_key_for("cara@example.com", key("two", Scope::PUBLIC))
        .await
        .unwrap();
    world
        .service
        .accounts
        .set_plan("cara@example.com", Plan::EarlyBird)
        .await
        .unwrap();
    let third = world
        .service
        .accounts
        .create_api_key(&cara, key(" three ", Scope::PUBLIC))
        .await
        .unwrap();
    assert_eq!(third.tier, Plan::EarlyBird);
    let names: Vec<_> = names(&world, &cara).await;
    assert_eq!(names, ["one", "two", "three"]);
    let nameless = world.service.accounts.create_api_key(&cara, key("  ", &[])).await;
    assert_eq!(kind(&nameless.unwrap_err()), "invalid name scopes");
}

async fn names(world: &World, actor: &Actor) -> Vec<String> {
    let keys = world.service.accounts.api_keys(actor).await.unwrap();
    keys.into_iter().map(|key| key.name).collect()
}

async fn a_deleted_key_is_refused_at_once_and_only_its_owner_can_delete_it(world: World) {
    let made = cara(&world).await;
    let cara = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    let ann = world.ann(Plan::Basic).await;
    let by_ann = world.service.accounts.delete_api_key(&ann, made.key.id).await;
    assert_eq!(kind(&by_ann.unwrap_err()), "no API key");
    world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    world.service.accounts.delete_api_key(&cara, made.key.id).await.unwrap();
    let refused = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "unauthenticated");
    assert_eq!(names(&world, &cara).await, [""; 0]);
    let again = world.service.accounts.delete_api_key(&cara, made.key.id).await;
    assert_eq!(kind(&again.unwrap_err()), "no API key");
}

async fn a_new_plan_counts_at_once(world: World) {
    let made = cara(&world).await;
    let before = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    world
        .service
        .accounts
        .set_plan("cara@example.com", Plan::Premium)
        .await
        .unwrap();
    let after = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    assert_eq!((before.plan, after.plan), (Plan::Basic, Plan::Premium));
    world.quote("AAPL", 189.20).await;
    let rsi = serde_json::json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70});
    world.create(&after, rsi).await;
    world.create(&after, above("AAPL", 200.0)).await;
}

async fn the_use_of_a_key_is_noted_at_most_once_a_minute(world: World) {
    let made = cara(&world).await;
    let cara = world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    world.clock.advance(SignedDuration::from_secs(59));
    world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    // Notes are written in the background; the end of the service waits for them.
    let world = world.restarted().await;
    let keys = world.service.accounts.api_keys(&cara).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(at(OPEN)));
    world.clock.advance(SignedDuration::from_secs(1));
    world
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap();
    let world = world.restarted().await;
    let keys = world.service.accounts.api_keys(&cara).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(at("2024-03-08T15:01:00Z")));
}

//! An address that a stranger has registered, when its owner comes.

use serde_json::{Value, json};
use service::identity::SignedIn;
use service::{Actor, ServiceError};

use super::{HERE, last_token, sign_in, verify};
use crate::support::{PASSWORD, World, kind, on_each_database};

on_each_database! {
    whatever_a_stranger_has_set_up_ends_when_the_owner_comes_by_whichever_link
    what_the_only_one_who_registered_has_set_up_stays_when_they_confirm
    of_several_who_registered_nobody_has_a_password_whosever_link_is_followed
    links_that_were_forgotten_since_do_not_make_a_later_one_the_first
}

const STRANGERS: &str = "the stranger's own";

async fn register(world: &World, email: &str, password: &str) {
    let body = json!({"email": email, "password": password, "full_name": "Mallory"});
    world.service.identity.register(&body).await.unwrap();
}

async fn confirm(world: &World, token: &str) -> Result<bool, ServiceError> {
    world.service.identity.confirm_address(&json!({"token": token})).await
}

async fn by_link(world: &World, email: &str) -> SignedIn {
    let body = json!({"email": email, "type": "magic_link"});
    world.service.identity.sign_in(&body, HERE).await.unwrap();
    let token = last_token(world, email).await;
    world
        .service
        .identity
        .sign_in_by_link(&json!({"token": token}))
        .await
        .unwrap()
}

/// What somebody has made of an account whose address nobody has confirmed.
struct Belongings {
    key: String,
    /// The token of a link that would give the account another address.
    token: String,
}

async fn settle_in(world: &World, actor: &Actor, number: &str, other: &str) -> Belongings {
    let service = &world.service;
    let key = service
        .accounts
        .create_api_key_of(actor, &json!({"name": "left"}))
        .await
        .unwrap();
    let webhook = json!({"url": "https://stranger.example/hook", "events": ["alert.triggered"]});
    service.webhooks.create_webhook(actor, &webhook).await.unwrap();
    verify(world, actor, number).await;
    let change = json!({"email": other});
    service
        .account_settings
        .request_address_change(actor, &change)
        .await
        .unwrap();
    Belongings {
        key: key.secret,
        token: last_token(world, other).await,
    }
}

async fn whatever_a_stranger_has_set_up_ends_when_the_owner_comes_by_whichever_link(world: World) {
    let service = &world.service;
    for (n, way) in ["magic_link", "confirm", "reset"].into_iter().enumerate() {
        let email = format!("owner{n}@example.com");
        register(&world, &email, STRANGERS).await;
        let stranger = sign_in(&world, &email, STRANGERS).await.unwrap();
        let other = format!("stranger{n}@example.net");
        let left = settle_in(&world, &stranger, &format!("+1415555012{n}"), &other).await;
        match way {
            "magic_link" => {}
            "confirm" => {
                register(&world, &email, PASSWORD).await;
                let token = last_token(&world, &email).await;
                assert!(!confirm(&world, &token).await.unwrap(), "no password is in force");
            }
            _ => {
                service.identity.request_reset(&json!({"email": email})).await.unwrap();
                let token = last_token(&world, &email).await;
                let body = json!({"email": email, "token": token, "new_password": PASSWORD});
                service.identity.confirm_reset(&body).await.unwrap();
            }
        }
        let signed_in = by_link(&world, &email).await;
        assert_eq!(signed_in.account.id, stranger.account, "{way}");
        assert_eq!(
            (&signed_in.account.full_name, &signed_in.account.profile.phone),
            (&None, &None),
            "{way}"
        );
        let owner = service
            .authenticator
            .authenticate_token(&signed_in.access_token)
            .await
            .unwrap();
        assert!(service.webhooks.webhooks(&owner).await.unwrap().is_empty(), "{way}");
        assert!(service.accounts.api_keys(&owner).await.unwrap().is_empty(), "{way}");
        let refused = service.authenticator.authenticate_key(&left.key).await.unwrap_err();
        assert_eq!(kind(&refused), "unauthenticated", "{way}");
        let change: Value = json!({"token": left.token});
        let refused = service
            .account_settings
            .confirm_address_change(&change)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "malformed", "{way}");
        let refused = sign_in(&world, &email, STRANGERS).await.unwrap_err();
        assert_eq!(kind(&refused), "unauthenticated", "{way}");
    }
}

async fn what_the_only_one_who_registered_has_set_up_stays_when_they_confirm(world: World) {
    let service = &world.service;
    let email = "owner@example.com";
    register(&world, email, STRANGERS).await;
    let token = last_token(&world, email).await;
    let owner = sign_in(&world, email, STRANGERS).await.unwrap();
    let left = settle_in(&world, &owner, "+14155550123", "owner@example.net").await;
    let body = json!({"current_password": STRANGERS, "new_password": PASSWORD});
    service
        .account_settings
        .change_password(&owner, HERE, &body)
        .await
        .unwrap();
    assert!(confirm(&world, &token).await.unwrap(), "a password is in force");
    let owner = sign_in(&world, email, PASSWORD).await.unwrap();
    assert_eq!(service.webhooks.webhooks(&owner).await.unwrap().len(), 1);
    service.authenticator.authenticate_key(&left.key).await.unwrap();
    let signed_in = by_link(&world, email).await;
    assert_eq!(signed_in.account.full_name.as_deref(), Some("Mallory"));
    assert!(signed_in.account.profile.phone.is_some());
}

async fn of_several_who_registered_nobody_has_a_password_whosever_link_is_followed(world: World) {
    for which in 0..5 {
        let email = format!("owner{which}@example.com");
        let mut tokens = Vec::new();
        for _ in 0..5 {
            register(&world, &email, STRANGERS).await;
            tokens.push(last_token(&world, &email).await);
        }
        // No more links are mailed, so whoever owns the address has five of the stranger's and none of their own.
        register(&world, &email, PASSWORD).await;
        assert!(!confirm(&world, &tokens[which]).await.unwrap());
        for password in [STRANGERS, PASSWORD] {
            let refused = sign_in(&world, &email, password).await.unwrap_err();
            assert_eq!(kind(&refused), "unauthenticated");
        }
        for token in &tokens {
            assert_eq!(kind(&confirm(&world, token).await.unwrap_err()), "malformed");
        }
        assert!(by_link(&world, &email).await.account.is_verified);
    }
}

async fn links_that_were_forgotten_since_do_not_make_a_later_one_the_first(world: World) {
    let email = "owner@example.com";
    register(&world, email, STRANGERS).await;
    sign_in(&world, email, STRANGERS).await.unwrap();
    world.advance(60 * 24 * 30);
    world.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    register(&world, email, PASSWORD).await;
    let token = last_token(&world, email).await;
    assert!(!confirm(&world, &token).await.unwrap());
    let refused = sign_in(&world, email, STRANGERS).await.unwrap_err();
    assert_eq!(kind(&refused), "unauthenticated");
}

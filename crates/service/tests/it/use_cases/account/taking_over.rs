//! Takeover of an unverified account by the owner of its address.

use accounts::identity::SessionTokens;
use foundation::{Actor, ServiceError};
use serde_json::{Value, json};

use super::{HERE, last_token, mailed, sign_in, verify};
use crate::support::{PASSWORD, TestApp, kind, on_each_database};

on_each_database! {
    owner_takeover_by_any_link_removes_data_of_unverified_account
    single_registration_keeps_its_data_on_confirmation
    multiple_registrations_leave_no_password
    deleted_links_do_not_make_a_later_registration_the_first
}

const STRANGERS: &str = "the stranger's own";

async fn register(app: &TestApp, email: &str, password: &str) {
    let body = json!({"email": email, "password": password, "full_name": "Mallory"});
    app.service.identity.register(&body).await.unwrap();
    // Emails that are pending at the same time are sent in any order.
    mailed(app, email).await;
}

async fn confirm(app: &TestApp, token: &str) -> Result<bool, ServiceError> {
    app.service.identity.confirm_address(&json!({"token": token})).await
}

async fn by_link(app: &TestApp, email: &str) -> SessionTokens {
    // Emails that are pending at the same time are sent in any order, and that about a changed password has no token.
    mailed(app, email).await;
    let body = json!({"email": email, "type": "magic_link"});
    app.service.identity.sign_in(&body, HERE).await.unwrap();
    let token = last_token(app, email).await;
    app.service
        .identity
        .sign_in_by_link(&json!({"token": token}))
        .await
        .unwrap()
}

/// Data set up in an unverified account.
struct AccountData {
    key: String,
    /// Token of a link that would change the account's address.
    token: String,
}

async fn settle_in(app: &TestApp, actor: &Actor, number: &str, other: &str) -> AccountData {
    let service = &app.service;
    let key = service
        .accounts
        .create_api_key_from_body(actor, &json!({"name": "left"}))
        .await
        .unwrap();
    let webhook = json!({"url": "https://stranger.example/hook", "events": ["alert.triggered"]});
    service.webhooks.create_webhook(actor, &webhook).await.unwrap();
    verify(app, actor, number).await;
    let change = json!({"email": other});
    service
        .account_settings
        .request_address_change(actor, &change)
        .await
        .unwrap();
    AccountData {
        key: key.secret,
        token: last_token(app, other).await,
    }
}

async fn owner_takeover_by_any_link_removes_data_of_unverified_account(app: TestApp) {
    let service = &app.service;
    for (n, way) in ["magic_link", "confirm", "reset"].into_iter().enumerate() {
        let email = format!("owner{n}@example.com");
        register(&app, &email, STRANGERS).await;
        let stranger = sign_in(&app, &email, STRANGERS).await.unwrap();
        let other = format!("stranger{n}@example.net");
        let left = settle_in(&app, &stranger, &format!("+1415555012{n}"), &other).await;
        match way {
            "magic_link" => {}
            "confirm" => {
                register(&app, &email, PASSWORD).await;
                let token = last_token(&app, &email).await;
                assert!(!confirm(&app, &token).await.unwrap(), "no password is in force");
            }
            _ => {
                service.identity.request_reset(&json!({"email": email})).await.unwrap();
                let token = last_token(&app, &email).await;
                let body = json!({"email": email, "token": token, "new_password": PASSWORD});
                service.identity.confirm_reset(&body).await.unwrap();
            }
        }
        let signed_in = by_link(&app, &email).await;
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
        let refused = sign_in(&app, &email, STRANGERS).await.unwrap_err();
        assert_eq!(kind(&refused), "unauthenticated", "{way}");
    }
}

async fn single_registration_keeps_its_data_on_confirmation(app: TestApp) {
    let service = &app.service;
    let email = "owner@example.com";
    register(&app, email, STRANGERS).await;
    let token = last_token(&app, email).await;
    let owner = sign_in(&app, email, STRANGERS).await.unwrap();
    let left = settle_in(&app, &owner, "+14155550123", "owner@example.net").await;
    let body = json!({"current_password": STRANGERS, "new_password": PASSWORD});
    service
        .account_settings
        .change_password(&owner, HERE, &body)
        .await
        .unwrap();
    assert!(confirm(&app, &token).await.unwrap(), "a password is in force");
    let owner = sign_in(&app, email, PASSWORD).await.unwrap();
    assert_eq!(service.webhooks.webhooks(&owner).await.unwrap().len(), 1);
    service.authenticator.authenticate_key(&left.key).await.unwrap();
    let signed_in = by_link(&app, email).await;
    assert_eq!(signed_in.account.full_name.as_deref(), Some("Mallory"));
    assert!(signed_in.account.profile.phone.is_some());
}

async fn multiple_registrations_leave_no_password(app: TestApp) {
    for which in 0..5 {
        let email = format!("owner{which}@example.com");
        let mut tokens = Vec::new();
        for _ in 0..5 {
            register(&app, &email, STRANGERS).await;
            tokens.push(last_token(&app, &email).await);
        }
        // The link limit is reached, so the owner has five links of the stranger's registrations.
        register(&app, &email, PASSWORD).await;
        assert!(!confirm(&app, &tokens[which]).await.unwrap());
        for password in [STRANGERS, PASSWORD] {
            let refused = sign_in(&app, &email, password).await.unwrap_err();
            assert_eq!(kind(&refused), "unauthenticated");
        }
        for token in &tokens {
            assert_eq!(kind(&confirm(&app, token).await.unwrap_err()), "malformed");
        }
        assert!(by_link(&app, &email).await.account.is_verified);
    }
}

async fn deleted_links_do_not_make_a_later_registration_the_first(app: TestApp) {
    let email = "owner@example.com";
    register(&app, email, STRANGERS).await;
    sign_in(&app, email, STRANGERS).await.unwrap();
    app.advance(60 * 24 * 30);
    app.service.jobs.run_job(service::cron::Job::Cleanup).await.unwrap();
    register(&app, email, PASSWORD).await;
    let token = last_token(&app, email).await;
    assert!(!confirm(&app, &token).await.unwrap());
    let refused = sign_in(&app, email, STRANGERS).await.unwrap_err();
    assert_eq!(kind(&refused), "unauthenticated");
}

//! Accounts and API keys.

use accounts::access::{ApiKeyParams, CreatedApiKey, NewAccount};
use alerts::Plan;
use foundation::{Actor, AuthMethod, Scope};
use jiff::SignedDuration;

use crate::support::{OPEN, PASSWORD, TestApp, above, at, kind, on_each_database};

on_each_database! {
    addresses_are_compared_in_normalized_form
    all_account_errors_are_reported_at_once
    key_identifies_actor_and_scopes
    unknown_key_is_rejected
    missing_account_gets_no_key_and_no_plan
    operator_scopes_require_operator
    basic_plan_has_one_key_unless_operator_creates_more
    deleted_key_is_rejected_at_once_and_only_owner_can_delete
    plan_change_takes_effect_at_once
    key_use_is_recorded_at_most_once_a_minute
}

fn user(email: &str, password: &str) -> NewAccount {
    NewAccount {
        email: email.to_owned(),
        password: password.to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    }
}

fn key(name: &str, scopes: &[Scope]) -> ApiKeyParams {
    ApiKeyParams {
        name: name.to_owned(),
        scopes: scopes.to_vec(),
    }
}

async fn cara(app: &TestApp) -> CreatedApiKey {
    app.service
        .accounts
        .create_account(user("cara@example.com", PASSWORD))
        .await
        .unwrap();
    let key = key("script", &[Scope::AlertsRead]);
    app.service
        .accounts
        .create_api_key_for_email("cara@example.com", key)
        .await
        .unwrap()
}

async fn addresses_are_compared_in_normalized_form(app: TestApp) {
    let account = app
        .service
        .accounts
        .create_account(user(" Cara@Example.COM ", PASSWORD))
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
    let again = app
        .service
        .accounts
        .create_account(user("cara@example.com", PASSWORD))
        .await;
    assert_eq!(kind(&again.unwrap_err()), "conflict");
    let changed = app
        .service
        .accounts
        .set_plan("CARA@example.com", Plan::Premium)
        .await
        .unwrap();
    assert_eq!((changed.id, changed.plan), (account.id, Plan::Premium));
}

async fn all_account_errors_are_reported_at_once(app: TestApp) {
    let create = async |email: &str, password: &str| {
        let refused = app.service.accounts.create_account(user(email, password)).await;
        kind(&refused.unwrap_err())
    };
    assert_eq!(create("cara", "1234567").await, "invalid email password");
    assert_eq!(create("cara@example.com", "1234567").await, "invalid password");
    assert_eq!(create("cara@example.com", &"a".repeat(201)).await, "invalid password");
    assert_eq!(create("", PASSWORD).await, "invalid email");
}

async fn key_identifies_actor_and_scopes(app: TestApp) {
    let made = cara(&app).await;
    assert_eq!((made.secret.len(), made.tier), (67, Plan::Basic));
    assert!(made.secret.starts_with("sk_") && made.secret.starts_with(&made.key.prefix));
    assert_eq!(made.key.prefix.len(), 11);
    let actor = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    assert_eq!((actor.account, actor.plan), (made.key.account, Plan::Basic));
    let expected = AuthMethod::ApiKey {
        id: made.key.id,
        name: "script".to_owned(),
        scopes: vec![Scope::AlertsRead],
    };
    assert_eq!(actor.auth_method, expected);
    assert!(actor.require(Scope::AlertsRead).is_ok());
    let refused = actor.require(Scope::AlertsWrite).unwrap_err();
    assert_eq!(kind(&refused), "forbidden scope alerts:write");
}

async fn unknown_key_is_rejected(app: TestApp) {
    let made = cara(&app).await;
    for text in [
        String::new(),
        made.secret.to_uppercase(),
        made.secret[..66].to_owned(),
        format!("sk_{}", "0".repeat(64)),
    ] {
        let refused = app.service.authenticator.authenticate_key(&text).await.unwrap_err();
        assert_eq!(kind(&refused), "unauthenticated", "{text}");
    }
}

async fn missing_account_gets_no_key_and_no_plan(app: TestApp) {
    let made = app
        .service
        .accounts
        .create_api_key_for_email("nobody@example.com", key("x", Scope::PUBLIC))
        .await;
    assert_eq!(kind(&made.unwrap_err()), "no account");
    let plan = app.service.accounts.set_plan("nobody@example.com", Plan::Premium).await;
    assert_eq!(kind(&plan.unwrap_err()), "no account");
}

async fn operator_scopes_require_operator(app: TestApp) {
    cara(&app).await;
    let scopes = [Scope::AlertsRead, Scope::MarketWrite];
    let made = app
        .service
        .accounts
        .create_api_key_for_email("cara@example.com", key("x", &scopes))
        .await;
    assert_eq!(kind(&made.unwrap_err()), "invalid scopes");
    let made = app
        .service
        .accounts
        .create_api_key_for_email("operator@example.com", key("x", &scopes))
        .await
        .unwrap();
    let actor = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    assert!(actor.is_operator && actor.require(Scope::MarketWrite).is_ok());
    assert!(actor.require(Scope::OutboxRead).is_err());
}

async fn basic_plan_has_one_key_unless_operator_creates_more(app: TestApp) {
    app.service
        .accounts
        .create_account(user("cara@example.com", PASSWORD))
        .await
        .unwrap();
    let first = app
        .service
        .accounts
        .create_api_key_for_email("cara@example.com", key("one", Scope::PUBLIC))
        .await
        .unwrap();
    let cara = app.service.authenticator.authenticate_key(&first.secret).await.unwrap();
    let second = app
        .service
        .accounts
        .create_api_key(&cara, key("two", Scope::PUBLIC))
        .await;
    assert_eq!(kind(&second.unwrap_err()), "forbidden plan premium");
    app.service
        .accounts
        .create_api_key_for_email("cara@example.com", key("two", Scope::PUBLIC))
        .await
        .unwrap();
    app.service
        .accounts
        .set_plan("cara@example.com", Plan::EarlyBird)
        .await
        .unwrap();
    let third = app
        .service
        .accounts
        .create_api_key(&cara, key(" three ", Scope::PUBLIC))
        .await
        .unwrap();
    assert_eq!(third.tier, Plan::EarlyBird);
    let names: Vec<_> = names(&app, &cara).await;
    assert_eq!(names, ["one", "two", "three"]);
    let nameless = app.service.accounts.create_api_key(&cara, key("  ", &[])).await;
    assert_eq!(kind(&nameless.unwrap_err()), "invalid name scopes");
}

async fn names(app: &TestApp, actor: &Actor) -> Vec<String> {
    let keys = app.service.accounts.api_keys(actor).await.unwrap();
    keys.into_iter().map(|key| key.name).collect()
}

async fn deleted_key_is_rejected_at_once_and_only_owner_can_delete(app: TestApp) {
    let made = cara(&app).await;
    let cara = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    let ann = app.ann(Plan::Basic).await;
    let by_ann = app.service.accounts.delete_api_key(&ann, made.key.id).await;
    assert_eq!(kind(&by_ann.unwrap_err()), "no API key");
    app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    app.service.accounts.delete_api_key(&cara, made.key.id).await.unwrap();
    let refused = app
        .service
        .authenticator
        .authenticate_key(&made.secret)
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "unauthenticated");
    assert_eq!(names(&app, &cara).await, [""; 0]);
    let again = app.service.accounts.delete_api_key(&cara, made.key.id).await;
    assert_eq!(kind(&again.unwrap_err()), "no API key");
}

async fn plan_change_takes_effect_at_once(app: TestApp) {
    let made = cara(&app).await;
    let before = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    app.service
        .accounts
        .set_plan("cara@example.com", Plan::Premium)
        .await
        .unwrap();
    let after = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    assert_eq!((before.plan, after.plan), (Plan::Basic, Plan::Premium));
    app.quote("AAPL", 189.20).await;
    let rsi = serde_json::json!({"symbol": "AAPL", "condition": "rsi_limit", "threshold": 70});
    app.create(&after, rsi).await;
    app.create(&after, above("AAPL", 200.0)).await;
}

async fn key_use_is_recorded_at_most_once_a_minute(app: TestApp) {
    let made = cara(&app).await;
    let cara = app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    app.clock.advance(SignedDuration::from_secs(59));
    app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    // Uses are recorded in the background; stopping the service waits for them.
    let app = app.restarted().await;
    let keys = app.service.accounts.api_keys(&cara).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(at(OPEN)));
    app.clock.advance(SignedDuration::from_secs(1));
    app.service.authenticator.authenticate_key(&made.secret).await.unwrap();
    let app = app.restarted().await;
    let keys = app.service.accounts.api_keys(&cara).await.unwrap();
    assert_eq!(keys[0].last_used_at, Some(at("2024-03-08T15:01:00Z")));
}

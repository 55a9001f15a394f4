//! Change of the email address.

use alerts::Plan;
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{ann, last_token, mailed, sign_in};
use crate::support::{PASSWORD, TestApp, kind, on_each_database};

on_each_database! {
    address_changes_when_link_is_followed_and_old_address_is_notified
    link_works_once_within_a_day_until_replaced
    fifty_concurrent_uses_of_a_link_succeed_once
    taken_address_gets_no_email_and_response_is_the_same
    concurrent_changes_to_same_address_succeed_once
    address_registered_meanwhile_is_not_taken
    password_change_invalidates_address_links
    links_are_limited_per_account_and_per_address
    invalid_or_own_address_is_rejected
}

const NEW: &str = "ann@example.org";

async fn ask(app: &TestApp, actor: &Actor, email: &str) -> Result<String, ServiceError> {
    app.service
        .account_settings
        .request_address_change(actor, &json!({"email": email}))
        .await
}

async fn follow(app: &TestApp, token: &str) -> Result<String, ServiceError> {
    app.service
        .account_settings
        .confirm_address_change(&json!({"token": token}))
        .await
}

async fn address_changes_when_link_is_followed_and_old_address_is_notified(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    assert_eq!(ask(&app, &ann, " Ann@Example.ORG ").await.unwrap(), NEW);
    sign_in(&app, &ann.email, PASSWORD).await.unwrap();
    assert_eq!(
        kind(&sign_in(&app, NEW, PASSWORD).await.unwrap_err()),
        "unauthenticated"
    );
    let token = last_token(&app, NEW).await;
    assert_eq!(follow(&app, &token).await.unwrap(), NEW);
    let now = sign_in(&app, NEW, PASSWORD).await.unwrap();
    assert_eq!((now.account, now.email.as_str()), (ann.account, NEW));
    let old = sign_in(&app, &ann.email, PASSWORD).await.unwrap_err();
    assert_eq!(kind(&old), "unauthenticated");
    let told = mailed(&app, &ann.email).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(NEW), "{}", told[0]);
}

async fn link_works_once_within_a_day_until_replaced(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, NEW).await.unwrap();
    let first = last_token(&app, NEW).await;
    ask(&app, &ann, "ann@example.net").await.unwrap();
    assert_eq!(kind(&follow(&app, &first).await.unwrap_err()), "malformed");
    let second = last_token(&app, "ann@example.net").await;
    for token in ["", "short", &second[1..], &format!("{second}A"), "a\0b"] {
        assert!(follow(&app, token).await.is_err(), "{token}");
    }
    app.clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    follow(&app, &second).await.unwrap();
    assert_eq!(kind(&follow(&app, &second).await.unwrap_err()), "malformed");
    ask(&app, &ann, NEW).await.unwrap();
    let third = last_token(&app, NEW).await;
    app.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(kind(&follow(&app, &third).await.unwrap_err()), "malformed");
}

async fn fifty_concurrent_uses_of_a_link_succeed_once(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, NEW).await.unwrap();
    let token = last_token(&app, NEW).await;
    let all = futures_util::future::join_all((0..50).map(|_| follow(&app, &token))).await;
    assert_eq!(all.iter().filter(|followed| followed.is_ok()).count(), 1);
    let refused = all.iter().filter_map(|followed| followed.as_ref().err());
    assert_eq!(refused.filter(|error| kind(error) == "malformed").count(), 49);
    assert_eq!(mailed(&app, &ann.email).await.len(), 1);
}

async fn taken_address_gets_no_email_and_response_is_the_same(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let bob = app.bob(Plan::Basic).await;
    assert_eq!(ask(&app, &ann, &bob.email).await.unwrap(), bob.email);
    assert_eq!(ask(&app, &ann, NEW).await.unwrap(), NEW);
    assert!(mailed(&app, &bob.email).await.is_empty());
    assert_eq!(mailed(&app, NEW).await.len(), 1);
}

async fn concurrent_changes_to_same_address_succeed_once(app: TestApp) {
    let other = app.another_process().await;
    let ann = ann(&app, Plan::Basic).await;
    let bob = super::bob(&app, Plan::Basic).await;
    for round in 0..4 {
        let email = format!("both{round}@example.org");
        ask(&app, &ann, &email).await.unwrap();
        let of_ann = last_token(&app, &email).await;
        ask(&app, &bob, &email).await.unwrap();
        let of_bob = last_token(&app, &email).await;
        let both = futures_util::future::join(follow(&app, &of_ann), follow(&other, &of_bob)).await;
        let (one, refused) = match both {
            (Ok(one), Err(refused)) | (Err(refused), Ok(one)) => (one, refused),
            other => panic!("{other:?}"),
        };
        assert_eq!((one, kind(&refused).as_str()), (email, "malformed"));
    }
}

async fn address_registered_meanwhile_is_not_taken(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, "bob@example.com").await.unwrap();
    let token = last_token(&app, "bob@example.com").await;
    let bob = app.bob(Plan::Basic).await;
    assert_eq!(kind(&follow(&app, &token).await.unwrap_err()), "malformed");
    let still = sign_in(&app, &bob.email, PASSWORD).await.unwrap();
    assert_eq!(still.account, bob.account);
    assert!(mailed(&app, &ann.email).await.is_empty());
}

async fn password_change_invalidates_address_links(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    ask(&app, &ann, "thief@example.net").await.unwrap();
    let token = last_token(&app, "thief@example.net").await;
    let body: Value = json!({"current_password": PASSWORD, "new_password": "battery staple"});
    app.service
        .account_settings
        .change_password(&ann, super::HERE, &body)
        .await
        .unwrap();
    assert_eq!(kind(&follow(&app, &token).await.unwrap_err()), "malformed");
    ask(&app, &ann, "thief@example.net").await.unwrap();
    let token = last_token(&app, "thief@example.net").await;
    app.service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let reset = last_token(&app, &ann.email).await;
    let body = json!({"email": ann.email, "token": reset, "new_password": "another battery"});
    app.service.identity.confirm_reset(&body).await.unwrap();
    assert_eq!(kind(&follow(&app, &token).await.unwrap_err()), "malformed");
}

async fn links_are_limited_per_account_and_per_address(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for _ in 0..5 {
        ask(&app, &ann, NEW).await.unwrap();
    }
    let sixth = ask(&app, &ann, "elsewhere@example.org").await.unwrap_err();
    assert_eq!(kind(&sixth), "too many");
    // Another account's request for the same address gets the same response, but sends nothing more.
    let bob = super::bob(&app, Plan::Basic).await;
    assert_eq!(ask(&app, &bob, NEW).await.unwrap(), NEW);
    assert_eq!(mailed(&app, NEW).await.len(), 5);
    app.clock
        .advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    assert_eq!(kind(&ask(&app, &ann, NEW).await.unwrap_err()), "too many");
    app.clock.advance(SignedDuration::from_micros(1));
    ask(&app, &ann, NEW).await.unwrap();
    assert_eq!(mailed(&app, NEW).await.len(), 6);
}

async fn invalid_or_own_address_is_rejected(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for email in [
        "",
        "ann",
        "ann@",
        "ann@example.com",
        "ANN@example.com ",
        "ann@example.org\r\nBcc: all@example.com",
        "ann@example.org, bob@example.com",
        "\"Ann\" <ann@example.org>",
        "ann\0@example.org",
        "ann\u{202e}@example.org\n",
    ] {
        let refused = ask(&app, &ann, email).await.err().map(|error| kind(&error));
        assert_eq!(refused.as_deref(), Some("invalid email"), "{email:?}");
    }
    assert!(mailed(&app, "bob@example.com").await.is_empty());
}

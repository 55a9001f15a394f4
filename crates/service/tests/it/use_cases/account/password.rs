//! Change of the password.

use alerts::Plan;
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{HERE, ann, last_token, mailed, sign_in};
use crate::support::{PASSWORD, TestApp, kind, on_each_database};

on_each_database! {
    password_change_ends_other_sessions_and_sends_notice
    wrong_or_missing_current_password_is_rejected
    wrong_current_passwords_are_throttled
    password_change_invalidates_links
    concurrent_password_changes_succeed_once
    api_key_cannot_change_password
}

const NEW: &str = "battery staple";

async fn change(app: &TestApp, actor: &Actor, current: &str, new: &str) -> Result<(), ServiceError> {
    let body = json!({"current_password": current, "new_password": new});
    app.service.account_settings.change_password(actor, HERE, &body).await
}

async fn goes_on(app: &TestApp, actor: &Actor) -> bool {
    app.service.identity.session(actor).await.is_ok()
}

async fn password_change_ends_other_sessions_and_sends_notice(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let others = [
        sign_in(&app, &ann.email, PASSWORD).await.unwrap(),
        sign_in(&app, &ann.email, PASSWORD).await.unwrap(),
    ];
    let bob = super::bob(&app, Plan::Basic).await;
    change(&app, &ann, PASSWORD, NEW).await.unwrap();
    assert!(goes_on(&app, &ann).await && goes_on(&app, &bob).await);
    for other in &others {
        assert!(!goes_on(&app, other).await);
    }
    let old = sign_in(&app, &ann.email, PASSWORD).await.unwrap_err();
    assert_eq!(kind(&old), "unauthenticated");
    sign_in(&app, &ann.email, NEW).await.unwrap();
    let told = mailed(&app, &ann.email).await;
    assert_eq!(told.len(), 1);
    assert!(!told[0].contains(NEW) && !told[0].contains(PASSWORD), "{}", told[0]);
}

async fn wrong_or_missing_current_password_is_rejected(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let other = sign_in(&app, &ann.email, PASSWORD).await.unwrap();
    for (body, faults) in [
        (
            json!({"current_password": "wrong horse", "new_password": NEW}),
            "invalid current_password",
        ),
        (json!({"new_password": NEW}), "invalid current_password"),
        (
            json!({"current_password": null, "new_password": "short"}),
            "invalid current_password new_password",
        ),
        (json!({"current_password": PASSWORD}), "invalid new_password"),
        (
            json!({"current_password": PASSWORD, "new_password": "a\0bcdefgh"}),
            "invalid new_password",
        ),
    ] {
        let body: Value = body;
        let refused = app
            .service
            .account_settings
            .change_password(&ann, HERE, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
    }
    assert!(goes_on(&app, &other).await);
    assert!(mailed(&app, &ann.email).await.is_empty());
    sign_in(&app, &ann.email, PASSWORD).await.unwrap();
}

async fn wrong_current_passwords_are_throttled(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let mut kinds = Vec::new();
    for _ in 0..8 {
        kinds.push(kind(&change(&app, &ann, "wrong horse", NEW).await.unwrap_err()));
    }
    assert_eq!(kinds[4], "invalid current_password");
    assert_eq!(kinds[7], "too many", "{kinds:?}");
    // The correct password has to wait as well.
    assert_eq!(kind(&change(&app, &ann, PASSWORD, NEW).await.unwrap_err()), "too many");
    app.clock.advance(SignedDuration::from_mins(16));
    change(&app, &ann, PASSWORD, NEW).await.unwrap();
}

async fn password_change_invalidates_links(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    app.service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let token = last_token(&app, &ann.email).await;
    change(&app, &ann, PASSWORD, NEW).await.unwrap();
    let body = json!({"email": ann.email, "token": token, "new_password": "a third one"});
    assert_eq!(
        kind(&app.service.identity.confirm_reset(&body).await.unwrap_err()),
        "malformed"
    );
    sign_in(&app, &ann.email, NEW).await.unwrap();
}

async fn concurrent_password_changes_succeed_once(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let wishes: Vec<String> = (0..4).map(|n| format!("{NEW} {n}")).collect();
    let changes = wishes.iter().map(|new| change(&app, &ann, PASSWORD, new));
    let answers = futures_util::future::join_all(changes).await;
    let kept: Vec<_> = wishes
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.is_ok())
        .collect();
    assert_eq!(kept.len(), 1, "{answers:?}");
    sign_in(&app, &ann.email, kept[0].0).await.unwrap();
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    for error in refused {
        assert!(
            ["conflict", "invalid current_password"].contains(&kind(error).as_str()),
            "{error}"
        );
    }
}

async fn api_key_cannot_change_password(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let refused = change(&app, &ann, PASSWORD, NEW).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden session_required session");
}

//! Another password.

use alerts::Plan;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::{Actor, ServiceError};

use super::{HERE, ann, last_token, mailed, sign_in};
use crate::support::{PASSWORD, World, kind, on_each_database};

on_each_database! {
    a_new_password_ends_all_other_sessions_and_the_address_is_told
    a_wrong_or_missing_current_password_changes_nothing
    guessing_at_the_current_password_is_slow
    links_that_were_mailed_before_are_void
    of_many_changes_at_once_one_succeeds
    an_api_key_changes_no_password
}

const NEW: &str = "battery staple";

async fn change(world: &World, actor: &Actor, current: &str, new: &str) -> Result<(), ServiceError> {
    let body = json!({"current_password": current, "new_password": new});
    world.service.account_settings.change_password(actor, HERE, &body).await
}

async fn goes_on(world: &World, actor: &Actor) -> bool {
    world.service.identity.session(actor).await.is_ok()
}

async fn a_new_password_ends_all_other_sessions_and_the_address_is_told(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let others = [
        sign_in(&world, &ann.email, PASSWORD).await.unwrap(),
        sign_in(&world, &ann.email, PASSWORD).await.unwrap(),
    ];
    let bob = super::bob(&world, Plan::Basic).await;
    change(&world, &ann, PASSWORD, NEW).await.unwrap();
    assert!(goes_on(&world, &ann).await && goes_on(&world, &bob).await);
    for other in &others {
        assert!(!goes_on(&world, other).await);
    }
    let old = sign_in(&world, &ann.email, PASSWORD).await.unwrap_err();
    assert_eq!(kind(&old), "unauthenticated");
    sign_in(&world, &ann.email, NEW).await.unwrap();
    let told = mailed(&world, &ann.email).await;
    assert_eq!(told.len(), 1);
    assert!(!told[0].contains(NEW) && !told[0].contains(PASSWORD), "{}", told[0]);
}

async fn a_wrong_or_missing_current_password_changes_nothing(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let other = sign_in(&world, &ann.email, PASSWORD).await.unwrap();
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
        let refused = world
            .service
            .account_settings
            .change_password(&ann, HERE, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), faults, "{body}");
    }
    assert!(goes_on(&world, &other).await);
    assert!(mailed(&world, &ann.email).await.is_empty());
    sign_in(&world, &ann.email, PASSWORD).await.unwrap();
}

async fn guessing_at_the_current_password_is_slow(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let mut kinds = Vec::new();
    for _ in 0..8 {
        kinds.push(kind(&change(&world, &ann, "wrong horse", NEW).await.unwrap_err()));
    }
    assert_eq!(kinds[4], "invalid current_password");
    assert_eq!(kinds[7], "too many", "{kinds:?}");
    // Even the right one has to wait.
    assert_eq!(
        kind(&change(&world, &ann, PASSWORD, NEW).await.unwrap_err()),
        "too many"
    );
    world.clock.advance(SignedDuration::from_mins(16));
    change(&world, &ann, PASSWORD, NEW).await.unwrap();
}

async fn links_that_were_mailed_before_are_void(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    world
        .service
        .identity
        .request_reset(&json!({"email": ann.email}))
        .await
        .unwrap();
    let token = last_token(&world, &ann.email).await;
    change(&world, &ann, PASSWORD, NEW).await.unwrap();
    let body = json!({"email": ann.email, "token": token, "new_password": "a third one"});
    assert_eq!(
        kind(&world.service.identity.confirm_reset(&body).await.unwrap_err()),
        "malformed"
    );
    sign_in(&world, &ann.email, NEW).await.unwrap();
}

async fn of_many_changes_at_once_one_succeeds(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let wishes: Vec<String> = (0..4).map(|n| format!("{NEW} {n}")).collect();
    let changes = wishes.iter().map(|new| change(&world, &ann, PASSWORD, new));
    let answers = futures_util::future::join_all(changes).await;
    let kept: Vec<_> = wishes
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.is_ok())
        .collect();
    assert_eq!(kept.len(), 1, "{answers:?}");
    sign_in(&world, &ann.email, kept[0].0).await.unwrap();
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    for error in refused {
        assert!(
            ["conflict", "invalid current_password"].contains(&kind(error).as_str()),
            "{error}"
        );
    }
}

async fn an_api_key_changes_no_password(world: World) {
    let ann = world.ann(Plan::Basic).await;
    let refused = change(&world, &ann, PASSWORD, NEW).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden session_required session");
}

//! Changes of credentials and accounts by another process on the database.

use accounts::access::ApiKeyParams;
use accounts::identity::SignInResult;
use alerts::Plan;
use foundation::{Actor, Scope, ServiceError};
use jiff::SignedDuration;
use serde_json::json;

use super::HERE;
use crate::support::{PASSWORD, TestApp, kind, on_each_database};

on_each_database! {
    key_deleted_by_another_process_is_refused_within_a_second
    session_ended_by_another_process_is_refused_within_a_second
    credentials_of_an_account_deleted_by_another_process_are_refused_within_a_second
    plan_set_by_another_process_takes_effect_within_a_second
}

const ANN: &str = "ann@example.com";
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The credentials of a signed-in account.
struct Credentials {
    key: String,
    token: String,
    cookie: String,
}

/// Creates Ann's account, and uses its credentials in both processes.
async fn known_to_both(app: &TestApp, other: &TestApp) -> (Credentials, Actor) {
    app.ann(Plan::Premium).await;
    let key = ApiKeyParams {
        name: "script".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = app.service.accounts.create_api_key_for_email(ANN, key).await.unwrap();
    let body = json!({"email": ANN, "password": PASSWORD});
    let SignInResult::SignedIn(signed_in) = app.service.identity.sign_in(&body, HERE).await.unwrap() else {
        panic!("a link was mailed");
    };
    let credentials = Credentials {
        key: key.secret,
        token: signed_in.access_token,
        cookie: signed_in.cookie.unwrap(),
    };
    for process in [app, other] {
        for result in authenticate(process, &credentials).await {
            result.unwrap();
        }
    }
    let actor = app.service.authenticator.authenticate_token(&credentials.token).await;
    (credentials, actor.unwrap())
}

/// Returns the results of the key, the access token and the cookie.
async fn authenticate(app: &TestApp, credentials: &Credentials) -> [Result<Actor, ServiceError>; 3] {
    let authenticator = &app.service.authenticator;
    [
        authenticator.authenticate_key(&credentials.key).await,
        authenticator.authenticate_token(&credentials.token).await,
        authenticator.authenticate_cookie(&credentials.cookie, None).await,
    ]
}

/// Returns whether the key, the access token and the cookie are accepted.
async fn accepted(app: &TestApp, credentials: &Credentials) -> [bool; 3] {
    authenticate(app, credentials).await.map(|result| match result {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(kind(&error), "unauthenticated");
            false
        }
    })
}

/// Starts another process. SQLite has only one, so there is none to test.
async fn other_process(app: &TestApp) -> Option<TestApp> {
    if app.database().is_postgres() {
        Some(app.another_process().await)
    } else {
        None
    }
}

async fn key_deleted_by_another_process_is_refused_within_a_second(app: TestApp) {
    let Some(other) = other_process(&app).await else { return };
    let (credentials, ann) = known_to_both(&app, &other).await;
    for key in app.service.accounts.api_keys(&ann).await.unwrap() {
        app.service.accounts.delete_api_key(&ann, key.id).await.unwrap();
    }
    app.clock.advance(SECOND);
    assert_eq!(accepted(&other, &credentials).await, [false, true, true]);
}

async fn session_ended_by_another_process_is_refused_within_a_second(app: TestApp) {
    let Some(other) = other_process(&app).await else { return };
    let (credentials, ann) = known_to_both(&app, &other).await;
    app.service.identity.sign_out(&ann).await.unwrap();
    app.clock.advance(SECOND);
    assert_eq!(accepted(&other, &credentials).await, [true, false, false]);
}

async fn credentials_of_an_account_deleted_by_another_process_are_refused_within_a_second(app: TestApp) {
    let Some(other) = other_process(&app).await else { return };
    let (credentials, ann) = known_to_both(&app, &other).await;
    let body = json!({"confirmation": "DELETE"});
    app.service.account_settings.delete_account(&ann, &body).await.unwrap();
    app.clock.advance(SECOND);
    assert_eq!(accepted(&other, &credentials).await, [false; 3]);
}

async fn plan_set_by_another_process_takes_effect_within_a_second(app: TestApp) {
    let Some(other) = other_process(&app).await else { return };
    let (credentials, _) = known_to_both(&app, &other).await;
    app.service.accounts.set_plan(ANN, Plan::Basic).await.unwrap();
    app.clock.advance(SECOND);
    for actor in authenticate(&other, &credentials).await {
        assert_eq!(actor.unwrap().plan, Plan::Basic);
    }
}

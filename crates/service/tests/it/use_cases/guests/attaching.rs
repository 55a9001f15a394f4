//! An account attaches alerts that its owner requested as a guest.

use accounts::access::{ApiKeyParams, NewAccount};
use alerts::{AlertId, HistoryAction, Plan, Status};
use foundation::{Actor, Scope, ServiceError};
use futures_util::future::join_all;
use serde_json::{Value, json};
use service::alerts::AlertDetail;
use store::model::AlertOwner;
use uuid::Uuid;

use super::{make, price_request, token, verified, verify};
use crate::support::{TestApp, above, kind, on_each_database};

on_each_database! {
    active_guest_alert_is_attached_once_and_stays_active
    inactive_guest_alert_becomes_active_and_its_link_invalid
    fired_alert_is_attached_with_history
    alert_of_another_address_is_not_found
    attaching_requires_confirmed_address_and_active_account
    attached_alerts_count_against_the_plan
    fifty_concurrent_attachments_fill_the_last_slot_once
    equivalent_alert_is_not_duplicated
    attachment_needs_an_id
}

async fn attach(app: &TestApp, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
    app.service
        .guest_alerts
        .attach_guest_alert(actor, &json!({"alert_id": id.0}))
        .await
}

async fn active_guest_alert_is_attached_once_and_stays_active(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let id = verified(&app, &ann.email, 200).await;
    let other = app.another_process().await;
    let attaching = (0..50).map(|n| attach(if n % 2 == 0 { &app } else { &other }, &ann, id));
    for attached in join_all(attaching).await {
        let stored = attached.unwrap().stored;
        assert_eq!(stored.owner, AlertOwner::Account(ann.account));
        assert_eq!(stored.alert.status, Status::Active);
    }
    other.service.stop().await;
    let done = [HistoryAction::Created, HistoryAction::Verified, HistoryAction::Updated];
    assert_eq!(app.actions(&ann, id).await, done);
    let history = app.history(&ann, id).await;
    assert_eq!(
        history[2].details.clone().map(Value::from),
        Some(json!({"attached": true}))
    );
    // It belongs to the account in every respect. (One of the two processes has not loaded it yet.)
    let app = app.restarted().await;
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.status(&ann, id).await, Status::Triggered);
    assert_eq!(app.events(&ann).await.len(), 1);
    let news = app
        .mailed(&ann.email)
        .await
        .into_iter()
        .filter(|email| !super::is_verification_email(email));
    assert_eq!(news.count(), 1);
}

async fn inactive_guest_alert_becomes_active_and_its_link_invalid(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let id = make(&app, &price_request(&ann.email, 200)).await.stored.alert.id;
    let token = token(app.mailed(&ann.email).await.last().unwrap());
    app.quote("AAPL", 190.0).await;
    let alert = attach(&app, &ann, id).await.unwrap().stored.alert;
    assert_eq!(
        (alert.status, alert.initial_price),
        (Status::Active, Some("190".parse().unwrap()))
    );
    assert_eq!(
        app.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Verified]
    );
    assert_eq!(kind(&verify(&app, &token).await.unwrap_err()), "malformed");
    app.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(kind(&verify(&app, &token).await.unwrap_err()), "malformed");
    assert_eq!(app.status(&ann, id).await, Status::Paused);
}

async fn fired_alert_is_attached_with_history(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let id = verified(&app, &ann.email, 200).await;
    app.quote("AAPL", 200.0).await;
    let alert = attach(&app, &ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.status, Status::Triggered);
    app.quote("AAPL", 199.0).await;
    app.service.alerts.activate_alert(&ann, id).await.unwrap();
    assert_eq!(
        app.actions(&ann, id).await,
        [
            HistoryAction::Created,
            HistoryAction::Verified,
            HistoryAction::Triggered,
            HistoryAction::Updated,
            HistoryAction::Reactivated,
        ]
    );
}

async fn alert_of_another_address_is_not_found(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let (ann, bob) = (app.ann(Plan::Premium).await, app.bob(Plan::Premium).await);
    let id = verified(&app, "guest@example.com", 200).await;
    let of_ann = app.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    for id in [id, of_ann, AlertId(Uuid::nil())] {
        assert_eq!(kind(&attach(&app, &bob, id).await.unwrap_err()), "no alert");
    }
    // An alert attached to Ann's account is not Bob's.
    let of_bob = verified(&app, &bob.email, 200).await;
    assert_eq!(kind(&attach(&app, &ann, of_bob).await.unwrap_err()), "no alert");
    attach(&app, &bob, of_bob).await.unwrap();
    assert_eq!(kind(&attach(&app, &ann, of_bob).await.unwrap_err()), "no alert");
    app.service.alerts.delete_alert(&bob, of_bob).await.unwrap();
    assert_eq!(kind(&attach(&app, &bob, of_bob).await.unwrap_err()), "no alert");
    assert_eq!(app.alert_now(id).await.status, Status::Active);
}

async fn attaching_requires_confirmed_address_and_active_account(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let email = "new@example.com";
    let id = verified(&app, email, 200).await;
    let user = NewAccount {
        email: email.to_owned(),
        password: "correct horse".to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    };
    app.service.accounts.create_account(user).await.unwrap();
    let key = ApiKeyParams {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = app.service.accounts.create_api_key_for_email(email, key).await.unwrap();
    let new = app.service.authenticator.authenticate_key(&key.secret).await.unwrap();
    let refused = attach(&app, &new, id).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden email_confirmation confirmed_email");
    // The response does not reveal the alert to an account with an unconfirmed address.
    let none = attach(&app, &new, AlertId(Uuid::nil())).await.unwrap_err();
    assert_eq!(kind(&none), "forbidden email_confirmation confirmed_email");
    let ann = app.ann(Plan::Basic).await;
    let id = verified(&app, &ann.email, 200).await;
    app.service.account_settings.deactivate_account(&ann).await.unwrap();
    let refused = attach(&app, &ann, id).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden deactivated active_account");
    app.service.account_settings.reactivate_account(&ann).await.unwrap();
    attach(&app, &ann, id).await.unwrap();
}

async fn attached_alerts_count_against_the_plan(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    for threshold in 0..20 {
        app.create(&ann, above("AAPL", 300.0 + f64::from(threshold))).await;
    }
    let active = verified(&app, &ann.email, 200).await;
    let inactive = make(&app, &price_request(&ann.email, 201)).await.stored.alert.id;
    for id in [active, inactive] {
        assert_eq!(
            kind(&attach(&app, &ann, id).await.unwrap_err()),
            "forbidden plan premium"
        );
    }
    // It stays a guest alert, unchanged.
    assert_eq!(app.alert_now(inactive).await.status, Status::Inactive);
    app.quote("AAPL", 200.0).await;
    assert_eq!(app.alert_now(active).await.status, Status::Triggered);
    assert_eq!(app.events(&ann).await.len(), 0);
    // An inactive alert needs no slot.
    attach(&app, &ann, active).await.unwrap();
    assert_eq!(
        kind(&attach(&app, &ann, inactive).await.unwrap_err()),
        "forbidden plan premium"
    );
    app.service.accounts.set_plan(&ann.email, Plan::Premium).await.unwrap();
    attach(&app, &ann, inactive).await.unwrap();
}

async fn fifty_concurrent_attachments_fill_the_last_slot_once(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    for threshold in 0..19 {
        app.create(&ann, above("AAPL", 300.0 + f64::from(threshold))).await;
    }
    let mut ids = Vec::new();
    for threshold in 0..5 {
        ids.push(verified(&app, &ann.email, 200 + threshold).await);
    }
    let attaching = (0..50).map(|n| attach(&app, &ann, ids[n % 5]));
    let answers = join_all(attaching).await;
    let attached: std::collections::HashSet<AlertId> = answers
        .iter()
        .filter_map(|answer| Some(answer.as_ref().ok()?.stored.alert.id))
        .collect();
    assert_eq!(attached.len(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(
        refused
            .map(kind)
            .filter(|kind| kind == "forbidden plan premium")
            .count(),
        40
    );
}

async fn equivalent_alert_is_not_duplicated(app: TestApp) {
    app.quote("AAPL", 189.20).await;
    let ann = app.ann(Plan::Basic).await;
    let own = app.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    let guests = verified(&app, &ann.email, 200).await;
    assert_eq!(attach(&app, &ann, guests).await.unwrap().stored.alert.id, own);
    assert_eq!(app.stored(guests).await, None);
    app.quote("AAPL", 200.0).await;
    let news = app
        .mailed(&ann.email)
        .await
        .into_iter()
        .filter(|email| !super::is_verification_email(email));
    assert_eq!(news.count(), 1);
}

async fn attachment_needs_an_id(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for body in [
        json!({}),
        json!({"alert_id": "1"}),
        json!({"alert_id": 1}),
        json!({"alert_id": null}),
    ] {
        let refused = app
            .service
            .guest_alerts
            .attach_guest_alert(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid alert_id", "{body}");
    }
}

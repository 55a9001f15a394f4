//! An account takes over what its owner asked for as a guest.

use alerts::{AlertId, HistoryAction, Plan, Status};
use futures_util::future::join_all;
use serde_json::{Value, json};
use service::access::{NewKey, NewUser};
use service::alerts::AlertDetail;
use service::{Actor, Scope, ServiceError};
use store::model::AlertOwner;
use uuid::Uuid;

use super::{make, token, verified, verify, wish};
use crate::support::{World, above, kind, on_each_database};

on_each_database! {
    an_active_alert_becomes_the_accounts_once_and_goes_on
    an_inactive_alert_becomes_active_and_its_link_is_of_no_use
    an_alert_that_has_fired_comes_with_its_history
    nobody_gets_an_alert_of_another_address
    the_address_has_to_be_confirmed_and_the_account_awake
    the_plans_quota_counts
    of_fifty_alerts_at_once_for_the_last_place_one_is_attached
    an_alert_that_the_account_has_already_is_not_there_twice
    an_id_is_needed
}

async fn attach(world: &World, actor: &Actor, id: AlertId) -> Result<AlertDetail, ServiceError> {
    world
        .service
        .guest_alerts
        .attach_guest_alert(actor, &json!({"alert_id": id.0}))
        .await
}

async fn an_active_alert_becomes_the_accounts_once_and_goes_on(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let id = verified(&world, &ann.email, 200).await;
    let other = world.another_process().await;
    let attaching = (0..50).map(|n| attach(if n % 2 == 0 { &world } else { &other }, &ann, id));
    for attached in join_all(attaching).await {
        let stored = attached.unwrap().stored;
        assert_eq!(stored.owner, AlertOwner::Account(ann.account));
        assert_eq!(stored.alert.status, Status::Active);
    }
    other.service.stop().await;
    let done = [HistoryAction::Created, HistoryAction::Verified, HistoryAction::Updated];
    assert_eq!(world.actions(&ann, id).await, done);
    let history = world.history(&ann, id).await;
    assert_eq!(
        history[2].details.clone().map(Value::from),
        Some(json!({"attached": true}))
    );
    // It is the account's in all ways. (One of the two processes has not heard of it yet.)
    let world = world.restarted().await;
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.status(&ann, id).await, Status::Triggered);
    assert_eq!(world.events(&ann).await.len(), 1);
    let news = world
        .mailed(&ann.email)
        .await
        .into_iter()
        .filter(|letter| !super::asks(letter));
    assert_eq!(news.count(), 1);
}

async fn an_inactive_alert_becomes_active_and_its_link_is_of_no_use(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let id = make(&world, &wish(&ann.email, 200)).await.stored.alert.id;
    let token = token(world.mailed(&ann.email).await.last().unwrap());
    world.quote("AAPL", 190.0).await;
    let alert = attach(&world, &ann, id).await.unwrap().stored.alert;
    assert_eq!(
        (alert.status, alert.initial_price),
        (Status::Active, Some("190".parse().unwrap()))
    );
    assert_eq!(
        world.actions(&ann, id).await,
        [HistoryAction::Created, HistoryAction::Verified]
    );
    assert_eq!(kind(&verify(&world, &token).await.unwrap_err()), "malformed");
    world.service.alerts.pause_alert(&ann, id).await.unwrap();
    assert_eq!(kind(&verify(&world, &token).await.unwrap_err()), "malformed");
    assert_eq!(world.status(&ann, id).await, Status::Paused);
}

async fn an_alert_that_has_fired_comes_with_its_history(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let id = verified(&world, &ann.email, 200).await;
    world.quote("AAPL", 200.0).await;
    let alert = attach(&world, &ann, id).await.unwrap().stored.alert;
    assert_eq!(alert.status, Status::Triggered);
    world.quote("AAPL", 199.0).await;
    world.service.alerts.activate_alert(&ann, id).await.unwrap();
    assert_eq!(
        world.actions(&ann, id).await,
        [
            HistoryAction::Created,
            HistoryAction::Verified,
            HistoryAction::Triggered,
            HistoryAction::Updated,
            HistoryAction::Reactivated,
        ]
    );
}

async fn nobody_gets_an_alert_of_another_address(world: World) {
    world.quote("AAPL", 189.20).await;
    let (ann, bob) = (world.ann(Plan::Premium).await, world.bob(Plan::Premium).await);
    let id = verified(&world, "guest@example.com", 200).await;
    let of_ann = world.create(&ann, above("AAPL", 300.0)).await.stored.alert.id;
    for id in [id, of_ann, AlertId(Uuid::nil())] {
        assert_eq!(kind(&attach(&world, &bob, id).await.unwrap_err()), "no alert");
    }
    // What was the guest's and is ann's now is not bob's either.
    let of_bob = verified(&world, &bob.email, 200).await;
    assert_eq!(kind(&attach(&world, &ann, of_bob).await.unwrap_err()), "no alert");
    attach(&world, &bob, of_bob).await.unwrap();
    assert_eq!(kind(&attach(&world, &ann, of_bob).await.unwrap_err()), "no alert");
    world.service.alerts.delete_alert(&bob, of_bob).await.unwrap();
    assert_eq!(kind(&attach(&world, &bob, of_bob).await.unwrap_err()), "no alert");
    assert_eq!(world.alert_now(id).await.status, Status::Active);
}

async fn the_address_has_to_be_confirmed_and_the_account_awake(world: World) {
    world.quote("AAPL", 189.20).await;
    let email = "new@example.com";
    let id = verified(&world, email, 200).await;
    let user = NewUser {
        email: email.to_owned(),
        password: "correct horse".to_owned(),
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
    };
    world.service.accounts.create_user(user).await.unwrap();
    let key = NewKey {
        name: "key".to_owned(),
        scopes: Scope::PUBLIC.to_vec(),
    };
    let key = world.service.accounts.create_key_for(email, key).await.unwrap();
    let new = world.service.authenticator.authenticate_key(&key.secret).await.unwrap();
    let refused = attach(&world, &new, id).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden email_confirmation confirmed_email");
    // Whether there is such an alert is not told to whoever registered with somebody else's address.
    let none = attach(&world, &new, AlertId(Uuid::nil())).await.unwrap_err();
    assert_eq!(kind(&none), "forbidden email_confirmation confirmed_email");
    let ann = world.ann(Plan::Basic).await;
    let id = verified(&world, &ann.email, 200).await;
    world.service.account_settings.deactivate_account(&ann).await.unwrap();
    let refused = attach(&world, &ann, id).await.unwrap_err();
    assert_eq!(kind(&refused), "forbidden deactivated active_account");
    world.service.account_settings.reactivate_account(&ann).await.unwrap();
    attach(&world, &ann, id).await.unwrap();
}

async fn the_plans_quota_counts(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    for threshold in 0..20 {
        world.create(&ann, above("AAPL", 300.0 + f64::from(threshold))).await;
    }
    let active = verified(&world, &ann.email, 200).await;
    let inactive = make(&world, &wish(&ann.email, 201)).await.stored.alert.id;
    for id in [active, inactive] {
        assert_eq!(
            kind(&attach(&world, &ann, id).await.unwrap_err()),
            "forbidden plan premium"
        );
    }
    // It stays the guest's, and as it was.
    assert_eq!(world.alert_now(inactive).await.status, Status::Inactive);
    world.quote("AAPL", 200.0).await;
    assert_eq!(world.alert_now(active).await.status, Status::Triggered);
    assert_eq!(world.events(&ann).await.len(), 0);
    // What is not active needs no room.
    attach(&world, &ann, active).await.unwrap();
    assert_eq!(
        kind(&attach(&world, &ann, inactive).await.unwrap_err()),
        "forbidden plan premium"
    );
    world
        .service
        .accounts
        .set_plan(&ann.email, Plan::Premium)
        .await
        .unwrap();
    attach(&world, &ann, inactive).await.unwrap();
}

async fn of_fifty_alerts_at_once_for_the_last_place_one_is_attached(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    for threshold in 0..19 {
        world.create(&ann, above("AAPL", 300.0 + f64::from(threshold))).await;
    }
    let mut ids = Vec::new();
    for threshold in 0..5 {
        ids.push(verified(&world, &ann.email, 200 + threshold).await);
    }
    let attaching = (0..50).map(|n| attach(&world, &ann, ids[n % 5]));
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

async fn an_alert_that_the_account_has_already_is_not_there_twice(world: World) {
    world.quote("AAPL", 189.20).await;
    let ann = world.ann(Plan::Basic).await;
    let own = world.create(&ann, above("AAPL", 200.0)).await.stored.alert.id;
    let guests = verified(&world, &ann.email, 200).await;
    assert_eq!(attach(&world, &ann, guests).await.unwrap().stored.alert.id, own);
    assert_eq!(world.stored(guests).await, None);
    world.quote("AAPL", 200.0).await;
    let news = world
        .mailed(&ann.email)
        .await
        .into_iter()
        .filter(|letter| !super::asks(letter));
    assert_eq!(news.count(), 1);
}

async fn an_id_is_needed(world: World) {
    let ann = world.ann(Plan::Basic).await;
    for body in [
        json!({}),
        json!({"alert_id": "1"}),
        json!({"alert_id": 1}),
        json!({"alert_id": null}),
    ] {
        let refused = world
            .service
            .guest_alerts
            .attach_guest_alert(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid alert_id", "{body}");
    }
}

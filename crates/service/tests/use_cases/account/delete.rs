//! An account that is gone.

use alerts::Plan;
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::{Actor, ServiceError};

use super::{ann, bob, last_code, mailed, sign_in, verify};
use crate::support::{ALL, PASSWORD, World, above, kind, on_each_database};

on_each_database! {
    all_that_was_its_owners_goes_and_others_keep_theirs
    its_alerts_fire_no_more
    its_address_can_have_an_account_again_that_knows_nothing_of_it
    without_the_word_nothing_is_deleted
    of_many_at_once_one_deletes_it
    what_was_sent_is_counted_on
    a_link_that_was_mailed_before_is_good_for_nothing
    what_was_kept_for_addresses_that_it_had_before_goes_too
}

const PHONE: &str = "+14155550123";

async fn delete(world: &World, actor: &Actor) -> Result<(), ServiceError> {
    world
        .service
        .account_settings
        .delete_account(actor, &json!({"confirmation": "DELETE"}))
        .await
}

async fn all_that_was_its_owners_goes_and_others_keep_theirs(world: World) {
    let key = world.ann(Plan::Premium).await;
    let ann = sign_in(&world, &key.email, PASSWORD).await.unwrap();
    let bob = bob(&world, Plan::Premium).await;
    let service = &world.service;
    world.quote("AAPL", 100.0).await;
    verify(&world, &ann, PHONE).await;
    let mut of_bob = None;
    for actor in [&ann, &bob] {
        world.create(actor, above("AAPL", 110.0)).await;
        let webhook = json!({"url": "https://93.184.215.14/hook", "events": ["alert.triggered"]});
        service.webhooks.create_webhook(actor, &webhook).await.unwrap();
        let body = json!({"title": "a title", "body": "a body"});
        of_bob = Some(service.feedback.give_feedback(actor, &body).await.unwrap().feedback.id);
        let body = json!({"stock_symbol": "AAPL", "intention": "buy"});
        let item = service
            .watchlists
            .add_to_watchlist(actor, &body)
            .await
            .unwrap()
            .listed
            .item
            .id;
        let quiet = json!({"auto_alerts_enabled": false});
        service
            .watchlists
            .update_watchlist_item(actor, item, &quiet)
            .await
            .unwrap();
    }
    let like = json!({"id": of_bob.unwrap().0});
    assert_eq!(
        service
            .feedback
            .like_feedback(&ann, &like)
            .await
            .unwrap()
            .feedback
            .likes,
        1
    );
    delete(&world, &ann).await.unwrap();
    for gone in [
        service.identity.session(&ann).await.unwrap_err(),
        sign_in(&world, &ann.email, PASSWORD).await.unwrap_err(),
        service.account_settings.subscription(&key).await.unwrap_err(),
        service.account_settings.deactivate_account(&ann).await.unwrap_err(),
        delete(&world, &ann).await.unwrap_err(),
        world.refused(&key, above("AAPL", 120.0)).await,
    ] {
        assert_eq!(kind(&gone), "unauthenticated", "{gone}");
    }
    let store = world.store().await;
    assert!(store.account(ann.account).await.unwrap().is_none());
    for (account, count) in [(ann.account, 0), (bob.account, 1)] {
        assert_eq!(store.watchlist(account).await.unwrap().len(), count);
        assert_eq!(store.all_paper_trades(account).await.unwrap().len(), count);
        assert_eq!(store.paper_progress(account).await.unwrap().is_some(), count == 1);
    }
    assert!(store.account_by_email(&ann.email).await.unwrap().is_none());
    assert!(store.api_keys(ann.account).await.unwrap().is_empty());
    assert!(store.sessions(ann.account).await.unwrap().is_empty());
    assert!(store.webhooks(ann.account).await.unwrap().is_empty());
    assert!(store.feedback_of(ann.account).await.unwrap().is_empty());
    assert!(store.liked_feedback(ann.account).await.unwrap().is_empty());
    let alerts = store.alerts_after(ann.account, 0, ALL.limit).await.unwrap();
    assert!(alerts.iter().all(|kept| kept.deleted_at.is_some()));
    store.close().await;
    assert!(mailed(&world, &ann.email).await.is_empty());
    assert!(
        super::sent(&world, service::messages::MessageChannel::Sms, PHONE)
            .await
            .is_empty()
    );
    // Bob has what he had, and one who likes it less.
    assert_eq!(service.webhooks.webhooks(&bob).await.unwrap().len(), 1);
    assert_eq!(service.account_settings.subscription(&bob).await.unwrap().total(), 1);
    let feedback = service.feedback.feedback(&bob, ALL).await.unwrap();
    assert_eq!((feedback.total, feedback.items[0].feedback.likes), (1, 0));
}

async fn its_alerts_fire_no_more(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    world.quote("AAPL", 100.0).await;
    world.create(&ann, above("AAPL", 110.0)).await;
    delete(&world, &ann).await.unwrap();
    world.quote("AAPL", 120.0).await;
    assert!(world.events(&ann).await.is_empty());
    assert_eq!(world.service.compare().await.unwrap(), 0, "the engine forgot them, too");
}

async fn its_address_can_have_an_account_again_that_knows_nothing_of_it(world: World) {
    let ann = ann(&world, Plan::Premium).await;
    world.quote("AAPL", 100.0).await;
    world.create(&ann, above("AAPL", 110.0)).await;
    delete(&world, &ann).await.unwrap();
    let again = super::ann(&world, Plan::Basic).await;
    assert_ne!(again.account, ann.account);
    assert_eq!(
        world
            .service
            .account_settings
            .subscription(&again)
            .await
            .unwrap()
            .total(),
        0
    );
    world.create(&again, above("AAPL", 110.0)).await;
}

async fn without_the_word_nothing_is_deleted(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    for body in [
        json!({}),
        json!({"confirmation": "delete"}),
        json!({"confirmation": "DELETE "}),
        json!({"confirmation": true}),
        json!({"confirmation": null}),
    ] {
        let body: Value = body;
        let refused = world
            .service
            .account_settings
            .delete_account(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid confirmation", "{body}");
    }
    sign_in(&world, &ann.email, PASSWORD).await.unwrap();
}

async fn of_many_at_once_one_deletes_it(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let all = futures_util::future::join_all((0..20).map(|_| delete(&world, &ann))).await;
    assert_eq!(all.iter().filter(|deleted| deleted.is_ok()).count(), 1);
}

async fn what_was_sent_is_counted_on(world: World) {
    let mut ann = ann(&world, Plan::Basic).await;
    for _ in 0..3 {
        world
            .service
            .account_settings
            .request_phone(&ann, &super::number(PHONE))
            .await
            .unwrap();
        last_code(&world, PHONE).await;
        delete(&world, &ann).await.unwrap();
        ann = super::ann(&world, Plan::Basic).await;
    }
    let refused = world
        .service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await;
    assert_eq!(kind(&refused.unwrap_err()), "too many");
    world.clock.advance(SignedDuration::from_hours(1));
    world
        .service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await
        .unwrap();
}

async fn a_link_that_was_mailed_before_is_good_for_nothing(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let body = json!({"email": "ann@example.org"});
    world
        .service
        .account_settings
        .request_address_change(&ann, &body)
        .await
        .unwrap();
    let token = super::last_token(&world, "ann@example.org").await;
    delete(&world, &ann).await.unwrap();
    let followed = world
        .service
        .account_settings
        .confirm_address_change(&json!({"token": token}))
        .await;
    assert_eq!(kind(&followed.unwrap_err()), "malformed");
}

async fn what_was_kept_for_addresses_that_it_had_before_goes_too(world: World) {
    let ann = ann(&world, Plan::Basic).await;
    let body = json!({"email": "ann@example.org"});
    world
        .service
        .account_settings
        .request_address_change(&ann, &body)
        .await
        .unwrap();
    let token = super::last_token(&world, "ann@example.org").await;
    let body = json!({"token": token});
    world
        .service
        .account_settings
        .confirm_address_change(&body)
        .await
        .unwrap();
    for email in [&ann.email, "ann@example.org"] {
        assert_eq!(mailed(&world, email).await.len(), 1, "{email}");
    }
    delete(&world, &ann).await.unwrap();
    for email in [&ann.email, "ann@example.org"] {
        assert!(mailed(&world, email).await.is_empty(), "{email}");
    }
}

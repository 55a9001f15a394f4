//! Deletion of an account.

use alerts::{HistoryAction, Plan};
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use serde_json::{Value, json};
use service::firings::FiringFilter;

use super::{ann, bob, last_code, mailed, sign_in, verify};
use crate::support::{ALL, PASSWORD, TestApp, above, kind, on_each_database};

on_each_database! {
    deletion_removes_all_data_of_the_account_only
    alerts_of_deleted_account_do_not_fire
    deletion_removes_who_acknowledged_firings
    address_can_register_again_with_empty_account
    deletion_requires_confirmation
    concurrent_deletions_succeed_once
    sent_messages_still_count_after_deletion
    links_are_invalid_after_deletion
    deletion_removes_data_of_former_addresses
}

const PHONE: &str = "+14155550123";

async fn delete(app: &TestApp, actor: &Actor) -> Result<(), ServiceError> {
    app.service
        .account_settings
        .delete_account(actor, &json!({"confirmation": "DELETE"}))
        .await
}

async fn deletion_removes_all_data_of_the_account_only(app: TestApp) {
    let key = app.ann(Plan::Premium).await;
    let ann = sign_in(&app, &key.email, PASSWORD).await.unwrap();
    let bob = bob(&app, Plan::Premium).await;
    let service = &app.service;
    app.quote("AAPL", 100.0).await;
    verify(&app, &ann, PHONE).await;
    let mut of_bob = None;
    for actor in [&ann, &bob] {
        app.create(actor, above("AAPL", 110.0)).await;
        let webhook = json!({"url": "https://93.184.215.14/hook", "events": ["alert.triggered"]});
        service.webhooks.create_webhook(actor, &webhook).await.unwrap();
        let body = json!({"title": "a title", "body": "a body"});
        of_bob = Some(
            service
                .feedback
                .create_feedback(actor, &body)
                .await
                .unwrap()
                .feedback
                .id,
        );
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
    delete(&app, &ann).await.unwrap();
    for gone in [
        service.identity.session(&ann).await.unwrap_err(),
        sign_in(&app, &ann.email, PASSWORD).await.unwrap_err(),
        service.account_settings.subscription(&key).await.unwrap_err(),
        service.account_settings.deactivate_account(&ann).await.unwrap_err(),
        delete(&app, &ann).await.unwrap_err(),
        app.refused(&key, above("AAPL", 120.0)).await,
    ] {
        assert_eq!(kind(&gone), "unauthenticated", "{gone}");
    }
    let store = app.store().await;
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
    assert!(mailed(&app, &ann.email).await.is_empty());
    assert!(
        super::sent(&app, delivery::messages::MessageChannel::Sms, PHONE)
            .await
            .is_empty()
    );
    // Bob's data is unchanged, except for one like.
    assert_eq!(service.webhooks.webhooks(&bob).await.unwrap().len(), 1);
    assert_eq!(
        service
            .account_settings
            .subscription(&bob)
            .await
            .unwrap()
            .total_alerts(),
        1
    );
    let feedback = service.feedback.feedback(&bob, ALL).await.unwrap();
    assert_eq!((feedback.total, feedback.items[0].feedback.likes), (1, 0));
}

async fn alerts_of_deleted_account_do_not_fire(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    app.create(&ann, above("AAPL", 110.0)).await;
    delete(&app, &ann).await.unwrap();
    app.quote("AAPL", 120.0).await;
    assert!(app.events(&ann).await.is_empty());
    assert_eq!(app.service.compare().await.unwrap(), 0, "the engine forgot them, too");
}

async fn deletion_removes_who_acknowledged_firings(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    app.quote("AAPL", 100.0).await;
    let alert = app.create(&ann, above("AAPL", 110.0)).await.stored.alert.id;
    app.quote("AAPL", 120.0).await;
    let firings = &app.service.firings;
    let everything = FiringFilter::default();
    let fired = firings.firings(&ann, everything, ALL.into()).await.unwrap();
    let fired = fired.items[0].firing.id;
    firings.acknowledge(&ann, fired, "api").await.unwrap();
    delete(&app, &ann).await.unwrap();
    let store = app.store().await;
    let firing = store.firing(ann.account, fired).await.unwrap().unwrap();
    assert_eq!(firing.acknowledged, None);
    let history = store.history(ann.account, alert, ALL).await.unwrap().unwrap().items;
    let acknowledged = history
        .iter()
        .find(|row| row.entry.action == HistoryAction::Acknowledged);
    assert_eq!(acknowledged.unwrap().details, None);
    store.close().await;
}

async fn address_can_register_again_with_empty_account(app: TestApp) {
    let ann = ann(&app, Plan::Premium).await;
    app.quote("AAPL", 100.0).await;
    app.create(&ann, above("AAPL", 110.0)).await;
    delete(&app, &ann).await.unwrap();
    let again = super::ann(&app, Plan::Basic).await;
    assert_ne!(again.account, ann.account);
    assert_eq!(
        app.service
            .account_settings
            .subscription(&again)
            .await
            .unwrap()
            .total_alerts(),
        0
    );
    app.create(&again, above("AAPL", 110.0)).await;
}

async fn deletion_requires_confirmation(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    for body in [
        json!({}),
        json!({"confirmation": "delete"}),
        json!({"confirmation": "DELETE "}),
        json!({"confirmation": true}),
        json!({"confirmation": null}),
    ] {
        let body: Value = body;
        let refused = app
            .service
            .account_settings
            .delete_account(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid confirmation", "{body}");
    }
    sign_in(&app, &ann.email, PASSWORD).await.unwrap();
}

async fn concurrent_deletions_succeed_once(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let all = futures_util::future::join_all((0..20).map(|_| delete(&app, &ann))).await;
    assert_eq!(all.iter().filter(|deleted| deleted.is_ok()).count(), 1);
}

async fn sent_messages_still_count_after_deletion(app: TestApp) {
    let mut ann = ann(&app, Plan::Basic).await;
    for _ in 0..3 {
        app.service
            .account_settings
            .request_phone(&ann, &super::number(PHONE))
            .await
            .unwrap();
        last_code(&app, PHONE).await;
        delete(&app, &ann).await.unwrap();
        ann = super::ann(&app, Plan::Basic).await;
    }
    let refused = app
        .service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await;
    assert_eq!(kind(&refused.unwrap_err()), "too many");
    app.clock.advance(SignedDuration::from_hours(1));
    app.service
        .account_settings
        .request_phone(&ann, &super::number(PHONE))
        .await
        .unwrap();
}

async fn links_are_invalid_after_deletion(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let body = json!({"email": "ann@example.org"});
    app.service
        .account_settings
        .request_address_change(&ann, &body)
        .await
        .unwrap();
    let token = super::last_token(&app, "ann@example.org").await;
    delete(&app, &ann).await.unwrap();
    let followed = app
        .service
        .account_settings
        .confirm_address_change(&json!({"token": token}))
        .await;
    assert_eq!(kind(&followed.unwrap_err()), "malformed");
}

async fn deletion_removes_data_of_former_addresses(app: TestApp) {
    let ann = ann(&app, Plan::Basic).await;
    let body = json!({"email": "ann@example.org"});
    app.service
        .account_settings
        .request_address_change(&ann, &body)
        .await
        .unwrap();
    let token = super::last_token(&app, "ann@example.org").await;
    let body = json!({"token": token});
    app.service
        .account_settings
        .confirm_address_change(&body)
        .await
        .unwrap();
    for email in [&ann.email, "ann@example.org"] {
        assert_eq!(mailed(&app, email).await.len(), 1, "{email}");
    }
    delete(&app, &ann).await.unwrap();
    for email in [&ann.email, "ann@example.org"] {
        assert!(mailed(&app, email).await.is_empty(), "{email}");
    }
}

//! Test messages.

use alerts::Plan;
use serde_json::json;
use store::model::AccountId;
use testkit::stub_server::StubResponse;

use super::{accepting_server, local_settings};
use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    first_accepted_test_verifies_a_channel
    error_of_the_service_is_returned_and_recorded_without_secrets
    test_of_a_webhook_channel_is_signed_like_its_deliveries
    sms_test_needs_a_verified_number
    deactivated_account_sends_no_test
}

async fn first_accepted_test_verifies_a_channel(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    for channel_type in ["slack", "discord", "teams", "apprise"] {
        let url = format!("{}/services/secret-path", server.origin());
        let body = json!({"type": channel_type, "name": "Trading room", "config": {"url": url}, "enabled": false});
        let id = app.create_channel(&ann, body).await.detail.channel.id;
        let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
        assert_eq!(
            (tested.is_accepted, tested.http_status, tested.error),
            (true, Some(200), None),
            "{channel_type}"
        );
        let request = server.next_request().await;
        assert!(
            request.line.starts_with("POST /services/secret-path"),
            "{}",
            request.line
        );
        assert!(request.body.contains("Trading room"), "{}", request.body);
        let channel = app.service.notification_channels.get(&ann, id).await.unwrap().channel;
        assert!(
            channel.verified_at.is_some() && channel.verified_at == channel.last_success_at,
            "{channel_type}"
        );
    }
}

async fn error_of_the_service_is_returned_and_recorded_without_secrets(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    let url = format!("{}/services/very-secret-path", server.origin());
    let id = app
        .create_channel(&ann, json!({"type": "slack", "config": {"url": url}}))
        .await
        .detail
        .channel
        .id;
    let channels = &app.service.notification_channels;
    channels.test(&ann, id).await.unwrap();
    let verified_at = channels.get(&ann, id).await.unwrap().channel.verified_at;
    for (status, body, http_status, part) in [
        ("404 Not Found", "no_service", Some(404), "no_service"),
        ("429 Too Many Requests", "", Some(429), "not accept the message now"),
        ("400 Bad Request", "very-secret-path", Some(400), "rejected the message"),
    ] {
        server.set_response(StubResponse::complete(status, "", body));
        let tested = channels.test(&ann, id).await.unwrap();
        assert_eq!(
            (tested.is_accepted, tested.http_status),
            (false, http_status),
            "{status}"
        );
        let error = tested.error.unwrap();
        assert!(error.contains(part) && !error.contains("very-secret"), "{error}");
        let channel = channels.get(&ann, id).await.unwrap().channel;
        assert_eq!((channel.last_error, channel.verified_at), (Some(error), verified_at));
    }
    server.set_response(StubResponse::complete("200 OK", "", "ok"));
    channels.test(&ann, id).await.unwrap();
    assert_eq!(channels.get(&ann, id).await.unwrap().channel.last_error, None);
}

async fn test_of_a_webhook_channel_is_signed_like_its_deliveries(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    let webhook = json!({"url": format!("{}/hook", server.origin()), "events": ["alert.triggered"]});
    let webhook = app
        .service
        .webhooks
        .create_webhook(&ann, &webhook)
        .await
        .unwrap()
        .webhook
        .id;
    let body = json!({"type": "webhook", "config": {"webhook_id": webhook.0}});
    let id = app.create_channel(&ann, body).await.detail.channel.id;
    let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
    assert_eq!((tested.is_accepted, tested.http_status), (true, Some(200)));
    let request = server.next_request().await;
    assert!(request.headers.contains_key("webhook-signature"), "{request:?}");
    server.set_response(StubResponse::complete("500 Internal Server Error", "", ""));
    let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
    assert_eq!((tested.is_accepted, tested.http_status), (false, Some(500)));
}

async fn sms_test_needs_a_verified_number(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let id = app.create_channel(&ann, json!({"type": "sms"})).await.detail.channel.id;
    let channels = &app.service.notification_channels;
    let tested = channels.test(&ann, id).await.unwrap();
    assert_eq!((tested.is_accepted, tested.http_status), (false, None));
    assert!(tested.error.unwrap().contains("no verified phone number"));
    set_phone(&app, ann.account).await;
    assert!(channels.test(&ann, id).await.unwrap().is_accepted);
    assert!(channels.get(&ann, id).await.unwrap().channel.verified_at.is_some());
    assert_eq!(app.mailed_at_least("+15551234567", 1).await.len(), 1);
    assert_eq!(kind(&channels.test(&ann, id).await.unwrap_err()), "too many");
}

async fn set_phone(app: &TestApp, account: AccountId) {
    let store = app.store().await;
    let change = store.commit((), move |(), unit| {
        Box::pin(async move {
            let mut account = unit.lock_account(account).await?.unwrap();
            account.profile.phone = Some(store::model::Phone {
                number: "+15551234567".to_owned(),
                verified_at: account.created_at,
            });
            unit.update_account(&account).await
        })
    });
    change.await.unwrap();
}

async fn deactivated_account_sends_no_test(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    let body = json!({"type": "slack", "config": {"url": server.origin()}});
    let id = app.create_channel(&ann, body.clone()).await.detail.channel.id;
    let store = app.store().await;
    let account = ann.account;
    let change = store.commit((), move |(), unit| {
        Box::pin(async move {
            let mut account = unit.lock_account(account).await?.unwrap();
            account.profile.deactivated_at = Some(account.created_at);
            unit.update_account(&account).await
        })
    });
    change.await.unwrap();
    let channels = &app.service.notification_channels;
    for refused in [
        channels.test(&ann, id).await.map(drop),
        channels.create(&ann, &body).await.map(drop),
        app.update_channel(&ann, id, json!({"name": "a"})).await.map(drop),
    ] {
        assert_eq!(kind(&refused.unwrap_err()), "forbidden deactivated active_account");
    }
    assert_eq!(server.pending_requests().await, 0);
}

//! Push messages to browsers: one channel for each browser, subscriptions that have ended, and the key of the service.

use alerts::Plan;
use delivery::notification_channels::NotificationChannel;
use foundation::Actor;
use serde_json::{Value, json};
use testkit::stub_server::{StubResponse, StubServer};

use super::{accepting_server, field_errors, local_settings};
use crate::support::{TestApp, above, on_each_database};

on_each_database! {
    browser_that_subscribes_again_keeps_its_channel
    subscription_of_another_channel_is_refused
    replaced_subscription_keeps_its_channel
    channel_of_an_ended_subscription_is_deleted_by_a_test
    firing_to_an_ended_subscription_goes_to_the_next_channel_at_once
    key_is_generated_once_and_shared_by_all_processes
    key_of_the_operator_comes_first
}

/// The subscription of RFC 8291, appendix A.
pub(super) fn subscription(endpoint: &str) -> Value {
    json!({
        "endpoint": endpoint,
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    })
}

fn browser(endpoint: &str) -> Value {
    json!({"type": "web_push", "config": subscription(endpoint)})
}

fn endpoint(server: &StubServer) -> String {
    format!("{}/push/very-secret", server.origin())
}

/// A push service whose subscriptions have ended.
async fn ended_subscriptions() -> StubServer {
    StubServer::start(StubResponse::complete("410 Gone", "", "")).await
}

async fn channels(app: &TestApp, actor: &Actor) -> Vec<NotificationChannel> {
    let listed = app.service.notification_channels.list(actor).await.unwrap();
    listed.into_iter().map(|detail| detail.channel).collect()
}

fn public_key(app: &TestApp) -> Option<String> {
    app.service.notification_channels.client.web_push_public_key()
}

async fn browser_that_subscribes_again_keeps_its_channel(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, bob, server) = (
        app.ann(Plan::Basic).await,
        app.bob(Plan::Basic).await,
        accepting_server().await,
    );
    let first = app.create_channel(&ann, browser(&endpoint(&server))).await;
    assert!(first.is_new);
    assert_eq!(first.detail.channel.name, "Browser");
    app.service
        .notification_channels
        .test(&ann, first.detail.channel.id)
        .await
        .unwrap();
    let verified = channels(&app, &ann).await;

    let again = app.create_channel(&ann, browser(&endpoint(&server))).await;
    assert!(!again.is_new);
    assert_eq!(channels(&app, &ann).await, verified);
    let mut renamed = browser(&endpoint(&server));
    renamed["name"] = json!("Laptop");
    renamed["config"]["auth"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let renamed = app.create_channel(&ann, renamed).await.detail.channel;
    assert_eq!((renamed.id, renamed.name.as_str()), (first.detail.channel.id, "Laptop"));
    assert_eq!(channels(&app, &ann).await, [renamed]);

    assert!(
        app.create_channel(&ann, browser(&format!("{}/other", server.origin())))
            .await
            .is_new
    );
    assert!(app.create_channel(&bob, browser(&endpoint(&server))).await.is_new);
}

async fn subscription_of_another_channel_is_refused(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    app.create_channel(&ann, browser(&endpoint(&server))).await;
    let other = app
        .create_channel(&ann, browser(&format!("{}/other", server.origin())))
        .await;
    let id = other.detail.channel.id;
    let refused = app
        .update_channel(&ann, id, json!({"config": {"endpoint": endpoint(&server)}}))
        .await;
    let error = "is the subscription of another channel of this account; delete one of the channels";
    assert_eq!(
        field_errors(refused),
        [("config.endpoint".to_owned(), error.to_owned())]
    );
    let kept = app
        .update_channel(&ann, id, json!({"config": {"endpoint": "***"}, "name": "Phone"}))
        .await;
    assert_eq!(kept.unwrap().detail.channel.name, "Phone");
}

async fn replaced_subscription_keeps_its_channel(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, accepting_server().await);
    let mut laptop = browser(&endpoint(&server));
    laptop["name"] = json!("Laptop");
    let id = app.create_channel(&ann, laptop).await.detail.channel.id;
    let former = endpoint(&server);
    let replacement = browser(&format!("{}/replacement", server.origin()));
    let channels = &app.service.notification_channels;
    let replaced = channels.replace_subscription(&ann, &former, &replacement).await;
    let channel = replaced.unwrap().detail.channel;
    assert_eq!((channel.id, channel.name.as_str()), (id, "Laptop"));
    app.service.notification_channels.test(&ann, id).await.unwrap();
    assert_eq!(server.next_request().await.line, "POST /replacement HTTP/1.1");
    // The channel of the former subscription may have been deleted.
    let other = browser(&format!("{}/other", server.origin()));
    let unknown = "https://93.184.216.34/unknown";
    let created = channels.replace_subscription(&ann, unknown, &other);
    assert!(created.await.unwrap().is_new);
}

async fn channel_of_an_ended_subscription_is_deleted_by_a_test(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let (ann, server) = (app.ann(Plan::Basic).await, ended_subscriptions().await);
    let id = app
        .create_channel(&ann, browser(&endpoint(&server)))
        .await
        .detail
        .channel
        .id;
    let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
    assert_eq!((tested.is_accepted, tested.http_status), (false, Some(410)));
    assert!(
        tested
            .error
            .unwrap()
            .contains("its channel is deleted; subscribe it again")
    );
    assert_eq!(channels(&app, &ann).await, []);
}

async fn firing_to_an_ended_subscription_goes_to_the_next_channel_at_once(app: TestApp) {
    let app = app.with_settings(local_settings()).await;
    let ann = app.ann(Plan::Premium).await;
    let (push, slack) = (ended_subscriptions().await, accepting_server().await);
    let push_channel = app
        .create_channel(&ann, browser(&endpoint(&push)))
        .await
        .detail
        .channel
        .id;
    let slack_channel = json!({"type": "slack", "config": {"url": endpoint(&slack)}});
    let slack_channel = app.create_channel(&ann, slack_channel).await.detail.channel.id;
    app.quote("AAPL", 99.0).await;
    let mut alert = above("AAPL", 100.0);
    alert["channels"] = json!([push_channel.0, slack_channel.0]);
    alert["policy"] = json!("failover");
    alert["ack_timeout"] = json!("24h");
    app.create(&ann, alert).await;
    app.quote("AAPL", 101.0).await;
    let pushed = push.next_request().await;
    assert_eq!(pushed.headers["content-encoding"], "aes128gcm");
    let sent = slack.next_request().await;
    assert!(sent.body.contains("AAPL"), "{}", sent.body);
    let left = channels(&app, &ann).await;
    assert_eq!(
        left.iter().map(|channel| channel.id).collect::<Vec<_>>(),
        [slack_channel]
    );
}

async fn key_is_generated_once_and_shared_by_all_processes(app: TestApp) {
    let key = public_key(&app).unwrap();
    let other = app.another_process().await;
    assert_eq!(public_key(&other).as_ref(), Some(&key));
    other.service.stop().await;
    let app = app.restarted().await;
    assert_eq!(public_key(&app), Some(key));
}

async fn key_of_the_operator_comes_first(app: TestApp) {
    let mut settings = local_settings();
    let own = notify::channels::web_push::VapidKey::from_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
    settings.delivery.channels.web_push_key = Some(own.unwrap());
    let app = app.with_settings(settings).await;
    let expected = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
    assert_eq!(public_key(&app).as_deref(), Some(expected));
}

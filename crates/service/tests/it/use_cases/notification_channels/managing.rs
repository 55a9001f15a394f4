//! Creation, change and deletion.

use alerts::Plan;
use delivery::notification_channels::{MaskedConfig, MaskedSubscription};
use serde_json::{Value, json};

use super::{field_errors, local_settings};
use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    secrets_are_never_shown_and_not_in_the_database
    every_type_is_created_with_its_members
    invalid_configuration_is_refused_by_field
    private_address_is_refused
    change_keeps_what_it_does_not_name
    other_destination_must_be_verified_again
    channels_of_another_account_are_unknown
    account_has_at_most_50_channels
    webhook_channel_names_a_webhook_of_the_account
}

const SLACK_URL: &str = "https://93.184.216.34/services/T0/B0/very-secret-part";

fn slack() -> Value {
    json!({"type": "slack", "name": "Trading room", "config": {"url": SLACK_URL}})
}

async fn secrets_are_never_shown_and_not_in_the_database(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let created = app.create_channel(&ann, slack()).await;
    assert_eq!(created.detail.config.url.as_deref(), Some("***"));
    assert_eq!(created.detail.channel.name, "Trading room");
    assert!(created.link.is_none() && created.detail.channel.verified_at.is_none());
    let listed = app.service.notification_channels.list(&ann).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].config, created.detail.config);
    let sealed = listed[0].channel.config.clone().unwrap();
    assert!(!sealed.windows(11).any(|bytes| bytes == b"very-secret"));
    assert!(!format!("{listed:?}").contains("very-secret"));
}

async fn every_type_is_created_with_its_members(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let mask = || Some("***".to_owned());
    for (channel_type, config, shown) in [
        (
            "slack",
            json!({"url": "https://93.184.216.34/a"}),
            MaskedConfig {
                url: mask(),
                ..MaskedConfig::default()
            },
        ),
        (
            "discord",
            json!({"url": "https://93.184.216.34/a"}),
            MaskedConfig {
                url: mask(),
                ..MaskedConfig::default()
            },
        ),
        (
            "teams",
            json!({"url": "https://93.184.216.34/a"}),
            MaskedConfig {
                url: mask(),
                ..MaskedConfig::default()
            },
        ),
        (
            "apprise",
            json!({"url": "https://93.184.216.34/a"}),
            MaskedConfig {
                url: mask(),
                ..MaskedConfig::default()
            },
        ),
        (
            "ntfy",
            json!({"url": "https://93.184.216.34", "topic": "alerts", "token": "tk_1"}),
            MaskedConfig {
                url: Some("https://93.184.216.34/".to_owned()),
                topic: Some("alerts".to_owned()),
                token: Some("***"),
                ..MaskedConfig::default()
            },
        ),
        (
            "pushover",
            json!({"user": "u1", "token": "t1"}),
            MaskedConfig {
                user: Some("***"),
                token: Some("***"),
                ..MaskedConfig::default()
            },
        ),
        (
            "telegram",
            json!({"bot_token": "123456:ABC-DEF1234ghIkl"}),
            MaskedConfig {
                bot_token: Some("***"),
                ..MaskedConfig::default()
            },
        ),
        (
            "email",
            json!({"address": "Ann@Example.org"}),
            MaskedConfig {
                address: Some("ann@example.org".to_owned()),
                ..MaskedConfig::default()
            },
        ),
        (
            "web_push",
            super::web_push::subscription("https://93.184.216.34/push"),
            MaskedConfig {
                subscription: Some(MaskedSubscription {
                    endpoint: "***",
                    p256dh: "***",
                    auth: "***",
                }),
                ..MaskedConfig::default()
            },
        ),
        ("sms", json!({}), MaskedConfig::default()),
    ] {
        let body = json!({"type": channel_type, "config": config});
        let created = app.create_channel(&ann, body).await;
        assert_eq!(created.detail.config, shown, "{channel_type}");
        assert_eq!(created.link.is_some(), channel_type == "telegram");
        let read = app
            .service
            .notification_channels
            .get(&ann, created.detail.channel.id)
            .await
            .unwrap();
        assert_eq!(read.config, shown, "{channel_type}");
    }
}

async fn invalid_configuration_is_refused_by_field(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for (body, field, part) in [
        (json!({"type": "slack"}), "config.url", "is required"),
        (
            json!({"type": "slack", "config": {"url": "http://a.example"}}),
            "config.url",
            "https",
        ),
        (
            json!({"type": "slack", "config": {"url": 7}}),
            "config.url",
            "must be a text",
        ),
        (
            json!({"type": "slack", "config": {"url": "***"}}),
            "config.url",
            "secret itself",
        ),
        (
            json!({"type": "slack", "config": {"url": SLACK_URL, "token": "a"}}),
            "config.token",
            "must be omitted",
        ),
        (json!({"type": "slack", "config": "a"}), "config", "must be an object"),
        (
            json!({"type": "pager", "config": {}}),
            "type",
            "must be one of email, sms, webhook, slack",
        ),
        (
            json!({"type": "ntfy", "config": {"topic": "a b"}}),
            "config.topic",
            "letters",
        ),
        (
            json!({"type": "pushover", "config": {"user": "u"}}),
            "config.token",
            "is required",
        ),
        (json!({"type": "telegram"}), "config.bot_token", "is required"),
        (
            json!({"type": "telegram", "config": {"bot_token": "a b"}}),
            "config.bot_token",
            "@BotFather",
        ),
        (
            json!({"type": "email", "config": {"address": "ann"}}),
            "config.address",
            "must be an email address",
        ),
        (
            json!({"type": "webhook", "config": {"webhook_id": "1"}}),
            "config.webhook_id",
            "UUID",
        ),
        (
            json!({"type": "sms", "config": {"phone": "+1"}}),
            "config.phone",
            "must be omitted",
        ),
        (json!({"type": "sms", "name": "a\nb"}), "name", "one line"),
    ] {
        let errors = field_errors(app.service.notification_channels.create(&ann, &body).await);
        let found = errors.iter().find(|(name, _)| name == field);
        assert!(
            found.is_some_and(|(_, error)| error.contains(part)),
            "{body} {errors:?}"
        );
    }
    assert_eq!(app.service.notification_channels.list(&ann).await.unwrap(), []);
}

async fn private_address_is_refused(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for channel_type in ["slack", "discord", "teams", "apprise"] {
        let body = json!({"type": channel_type, "config": {"url": "https://127.0.0.1/hook"}});
        let errors = field_errors(app.service.notification_channels.create(&ann, &body).await);
        assert_eq!(errors[0].0, "config.url", "{channel_type}");
    }
    let app = app.with_settings(local_settings()).await;
    let body = json!({"type": "slack", "config": {"url": "https://127.0.0.1/hook"}});
    app.create_channel(&ann, body).await;
}

async fn change_keeps_what_it_does_not_name(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let ntfy = json!({"type": "ntfy", "config": {"url": "https://93.184.216.34", "topic": "alerts", "token": "tk_1"}});
    let created = app.create_channel(&ann, ntfy).await.detail;
    let id = created.channel.id;
    let renamed = app
        .update_channel(&ann, id, json!({"name": "Phone", "enabled": false}))
        .await
        .unwrap()
        .detail;
    assert_eq!(
        (renamed.channel.name.as_str(), renamed.channel.is_enabled),
        ("Phone", false)
    );
    assert_eq!(renamed.channel.config, created.channel.config);
    let same = json!({"config": {"url": "https://93.184.216.34/", "topic": "alerts", "token": "***"}});
    let same = app.update_channel(&ann, id, same).await.unwrap().detail;
    assert_eq!(same.channel.config, created.channel.config, "nothing has changed");
    let other = app
        .update_channel(&ann, id, json!({"config": {"topic": "other"}}))
        .await
        .unwrap()
        .detail;
    assert_eq!(
        (other.config.topic.as_deref(), other.config.token),
        (Some("other"), Some("***"))
    );
    let open = app
        .update_channel(&ann, id, json!({"config": {"token": null}}))
        .await
        .unwrap()
        .detail;
    assert_eq!((open.config.topic.as_deref(), open.config.token), (Some("other"), None));
    let refused = app.update_channel(&ann, id, json!({"type": "slack"})).await;
    assert_eq!(field_errors(refused)[0].0, "type");
}

async fn other_destination_must_be_verified_again(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    let channel = app.create_channel(&ann, slack()).await.detail.channel;
    let now = app.clock.as_ref();
    let at = clock::Clock::now(now);
    let store = app.store().await;
    let found = store.notification_channel(channel.account, channel.id).await;
    let accepted = store::model::ChannelResult::Accepted(at);
    store
        .commit((found.unwrap().unwrap(), accepted), |(channel, accepted), unit| {
            Box::pin(unit.record_channel_result(channel, accepted))
        })
        .await
        .unwrap();
    let same = app
        .update_channel(&ann, channel.id, json!({"config": {"url": "***"}}))
        .await
        .unwrap()
        .detail
        .channel;
    assert_eq!((same.verified_at, same.last_success_at), (Some(at), Some(at)));
    let other = json!({"config": {"url": "https://93.184.216.34/other"}});
    let other = app
        .update_channel(&ann, channel.id, other)
        .await
        .unwrap()
        .detail
        .channel;
    assert_eq!((other.verified_at, other.last_success_at), (None, None));
}

async fn channels_of_another_account_are_unknown(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let id = app.create_channel(&ann, slack()).await.detail.channel.id;
    let channels = &app.service.notification_channels;
    assert_eq!(channels.list(&bob).await.unwrap(), []);
    for refused in [
        channels.get(&bob, id).await.map(drop),
        app.update_channel(&bob, id, json!({"name": "Bob"})).await.map(drop),
        channels.test(&bob, id).await.map(drop),
        channels.delete(&bob, id).await,
    ] {
        assert_eq!(kind(&refused.unwrap_err()), "no notification channel");
    }
    channels.delete(&ann, id).await.unwrap();
    assert_eq!(
        kind(&channels.delete(&ann, id).await.unwrap_err()),
        "no notification channel"
    );
}

async fn account_has_at_most_50_channels(app: TestApp) {
    let ann = app.ann(Plan::Basic).await;
    for _ in 0..50 {
        app.create_channel(&ann, json!({"type": "sms"})).await;
    }
    let refused = app
        .service
        .notification_channels
        .create(&ann, &json!({"type": "sms"}))
        .await
        .unwrap_err();
    assert_eq!(kind(&refused), "forbidden limit -");
    let first = app.service.notification_channels.list(&ann).await.unwrap()[0]
        .channel
        .id;
    app.service.notification_channels.delete(&ann, first).await.unwrap();
    app.create_channel(&ann, json!({"type": "sms"})).await;
}

async fn webhook_channel_names_a_webhook_of_the_account(app: TestApp) {
    let (ann, bob) = (app.ann(Plan::Basic).await, app.bob(Plan::Basic).await);
    let webhook = json!({"url": "https://93.184.216.34/hook", "events": ["alert.triggered"]});
    let webhook = app
        .service
        .webhooks
        .create_webhook(&ann, &webhook)
        .await
        .unwrap()
        .webhook
        .id;
    let body = json!({"type": "webhook", "config": {"webhook_id": webhook.0}});
    let created = app.create_channel(&ann, body.clone()).await.detail;
    assert_eq!(
        (created.config.webhook, created.channel.webhook),
        (Some(webhook.0), Some(webhook))
    );
    let errors = field_errors(app.service.notification_channels.create(&bob, &body).await);
    assert_eq!(errors[0].0, "config.webhook_id");
    app.service.webhooks.delete_webhook(&ann, webhook).await.unwrap();
    let tested = app
        .service
        .notification_channels
        .test(&ann, created.channel.id)
        .await
        .unwrap();
    assert!(!tested.is_accepted && tested.error.unwrap().contains("the webhook was deleted"));
}

//! Telegram chats are linked by a code.

use alerts::Plan;
use delivery::notification_channels::{ChannelWithLink, NotificationChannelId};
use foundation::Actor;
use notify::channels::ChannelSecret;
use serde_json::json;
use store::model::NotificationChannel;
use testkit::eventually;

use super::telegram_server::TelegramServer;
use crate::support::{TestApp, on_each_database, settings};

on_each_database! {
    code_sent_to_the_bot_links_the_chat
    expired_code_links_nothing_and_a_change_brings_another
    code_counts_only_at_its_own_bot
    linked_chat_is_kept_by_a_restart_and_lost_with_another_bot
    long_messages_of_strangers_do_not_stop_links
    code_in_an_update_with_a_lower_id_links_the_chat
    refused_bot_of_a_user_is_not_read_again
}

const OPERATOR_BOT: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const OWN_BOT: &str = "220201543:BBHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

pub(super) async fn with_bot(app: TestApp) -> (TestApp, TelegramServer) {
    let server = TelegramServer::start().await;
    let mut settings = settings();
    settings.delivery.channels.telegram.base_url.clone_from(&server.origin);
    settings.delivery.channels.telegram.bot_token = Some(ChannelSecret::new(OPERATOR_BOT));
    (app.with_settings(settings).await, server)
}

async fn channel(app: &TestApp, actor: &Actor, id: NotificationChannelId) -> NotificationChannel {
    app.service.notification_channels.get(actor, id).await.unwrap().channel
}

/// Lets the service read updates until the condition holds.
pub(super) async fn wait_for(app: &TestApp, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually(what, async || {
        app.service.notification_channels.read_telegram_updates();
        holds().await
    })
    .await;
}

pub(super) fn code(created: &ChannelWithLink) -> String {
    created.link.as_ref().unwrap().code.clone()
}

async fn code_sent_to_the_bot_links_the_chat(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    assert_eq!(server.polls(), [""; 0], "nothing waits");
    let created = app.create_channel(&ann, json!({"type": "telegram"})).await;
    let (id, link) = (created.detail.channel.id, created.link.clone().unwrap());
    assert_eq!(
        link.expires_at - created.detail.channel.created_at,
        jiff::Span::new().seconds(900).fieldwise()
    );
    let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
    assert!(!tested.is_accepted && tested.error.unwrap().contains("not linked"));

    server.receive(5, "/start AAAABBBBCCCCDDDD");
    server.receive(7, &format!("/start {}", link.code.to_lowercase()));
    wait_for(&app, "the chat is linked", async || {
        channel(&app, &ann, id).await.verified_at.is_some()
    })
    .await;
    wait_for(&app, "the updates are confirmed", async || server.confirmed() == 102).await;
    let sent = server.sent();
    assert!(
        sent.iter()
            .all(|(path, _)| *path == format!("/bot{OPERATOR_BOT}/sendMessage"))
    );
    assert_eq!(
        sent.iter()
            .map(|(_, body)| body["chat_id"].as_i64())
            .collect::<Vec<_>>(),
        [Some(5), Some(7)]
    );
    assert!(sent[0].1.to_string().contains("unknown or has expired"), "{sent:?}");
    assert!(sent[1].1.to_string().contains("This chat is linked"), "{sent:?}");

    let tested = app.service.notification_channels.test(&ann, id).await.unwrap();
    assert!(tested.is_accepted, "{tested:?}");
    assert_eq!(server.sent()[2].1["chat_id"], 7);
    assert!(
        app.update_channel(&ann, id, json!({"config": {}}))
            .await
            .unwrap()
            .link
            .is_none()
    );
}

async fn expired_code_links_nothing_and_a_change_brings_another(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    let created = app.create_channel(&ann, json!({"type": "telegram"})).await;
    let id = created.detail.channel.id;
    app.advance(15);
    server.receive(7, &format!("/start {}", code(&created)));
    let changed = app.update_channel(&ann, id, json!({"config": {}})).await.unwrap();
    assert_ne!(code(&changed), code(&created));
    wait_for(&app, "the expired code is answered", async || server.sent().len() == 1).await;
    assert_eq!(channel(&app, &ann, id).await.verified_at, None);
    server.receive(7, &format!("/start {}", code(&changed)));
    wait_for(&app, "the chat is linked", async || {
        channel(&app, &ann, id).await.verified_at.is_some()
    })
    .await;
}

async fn code_counts_only_at_its_own_bot(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    let created = app
        .create_channel(&ann, json!({"type": "telegram", "config": {"bot_token": OWN_BOT}}))
        .await;
    let id = created.detail.channel.id;
    server.receive(7, &format!("/start {}", code(&created)));
    wait_for(&app, "the chat is linked", async || {
        channel(&app, &ann, id).await.verified_at.is_some()
    })
    .await;
    let own_path = format!("/bot{OWN_BOT}/getUpdates");
    assert!(
        server.polls().iter().all(|path| *path == own_path),
        "the operator's bot is not read"
    );
}

async fn long_messages_of_strangers_do_not_stop_links(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    let created = app.create_channel(&ann, json!({"type": "telegram"})).await;
    for chat in 0..40 {
        server.receive(chat, &"x".repeat(4096));
    }
    server.receive(77, &format!("/start {}", code(&created)));
    wait_for(&app, "the chat is linked", async || {
        channel(&app, &ann, created.detail.channel.id)
            .await
            .verified_at
            .is_some()
    })
    .await;
}

async fn code_in_an_update_with_a_lower_id_links_the_chat(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    for first_id in [900_000, 5] {
        server.continue_at(first_id);
        let created = app.create_channel(&ann, json!({"type": "telegram"})).await;
        server.receive(7, &format!("/start {}", code(&created)));
        wait_for(&app, "the chat is linked", async || {
            channel(&app, &ann, created.detail.channel.id)
                .await
                .verified_at
                .is_some()
        })
        .await;
        // The confirmation of the first update would confirm the second one, too.
        wait_for(&app, "the update is confirmed", async || server.updates() == 0).await;
    }
}

async fn refused_bot_of_a_user_is_not_read_again(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    server.refuse();
    let own_bot = json!({"type": "telegram", "config": {"bot_token": OWN_BOT}});
    let id = app.create_channel(&ann, own_bot).await.detail.channel.id;
    wait_for(&app, "the owner sees the error", async || {
        channel(&app, &ann, id).await.last_error.is_some()
    })
    .await;
    let refused = channel(&app, &ann, id).await;
    let error = refused.last_error.unwrap();
    assert!(
        error.contains("the bot cannot be read") && !error.contains(OWN_BOT),
        "{error}"
    );
    assert_eq!(refused.link, None);
}

async fn linked_chat_is_kept_by_a_restart_and_lost_with_another_bot(app: TestApp) {
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    let created = app.create_channel(&ann, json!({"type": "telegram"})).await;
    let id = created.detail.channel.id;
    let app = app.restarted().await;
    server.receive(7, &format!("/start {}", code(&created)));
    wait_for(&app, "the chat is linked", async || {
        channel(&app, &ann, id).await.verified_at.is_some()
    })
    .await;
    let app = app.restarted().await;
    assert!(
        app.service
            .notification_channels
            .test(&ann, id)
            .await
            .unwrap()
            .is_accepted
    );
    let changed = app
        .update_channel(&ann, id, json!({"config": {"bot_token": OWN_BOT}}))
        .await
        .unwrap();
    assert!(changed.link.is_some() && changed.detail.channel.verified_at.is_none());
    assert!(
        !app.service
            .notification_channels
            .test(&ann, id)
            .await
            .unwrap()
            .is_accepted
    );
}

//! Buttons of messages in Telegram chats.

use alerts::{AlertId, Plan, Status};
use delivery::notification_channels::NotificationChannelId;
use foundation::Actor;
use serde_json::{Value, json};
use service::ListRequest;
use service::firings::{FiringFilter, FiringWithMessages};
use store::model::Acknowledgement;
use testkit::eventually_some;

use super::telegram::{code, with_bot};
use super::telegram_server::TelegramServer;
use crate::support::{ALL, TestApp, above, on_each_database};

on_each_database! {
    button_acknowledges_once_and_survives_a_restart
    buttons_snooze_once_and_say_until_when
    buttons_pause_and_arm_again_once
    press_in_another_chat_has_only_an_answer
    data_that_no_message_has_is_refused
    alert_that_was_deleted_is_named_in_the_answer
}

const CHAT: i64 = 7;

/// Ann's alert, which has fired into her chat.
struct Fired {
    app: TestApp,
    server: TelegramServer,
    ann: Actor,
    alert: AlertId,
}

pub(super) async fn link(app: &TestApp, server: &TelegramServer, actor: &Actor, chat_id: i64) -> NotificationChannelId {
    let created = app.create_channel(actor, json!({"type": "telegram"})).await;
    let id = created.detail.channel.id;
    server.receive(chat_id, &format!("/start {}", code(&created)));
    eventually_some("the chat is linked", async || {
        app.service.notification_channels.read_telegram_updates();
        let channel = app.service.notification_channels.get(actor, id).await.unwrap().channel;
        channel.verified_at
    })
    .await;
    id
}

impl Fired {
    async fn start(app: TestApp) -> Self {
        let (app, server) = with_bot(app).await;
        let ann = app.ann(Plan::Premium).await;
        let channel = link(&app, &server, &ann, CHAT).await;
        app.quote("AAPL", 190.0).await;
        let mut body = above("AAPL", 200.0);
        body["channels"] = json!([channel.0]);
        let alert = app.create(&ann, body).await.stored.alert.id;
        app.quote("AAPL", 201.0).await;
        Self {
            app,
            server,
            ann,
            alert,
        }
    }

    /// Returns the buttons of the message.
    async fn buttons(&self) -> Vec<Value> {
        eventually_some("the message is sent", async || {
            let sent = self.server.sent();
            let rows = sent
                .iter()
                .find_map(|(_, body)| body["reply_markup"]["inline_keyboard"].as_array());
            let buttons = rows?.iter().flat_map(|row| row.as_array().unwrap().clone());
            Some(buttons.collect())
        })
        .await
    }

    /// Returns the data of a button.
    async fn data(&self, label: &str) -> String {
        let buttons = self.buttons().await;
        let button = buttons.iter().find(|button| button["text"] == label);
        button.unwrap()["callback_data"].as_str().unwrap().to_owned()
    }

    /// Presses a button in a chat, and returns the text of the answer.
    async fn press(&self, chat_id: i64, data: &str) -> String {
        let query = self.server.press(chat_id, data);
        let answer = eventually_some("the button is answered", async || {
            self.app.service.notification_channels.read_telegram_updates();
            let answered = |(path, body): &(String, Value)| {
                path.ends_with("/answerCallbackQuery") && body["callback_query_id"] == query
            };
            let sent = self.server.sent();
            let (_, body) = sent.iter().find(|sent| answered(sent))?;
            Some(body["text"].as_str().unwrap().to_owned())
        })
        .await;
        // A press that is not confirmed yet would be read again if the clock moved, because its answer would time out.
        eventually_some("the press is confirmed", async || {
            self.app.service.notification_channels.read_telegram_updates();
            (self.server.updates() == 0).then_some(())
        })
        .await;
        answer
    }

    async fn firing(&self) -> FiringWithMessages {
        let filter = FiringFilter {
            alert: Some(self.alert),
            since: None,
            unacknowledged: false,
        };
        let page = self
            .app
            .service
            .firings
            .firings(&self.ann, filter, ListRequest::from(ALL))
            .await;
        page.unwrap().items.remove(0)
    }

    async fn acknowledged(&self) -> Option<Acknowledgement> {
        self.firing().await.firing.acknowledged
    }

    async fn status(&self) -> Status {
        self.app.status(&self.ann, self.alert).await
    }

    async fn snoozed_until(&self) -> String {
        let detail = self.app.service.alerts.alert(&self.ann, self.alert).await.unwrap();
        detail.stored.alert.options.snoozed_until.unwrap().to_string()
    }
}

async fn button_acknowledges_once_and_survives_a_restart(app: TestApp) {
    let fired = Fired::start(app).await;
    let buttons = fired.buttons().await;
    let labels: Vec<&str> = buttons.iter().map(|button| button["text"].as_str().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "Open",
            "Acknowledge",
            "Snooze 1 h",
            "Snooze until open",
            "Pause",
            "Re-arm"
        ]
    );
    assert!(
        buttons[0]["url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/alerts/{}", fired.alert))
    );
    for button in &buttons[1..] {
        assert!(
            (1..=64).contains(&button["callback_data"].as_str().unwrap().len()),
            "{button}"
        );
        assert_eq!(button["url"], Value::Null);
    }
    let data = fired.data("Acknowledge").await;
    assert_eq!(fired.press(CHAT, &data).await, "Acknowledged");
    let first = fired.acknowledged().await.unwrap();
    assert_eq!((first.by.as_str(), first.via.as_str()), ("@ann_lee", "telegram"));
    let fired = Fired {
        app: fired.app.restarted().await,
        ..fired
    };
    fired.app.advance(1);
    assert_eq!(fired.press(CHAT, &data).await, "You have acknowledged this already");
    assert_eq!(fired.acknowledged().await, Some(first));
}

async fn buttons_snooze_once_and_say_until_when(app: TestApp) {
    let fired = Fired::start(app).await;
    let hour = fired.data("Snooze 1 h").await;
    assert_eq!(fired.press(CHAT, &hour).await, "Snoozed until 8 March 2024, 11:00 EST");
    assert_eq!(fired.snoozed_until().await, "2024-03-08T16:00:00Z");
    assert_eq!(
        fired.press(CHAT, &hour).await,
        "Snoozed until 8 March 2024, 11:00 EST already"
    );
    fired.app.advance(10);
    assert_eq!(fired.press(CHAT, &hour).await, "Snoozed until 8 March 2024, 11:10 EST");
    assert_eq!(fired.snoozed_until().await, "2024-03-08T16:10:00Z");
    let open = fired.data("Snooze until open").await;
    assert_eq!(fired.press(CHAT, &open).await, "Snoozed until 11 March 2024, 09:30 EDT");
    assert_eq!(
        fired.press(CHAT, &open).await,
        "Snoozed until 11 March 2024, 09:30 EDT already"
    );
}

async fn buttons_pause_and_arm_again_once(app: TestApp) {
    let fired = Fired::start(app).await;
    let (pause, rearm) = (fired.data("Pause").await, fired.data("Re-arm").await);
    let refused = fired.press(CHAT, &pause).await;
    assert!(
        refused.starts_with("This cannot be done: only an active alert can be paused"),
        "{refused}"
    );
    assert_eq!(fired.status().await, Status::Triggered);
    // Below the level, so that it does not fire at once.
    fired.app.quote("AAPL", 190.0).await;
    assert_eq!(fired.press(CHAT, &rearm).await, "Armed again");
    assert_eq!(fired.press(CHAT, &rearm).await, "Armed already");
    assert_eq!(fired.status().await, Status::Active);
    assert_eq!(fired.press(CHAT, &pause).await, "Paused");
    assert_eq!(fired.press(CHAT, &pause).await, "Paused already");
    assert_eq!(fired.status().await, Status::Paused);
}

async fn press_in_another_chat_has_only_an_answer(app: TestApp) {
    let fired = Fired::start(app).await;
    let data = fired.data("Acknowledge").await;
    // Bob's chat with the same bot is linked, to his account.
    let bob = fired.app.bob(Plan::Premium).await;
    link(&fired.app, &fired.server, &bob, 9).await;
    for chat in [8, 9] {
        let answer = fired.press(chat, &data).await;
        assert!(
            answer.starts_with("This chat is not linked to the account of this alert"),
            "{answer}"
        );
    }
    assert_eq!(fired.acknowledged().await, None);
}

async fn data_that_no_message_has_is_refused(app: TestApp) {
    let fired = Fired::start(app).await;
    let data = fired.data("Acknowledge").await;
    let changed = format!(
        "{}{}",
        &data[..data.len() - 2],
        if data.ends_with("AA") { "BB" } else { "AA" }
    );
    let page = json!({"action": "acknowledge", "firing": fired.firing().await.firing.id.0}).to_string();
    for data in [changed.as_str(), "ack-1", "", page.as_str()] {
        let answer = fired.press(CHAT, data).await;
        assert!(
            answer.starts_with("This button is not valid any more"),
            "{data}: {answer}"
        );
    }
    fired.app.advance(31 * 24 * 60);
    let answer = fired.press(CHAT, &data).await;
    assert!(answer.starts_with("This button is not valid any more"), "{answer}");
    assert_eq!(fired.acknowledged().await, None);
}

async fn alert_that_was_deleted_is_named_in_the_answer(app: TestApp) {
    let fired = Fired::start(app).await;
    let pause = fired.data("Pause").await;
    fired
        .app
        .service
        .alerts
        .delete_alert(&fired.ann, fired.alert)
        .await
        .unwrap();
    assert_eq!(fired.press(CHAT, &pause).await, "This alert no longer exists");
}

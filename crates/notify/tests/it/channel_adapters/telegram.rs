//! Telegram. Responses are those of <https://core.telegram.org/bots/api#making-requests>; descriptions are those of the Bot API server,
//! <https://github.com/tdlib/telegram-bot-api>.

use notify::channels::telegram::TelegramConfig;
use notify::channels::{ChannelMessage, ChannelSecret, ChannelTarget};
use serde_json::{Value, json};
use url::Url;

use super::common::{
    ChannelFixture, ErrorCase, OPERATOR_BOT_TOKEN, OWNER, attempt, check_errors, message, received, received_json,
    text_message,
};
use crate::notify::common::receiver::{Behaviour, answer};

const TOKEN: &str = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11";
const CHAT: i64 = -1_001_234_567_890;

pub(crate) fn target(_: &str) -> ChannelTarget {
    ChannelTarget::Telegram(TelegramConfig {
        bot_token: Some(ChannelSecret::new(TOKEN)),
        chat_id: Some(CHAT),
    })
}

fn with_operator_token(_: &str) -> ChannelTarget {
    ChannelTarget::Telegram(TelegramConfig {
        bot_token: None,
        chat_id: Some(CHAT),
    })
}

fn sent() -> String {
    let body = r#"{"ok":true,"result":{"message_id":73,"from":{"id":123456,"is_bot":true,"first_name":"B"},
        "chat":{"id":-1001234567890,"title":"Stocks","type":"supergroup"},"date":1772807400,"text":"x"}}"#;
    answer("200 OK", "content-type: application/json\r\n", body)
}

#[tokio::test]
async fn telegram_receives_text_with_bold_title_and_buttons() {
    let button = |text: &str, data: &str| json!({"text": text, "callback_data": format!("{data}-data-0123")});
    assert_eq!(
        received_json(target, sent(), &message()).await,
        json!({
            "chat_id": CHAT,
            "text": "AAPL 180.00 <at> your level & more\nAAPL 180.00 — at or below your 180.00 (−2.41 % today).\n\
                     Note: *sell* half_of_it",
            "entities": [{"type": "bold", "offset": 0, "length": 34}],
            "link_preview_options": {"is_disabled": true},
            "reply_markup": {"inline_keyboard": [
                [{"text": "Open", "url": "https://alerts.example.com/alerts/7"}, button("Acknowledge", "ack")],
                [button("Snooze 1 h", "hour"), button("Pause", "pause")],
            ]},
        })
    );
    for (new_target, token) in [
        (target as fn(&str) -> ChannelTarget, TOKEN),
        (with_operator_token, OPERATOR_BOT_TOKEN),
    ] {
        let request = received(new_target, sent(), &message()).await;
        assert_eq!(request.line, format!("POST /bot{token}/sendMessage HTTP/1.1"));
    }
    let found = attempt(target, Behaviour::Answers(sent()), &message()).await;
    assert_eq!(
        (found.attempt.provider_id.as_deref(), found.migrated_chat_id),
        (Some("73"), None)
    );
}

#[tokio::test]
async fn telegram_button_data_has_at_most_64_bytes() {
    let mut message = text_message("text");
    message.actions = super::common::message().actions[..1].to_vec();
    let url = "https://alerts.example.com/acknowledge?t=ack-token-0123456789";
    for (data, expected) in [
        (
            Some("d".repeat(64)),
            json!({"text": "Acknowledge", "callback_data": "d".repeat(64)}),
        ),
        (Some("d".repeat(65)), json!({"text": "Acknowledge", "url": url})),
        (Some(String::new()), json!({"text": "Acknowledge", "url": url})),
        (None, json!({"text": "Acknowledge", "url": url})),
    ] {
        message.actions[0].callback_data = data;
        let body = received_json(target, sent(), &message).await;
        assert_eq!(body["reply_markup"]["inline_keyboard"], json!([[expected]]));
    }
}

#[tokio::test]
async fn telegram_gets_links_to_localhost_as_text() {
    let local = Url::parse("http://localhost:8080/alerts/7").unwrap();
    let with_link = |url: &Url| ChannelMessage {
        link: Some(url.clone()),
        ..text_message("text")
    };
    let body = received_json(target, sent(), &with_link(&local)).await;
    assert_eq!(body["text"], "Title\ntext\n\nhttp://localhost:8080/alerts/7");
    assert_eq!(body["reply_markup"], Value::Null);
    let address = Url::parse("http://192.0.2.1:8080/alerts/7").unwrap();
    let body = received_json(target, sent(), &with_link(&address)).await;
    assert_eq!(body["reply_markup"]["inline_keyboard"][0][0]["url"], address.as_str());
}

#[tokio::test]
async fn telegram_text_has_at_most_4096_utf16_units() {
    // The title and its line feed have 6.
    for (text, expected) in [
        ("é".repeat(4_090), "é".repeat(4_090)),
        ("é".repeat(4_091), format!("{}…", "é".repeat(4_089))),
        ("😀".repeat(2_045), "😀".repeat(2_045)),
        ("😀".repeat(2_046), format!("{}…", "😀".repeat(2_044))),
    ] {
        let body = received_json(target, sent(), &text_message(&text)).await;
        assert_eq!(body["text"], format!("Title\n{expected}"));
    }
}

#[tokio::test]
async fn telegram_errors_are_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::refused(
                "403 Forbidden",
                r#"{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}"#,
                403,
                "Forbidden: bot was blocked by the user",
            ),
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#,
                400,
                "Bad Request: chat not found",
            ),
            // A repeated URL of a button has a signed token.
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"ok":false,"error_code":400,"description":"Bad Request: inline keyboard button URL 'https://alerts.example.com/acknowledge?t=ack-token-0123456789' is invalid"}"#,
                400,
                "Bad Request: inline keyboard button URL '***' is invalid",
            ),
            ErrorCase::credentials(
                "401 Unauthorized",
                r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#,
                "Unauthorized",
            ),
            ErrorCase::credentials("404 Not Found", r#"{"ok":false,"error_code":404,"description":"Not Found"}"#, "Not Found"),
            ErrorCase::credentials("403 Forbidden", "<html>blocked by a proxy</html>", ""),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 35","parameters":{"retry_after":35}}"#,
                429,
                "Too Many Requests: retry after 35",
            )
            .after("", 35_000),
            ErrorCase::deferred("429 Too Many Requests", "", 429, "").after("Retry-After: 3\r\n", 3_000),
            ErrorCase::deferred("502 Bad Gateway", r#"{"ok":false,"error_code":502,"description":"Bad Gateway"}"#, 502, "Bad Gateway"),
        ],
    )
    .await;
}

#[tokio::test]
async fn telegram_message_follows_its_chat_to_a_supergroup() {
    let moved = r#"{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat",
        "parameters":{"migrate_to_chat_id":-1009876543210}}"#;
    let moved = Behaviour::Answers(answer("400 Bad Request", "", moved));
    let fixture = ChannelFixture::new();
    let server = fixture.server(&[moved.clone(), Behaviour::Answers(sent())]).await;
    let found = fixture.client(&server).send(OWNER, &target(""), &message()).await;
    assert_eq!(found.attempt.outcome.name(), "delivered");
    assert_eq!(found.migrated_chat_id, Some(-1_009_876_543_210));
    let chats: Vec<Value> = server
        .requests()
        .iter()
        .map(|it| serde_json::from_str::<Value>(&it.body).unwrap()["chat_id"].clone())
        .collect();
    assert_eq!(chats, [json!(CHAT), json!(-1_009_876_543_210_i64)]);
    // A chat moves once.
    let found = attempt(target, moved, &message()).await;
    assert_eq!(found.attempt.outcome.name(), "refused");
}

#[tokio::test]
async fn telegram_channel_without_chat_is_unsendable() {
    let unlinked = |_: &str| {
        ChannelTarget::Telegram(TelegramConfig {
            bot_token: None,
            chat_id: None,
        })
    };
    let found = attempt(unlinked, Behaviour::Answers(sent()), &message()).await;
    assert_eq!(found.attempt.outcome.name(), "unsendable");
    assert_eq!(
        found.attempt.detail.as_deref(),
        Some("link a chat first: send the code to the bot")
    );
}

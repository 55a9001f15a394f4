//! Updates of a Telegram bot: <https://core.telegram.org/bots/api#getupdates>.

use std::time::Duration;

use notify::channels::ChannelSecret;
use notify::channels::telegram::{TelegramError, TelegramEvent, TelegramUpdate};
use notify::message_attempt::MessageOutcome;
use serde_json::{Value, json};

use super::common::{ChannelFixture, OPERATOR_BOT_TOKEN, TIMEOUT};
use crate::notify::common::receiver::{Behaviour, answer};

const WAIT: Duration = Duration::from_secs(25);

/// A message, a button, and updates that have neither.
fn updates() -> String {
    let chat = json!({"id": 1111, "first_name": "Ann", "type": "private"});
    let from = json!({"id": 1111, "is_bot": false, "first_name": "Ann"});
    let named = json!({"id": 1111, "is_bot": false, "first_name": "Ann", "username": "ann_lee"});
    let message = |text: &str| json!({"message_id": 1, "from": from, "chat": chat, "date": 1, "text": text});
    let sticker = json!({"message_id": 2, "from": from, "chat": chat, "date": 1, "sticker": {}});
    // A message that is too old for Telegram to repeat.
    let inaccessible = json!({"message_id": 1, "chat": chat, "date": 0});
    let query = |id: &str, from: &Value, message: Value, data: &str| json!({"id": id, "from": from, "message": message, "chat_instance": "1", "data": data});
    let result = json!([
        {"update_id": 7, "message": message("/start AB-12")},
        {"update_id": 8, "callback_query": query("4382bfdwdsb323b2d9", &named, message("x"), "ack-1")},
        {"update_id": 9, "callback_query": query("8", &from, inaccessible, "ack-2")},
        {"update_id": 10, "message": message("hello")},
        {"update_id": 11, "message": sticker},
        {"update_id": 12, "message": {"chat": "odd"}},
        {"update_id": 13, "callback_query": {"id": "1", "from": from, "inline_message_id": "2", "data": "ack-1"}},
        {"no": "id"},
    ]);
    answer("200 OK", "", &json!({"ok": true, "result": result}).to_string())
}

async fn read(behaviour: Behaviour) -> Result<Vec<TelegramUpdate>, TelegramError> {
    let fixture = ChannelFixture::new();
    let server = fixture.server(&[behaviour]).await;
    fixture.client(&server).telegram().updates(None, None, WAIT).await
}

#[tokio::test]
async fn updates_have_codes_and_buttons() {
    let expected = [
        TelegramEvent::Start {
            code: "AB-12".to_owned(),
            chat_id: 1_111,
        },
        TelegramEvent::Button {
            query_id: "4382bfdwdsb323b2d9".to_owned(),
            data: "ack-1".to_owned(),
            chat_id: 1_111,
            sender: Some("@ann_lee".to_owned()),
        },
        TelegramEvent::Button {
            query_id: "8".to_owned(),
            data: "ack-2".to_owned(),
            chat_id: 1_111,
            sender: Some("Ann".to_owned()),
        },
        TelegramEvent::Other,
        TelegramEvent::Other,
        TelegramEvent::Other,
        TelegramEvent::Other,
    ];
    let expected: Vec<_> = (7..)
        .zip(expected)
        .map(|(id, event)| TelegramUpdate { id, event })
        .collect();
    assert_eq!(read(Behaviour::Answers(updates())).await.unwrap(), expected);
}

#[tokio::test]
async fn request_for_updates_waits_from_an_offset() {
    let fixture = ChannelFixture::new();
    let empty = answer("200 OK", "", r#"{"ok":true,"result":[]}"#);
    let server = fixture.server(&[Behaviour::Answers(empty)]).await;
    let client = fixture.client(&server);
    let token = ChannelSecret::new("123456:ABC");
    for (token, path, offset, expected) in [
        (
            None,
            OPERATOR_BOT_TOKEN,
            None,
            json!({"limit": 20, "timeout": 25, "allowed_updates": ["message", "callback_query"]}),
        ),
        (
            Some(&token),
            "123456:ABC",
            Some(13),
            json!({"offset": 13, "limit": 20, "timeout": 25, "allowed_updates": ["message", "callback_query"]}),
        ),
    ] {
        assert_eq!(client.telegram().updates(token, offset, WAIT).await, Ok(Vec::new()));
        let request = server.requests().pop().unwrap();
        assert_eq!(request.line, format!("POST /bot{path}/getUpdates HTTP/1.1"));
        assert_eq!(serde_json::from_str::<Value>(&request.body).unwrap(), expected);
    }
}

#[tokio::test]
async fn request_for_updates_ends_after_the_wait_and_the_timeout() {
    let fixture = ChannelFixture::new();
    let server = fixture.server(&[Behaviour::Hangs]).await;
    let client = fixture.client(&server);
    let time = &fixture.clients.time;
    let (found, ()) = tokio::join!(client.telegram().updates(None, None, WAIT), async {
        server.until(|seen| seen.requests.len() == 1).await;
        time.advance(TIMEOUT);
        time.advance(jiff::SignedDuration::try_from(WAIT).unwrap());
    });
    assert_eq!(found.unwrap_err().outcome, MessageOutcome::TimedOut);
}

#[tokio::test]
async fn errors_of_updates_have_no_token() {
    for (status, body, outcome, message) in [
        (
            "409 Conflict",
            r#"{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}"#,
            "deferred",
            "The provider does not accept the message now (409). Conflict: terminated by other getUpdates request",
        ),
        (
            "401 Unauthorized",
            r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#,
            "authentication_failed",
            "The provider rejected the credentials; check them. Unauthorized",
        ),
        ("200 OK", "{}", "bad_answer", "The response of the provider is invalid."),
    ] {
        let error = read(Behaviour::Answers(answer(status, "", body))).await.unwrap_err();
        assert_eq!((error.outcome.name(), error.to_string().as_str()), (outcome, message));
    }
    let repeated = format!(r#"{{"ok":false,"error_code":400,"description":"no bot{OPERATOR_BOT_TOKEN}"}}"#);
    let error = read(Behaviour::Answers(answer("400 Bad Request", "", &repeated)))
        .await
        .unwrap_err();
    assert_eq!(error.detail.as_deref(), Some("no bot***"));
    assert_eq!(
        read(Behaviour::Closes).await.unwrap_err().outcome,
        MessageOutcome::ConnectionLost
    );
}

#[tokio::test]
async fn button_is_answered_and_chat_gets_a_reply() {
    let fixture = ChannelFixture::new();
    let ok = answer("200 OK", "", r#"{"ok":true,"result":true}"#);
    let server = fixture.server(&[Behaviour::Answers(ok)]).await;
    let client = fixture.client(&server);
    client
        .telegram()
        .answer(None, "4382bfdwdsb323b2d9", &"é".repeat(201))
        .await
        .unwrap();
    client
        .telegram()
        .reply(None, 1_111, "This chat is linked.")
        .await
        .unwrap();
    let bodies: Vec<Value> = server
        .requests()
        .iter()
        .map(|it| serde_json::from_str(&it.body).unwrap())
        .collect();
    assert_eq!(
        bodies,
        [
            json!({"callback_query_id": "4382bfdwdsb323b2d9", "text": format!("{}…", "é".repeat(199))}),
            json!({"chat_id": 1_111, "text": "This chat is linked.", "link_preview_options": {"is_disabled": true}}),
        ]
    );
    let lines: Vec<String> = server.requests().into_iter().map(|it| it.line).collect();
    assert_eq!(
        lines[0],
        format!("POST /bot{OPERATOR_BOT_TOKEN}/answerCallbackQuery HTTP/1.1")
    );
}

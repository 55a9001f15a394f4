//! ntfy. Responses are those of <https://docs.ntfy.sh/publish/> and
//! <https://github.com/binwiederhier/ntfy/blob/main/server/errors.go>.

use notify::channels::ntfy::NtfyConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use serde_json::json;

use super::common::{ErrorCase, attempt, check_errors, message, received, received_json, text_message};
use crate::notify::common::receiver::{Behaviour, answer};

pub(crate) fn target(url: &str) -> ChannelTarget {
    ChannelTarget::Ntfy(NtfyConfig {
        url: url.to_owned(),
        topic: "stock_alerts-1".to_owned(),
        token: Some(ChannelSecret::new("tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2")),
    })
}

fn published() -> String {
    let body = r#"{"id":"sPs71M8A2T3c","time":1735542000,"expires":1735585200,"event":"message","topic":"stock_alerts-1","message":"x"}"#;
    answer("200 OK", "content-type: application/json\r\n", body)
}

#[tokio::test]
async fn ntfy_receives_json_with_buttons_and_token() {
    let mut message = message();
    message.actions.push(message.actions[0].clone());
    let action = |label: &str, token: &str| {
        let url = format!("https://alerts.example.com/acknowledge?t={token}-token-0123456789");
        json!({"action": "http", "label": label, "url": url, "method": "POST", "clear": true})
    };
    for (urgent, priority) in [(false, 3), (true, 5)] {
        message.urgent = urgent;
        assert_eq!(
            received_json(target, published(), &message).await,
            json!({
                "topic": "stock_alerts-1",
                "title": "AAPL 180.00 <at> your level & more",
                "message": "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it",
                "priority": priority,
                "click": "https://alerts.example.com/alerts/7",
                "actions": [action("Acknowledge", "ack"), action("Snooze 1 h", "hour"), action("Pause", "pause")],
                "sequence_id": "01234567-89ab-4def-8123-456789abcdef",
            })
        );
    }
    let request = received(target, published(), &message).await;
    assert_eq!(
        request.headers["authorization"],
        "Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
    );
    let found = attempt(target, Behaviour::Answers(published()), &message).await;
    assert_eq!(found.attempt.provider_id.as_deref(), Some("sPs71M8A2T3c"));
}

#[tokio::test]
async fn ntfy_message_without_token_has_no_authorization() {
    let without_token = |url: &str| match target(url) {
        ChannelTarget::Ntfy(config) => ChannelTarget::Ntfy(NtfyConfig { token: None, ..config }),
        other => other,
    };
    let request = received(without_token, published(), &message()).await;
    assert!(!request.headers.contains_key("authorization"));
}

#[tokio::test]
async fn ntfy_message_has_less_than_4096_bytes() {
    for (text, expected) in [
        ("x".repeat(4_095), "x".repeat(4_095)),
        ("x".repeat(4_096), format!("{}…", "x".repeat(4_092))),
        ("é".repeat(2_047), "é".repeat(2_047)),
        ("é".repeat(2_048), format!("{}…", "é".repeat(2_046))),
    ] {
        let body = received_json(target, published(), &text_message(&text)).await;
        assert_eq!(body["message"], expected);
    }
}

#[tokio::test]
async fn ntfy_request_has_at_most_8192_bytes() {
    let mut long = text_message(&"\"".repeat(4_095));
    let request = received(target, published(), &long).await;
    assert!((8_180..=8_192).contains(&request.body.len()), "{}", request.body.len());
    long.text = "\"".repeat(3_000);
    let body = received_json(target, published(), &long).await;
    assert_eq!(body["message"], long.text);
}

#[tokio::test]
async fn ntfy_errors_are_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"code":40009,"http":400,"error":"invalid request: topic invalid"}"#,
                40_009,
                "invalid request: topic invalid",
            ),
            ErrorCase::refused("404 Not Found", r#"{"code":40401,"http":404,"error":"page not found"}"#, 40_401, "page not found"),
            ErrorCase::refused(
                "413 Request Entity Too Large",
                r#"{"code":41303,"http":413,"error":"JSON body too large"}"#,
                41_303,
                "JSON body too large",
            ),
            ErrorCase::credentials(
                "401 Unauthorized",
                r#"{"code":40101,"http":401,"error":"unauthorized","link":"https://ntfy.sh/docs/publish/#authentication"}"#,
                "unauthorized",
            ),
            ErrorCase::credentials(
                "403 Forbidden",
                r#"{"code":40301,"http":403,"error":"forbidden","link":"https://ntfy.sh/docs/publish/#authentication"}"#,
                "forbidden",
            ),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"code":42901,"http":429,"error":"limit reached: too many requests","link":"https://ntfy.sh/docs/publish/#limitations"}"#,
                42_901,
                "limit reached: too many requests",
            ),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"code":42908,"http":429,"error":"limit reached: daily message quota reached"}"#,
                42_908,
                "limit reached: daily message quota reached",
            )
            .after("Retry-After: 60\r\n", 60_000),
            ErrorCase::deferred("500 Internal Server Error", r#"{"code":50001,"http":500,"error":"internal server error"}"#, 50_001, "internal server error"),
            ErrorCase::deferred("502 Bad Gateway", "<html>", 502, ""),
        ],
    )
    .await;
}

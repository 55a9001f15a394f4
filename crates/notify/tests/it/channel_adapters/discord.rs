//! Discord. Responses are those of <https://docs.discord.com/developers/resources/webhook#execute-webhook> (a message, with
//! `wait=true`), <https://docs.discord.com/developers/topics/rate-limits> and
//! <https://docs.discord.com/developers/topics/opcodes-and-status-codes#json>.

use notify::channels::discord::DiscordConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use serde_json::json;

use super::common::{
    ChannelFixture, ErrorCase, OWNER, attempt, check_errors, message, received, received_json, text_message,
};
use crate::notify::common::receiver::{Behaviour, answer};

pub(crate) fn target(url: &str) -> ChannelTarget {
    let url = ChannelSecret::new(url);
    ChannelTarget::Discord(DiscordConfig { url })
}

/// A message, shortened: <https://docs.discord.com/developers/resources/message#message-object>.
fn created() -> String {
    let body = r#"{"id":"334385199974967042","type":0,"content":"Supa Hot","channel_id":"290926798999357250","embeds":[],
        "webhook_id":"223704706495545344","timestamp":"2017-07-11T17:27:07.299000+00:00"}"#;
    answer("200 OK", "content-type: application/json\r\n", body)
}

#[tokio::test]
async fn discord_receives_escaped_text_and_links() {
    assert_eq!(
        received_json(target, created(), &message()).await,
        json!({
            "content": "**AAPL 180.00 \\<at\\> your level & more**\nAAPL 180.00 — at or below your 180.00 (−2.41 % today).\n\
                        Note: \\*sell\\* half\\_of\\_it",
            "embeds": [{"description": "[Open](https://alerts.example.com/alerts/7) · \
                [Acknowledge](https://alerts.example.com/acknowledge?t=ack-token-0123456789) · \
                [Snooze 1 h](https://alerts.example.com/acknowledge?t=hour-token-0123456789) · \
                [Pause](https://alerts.example.com/acknowledge?t=pause-token-0123456789)"}],
            "allowed_mentions": {"parse": []},
        })
    );
    let plain = received_json(target, created(), &text_message("text")).await;
    assert_eq!(
        plain,
        json!({"content": "**Title**\ntext", "allowed_mentions": {"parse": []}})
    );
}

#[tokio::test]
async fn discord_confirms_the_message_and_returns_its_id() {
    let found = attempt(target, Behaviour::Answers(created()), &message()).await;
    assert_eq!(found.attempt.provider_id.as_deref(), Some("334385199974967042"));
    assert_eq!(found.http_status, Some(200));
    let request = received(target, created(), &message()).await;
    assert_eq!(request.line, "POST /services/T0/secret-path-0123?wait=true HTTP/1.1");

    let fixture = ChannelFixture::new();
    let server = fixture
        .server(&[Behaviour::Answers(answer("204 No Content", "", ""))])
        .await;
    let url = format!(
        "http://hooks.example:{}/api/webhooks/1/x?wait=false&thread_id=7",
        server.address.port()
    );
    let found = fixture.client(&server).send(OWNER, &target(&url), &message()).await;
    assert_eq!(
        (found.attempt.outcome.name(), found.http_status),
        ("delivered", Some(204))
    );
    let line = &server.requests()[0].line;
    assert_eq!(line, "POST /api/webhooks/1/x?thread_id=7&wait=true HTTP/1.1");
}

#[tokio::test]
async fn discord_content_has_at_most_2000_utf16_units() {
    // The heading `**Title**` and its line feed have 10.
    for (text, expected) in [
        ("é".repeat(1_990), "é".repeat(1_990)),
        ("é".repeat(1_991), format!("{}…", "é".repeat(1_989))),
        ("😀".repeat(995), "😀".repeat(995)),
        ("😀".repeat(996), format!("{}…", "😀".repeat(994))),
        ("*".repeat(995), "\\*".repeat(995)),
        ("*".repeat(996), format!("{}…", "\\*".repeat(994))),
    ] {
        let body = received_json(target, created(), &text_message(&text)).await;
        assert_eq!(body["content"], format!("**Title**\n{expected}"));
    }
}

#[tokio::test]
async fn discord_errors_are_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::refused("404 Not Found", r#"{"message": "Unknown Webhook", "code": 10015}"#, 10_015, "Unknown Webhook"),
            // The token is part of the URL, so this is the error of wrong credentials.
            ErrorCase::refused(
                "401 Unauthorized",
                r#"{"message": "Invalid Webhook Token", "code": 50027}"#,
                50_027,
                "Invalid Webhook Token",
            ),
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"code": 50035, "errors": {"content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH"}]}}, "message": "Invalid Form Body"}"#,
                50_035,
                "Invalid Form Body",
            ),
            ErrorCase::refused("404 Not Found", "<html>", 404, ""),
            // A proxy in between, and not the API.
            ErrorCase::credentials("403 Forbidden", "<html>error code: 1010</html>", ""),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}"#,
                429,
                "You are being rate limited.",
            )
            .after("Retry-After: 65\r\n", 64_570),
            ErrorCase::deferred("429 Too Many Requests", "error code: 1015", 429, "").after("Retry-After: 65\r\n", 65_000),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"message": "limited", "retry_after": -1.0, "code": 30046}"#,
                30_046,
                "limited",
            ),
            ErrorCase::deferred("500 Server Error", r#"{"message": "500: Internal Server Error", "code": 0}"#, 500, "500: Internal Server Error"),
            ErrorCase::deferred("502 Bad Gateway", "<html>", 502, ""),
        ],
    )
    .await;
}

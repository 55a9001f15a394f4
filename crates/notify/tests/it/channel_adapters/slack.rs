//! Slack. Responses are those of
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors>: 200 with `ok`, or an HTTP error with the
//! name of the error as plain text.

use notify::channels::slack::SlackConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use notify::schedule::AttemptResult;
use serde_json::json;

use super::common::{ErrorCase, RETRIED, check_errors, delayed, message, received_json, text_message};
use crate::notify::common::receiver::answer;

pub(crate) fn target(url: &str) -> ChannelTarget {
    let url = ChannelSecret::new(url);
    ChannelTarget::Slack(SlackConfig { url })
}

fn ok() -> String {
    answer("200 OK", "content-type: text/html\r\n", "ok")
}

#[tokio::test]
async fn slack_receives_blocks_without_markup_and_link_buttons() {
    let text = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
    let button = |label: &str, path: &str| json!({"type": "button", "text": text(label), "url": format!("https://alerts.example.com/{path}")});
    let body = "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it";
    let title = "AAPL 180.00 &lt;at&gt; your level &amp; more";
    assert_eq!(
        received_json(target, ok(), &message()).await,
        json!({
            "text": format!("{title}\n{body}"),
            "mrkdwn": false,
            "unfurl_links": false,
            "unfurl_media": false,
            "blocks": [
                {"type": "header", "text": text(title)},
                {"type": "section", "text": text(body)},
                {"type": "actions", "elements": [
                    button("Open", "alerts/7"),
                    button("Acknowledge", "acknowledge?t=ack-token-0123456789"),
                    button("Snooze 1 h", "acknowledge?t=hour-token-0123456789"),
                    button("Pause", "acknowledge?t=pause-token-0123456789"),
                ]},
            ],
        })
    );
}

#[tokio::test]
async fn slack_section_has_at_most_3000_characters_after_escaping() {
    for (text, expected) in [
        ("é".repeat(3_000), "é".repeat(3_000)),
        ("é".repeat(3_001), format!("{}…", "é".repeat(2_999))),
        ("&".repeat(600), "&amp;".repeat(600)),
        ("&".repeat(601), format!("{}…", "&amp;".repeat(599))),
    ] {
        let body = received_json(target, ok(), &text_message(&text)).await;
        assert_eq!(body["blocks"][1]["text"]["text"], expected);
    }
    let mut long = text_message("text");
    long.title = "t".repeat(151);
    let body = received_json(target, ok(), &long).await;
    assert_eq!(body["blocks"][0]["text"]["text"], format!("{}…", "t".repeat(149)));
}

#[tokio::test]
async fn slack_errors_are_permanent_or_retried() {
    let permanent = |status, body: &'static str, code| ErrorCase {
        status,
        headers: "",
        body,
        outcome: "refused",
        result: AttemptResult::Refused,
        code: Some(code),
        detail: Some(body),
    };
    let retried = |status, headers, body, result, code, detail| ErrorCase {
        status,
        headers,
        body,
        outcome: "deferred",
        result,
        code: Some(code),
        detail,
    };
    let limited = retried(
        "429 Too Many Requests",
        "Retry-After: 30\r\n",
        "rate_limited",
        delayed(30),
        429,
        Some("rate_limited"),
    );
    check_errors(
        target,
        &[
            permanent("400 Bad Request", "invalid_payload", 400),
            permanent("400 Bad Request", "user_not_found", 400),
            permanent("403 Forbidden", "action_prohibited", 403),
            permanent("403 Forbidden", "invalid_token", 403),
            permanent("404 Not Found", "no_service", 404),
            permanent("404 Not Found", "channel_not_found", 404),
            permanent("410 Gone", "channel_is_archived", 410),
            limited,
            retried(
                "500 Server Error",
                "",
                "rollup_error",
                RETRIED,
                500,
                Some("rollup_error"),
            ),
            retried("503 Service Unavailable", "", "<html>busy</html>", RETRIED, 503, None),
        ],
    )
    .await;
}

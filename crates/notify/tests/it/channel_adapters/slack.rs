//! Slack. Responses are those of
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks#handling_errors>: 200 with `ok`, or an HTTP error with the
//! name of the error as plain text.

use notify::channels::slack::SlackConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use serde_json::json;

use super::common::{ErrorCase, check_errors, message, received_json, text_message};
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
    let refused = |status, name, code| ErrorCase::refused(status, name, code, name);
    check_errors(
        target,
        &[
            refused("400 Bad Request", "invalid_payload", 400),
            refused("400 Bad Request", "user_not_found", 400),
            refused("403 Forbidden", "action_prohibited", 403),
            // The secret is part of the URL, so this is the error of a wrong one.
            refused("403 Forbidden", "invalid_token", 403),
            refused("404 Not Found", "no_service", 404),
            refused("404 Not Found", "channel_not_found", 404),
            refused("410 Gone", "channel_is_archived", 410),
            ErrorCase::deferred("429 Too Many Requests", "rate_limited", 429, "rate_limited")
                .after("Retry-After: 30\r\n", 30_000),
            ErrorCase::deferred("500 Server Error", "rollup_error", 500, "rollup_error"),
            ErrorCase::deferred("503 Service Unavailable", "<html>busy</html>", 503, ""),
        ],
    )
    .await;
}

//! Apprise. Statuses are those of <https://github.com/caronc/apprise-api#api-details> and texts those of its `views.py`.

use notify::channels::apprise::AppriseConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use serde_json::json;

use super::common::{ErrorCase, check_errors, message, received_json, text_message};
use crate::notify::common::receiver::answer;

pub(crate) fn target(url: &str) -> ChannelTarget {
    let url = ChannelSecret::new(url);
    ChannelTarget::Apprise(AppriseConfig { url })
}

fn sent() -> String {
    answer("200 OK", "content-type: text/plain\r\n", "Notification(s) sent.")
}

#[tokio::test]
async fn apprise_receives_plain_text_with_links() {
    let mut message = message();
    let body = "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it\n\n\
                Open: https://alerts.example.com/alerts/7\n\
                Acknowledge: https://alerts.example.com/acknowledge?t=ack-token-0123456789\n\
                Snooze 1 h: https://alerts.example.com/acknowledge?t=hour-token-0123456789\n\
                Pause: https://alerts.example.com/acknowledge?t=pause-token-0123456789";
    for (urgent, kind) in [(false, "info"), (true, "warning")] {
        message.urgent = urgent;
        assert_eq!(
            received_json(target, sent(), &message).await,
            json!({"title": "AAPL 180.00 <at> your level & more", "body": body, "type": kind, "format": "text"})
        );
    }
}

#[tokio::test]
async fn apprise_text_has_at_most_32768_characters() {
    for (length, expected) in [
        (32_768, "é".repeat(32_768)),
        (32_769, format!("{}…", "é".repeat(32_767))),
    ] {
        let body = received_json(target, sent(), &text_message(&"é".repeat(length))).await;
        assert_eq!(body["body"], expected);
    }
    let blank = received_json(target, sent(), &text_message(" \n")).await;
    assert_eq!(blank["body"], "Title");
}

#[tokio::test]
async fn apprise_errors_are_permanent_or_retried() {
    let no_configuration = "the Apprise server has no configuration for this address; check its key and tags";
    check_errors(
        target,
        &[
            ErrorCase::refused("204 No Content", "", 204, no_configuration),
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"error": "Bad FORM Payload provided."}"#,
                400,
                "Bad FORM Payload provided.",
            ),
            ErrorCase::refused("404 Not Found", "<html>", 404, ""),
            ErrorCase::credentials("401 Unauthorized", "<html>", ""),
            ErrorCase::deferred(
                "424 Failed Dependency",
                r#"{"error": "One or more notification could not be sent."}"#,
                424,
                "One or more notification could not be sent.",
            ),
            ErrorCase::deferred("429 Too Many Requests", "", 429, "").after("Retry-After: 7\r\n", 7_000),
            ErrorCase::deferred("500 Internal Server Error", "", 500, ""),
        ],
    )
    .await;
}

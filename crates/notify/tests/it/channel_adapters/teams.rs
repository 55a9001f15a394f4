//! Teams. A workflow accepts a request with 202. Errors are those of Azure Logic Apps, on which workflows run:
//! <https://learn.microsoft.com/azure/logic-apps/handle-throttling-problems-429-errors>.

use notify::channels::teams::TeamsConfig;
use notify::channels::{ChannelSecret, ChannelTarget};
use serde_json::{Value, json};

use super::common::{ErrorCase, check_errors, message, received, received_json, text_message};
use crate::notify::common::receiver::answer;

pub(crate) fn target(url: &str) -> ChannelTarget {
    let url = ChannelSecret::new(url);
    ChannelTarget::Teams(TeamsConfig { url })
}

fn accepted() -> String {
    answer("202 Accepted", "", "")
}

#[tokio::test]
async fn teams_receives_an_adaptive_card() {
    let line = |text: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]});
    let action = |title: &str, path: &str| json!({"type": "Action.OpenUrl", "title": title, "url": format!("https://alerts.example.com/{path}")});
    assert_eq!(
        received_json(target, accepted(), &message()).await,
        json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": {
                    "type": "AdaptiveCard",
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "version": "1.2",
                    "body": [
                        {"type": "RichTextBlock", "inlines": [{
                            "type": "TextRun", "text": "AAPL 180.00 <at> your level & more", "weight": "bolder",
                        }]},
                        line("AAPL 180.00 — at or below your 180.00 (−2.41 % today)."),
                        line("Note: *sell* half_of_it"),
                    ],
                    "actions": [
                        action("Open", "alerts/7"),
                        action("Acknowledge", "acknowledge?t=ack-token-0123456789"),
                        action("Snooze 1 h", "acknowledge?t=hour-token-0123456789"),
                        action("Pause", "acknowledge?t=pause-token-0123456789"),
                    ],
                    "msteams": {"width": "Full"},
                },
            }],
        })
    );
}

/// Returns the size of the request in bytes, and the texts of the card without the title.
async fn card_of(text: &str) -> (usize, Vec<String>) {
    let request = received(target, accepted(), &text_message(text)).await;
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let paragraphs = body["attachments"][0]["content"]["body"].as_array().unwrap();
    let texts = paragraphs
        .iter()
        .map(|it| it["inlines"][0]["text"].as_str().unwrap().to_owned());
    (request.body.len(), texts.skip(1).collect())
}

#[tokio::test]
async fn teams_request_has_at_most_21000_bytes() {
    let (empty, _) = card_of("x").await;
    // With space for a last paragraph that has an ellipsis, like the first one of one byte.
    let (two, _) = card_of("x\nx").await;
    let reserve = two - empty + 2;
    let longest = "\"".repeat((21_000 - empty - reserve).div_euclid(2));
    let (size, texts) = card_of(&longest).await;
    assert_eq!(texts, std::slice::from_ref(&longest));
    assert!((20_900..=21_000).contains(&size), "{size}");
    for longer in [
        format!("{longest}{}", "\"".repeat(reserve)),
        "line\n".repeat(2_000),
        format!("{longest}\n{}", "last".repeat(10)),
    ] {
        let (size, texts) = card_of(&longer).await;
        assert!((20_800..=21_000).contains(&size), "{size}");
        assert!(texts.last().unwrap().ends_with('…'), "{:?}", texts.last());
    }
}

#[tokio::test]
async fn teams_errors_are_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::refused(
                "404 Not Found",
                r#"{"error":{"code":"WorkflowNotFound","message":"The workflow '57e0' could not be found."}}"#,
                404,
                "WorkflowNotFound",
            ),
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"Could not execute workflow '57e0' trigger 'manual'."}}"#,
                400,
                "WorkflowTriggerIsNotEnabled",
            ),
            ErrorCase::refused("413 Payload Too Large", "", 413, ""),
            ErrorCase::credentials(
                "401 Unauthorized",
                r#"{"error":{"code":"DirectApiAuthorizationRequired","message":"The request must be authenticated only by Shared Access scheme."}}"#,
                "DirectApiAuthorizationRequired",
            ),
            ErrorCase::credentials("403 Forbidden", "[]", ""),
            ErrorCase::deferred(
                "429 Too Many Requests",
                r#"{"error":{"code":"WorkflowRunActionThrottled","message":"slow down"}}"#,
                429,
                "WorkflowRunActionThrottled",
            )
            .after("Retry-After: 12\r\n", 12_000),
            ErrorCase::deferred("502 Bad Gateway", r#"{"error":{"code":"NoResponse","message":"x"}}"#, 502, "NoResponse"),
        ],
    )
    .await;
}

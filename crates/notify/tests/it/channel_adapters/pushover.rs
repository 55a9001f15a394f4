//! Pushover. Responses are those of <https://pushover.net/api#response>, limits those of <https://pushover.net/api#limits>.

use notify::channels::pushover::PushoverConfig;
use notify::channels::{ChannelMessage, ChannelSecret, ChannelTarget};

use super::common::{ErrorCase, OPERATOR_PUSHOVER_TOKEN, attempt, check_errors, message, received, text_message};
use crate::notify::common::receiver::{Behaviour, answer};

const USER: &str = "uQiRzpo4DXghDmr9QzzfQu27cmVRsG";
const TOKEN: &str = "KzGDORePKggMaC0QOYAMyEEuzJnyUi";

const OVER_QUOTA: &str = r#"{"status":0,"errors":["application is over its quota"],"request":"x"}"#;

pub(crate) fn target(_: &str) -> ChannelTarget {
    ChannelTarget::Pushover(PushoverConfig {
        user: ChannelSecret::new(USER),
        token: Some(ChannelSecret::new(TOKEN)),
    })
}

fn with_operator_token(_: &str) -> ChannelTarget {
    let user = ChannelSecret::new(USER);
    ChannelTarget::Pushover(PushoverConfig { user, token: None })
}

fn accepted() -> String {
    let body = r#"{"status":1,"request":"647d2300-702c-4b38-8b2f-d56326ae460b"}"#;
    answer(
        "200 OK",
        "X-Limit-App-Limit: 10000\r\nX-Limit-App-Remaining: 7496\r\nX-Limit-App-Reset: 1393653600\r\n",
        body,
    )
}

/// Sends a message, and returns the form that Pushover received.
async fn form(new_target: fn(&str) -> ChannelTarget, message: &ChannelMessage) -> Vec<(String, String)> {
    let request = received(new_target, accepted(), message).await;
    assert_eq!(request.line, "POST /1/messages.json HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    url::form_urlencoded::parse(request.body.as_bytes())
        .into_owned()
        .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[tokio::test]
async fn pushover_receives_a_form_with_the_first_action_as_link() {
    let mut message = message();
    let title = "AAPL 180.00 <at> your level & more";
    let text = "AAPL 180.00 — at or below your 180.00 (−2.41 % today).\nNote: *sell* half_of_it";
    let acknowledge = "https://alerts.example.com/acknowledge?t=ack-token-0123456789";
    let page = "https://alerts.example.com/alerts/7";
    let expected = |token, text: &str, priority, link: &[(&str, &str)]| {
        let mut all = vec![
            ("token", token),
            ("user", USER),
            ("title", title),
            ("message", text),
            ("priority", priority),
        ];
        all.extend(link);
        pairs(&all)
    };
    assert_eq!(
        form(target, &message).await,
        expected(
            TOKEN,
            &format!("{text}\n\n{page}"),
            "0",
            &[("url", acknowledge), ("url_title", "Acknowledge")]
        )
    );
    message.actions.clear();
    message.urgent = true;
    assert_eq!(
        form(with_operator_token, &message).await,
        expected(
            OPERATOR_PUSHOVER_TOKEN,
            text,
            "1",
            &[("url", page), ("url_title", "Open")]
        )
    );
    let found = attempt(target, Behaviour::Answers(accepted()), &message).await;
    assert_eq!(
        found.attempt.provider_id.as_deref(),
        Some("647d2300-702c-4b38-8b2f-d56326ae460b")
    );
}

#[tokio::test]
async fn pushover_message_has_at_most_1024_characters_and_title_250() {
    for (text, expected) in [
        ("😀".repeat(1_024), "😀".repeat(1_024)),
        ("😀".repeat(1_025), format!("{}…", "😀".repeat(1_023))),
    ] {
        assert_eq!(form(target, &text_message(&text)).await[3].1, expected);
    }
    for (length, expected) in [(250, "t".repeat(250)), (251, format!("{}…", "t".repeat(249)))] {
        let mut message = text_message("text");
        message.title = "t".repeat(length);
        assert_eq!(form(target, &message).await[2].1, expected);
    }
    // The page of the alert is not cut.
    let mut long = message();
    long.text = "x".repeat(2_000);
    let sent = &form(target, &long).await[3].1;
    assert_eq!(sent.chars().count(), 1_024);
    assert!(sent.ends_with("x…\n\nhttps://alerts.example.com/alerts/7"), "{sent}");
}

#[tokio::test]
async fn pushover_errors_are_permanent_or_retried() {
    check_errors(
        target,
        &[
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"user":"invalid","errors":["user identifier is invalid"],"status":0,"request":"5042853c-402d-4a18-abcb-168734a801de"}"#,
                400,
                "user identifier is invalid",
            ),
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"message":"cannot be blank","errors":["message cannot be blank"],"status":0,"request":"x"}"#,
                400,
                "message cannot be blank",
            ),
            ErrorCase::refused("413 Payload Too Large", "", 413, ""),
            // A proxy in between, and not the API.
            ErrorCase::credentials("403 Forbidden", "<html>", ""),
            ErrorCase::refused("200 OK", r#"{"status":0,"errors":["odd"]}"#, 200, "odd"),
            // The documentation forbids repeating a request with a wrong token, too.
            ErrorCase::refused(
                "400 Bad Request",
                r#"{"token":"invalid","errors":["application token is invalid"],"status":0,"request":"x"}"#,
                400,
                "application token is invalid",
            ),
            // The clock of the test is at 2026-03-06T14:30:00Z, 1772807400. A retry can wait for an hour.
            ErrorCase::deferred("429 Too Many Requests", OVER_QUOTA, 429, "application is over its quota")
                .after("X-Limit-App-Reset: 1772811000\r\n", 3_600_000),
            ErrorCase::refused("429 Too Many Requests", OVER_QUOTA, 429, "application is over its quota")
                .with_headers("X-Limit-App-Reset: 1772811001\r\n"),
            ErrorCase::deferred("429 Too Many Requests", "", 429, "")
                .after("Retry-After: 9\r\nX-Limit-App-Reset: 1774998000\r\n", 9_000),
            ErrorCase::deferred("429 Too Many Requests", "", 429, ""),
            ErrorCase::deferred("500 Internal Server Error", "", 500, "").after("", 5_000),
            ErrorCase::deferred("503 Service Unavailable", "", 503, "").after("Retry-After: 20\r\n", 20_000),
        ],
    )
    .await;
}

//! Whatever users or data put into a webhook, a message in Slack or a text message arrives as the text it is.
//!
//! What users can set and is told: the marks beside an alert (`parameters`), of which mail shows the note, and webhooks all; the
//! stock's name, by whoever pushes market data. Reasons are ours, but are treated as if they were not.

use std::sync::Arc;

use notify::letter::Letter;
use notify::letter::render::{FiredAlert, fired_sms, sms};
use notify::message::{ALERT_TRIGGERED, slack, webhook_body};
use notify::sms::{Sms, Twilio};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::http::{Server, answer};
use crate::common::{ManualTime, at};
use crate::injection::TEXTS;
use crate::twilio::{SID, created, settings};

/// What means something in JSON, in headers of HTTP, in Slack, to telephones and in URLs, beside what means something in mail.
const MORE: &[&str] = &[
    "\"},\"event\":\"alert.deleted\",\"x\":{\"",
    "\\\"},\\",
    "\u{8}\u{c}\u{1b}[31mred\u{7f}\u{85}",
    "a\r\nX-Service-Signature: sha256=00\r\n\r\n{}",
    "<!channel> <!here> <!everyone>",
    "<@U0123ABC> <#C0123ABC> <!subteam^S0123|team>",
    "<https://evil.example|https://alerts.example.com>",
    "&lt;!channel&gt; &amp;lt;",
    "*bold* _it_ ~no~ `code` ```block``` > quote",
    ":smile: @here #general",
    "https://evil.example/?a=1&b=2#c",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "www.evil.example",
    "evil.example",
    "me@evil.example tel:+15551234567",
    "../../admin?x=%0d%0aSet-Cookie:a=b",
    "&To=%2B15550000000&Body=spam",
    "+15550000000\r\nTo: +15551111111",
    "__proto__",
    "${jndi:ldap://evil.example/a}",
    "'; DROP TABLE alerts; --",
    "\u{202e}txet\u{202c}\u{2028}\u{2029}\u{feff}",
    "\u{1F3F4}\u{E0067}\u{E0062}",
];

fn texts() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(text, _)| *text).chain(MORE.iter().copied())
}

/// An event with a text wherever one can be.
fn event(text: &str) -> Value {
    json!({
        "alert": {
            "id": "7f1c0000-0000-4000-8000-000000000000", "symbol": "AAPL", "condition": "price_above", "threshold": 200,
            "status": "triggered", "notification": "email", "triggered_at": "2026-03-06T14:30:00.000Z",
            "triggered_value": 201.5, "initial_price": 189.2,
            "parameters": {"rationale": text, "source": text, "onboarding_id": text, "note": {text: [text, {"deep": text}]}},
        },
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "company_name": text,
        "reason": text,
    })
}

fn data(text: &str) -> String {
    alerts::json::text(&event(text))
}

#[test]
fn a_webhook_has_every_text_as_it_is_on_one_line_of_json() {
    for text in texts() {
        let body = webhook_body(
            Uuid::from_u128(7),
            ALERT_TRIGGERED,
            at("2026-03-06T14:30:00Z"),
            &data(text),
        );
        assert!(!body.iter().any(|byte| *byte < b' '), "{text:?}");
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["data"], event(text), "{text:?}");
        assert_eq!(value["event"], ALERT_TRIGGERED);
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 4, "{names:?}");
        // A receiver that signs what it makes of the parsed body comes to the same.
        assert_eq!(alerts::json::to_vec(&value).unwrap(), body, "{text:?}");
    }
}

/// A text as Slack shows it.
fn shown(text: &str) -> String {
    assert!(!text.contains(['<', '>']), "{text:?}");
    let shown = text.replace("&lt;", "<").replace("&gt;", ">");
    assert!(!shown.replace("&amp;", "").contains('&'), "{text:?}");
    shown.replace("&amp;", "&")
}

#[test]
fn slack_shows_every_text_as_it_is_and_calls_and_links_nothing() {
    let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
    let usual: Value = serde_json::from_slice(&slack::body(ALERT_TRIGGERED, &data("a text"))).unwrap();
    for text in texts() {
        // Slack has one line for each; blanks stand for what breaks or moves it.
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let body = slack::body(ALERT_TRIGGERED, &data(text));
        let message: Value = serde_json::from_slice(&body).unwrap();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&message), names(&usual), "{text:?}");
        for flag in ["mrkdwn", "unfurl_links", "unfurl_media"] {
            assert_eq!(message[flag], false, "{text:?}");
        }
        let blocks = message["blocks"].as_array().unwrap();
        assert_eq!(blocks.len(), 3, "{text:?}");
        for (block, expected) in blocks.iter().zip([format!("AAPL ({line})"), line.clone()]) {
            let said = block["text"]["text"].as_str().unwrap();
            assert_eq!(block["text"], plain(said), "{text:?}");
            assert_eq!(shown(said), expected, "{text:?}");
        }
        assert_eq!(blocks[2], usual["blocks"][2], "{text:?}");
        assert_eq!(
            shown(message["text"].as_str().unwrap()),
            format!("AAPL ({line}): {line}")
        );
    }
}

/// Whether a telephone would make a link of something: a scheme, a host's name, a mailbox.
fn is_linked(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let inner = |c: char| word.char_indices().any(|(place, found)| found == c && place > 0);
        word.contains("://")
            || inner('@')
            || word
                .rsplit_once('.')
                .is_some_and(|(host, end)| !host.is_empty() && end.len() > 1 && end.chars().all(char::is_alphabetic))
            || ["javascript:", "data:", "tel:", "mailto:"]
                .iter()
                .any(|scheme| word.contains(scheme) && !word.ends_with(scheme))
    })
}

#[test]
fn a_text_message_is_one_line_of_the_telephones_alphabet_without_a_link() {
    for text in texts() {
        let event = data(text);
        let told = fired_sms(&FiredAlert::of_data(&event), "Bellwether");
        assert!(told.starts_with("Bellwether: AAPL"), "{told}");
        let letter = Letter::GuestAlert {
            symbol: text.to_owned(),
            wish: text.to_owned(),
            link: "https://alerts.example.com/verify-alert?token=t".to_owned(),
        };
        for said in [sms(&letter, "Bellwether"), told] {
            assert!(!said.chars().any(char::is_control), "{text:?} gives {said:?}");
            assert!(!is_linked(&said), "{text:?} gives {said}");
            assert!(said.chars().count() <= 306, "{said}");
        }
    }
}

#[test]
fn what_is_recognised_as_a_link_is_one() {
    for text in [
        "https://a.example",
        "see evil.example.",
        "me@evil.example",
        "(www.a.bc)",
        "tel:+1555",
    ] {
        assert!(is_linked(text), "{text}");
    }
    for text in [
        "198.66",
        "up 1.64 %.",
        "evil. example",
        "me @ evil",
        "a: b",
        "12:30",
        "U. S.",
    ] {
        assert!(!is_linked(text), "{text}");
    }
}

#[tokio::test]
async fn a_provider_of_text_messages_gets_one_recipient_and_one_text_whatever_is_in_them() {
    let mut server = Server::start(answer("201 CREATED", "", &created(SID))).await;
    let settings = settings(&format!("http://{}", server.address));
    let twilio = Twilio::new(settings, Arc::new(ManualTime::new())).unwrap();
    for text in texts() {
        let message = Sms {
            to: "+14155550123".to_owned(),
            text: fired_sms(&FiredAlert::of_data(&data(text)), "Bellwether"),
        };
        twilio.send(&message).await;
        let request = server.request().await;
        let names: Vec<&str> = request.form.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["To", "Body", "From", "StatusCallback"], "{text:?}");
        assert_eq!(request.form[0].1, message.to);
        assert_eq!(request.form[1].1, message.text);
    }
}

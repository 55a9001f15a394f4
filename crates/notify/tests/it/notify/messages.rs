//! Webhook bodies and Slack messages, byte by byte.

use jiff::Timestamp;
use notify::message::{ALERT_TRIGGERED, slack, test_event_data, webhook_body};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

fn at() -> Timestamp {
    "2024-03-08T14:30:00.123456Z".parse().unwrap()
}

#[test]
fn webhook_body_has_id_event_timestamp_and_data_in_this_order() {
    let data = r#"{"stock":{"price":198.66,"change":1e-7,"volume":123456789012345680000},"reason":"\"<&>\" é"}"#;
    let body = webhook_body(Uuid::from_u128(7), ALERT_TRIGGERED, at(), data);
    let expected = concat!(
        r#"{"id":"00000000-0000-0000-0000-000000000007","event":"alert.triggered","timestamp":"2024-03-08T14:30:00.123Z","#,
        r#""data":{"stock":{"price":198.66,"change":1e-7,"volume":123456789012345680000},"reason":"\"<&>\" é"}}"#
    );
    assert_eq!(body, expected);
}

#[test]
fn test_event_body_matches_javascript_formatting() {
    let body = webhook_body(
        Uuid::from_u128(7),
        ALERT_TRIGGERED,
        at(),
        &test_event_data(Uuid::from_u128(8), at()),
    );
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(alerts::json::to_vec(&value).unwrap(), body);
    assert_eq!(value["data"]["test"], true);
    assert_eq!(value["data"]["alert"]["triggered_at"], value["timestamp"]);
    let text = std::str::from_utf8(&body).unwrap();
    for number in [
        r#""threshold":200,"#,
        r#""triggered_value":201.5,"#,
        r#""change_percent":1.64}"#,
    ] {
        assert!(text.contains(number), "{number} in {text}");
    }
}

fn slack_of(data: &Value) -> Value {
    serde_json::from_slice(&slack::body(ALERT_TRIGGERED, &data.to_string())).unwrap()
}

#[test]
fn slack_message_has_title_reason_and_figures() {
    let message = slack_of(&json!({
        "alert": {"symbol": "AAPL", "condition": "price_above", "threshold": 200},
        "stock": {"symbol": "AAPL", "price": 201.5, "change_percent": -1.64},
        "company_name": "Apple Inc.", "reason": "The price rose to 201.5, above 200.",
    }));
    let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
    assert_eq!(
        message,
        json!({
            "text": "AAPL (Apple Inc.): The price rose to 201.5, above 200.",
            "mrkdwn": false, "unfurl_links": false, "unfurl_media": false,
            "blocks": [
                {"type": "header", "text": plain("AAPL (Apple Inc.)")},
                {"type": "section", "text": plain("The price rose to 201.5, above 200.")},
                {"type": "context", "elements": [plain("Price 201.50 · -1.64 % today · Alert price_above 200")]},
            ],
        })
    );
}

#[test]
fn slack_message_omits_missing_fields() {
    for data in [
        json!({}),
        json!(null),
        json!([]),
        json!({"reason": 7, "stock": {"price": null}}),
    ] {
        let message = slack_of(&data);
        assert_eq!(message["text"], "Stock alert: alert.triggered");
        assert_eq!(message["blocks"].as_array().unwrap().len(), 2);
    }
    assert_eq!(
        slack_of(&json!({"stock": {"symbol": "X"}, "company_name": "X"}))["text"],
        "X: alert.triggered"
    );
}

#[test]
fn slack_message_escapes_user_input() {
    let text = "<!channel> & <@U123>\n*bold* <https://evil.example|click>";
    let escaped = "&lt;!channel&gt; &amp; &lt;@U123&gt; *bold* &lt;https://evil.example|click&gt;";
    let message = slack_of(&json!({"company_name": text, "reason": text}));
    assert_eq!(message["text"], format!("{escaped}: {escaped}"));
    assert_eq!(message["mrkdwn"], false);
    for block in message["blocks"].as_array().unwrap() {
        assert_eq!(block["text"]["type"], "plain_text");
        assert_eq!(block["text"]["text"], escaped);
    }
}

proptest! {
    #[test]
    fn slack_texts_are_limited_and_escaped(name in any::<String>(), reason in "[<>&a\u{1F600}]{0,4000}") {
        let message = slack_of(&json!({"company_name": name, "reason": reason}));
        let header = message["blocks"][0]["text"]["text"].as_str().unwrap();
        let section = message["blocks"][1]["text"]["text"].as_str().unwrap();
        prop_assert!(header.chars().count() <= 150 && section.chars().count() <= 3_000);
        for text in [header, section, message["text"].as_str().unwrap()] {
            prop_assert!(!text.contains(['<', '>', '\n']) && !text.is_empty());
            for (index, _) in text.match_indices('&') {
                let rest = &text[index..];
                prop_assert!(["&amp;", "&lt;", "&gt;"].iter().any(|entity| rest.starts_with(entity)));
            }
        }
    }
}

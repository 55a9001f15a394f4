//! The note of an alert in emails, text messages and Slack messages.

use notify::message::{ALERT_TRIGGERED, slack};
use notify::templates::render::{FiredAlert, fired_alert_email, fired_alert_sms};
use serde_json::{Value, json};

use crate::channels::common::email_context;

fn data(condition: &str, parameters: &Value, note: &str) -> String {
    let data = json!({
        "alert": {"id": "7f1c", "symbol": "AAPL", "condition": condition, "threshold": 200, "status": "triggered",
            "notification": "email", "triggered_at": "2026-03-06T14:30:00.000Z", "triggered_value": 201.5,
            "initial_price": 189.25, "parameters": parameters, "note": note, "tags": ["swing"]},
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "company_name": "Apple Inc.",
        "reason": "price 201.5 is at or above 200",
    });
    data.to_string()
}

fn fired(note: &str) -> FiredAlert {
    FiredAlert::from_event_data(&data("price_above", &Value::Null, note))
}

fn sms(note: &str) -> String {
    fired_alert_sms(&fired(note), "Bellwether")
}

const USUAL_SMS: &str =
    "Bellwether: AAPL (Apple Inc.): price 201.5 is at or above 200. Price 201.50 USD, +1.64 % today.";

fn septets(text: &str) -> usize {
    text.chars().map(|c| if "^{}\\[~]|€".contains(c) { 2 } else { 1 }).sum()
}

#[test]
fn email_shows_the_note_in_text_and_html() {
    let note = "Sell <b>half</b>.\r\nBcc: eve@example.org\n\u{202e}then & wait";
    let mail = fired_alert_email(&fired(note), &email_context());
    let line = "Your note: Sell <b>half</b>. Bcc: eve@example.org then & wait";
    assert!(mail.text.contains(&format!("\n{line}\n")), "{}", mail.text);
    assert_eq!(mail.subject, "AAPL: price 201.5 is at or above 200");
    assert!(!mail.html.contains("<b>"), "{}", mail.html);
    assert!(!mail.html.contains('\u{202e}'), "{}", mail.html);
    assert!(mail.html.contains("Your note: Sell "), "{}", mail.html);
}

#[test]
fn email_shows_2000_emoji_completely() {
    let longest = "🚀".repeat(2_000);
    let mail = fired_alert_email(&fired(&longest), &email_context());
    assert!(mail.text.contains(&longest), "{}", mail.text);
    assert!(mail.html.contains(&longest), "{}", mail.html);
}

#[test]
fn alert_without_a_note_has_the_usual_messages() {
    let mail = fired_alert_email(&fired(""), &email_context());
    assert!(!mail.text.contains("Your note"), "{}", mail.text);
    assert_eq!(sms(""), USUAL_SMS);
}

#[test]
fn text_message_ends_with_the_note_and_shortens_only_the_note() {
    assert_eq!(
        sms("Sell half.\nThen see evil.example"),
        format!("{USUAL_SMS} Your note: Sell half. Then see evil. example")
    );
    for note in ["long ".repeat(400), "a{}".repeat(600), "zoë 🚀".repeat(300)] {
        let text = sms(&note);
        assert!(text.starts_with(&format!("{USUAL_SMS} Your note: ")), "{text}");
        assert!(text.ends_with("..."), "{text}");
        assert!((300..=306).contains(&septets(&text)), "{text}");
    }
}

#[test]
fn text_message_omits_a_note_that_would_be_question_marks_only() {
    for note in [
        "🚀".repeat(2_000),
        "苏黎世保险".to_owned(),
        "\u{202e}\u{200b}".to_owned(),
    ] {
        assert_eq!(sms(&note), USUAL_SMS, "{note}");
    }
    assert!(sms("up 🚀").ends_with("Your note: up ?"));
}

#[test]
fn reminder_shows_both_notes_and_equal_ones_once() {
    let mail = |note: &str| {
        let data = data("reminder", &json!({"note": "call the broker"}), note);
        fired_alert_email(&FiredAlert::from_event_data(&data), &email_context()).text
    };
    let both = mail("sell half");
    assert!(
        both.contains("Your note: call the broker\n\nYour note: sell half\n"),
        "{both}"
    );
    assert_eq!(mail("call the broker").matches("Your note:").count(), 1);
}

#[test]
fn slack_message_has_the_note_as_a_section() {
    let data = data("price_above", &Value::Null, "<!channel> sell & wait");
    let message: Value = serde_json::from_slice(&slack::body(ALERT_TRIGGERED, &data)).unwrap();
    assert_eq!(message["blocks"][2]["type"], "section");
    assert_eq!(
        message["blocks"][2]["text"],
        json!({"type": "plain_text", "text": "&lt;!channel&gt; sell &amp; wait", "emoji": false})
    );
}

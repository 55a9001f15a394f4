//! Texts from the templates of owners, in emails, text messages and messages to services.

use jiff::tz::TimeZone;
use notify::templates::render::{CustomTexts, FiredAlert, fired_alert_email, fired_alert_sms};
use serde_json::json;

use crate::channels::common::email_context;

fn fired(title: Option<&str>, text: Option<&str>) -> FiredAlert {
    let data = json!({
        "alert": {"symbol": "AAPL", "condition": "price_above", "threshold": 200, "triggered_at": "2026-03-06T14:30:00.000Z"},
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "reason": "price 201.5 is at or above 200",
    });
    let alert = FiredAlert::from_event_data(&data.to_string()).with_link("https://a.example/alerts/7".to_owned());
    alert.with_custom_texts(CustomTexts {
        title: title.map(str::to_owned),
        text: text.map(str::to_owned),
    })
}

#[test]
fn email_has_the_title_as_its_subject_and_the_text_in_place_of_the_figures() {
    let mail = fired_alert_email(
        &fired(Some("Own title"), Some("First <b>line</b>\n\nsecond")),
        &email_context(),
    );
    assert_eq!(mail.subject, "Own title");
    assert!(
        mail.text.contains("First <b>line</b>\n") && mail.text.contains("\nsecond\n"),
        "{}",
        mail.text
    );
    assert!(!mail.text.contains("201.5"), "{}", mail.text);
    assert!(mail.text.contains("https://a.example/alerts/7"), "{}", mail.text);
    assert!(!mail.html.contains("<b>line"), "{}", mail.html);
    let default = fired_alert_email(&fired(None, None), &email_context());
    let only_title = fired_alert_email(&fired(Some("Own title"), None), &email_context());
    assert_eq!(
        (only_title.subject.as_str(), &only_title.text),
        ("Own title", &default.text)
    );
}

#[test]
fn text_message_has_the_text_and_keeps_its_links() {
    let sms = fired_alert_sms(&fired(Some("Own title"), Some("Own\ntext")), "Bellwether");
    assert_eq!(sms, "Own\ntext Alert: https://a.example/alerts/7");
    let longest = fired_alert_sms(&fired(None, Some(&"a".repeat(16 * 1024))), "Bellwether");
    assert!(
        longest.ends_with("aaa... Alert: https://a.example/alerts/7"),
        "{longest}"
    );
    assert_eq!(longest.len(), 306);
}

#[test]
fn service_gets_the_title_and_the_text() {
    let default = fired(None, None).to_channel_text(&TimeZone::UTC);
    let custom = fired(Some("Own title"), Some("Own\ntext")).to_channel_text(&TimeZone::UTC);
    assert_eq!(
        (custom.title.as_str(), custom.text.as_str()),
        ("Own title", "Own\ntext")
    );
    let only_text = fired(None, Some("Own")).to_channel_text(&TimeZone::UTC);
    assert_eq!((only_text.title, only_text.text.as_str()), (default.title, "Own"));
}

//! Emails and text messages about fired alerts.

use jiff::tz::TimeZone;
use notify::templates::render::{EmailContext, FiredAlert, NotBySms, fired_alert_email, fired_alert_sms};
use serde_json::{Value, json};

use crate::channels::common::email_context;

fn data() -> Value {
    json!({
        "alert": {"id": "7f1c", "symbol": "AAPL", "condition": "price_above", "threshold": 200, "status": "triggered",
            "notification": "email", "triggered_at": "2026-03-06T14:30:00.000Z", "triggered_value": 201.5,
            "initial_price": 189.25, "parameters": {"source": "ai", "rationale": "Resistance at 200 held three times."}},
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "company_name": "Apple Inc.",
        "reason": "price 201.5 is at or above 200",
    })
}

fn fired(change: impl FnOnce(&mut Value)) -> FiredAlert {
    let mut data = data();
    change(&mut data);
    FiredAlert::from_event_data(&data.to_string())
}

fn sms(company: &str, reason: &str) -> String {
    let alert = fired(|data| {
        data["company_name"] = json!(company);
        data["reason"] = json!(reason);
    });
    fired_alert_sms(&alert, "Bellwether")
}

#[test]
fn fired_alert_email_matches_snapshot() {
    let mail = fired_alert_email(&fired(|_| ()), &email_context());
    insta::assert_snapshot!("fired.txt", format!("Subject: {}\n\n{}", mail.subject, mail.text));
    insta::assert_snapshot!("fired.html", mail.html);
    assert_eq!(mail.list_unsubscribe, email_context().unsubscribe_link);
}

#[test]
fn missing_fields_are_left_out() {
    let reminder = json!({
        "alert": {"symbol": "MSFT", "condition": "reminder", "threshold": null, "triggered_at": "2026-07-06T13:30:00.000Z"},
        "stock": {"symbol": "MSFT", "price": null, "change": null, "change_percent": null},
        "company_name": "MSFT",
        "reason": "reminder",
    });
    let mail = fired_alert_email(
        &FiredAlert::from_event_data(&reminder.to_string()),
        &EmailContext::new("Bellwether", "https://a.example/"),
    );
    insta::assert_snapshot!("reminder.txt", format!("Subject: {}\n\n{}", mail.subject, mail.text));
    assert_eq!(mail.list_unsubscribe, None);
    for data in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"alert": 1, "stock": {"price": "1"}, "reason": null}"#,
    ] {
        let mail = fired_alert_email(&FiredAlert::from_event_data(data), &email_context());
        assert_eq!(mail.subject, "A stock: your alert has fired", "{data}");
    }
}

#[test]
fn values_have_units_and_colours() {
    for (condition, threshold, expected) in [
        ("price_below", json!(0.1234), "Threshold: 0.1234 USD"),
        ("price_change_up", json!(5), "Threshold: 5.00 %"),
        ("rsi_limit", json!(70.5), "Threshold: 70.5\n"),
        ("ma_touch_above", json!(50), "Threshold: 50 sessions"),
        ("earnings_announcement", json!(7), "Threshold: 7 days"),
        ("insider_transactions", json!(1_000_000), "Threshold: 1000000.00 USD"),
    ] {
        let alert = fired(|data| {
            data["alert"]["condition"] = json!(condition);
            data["alert"]["threshold"] = threshold;
        });
        let mail = fired_alert_email(&alert, &email_context());
        assert!(mail.text.contains(expected), "{}", mail.text);
    }
    for (change, percent, expected, colour) in [
        (json!(3.25), json!(1.64), "+3.25 USD (+1.64 %)", "#047857"),
        (json!(-0.5), json!(-0.2), "-0.50 USD (-0.20 %)", "#b91c1c"),
        (json!(0), json!(0), "0.00 USD (0.00 %)", "#111827"),
        (json!(null), json!(-13.018_266), "-13.02 %", "#b91c1c"),
        (json!(-1234.5678), json!(-2), "-1234.57 USD (-2.00 %)", "#b91c1c"),
    ] {
        let alert = fired(|data| {
            data["stock"]["change"] = change;
            data["stock"]["change_percent"] = percent;
        });
        let html = fired_alert_email(&alert, &email_context()).html;
        assert!(
            html.contains(&format!("color:{colour};font-weight:600;\">{expected}</td>")),
            "{html}"
        );
    }
}

#[test]
fn email_links_to_the_alert_of_an_account() {
    let link = "https://alerts.example.com/alerts/7f1c";
    let mail = fired_alert_email(&fired(|_| ()).with_link(link.to_owned()), &email_context());
    assert!(
        mail.text.contains(&format!("Open the alert:\n{link}\n")),
        "{}",
        mail.text
    );
    assert!(mail.html.contains(&format!("href=\"{link}\"")), "{}", mail.html);
    let guest = fired_alert_email(&fired(|_| ()), &email_context());
    assert!(!guest.text.contains("Open the alert"), "{}", guest.text);
}

#[test]
fn reminder_carries_its_note() {
    let noted = |condition: &str, note: &str| {
        fired(|data| {
            data["alert"]["condition"] = json!(condition);
            data["alert"]["parameters"] = json!({"note": note});
            data["reason"] = json!("the reminder's time has come");
        })
    };
    let note = "Sell half.\nThen look at evil.example";
    for condition in ["reminder", "daily_reminder"] {
        let mail = fired_alert_email(&noted(condition, note), &email_context());
        assert!(
            mail.text.contains("Your note: Sell half. Then look at evil.example\n"),
            "{}",
            mail.text
        );
    }
    assert_eq!(
        fired_alert_sms(&noted("reminder", note), "Bellwether"),
        "Bellwether: AAPL (Apple Inc.): the reminder's time has come. Your note: Sell half. Then look at evil. example"
    );
    let longest = "n".repeat(2_000);
    let mail = fired_alert_email(&noted("reminder", &longest), &email_context());
    assert!(mail.text.contains(&longest), "{}", mail.text);
    let other = fired_alert_email(&noted("price_above", "hands off"), &email_context());
    assert!(!other.text.contains("hands off"), "{}", other.text);
}

#[test]
fn email_instead_of_text_message_explains_why() {
    for (reason, expected) in [
        (
            NotBySms::OverQuota,
            "because your plan has no text messages left this month",
        ),
        (NotBySms::NoNumber, "because your account has no verified phone number"),
    ] {
        let mail = fired_alert_email(&fired(|_| ()).with_not_by_sms(reason), &email_context());
        assert!(mail.text.contains("It was sent by email"), "{}", mail.text);
        assert!(mail.text.contains(expected), "{}", mail.text);
    }
    // An alert that is set to text message may have an email channel, too.
    let by_sms = fired(|data| data["alert"]["notification"] = json!("sms"));
    assert!(by_sms.is_by_sms());
    let mail = fired_alert_email(&by_sms, &email_context());
    assert!(!mail.text.contains("sent by email"), "{}", mail.text);
}

#[test]
fn email_in_place_of_all_channels_says_that_none_could_be_reached() {
    let part = "None of the notification channels of this alert could be reached";
    let mail = fired_alert_email(&fired(|_| ()).without_reached_channel(), &email_context());
    assert!(mail.text.contains(part) && mail.html.contains(part), "{}", mail.text);
    let other = fired_alert_email(&fired(|_| ()), &email_context());
    assert!(!other.text.contains(part), "{}", other.text);
}

#[test]
fn mail_has_a_link_that_acknowledges_the_firing() {
    let link = "https://alerts.example.com/acknowledge?t=abc";
    let mail = fired_alert_email(&fired(|_| ()).with_acknowledge_link(link.to_owned()), &email_context());
    assert!(
        mail.text.contains(&format!("Acknowledge: I have seen it:\n{link}\n")),
        "{}",
        mail.text
    );
    assert!(mail.html.contains(&format!("<a href=\"{link}\"")), "{}", mail.html);
}

#[test]
fn text_message_ends_with_its_complete_links() {
    let (alert, acknowledge) = (
        "https://alerts.example.com/alerts/1",
        "https://alerts.example.com/acknowledge?t=abc",
    );
    let long = fired(|data| data["alert"]["note"] = json!("note ".repeat(100)));
    let sms = fired_alert_sms(
        &long
            .with_link(alert.to_owned())
            .with_acknowledge_link(acknowledge.to_owned()),
        "Bellwether",
    );
    assert!(
        sms.ends_with(&format!("... Alert: {alert} Seen it: {acknowledge}")),
        "{sms}"
    );
    assert_eq!(sms.len(), 306);
}

#[test]
fn chat_message_says_price_change_reason_note_and_time() {
    let text = fired(|data| data["alert"]["note"] = json!("Sell half.")).to_channel_text(&TimeZone::UTC);
    assert_eq!(text.title, "AAPL 201.50 USD, +1.64 % today");
    assert_eq!(
        text.text,
        "AAPL (Apple Inc.): price 201.5 is at or above 200.\nNote: Sell half.\nNoted when the alert was set: Resistance at 200 held three times.\n6 March 2026, 14:30 UTC"
    );
}

#[test]
fn text_message_has_alert_and_price() {
    assert_eq!(
        fired_alert_sms(&fired(|_| ()), "Bellwether"),
        "Bellwether: AAPL (Apple Inc.): price 201.5 is at or above 200. Price 201.50 USD, +1.64 % today."
    );
}

#[test]
fn text_message_uses_the_gsm_alphabet_and_is_limited() {
    let reason = "price 201.5 is at or above 200";
    for (company, expected) in [
        ("Nestlé S.A.", "Bellwether: AAPL (Nestlé S. A.): price"),
        (
            "Zürich “Versicherung” – Łódź…",
            "Bellwether: AAPL (Zürich \"Versicherung\" - Lodz...): price",
        ),
        ("苏黎世保险", "Bellwether: AAPL: price"),
        ("🚀", "Bellwether: AAPL: price"),
    ] {
        let text = sms(company, reason);
        assert!(text.starts_with(expected), "{text}");
    }
    let long = sms("Apple Inc.", &"very ".repeat(100));
    assert!(long.chars().count() <= 306 && long.ends_with("..."), "{long}");
    let double = sms("Apple Inc.", &"{}".repeat(200));
    let septets: usize = double.chars().map(|c| if "{}".contains(c) { 2 } else { 1 }).sum();
    assert!(septets <= 306, "{septets}");
    assert!(sms("Apple Inc.", "价格").contains("??"));
}

#[test]
fn text_message_breaks_up_links_in_user_input() {
    for (text, expected) in [
        ("see http://evil.example/x", "see http: //evil. example/x"),
        ("evil.example", "evil. example"),
        ("www.evil.example/login?a=1", "www. evil. example/login?a=1"),
        ("EVIL.COM", "EVIL. COM"),
        ("10.0.0.1/x", "10.0. 0.1/x"),
        ("1.evil.com", "1. evil. com"),
        ("me@evil.example", "me @ evil. example"),
        ("tel:+15551234567", "tel: +15551234567"),
        ("javascript:alert(1)", "javascript: alert(1)"),
        ("up 1.64 % to 198.66.", "up 1.64 % to 198.66."),
        ("$1,234.50 (12:30)", "$1,234.50 (12:30)"),
        ("evil\u{200b}.com", "evil. com"),
        ("line\r\nbreak", "line break"),
    ] {
        let message = sms("AAPL", text);
        assert!(
            message.starts_with(&format!("Bellwether: AAPL: {expected}")),
            "{text:?} gives {message}"
        );
    }
    let named = sms("Win at evil.example", "price 201.5 is at or above 200");
    assert!(named.contains("(Win at evil. example)"), "{named}");
}

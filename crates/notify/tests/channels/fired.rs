//! How news of an alert that fired reads, by mail and as a text message.

use notify::letter::render::{FiredAlert, Frame, fired_mail, fired_sms};
use serde_json::{Value, json};

use crate::common::frame;

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
    FiredAlert::of_data(&data.to_string())
}

fn sms(company: &str, reason: &str) -> String {
    let alert = fired(|data| {
        data["company_name"] = json!(company);
        data["reason"] = json!(reason);
    });
    fired_sms(&alert, "Bellwether")
}

#[test]
fn news_of_an_alert_reads_like_this() {
    let mail = fired_mail(&fired(|_| ()), &frame());
    insta::assert_snapshot!("fired.txt", format!("Subject: {}\n\n{}", mail.subject, mail.text));
    insta::assert_snapshot!("fired.html", mail.html);
    assert_eq!(mail.list_unsubscribe, frame().unsubscribe_link);
}

#[test]
fn news_leaves_out_what_it_does_not_know() {
    let reminder = json!({
        "alert": {"symbol": "MSFT", "condition": "reminder", "threshold": null, "triggered_at": "2026-07-06T13:30:00.000Z"},
        "stock": {"symbol": "MSFT", "price": null, "change": null, "change_percent": null},
        "company_name": "MSFT",
        "reason": "reminder",
    });
    let mail = fired_mail(
        &FiredAlert::of_data(&reminder.to_string()),
        &Frame::new("Bellwether", "https://a.example/"),
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
        let mail = fired_mail(&FiredAlert::of_data(data), &frame());
        assert_eq!(mail.subject, "A stock: your alert has fired", "{data}");
    }
}

#[test]
fn figures_have_the_unit_of_their_condition_and_a_colour() {
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
        let mail = fired_mail(&alert, &frame());
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
        let html = fired_mail(&alert, &frame()).html;
        assert!(
            html.contains(&format!("color:{colour};font-weight:600;\">{expected}</td>")),
            "{html}"
        );
    }
}

#[test]
fn mail_leads_to_the_alert_of_an_account() {
    let link = "https://alerts.example.com/alerts/7f1c";
    let mail = fired_mail(&fired(|_| ()).with_link(link.to_owned()), &frame());
    assert!(
        mail.text.contains(&format!("Open the alert:\n{link}\n")),
        "{}",
        mail.text
    );
    assert!(mail.html.contains(&format!("href=\"{link}\"")), "{}", mail.html);
    let guest = fired_mail(&fired(|_| ()), &frame());
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
        let mail = fired_mail(&noted(condition, note), &frame());
        assert!(
            mail.text.contains("Your note: Sell half. Then look at evil.example\n"),
            "{}",
            mail.text
        );
    }
    assert_eq!(
        fired_sms(&noted("reminder", note), "Bellwether"),
        "Bellwether: AAPL (Apple Inc.): the reminder's time has come. Your note: Sell half. Then look at evil. example"
    );
    let longest = "n".repeat(2_000);
    let mail = fired_mail(&noted("reminder", &longest), &frame());
    assert!(mail.text.contains(&longest), "{}", mail.text);
    let other = fired_mail(&noted("price_above", "hands off"), &frame());
    assert!(!other.text.contains("hands off"), "{}", other.text);
}

#[test]
fn mail_of_an_alert_by_text_message_says_why_it_is_a_mail() {
    let by_sms = fired(|data| data["alert"]["notification"] = json!("sms"));
    let mail = fired_mail(&by_sms, &frame());
    assert!(mail.text.contains("It comes by mail because"), "{}", mail.text);
    assert!(!fired_mail(&fired(|_| ()), &frame()).text.contains("comes by mail"));
}

#[test]
fn a_text_message_says_what_fired_and_at_which_price() {
    assert_eq!(
        fired_sms(&fired(|_| ()), "Bellwether"),
        "Bellwether: AAPL (Apple Inc.): price 201.5 is at or above 200. Price 201.50 USD, +1.64 % today."
    );
}

#[test]
fn a_text_message_is_in_the_telephones_alphabet_and_at_most_two_long() {
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
fn nothing_in_a_text_message_that_came_from_a_user_is_a_link() {
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

//! User input appears verbatim in emails, text messages, webhooks and Slack.
//!
//! Users can set their name, an alert's `parameters` and addresses; market data contains stock names. Webhook URLs and
//! guest requests appear in account emails, which have tests in the `notify` crate.

use alerts::Plan;
use notify::message::{ALERT_TRIGGERED, slack};
use serde_json::{Value, json};

use crate::support::{TestApp, kind, on_each_database};

on_each_database! {
    names_and_notes_are_escaped_on_every_channel
    header_injection_in_name_or_address_is_rejected
}

const PHONE: &str = "+14155550123";

/// Input, and how a line of an email shows it.
const TEXTS: &[(&str, &str)] = &[
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("\"><img src=x onerror=alert(1)>", "\"><img src=x onerror=alert(1)>"),
    (
        "</td></table><a href='javascript:alert(1)'>x</a>",
        "</td></table><a href='javascript:alert(1)'>x</a>",
    ),
    (
        "<!channel> <@U123> *b* <https://evil.example|x>",
        "<!channel> <@U123> *b* <https://evil.example|x>",
    ),
    ("&lt;b&gt; &amp; {{7*7}}", "&lt;b&gt; &amp; {{7*7}}"),
    ("https://evil.example/?a=1&b=2", "https://evil.example/?a=1&b=2"),
    ("=?utf-8?Q?Bcc:_victim?=", "=?utf-8?Q?Bcc:_victim?="),
    ("\",\"event\":\"x", "\",\"event\":\"x"),
];

/// Input that only notes can contain.
const NOTES: &[(&str, &str)] = &[
    (
        "Eve\r\nBcc: victim@example.org\r\n\r\nbody",
        "Eve Bcc: victim@example.org body",
    ),
    ("\u{202e}gro.live\u{200b}\u{2028}x", "gro.live x"),
];

/// Returns HTML as a reader sees it.
fn read(html: &str) -> String {
    let entities = [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
    ];
    entities
        .iter()
        .fold(html.to_owned(), |html, (entity, text)| html.replace(entity, text))
}

async fn names_and_notes_are_escaped_on_every_channel(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    let asked = json!({"phone": PHONE, "sms_consent": true});
    app.service.account_settings.request_phone(&ann, &asked).await.unwrap();
    let code: String = app.mailed(PHONE).await[0].text.chars().take(6).collect();
    let shown = json!({"phone": PHONE, "token": code});
    app.service.account_settings.verify_phone(&ann, &shown).await.unwrap();
    let notes = TEXTS.iter().chain(NOTES).enumerate();
    for (number, (note, seen)) in notes {
        let (name, shown_name) = TEXTS[number % TEXTS.len()];
        let symbol = format!("S{number}");
        app.service
            .account_settings
            .update_profile(&ann, &json!({"full_name": name}))
            .await
            .unwrap();
        app.deliver(json!({
            "stocks": [{"symbol": symbol, "name": name}],
            "quotes": [{"symbol": symbol, "price": 100}],
        }))
        .await;
        for channel in ["email", "sms"] {
            let threshold = if channel == "email" { 200 } else { 201 };
            let body = json!({
                "symbol": symbol, "condition": "price_above", "threshold": threshold, "notification": channel,
                "parameters": {"rationale": note, "source": note, "mark": {"deep": [note]}},
            });
            app.create(&ann, body).await;
        }
        app.quote(&symbol, 201.0).await;

        let mail = app.mailed(&ann.email).await.pop().unwrap();
        let html = mail.html.unwrap();
        assert_eq!(
            mail.subject.unwrap(),
            format!("{symbol}: price 201.00 is at or above 200.00")
        );
        assert!(
            !html.contains("<script") && !html.contains("<img") && !html.contains("javascript:alert(1)'>"),
            "{html}"
        );
        for part in [mail.text, read(&html)] {
            for line in [
                format!("Hello {shown_name},"),
                format!("{symbol} ({shown_name}): price 201.00 is at or above 200.00."),
                format!("Noted when the alert was set: {seen}"),
            ] {
                assert!(part.contains(&line), "{line}\nis not in\n{part}");
            }
        }

        let sms = app.mailed(PHONE).await.pop().unwrap().text;
        assert!(sms.starts_with(&format!("Bellwether: {symbol} (")), "{sms}");
        // After the text there are only links to this service.
        let (text, links) = sms.split_once(" Alert: https://alerts.example.com/alerts/").unwrap();
        assert!(!text.contains("://") && !sms.contains("evil.example"), "{sms}");
        assert_eq!(links.matches("://").count(), 1, "{sms}");

        let data = Value::from(app.events(&ann).await.pop().unwrap().data);
        assert_eq!(data["company_name"], *name);
        let parameters = &data["alert"]["parameters"];
        assert_eq!(
            (&parameters["rationale"], &parameters["mark"]),
            (&json!(note), &json!({"deep": [note]}))
        );
        let told: Value = serde_json::from_slice(&slack::body(ALERT_TRIGGERED, &data.to_string())).unwrap();
        let header = told["blocks"][0]["text"]["text"].as_str().unwrap();
        assert!(!header.contains(['<', '>']), "{header}");
        let header = header.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        assert_eq!(header, format!("{symbol} ({name})"));
    }
}

async fn header_injection_in_name_or_address_is_rejected(app: TestApp) {
    let ann = app.ann(Plan::Premium).await;
    for name in [
        "Eve\r\nBcc: victim@example.org",
        "Eve\nx",
        "Eve\rx",
        "Eve\0",
        "Eve\u{1b}[31m",
        "Eve\u{85}x",
    ] {
        let body = json!({"full_name": name});
        let refused = app
            .service
            .account_settings
            .update_profile(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid full_name", "{name:?}");
        let body = json!({"email": "eve@example.com", "password": "correct horse", "full_name": name});
        let refused = app.service.identity.register(&body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid full_name", "{name:?}");
    }
    for email in [
        "eve@example.com\r\nBcc: victim@example.org",
        "eve@example.com, victim@example.org",
        "Eve <eve@example.com>",
        "eve\u{2028}@example.com",
        "eve@example.com>\r\nRCPT TO:<victim@example.org",
    ] {
        let body = json!({"email": email, "password": "correct horse"});
        let refused = app.service.identity.register(&body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        let body = json!({"email": email});
        let refused = app
            .service
            .account_settings
            .request_address_change(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        let refused = app.service.identity.request_reset(&body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
    }
    for to in ["eve@example.com", "victim@example.org", &ann.email] {
        assert_eq!(app.mailed(to).await, []);
    }
    // Unusual but valid characters are encoded in links.
    let odd = "a&token=x+y#z@example.com";
    let user = json!({"email": odd.replace('#', "$"), "password": "correct horse"});
    app.service.identity.register(&user).await.unwrap();
    let body = json!({"email": odd.replace('#', "$")});
    app.service.identity.request_reset(&body).await.unwrap();
    let emails = app.mailed(&odd.replace('#', "$")).await;
    let encoded = "email=a%26token%3Dx%2By%24z%40example.com&token=";
    assert!(emails.iter().any(|email| email.text.contains(encoded)), "{emails:?}");
}

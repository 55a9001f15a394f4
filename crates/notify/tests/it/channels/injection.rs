//! Injection tests for emails: texts from users and data arrive literally, checked with a real SMTP server and the parser of Python.

use notify::email::Email;
use notify::message_attempt::MessageOutcome;
use notify::schedule::{AttemptReport, AttemptResult};
use notify::templates::AccountEmail;
use notify::templates::render::{FiredAlert, account_email, fired_alert_email};
use serde_json::{Value, json};

use crate::channels::common::mail_server::{MailServer, Security};
use crate::channels::common::{at, email, email_context};

/// Input texts, and the line that arrives.
pub(crate) const TEXTS: &[(&str, &str)] = &[
    ("Eve\r\nBcc: victim@example.org", "Eve Bcc: victim@example.org"),
    ("Eve\nSubject: You have won", "Eve Subject: You have won"),
    ("Eve\rBcc: victim@example.org", "Eve Bcc: victim@example.org"),
    ("Eve\r\n\r\n<b>body</b>", "Eve <b>body</b>"),
    ("Eve\r\n.\r\nMAIL FROM:<x@y.example>", "Eve . MAIL FROM:<x@y.example>"),
    ("Eve\0 x", "Eve x"),
    ("Eve\u{2028}Bcc: v@example.org", "Eve Bcc: v@example.org"),
    ("=?utf-8?Q?Bcc:_victim?=", "=?utf-8?Q?Bcc:_victim?="),
    (
        "=?utf-8?B?SGVsbG8=?= =?utf-8?B?SGVsbG8=?=",
        "=?utf-8?B?SGVsbG8=?= =?utf-8?B?SGVsbG8=?=",
    ),
    ("=0D=0ABcc: v@example.org", "=0D=0ABcc: v@example.org"),
    ("Eve <victim@example.org>", "Eve <victim@example.org>"),
    ("Eve, victim@example.org", "Eve, victim@example.org"),
    ("\"Eve\" \\", "\"Eve\" \\"),
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    (
        "</p></td><img src=x onerror=alert(1)>",
        "</p></td><img src=x onerror=alert(1)>",
    ),
    (
        "\"><a href='javascript:alert(1)'>x",
        "\"><a href='javascript:alert(1)'>x",
    ),
    ("&lt;b&gt; &amp; &#60;i&#62;", "&lt;b&gt; &amp; &#60;i&#62;"),
    ("{{ 7 * 7 }}{% if 1 %}", "{{ 7 * 7 }}{% if 1 %}"),
    ("\u{202e}gro.live\u{200b}", "gro.live"),
    (
        "--=_0123456789ab4def8123456789abcdef--",
        "--=_0123456789ab4def8123456789abcdef--",
    ),
    ("Zoë 李 🚀", "Zoë 李 🚀"),
    ("https://evil.example/?a=1&b=<2>", "https://evil.example/?a=1&b=<2>"),
    ("javascript:alert(1)", "javascript:alert(1)"),
    ("<!channel> <@U1> *b*", "<!channel> <@U1> *b*"),
    ("<style>*{display:none}</style>", "<style>*{display:none}</style>"),
    ("<!-- --><![CDATA[x]]>", "<!-- --><![CDATA[x]]>"),
];

const HEADERS: [&str; 11] = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "List-Unsubscribe-Post",
    "List-Unsubscribe",
    "MIME-Version",
    "Content-Type",
];

fn fired_email(text: &str) -> Email {
    let data = json!({
        "alert": {"symbol": "AAPL", "condition": "price_above", "threshold": 200, "triggered_at": "2026-03-06T14:30:00.000Z",
            "parameters": {"rationale": text}, "note": text, "tags": [text]},
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "company_name": text,
        "reason": text,
    });
    let mut context = email_context();
    context.recipient_name = Some(text.to_owned());
    let mail = fired_alert_email(&FiredAlert::from_event_data(&data.to_string()), &context);
    let base = email("ann@example.org");
    Email {
        to: base.to,
        to_name: Some(text.to_owned()),
        message_id: base.message_id,
        date: at("2026-03-06T14:30:00Z"),
        content: mail,
    }
}

async fn arrived(server: &mut MailServer, mailer: &notify::email::Mailer, email: &Email) -> Value {
    assert_eq!(mailer.send(email).await.outcome, MessageOutcome::Delivered);
    server.message().await
}

#[tokio::test]
async fn fired_alert_texts_are_literal_in_headers_text_and_html() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let usual = arrived(&mut server, &mailer, &fired_email("a text")).await;
    for (text, seen) in TEXTS {
        let message = arrived(&mut server, &mailer, &fired_email(text)).await;
        let headers = message["headers"].as_array().unwrap();
        let names: Vec<_> = headers.iter().map(|header| header[0].as_str().unwrap()).collect();
        assert_eq!(names, HEADERS, "{text:?}");
        assert_eq!(headers[2][1], format!("AAPL: {seen}"), "{text:?}");
        assert_eq!(
            message["to"],
            json!([[seen, "ann@example.org"]]),
            "{text:?} {}",
            message["raw"]
        );
        assert_eq!(message["recipients"], json!(["ann@example.org"]), "{text:?}");
        assert_eq!(message["defects"], json!([]), "{text:?}");
        assert!(
            message["longest_line"].as_u64().unwrap() <= 78,
            "{text:?} {}",
            message["raw"]
        );
        assert_eq!(message["types"], usual["types"], "{text:?}");
        for part in ["elements", "attributes", "links"] {
            assert_eq!(message[part], usual[part], "{text:?}");
        }
        for part in ["text", "html_text"] {
            let part = message[part].as_str().unwrap();
            for line in [
                format!("Hello {seen},"),
                format!("AAPL ({seen}): {seen}."),
                format!("Your note: {seen}"),
                format!("Noted when the alert was set: {seen}"),
            ] {
                assert!(part.contains(&line), "{line}\nis not in\n{part}");
            }
        }
    }
}

#[tokio::test]
async fn account_email_texts_are_literal() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let link = "https://alerts.example.com/verify-alert?token=t";
    let letters = |text: &str| {
        [
            AccountEmail::GuestAlert {
                symbol: "AAPL".to_owned(),
                condition: text.to_owned(),
                link: link.to_owned(),
            },
            AccountEmail::WebhookDisabled {
                url: text.to_owned(),
                reason: "gone".to_owned(),
            },
            AccountEmail::AddressChanged {
                new_address: text.to_owned(),
            },
        ]
    };
    for (text, seen) in TEXTS {
        for (letter, usual) in letters(text).iter().zip(letters("a text")) {
            let base = email("ann@example.org");
            let sent = Email {
                to: base.to.clone(),
                to_name: None,
                message_id: base.message_id,
                date: base.date,
                content: account_email(letter, &email_context()),
            };
            let message = arrived(&mut server, &mailer, &sent).await;
            let usual = Email {
                to: base.to,
                to_name: None,
                message_id: base.message_id,
                date: base.date,
                content: account_email(&usual, &email_context()),
            };
            let usual = arrived(&mut server, &mailer, &usual).await;
            assert_eq!(message["headers"], usual["headers"], "{text:?}");
            for part in ["elements", "attributes", "links"] {
                assert_eq!(message[part], usual[part], "{text:?}");
            }
            for part in ["text", "html_text"] {
                assert!(
                    message[part].as_str().unwrap().contains(seen),
                    "{seen} is not in {message}"
                );
            }
        }
    }
}

#[tokio::test]
async fn symbol_is_cut_to_one_short_line() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let letter = |symbol: &str| {
        let letter = AccountEmail::GuestAlert {
            symbol: symbol.to_owned(),
            condition: "a condition".to_owned(),
            link: "https://alerts.example.com/verify-alert?token=t".to_owned(),
        };
        let base = email("ann@example.org");
        Email {
            to: base.to,
            to_name: None,
            message_id: base.message_id,
            date: base.date,
            content: account_email(&letter, &email_context()),
        }
    };
    let usual = arrived(&mut server, &mailer, &letter("AAPL")).await;
    let names = |message: &Value| {
        let headers = message["headers"].as_array().unwrap();
        headers.iter().map(|header| header[0].clone()).collect::<Vec<_>>()
    };
    for (text, seen) in TEXTS {
        let message = arrived(&mut server, &mailer, &letter(text)).await;
        assert_eq!(names(&message), names(&usual), "{text:?}");
        for part in ["elements", "attributes", "links", "types", "defects", "recipients"] {
            assert_eq!(message[part], usual[part], "{text:?}");
        }
        let start: String = seen.chars().take(8).collect();
        let subject = message["headers"][2][1].as_str().unwrap();
        let expected = format!("Confirm your alert on {}", start.trim_end());
        assert!(subject.starts_with(&expected), "{subject}");
    }
}

#[tokio::test]
async fn multiple_addresses_are_unsendable() {
    let server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    for to in [
        "ann@example.org\r\nBcc: victim@example.org",
        "ann@example.org>\r\nRCPT TO:<victim@example.org",
        "ann@example.org, victim@example.org",
        "Ann <ann@example.org>",
        "\"a@b\"@example.org",
        "ann@example.org\0",
        "",
    ] {
        let attempt = mailer.send(&email(to)).await;
        assert_eq!(
            (attempt.outcome, attempt.result()),
            (MessageOutcome::Unsendable, AttemptResult::Refused),
            "{to:?}"
        );
    }
}

#[tokio::test]
async fn invalid_unsubscribe_link_makes_an_email_unsendable() {
    let mut server = MailServer::start(Security::None, &[]).await;
    let mailer = server.mailer();
    let mut mail = email("ann@example.org");
    for link in [
        "javascript:alert(1)",
        "mailto:a@example.org",
        "no link",
        "https://a.example/,b",
        &format!("https://a.example/{}", "x".repeat(900)),
    ] {
        mail.content.list_unsubscribe = Some(link.to_owned());
        assert_eq!(mailer.send(&mail).await.outcome, MessageOutcome::Unsendable, "{link}");
    }
    mail.content.list_unsubscribe = Some("http://a.example/u\r\nBcc: x@example.org?t=>,".replace(',', ""));
    assert_eq!(mailer.send(&mail).await.outcome, MessageOutcome::Delivered);
    let message = server.message().await;
    let headers = message["headers"].as_array().unwrap();
    assert!(
        headers.contains(&json!([
            "List-Unsubscribe",
            "<http://a.example/uBcc:%20x@example.org?t=%3E>"
        ])),
        "{headers:?}"
    );
    // One-click unsubscription requires https.
    assert!(
        !headers
            .iter()
            .any(|header| header[0] == "List-Unsubscribe-Post" || header[0] == "Bcc")
    );
}

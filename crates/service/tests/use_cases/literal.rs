//! What users can type is told as the text it is, from the request to the mail, the text message, the webhook and Slack.
//!
//! Users can set: their name, what stands beside an alert (`parameters`), addresses; whoever pushes market data, the names of
//! stocks. What a webhook is called and what a guest asks for stand in letters, which have tests of their own in the room that
//! writes them.

use alerts::Plan;
use notify::message::{ALERT_TRIGGERED, slack};
use serde_json::{Value, json};

use crate::support::{World, kind, on_each_database};

on_each_database! {
    names_and_notes_are_literal_on_every_channel
    what_could_break_a_header_is_no_name_and_no_address
}

const PHONE: &str = "+14155550123";

/// What is typed, and how a line of a mail shows it.
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

/// The same with what only a note can have: names have it neither way.
const NOTES: &[(&str, &str)] = &[
    (
        "Eve\r\nBcc: victim@example.org\r\n\r\nbody",
        "Eve Bcc: victim@example.org body",
    ),
    ("\u{202e}gro.live\u{200b}\u{2028}x", "gro.live x"),
];

/// HTML as a reader sees it.
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

async fn names_and_notes_are_literal_on_every_channel(world: World) {
    let ann = world.ann(Plan::Premium).await;
    let asked = json!({"phone": PHONE, "sms_consent": true});
    world
        .service
        .account_settings
        .request_phone(&ann, &asked)
        .await
        .unwrap();
    let code: String = world.mailed(PHONE).await[0].text.chars().take(6).collect();
    let shown = json!({"phone": PHONE, "token": code});
    world.service.account_settings.verify_phone(&ann, &shown).await.unwrap();
    let notes = TEXTS.iter().chain(NOTES).enumerate();
    for (number, (note, seen)) in notes {
        let (name, shown_name) = TEXTS[number % TEXTS.len()];
        let symbol = format!("S{number}");
        world
            .service
            .account_settings
            .update_profile(&ann, &json!({"full_name": name}))
            .await
            .unwrap();
        world
            .deliver(json!({
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
            world.create(&ann, body).await;
        }
        world.quote(&symbol, 201.0).await;

        let mail = world.mailed(&ann.email).await.pop().unwrap();
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

        let sms = world.mailed(PHONE).await.pop().unwrap().text;
        assert!(sms.starts_with(&format!("Bellwether: {symbol} (")), "{sms}");
        assert!(!sms.contains("://") && !sms.contains("evil.example"), "{sms}");

        let data = Value::from(world.events(&ann).await.pop().unwrap().data);
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

async fn what_could_break_a_header_is_no_name_and_no_address(world: World) {
    let ann = world.ann(Plan::Premium).await;
    for name in [
        "Eve\r\nBcc: victim@example.org",
        "Eve\nx",
        "Eve\rx",
        "Eve\0",
        "Eve\u{1b}[31m",
        "Eve\u{85}x",
    ] {
        let body = json!({"full_name": name});
        let refused = world
            .service
            .account_settings
            .update_profile(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid full_name", "{name:?}");
        let body = json!({"email": "eve@example.com", "password": "correct horse", "full_name": name});
        let refused = world.service.identity.register(&body).await.unwrap_err();
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
        let refused = world.service.identity.register(&body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        let body = json!({"email": email});
        let refused = world
            .service
            .account_settings
            .request_address_change(&ann, &body)
            .await
            .unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
        let refused = world.service.identity.request_reset(&body).await.unwrap_err();
        assert_eq!(kind(&refused), "invalid email", "{email:?}");
    }
    for to in ["eve@example.com", "victim@example.org", &ann.email] {
        assert_eq!(world.mailed(to).await, []);
    }
    // What is odd but no more than that stands in a link as what it is.
    let odd = "a&token=x+y#z@example.com";
    let user = json!({"email": odd.replace('#', "$"), "password": "correct horse"});
    world.service.identity.register(&user).await.unwrap();
    let body = json!({"email": odd.replace('#', "$")});
    world.service.identity.request_reset(&body).await.unwrap();
    let letters = world.mailed(&odd.replace('#', "$")).await;
    let encoded = "email=a%26token%3Dx%2By%24z%40example.com&token=";
    assert!(
        letters.iter().any(|letter| letter.text.contains(encoded)),
        "{letters:?}"
    );
}

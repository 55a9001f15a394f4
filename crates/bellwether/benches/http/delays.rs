//! The time from a quote to an accepted message, for each type of channel, against a local server that accepts everything at once.
//!
//! One alert after the other fires, so that no message waits for another. The times are those that the service keeps of each firing.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::program::Program;
use crate::receiver::Receiver;
use crate::services::Services;

/// The number of firings for each type.
const FIRINGS: usize = 100;
/// The number of firings by text message, of which an account has 50 a month.
const TEXT_MESSAGES: usize = 40;
/// The longest delay that one in a hundred messages may exceed, in milliseconds.
const GOAL_MS: f64 = 100.0;
/// The types of channels that are measured.
const CHANNEL_TYPES: [&str; 11] = [
    "slack", "discord", "teams", "ntfy", "apprise", "webhook", "email", "telegram", "pushover", "web_push", "sms",
];
/// The key of the browser in the example of <https://www.rfc-editor.org/rfc/rfc8291#section-5>.
const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// Measures each type of channel.
pub(crate) async fn delays() {
    let (receiver, services) = (Receiver::start().await, Services::start().await);
    let origin = services.origin();
    let program = Program::start_with(&[
        ("BELLWETHER_TELEGRAM__BASE_URL", &origin),
        (
            "BELLWETHER_TELEGRAM__BOT_TOKEN",
            "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11",
        ),
        ("BELLWETHER_PUSHOVER__BASE_URL", &origin),
        ("BELLWETHER_PUSHOVER__TOKEN", "azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
        ("BELLWETHER_SMS__PROVIDER", "twilio"),
        ("BELLWETHER_SMS__ACCOUNT_SID", "AC00000000000000000000000000000000"),
        ("BELLWETHER_SMS__AUTH_TOKEN", "a-secret-of-the-bench"),
        ("BELLWETHER_SMS__FROM", "+15005550006"),
        ("BELLWETHER_SMS__BASE_URL", &origin),
        ("BELLWETHER_SMS__MAX_ALERTS_PER_NUMBER", "1000"),
    ])
    .await;
    for channel_type in CHANNEL_TYPES {
        let account = program.account(&email_of(channel_type));
        let channel = create_channel(&program, &account, (&receiver, &services), channel_type).await;
        let firings = if channel_type == "sms" { TEXT_MESSAGES } else { FIRINGS };
        let mut delays = fire(&program, &account, channel.as_ref(), firings).await;
        delays.sort_by(f64::total_cmp);
        let at = |percent: usize| delays[(delays.len() * percent / 100).min(delays.len() - 1)];
        let (p50, p99) = (at(50), at(99));
        let found = format!("p50 {p50:.0} ms, p99 {p99:.0} ms, goal p99 at most {GOAL_MS} ms");
        testkit::print_goal(
            &format!("from quote to acceptance by {channel_type}"),
            &found,
            p99 <= GOAL_MS,
        );
    }
}

fn email_of(channel_type: &str) -> String {
    format!("{channel_type}@example.com")
}

/// Creates a channel of a type. `None` for the account's own address, whose mail is kept instead of sent.
async fn create_channel(
    program: &Program,
    account: &Program,
    (receiver, services): (&Receiver, &Services),
    channel_type: &str,
) -> Option<Value> {
    let config = match channel_type {
        "email" => return None,
        "webhook" => {
            let webhook = json!({"url": receiver.url(), "events": ["alert.triggered"]});
            account.post("/api/v1/webhooks", &webhook).await;
            return None;
        }
        "ntfy" => json!({"url": receiver.url(), "topic": "bench"}),
        "pushover" => json!({"user": "uQiRzpo4DXghDmr9QzzfQu27cmVRsG"}),
        "web_push" => json!({"endpoint": receiver.url(), "p256dh": P256DH, "auth": "BTBZMqHH6r4Tts7J_aSIgg"}),
        "sms" => {
            verify_phone(&program.signed_in(&email_of(channel_type)).await, services).await;
            json!({})
        }
        "telegram" => json!({}),
        _ => json!({"url": receiver.url()}),
    };
    let mut body = json!({"type": channel_type, "config": config});
    if channel_type != "sms" {
        body["burst_limit"] = json!(1_000);
    }
    let channel = account.post_json("/api/v1/notification-channels", &body).await;
    if channel_type == "telegram" {
        services.link_chat(channel["data"]["link"]["code"].as_str().unwrap());
        wait_for_chat(account).await;
    }
    Some(channel["data"]["id"].clone())
}

/// Verifies the phone number of an account with the code that it is sent.
async fn verify_phone(account: &Program, services: &Services) {
    let phone = "+12125550142";
    let request = json!({"phone": phone, "sms_consent": true});
    account.post("/api/v1/user/account/phone", &request).await;
    let verification = json!({"phone": phone, "token": services.code_of_text_message().await});
    account.post("/api/v1/user/account/phone/verify", &verification).await;
}

/// Waits until the Telegram chat of the only channel is linked.
async fn wait_for_chat(account: &Program) {
    loop {
        let channels = account.get_json("/api/v1/notification-channels").await;
        if channels["data"][0]["verified_at"].is_string() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Fires one alert after the other. Returns the delays in milliseconds.
async fn fire(program: &Program, account: &Program, channel: Option<&Value>, firings: usize) -> Vec<f64> {
    quote(program, 1.0).await;
    for number in 1..=firings {
        let mut body = json!({"symbol": "WAIT", "condition": "price_above", "threshold": 100 + number});
        if let Some(channel) = channel {
            body["channels"] = json!([channel]);
        }
        account.post("/api/v1/alerts", &body).await;
    }
    let mut delays = Vec::with_capacity(firings);
    for number in 1..=firings {
        quote(program, 100.0 + number as f64).await;
        delays.push(accepted_after(account, number).await);
    }
    delays
}

async fn quote(program: &Program, price: f64) {
    program
        .deliver(&json!({"quotes": [{"symbol": "WAIT", "price": price}]}))
        .await;
}

/// Waits until all messages about the latest of some firings are accepted. Returns the longest delay.
async fn accepted_after(account: &Program, firings: usize) -> f64 {
    loop {
        // Reading the firing again and again would delay its messages.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let answer = account.get_json("/api/v1/firings?limit=1").await;
        let is_latest = answer["meta"]["pagination"]["total"] == json!(firings);
        if let Some(delay) = longest_delay(&answer["data"][0]).filter(|_| is_latest) {
            return delay;
        }
    }
}

/// Returns the longest delay of the messages about a firing, in milliseconds; `None` until all are accepted.
fn longest_delay(firing: &Value) -> Option<f64> {
    let instant = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
    let quoted = instant(&firing["timeline"]["quoted_at"]).or_else(|| instant(&firing["timeline"]["received_at"]))?;
    let messages = firing["messages"].as_array().filter(|messages| !messages.is_empty())?;
    let accepted = messages.iter().map(|message| instant(&message["accepted_at"]));
    let last = accepted.collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(last.duration_since(quoted).as_secs_f64() * 1e3)
}

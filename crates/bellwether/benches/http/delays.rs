//! The time from a quote to an accepted message, for each type of channel, against a local server that accepts everything at once.
//!
//! One alert after the other fires, so that no message waits for another. The times are those that the service keeps of each firing.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::program::Program;
use crate::receiver::Receiver;

/// The number of firings for each type.
const FIRINGS: usize = 100;
/// The longest delay that one in a hundred messages may exceed, in milliseconds.
const GOAL_MS: f64 = 100.0;

/// Measures each type of channel.
pub(crate) async fn delays(program: &Program) {
    let receiver = Receiver::start().await;
    for channel_type in ["slack", "discord", "teams", "ntfy", "apprise", "webhook", "email"] {
        let account = program.account(&format!("{channel_type}@example.com"));
        let channel = create_channel(&account, &receiver, channel_type).await;
        let mut delays = fire(program, &account, channel.as_ref()).await;
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

/// Creates a channel of a type. `None` for the account's own address, whose mail is kept instead of sent.
async fn create_channel(account: &Program, receiver: &Receiver, channel_type: &str) -> Option<Value> {
    let config = match channel_type {
        "email" => return None,
        "webhook" => {
            let webhook = json!({"url": receiver.url(), "events": ["alert.triggered"]});
            account.post("/api/v1/webhooks", &webhook).await;
            return None;
        }
        "ntfy" => json!({"url": receiver.url(), "topic": "bench"}),
        _ => json!({"url": receiver.url()}),
    };
    let body = json!({"type": channel_type, "config": config, "burst_limit": 1_000});
    account.post("/api/v1/notification-channels", &body).await;
    let channels = account.get_json("/api/v1/notification-channels").await;
    Some(channels["data"][0]["id"].clone())
}

/// Fires one alert after the other. Returns the delays in milliseconds.
async fn fire(program: &Program, account: &Program, channel: Option<&Value>) -> Vec<f64> {
    quote(program, 1.0).await;
    for number in 1..=FIRINGS {
        let mut body = json!({"symbol": "WAIT", "condition": "price_above", "threshold": 100 + number});
        if let Some(channel) = channel {
            body["channels"] = json!([channel]);
        }
        account.post("/api/v1/alerts", &body).await;
    }
    let mut delays = Vec::with_capacity(FIRINGS);
    for number in 1..=FIRINGS {
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

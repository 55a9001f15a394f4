//! The demo's output.
//!
//! Firings and deliveries go to standard output as lines, messages to standard error.

use std::net::SocketAddr;

use delivery::webhooks::WebhookId;
use serde_json::{Map, Value, json};
use store::model::StoredEvent;

use crate::wiring;

/// The email address of the demo's account.
pub(super) const DEMO_EMAIL: &str = "demo@example.com";

/// The details in the introduction.
#[derive(Debug)]
pub(super) struct DemoDetails<'a> {
    /// The address of the service.
    pub(super) address: SocketAddr,
    /// An API key with all scopes.
    pub(super) key: &'a str,
    /// The account's password, if the account is new.
    pub(super) password: Option<&'a str>,
    /// The number of alerts.
    pub(super) alerts: usize,
    /// The address of the demo's webhook receiver.
    pub(super) receiver: SocketAddr,
    /// The webhook that leads to the receiver.
    pub(super) webhook: WebhookId,
}

/// Returns the introduction: what the demo contains and which commands to try.
pub(super) fn introduction(details: &DemoDetails<'_>) -> String {
    let DemoDetails {
        address,
        key,
        password,
        alerts,
        receiver,
        webhook,
    } = details;
    let password = password.unwrap_or("(as in the first run)");
    let webhook = webhook.0;
    let program = program();
    format!(
        r#"
The service runs with a simulated market that never closes. None of its data is real.

  dashboard  http://{address}/demo

  API        http://{address}/api/v1   (description: http://{address}/docs)
  account    {DEMO_EMAIL}, password {password}, plan premium, operator
  API key    {key}
  alerts     {alerts}, on all kinds of conditions, near the current prices
  watchlist  six stocks with simulated trades of the past months
  webhook    a receiver at http://{receiver} gets each firing, and verifies both signatures
  mail       is stored instead of sent, and operators can read it

Try it from another terminal. These commands show alerts, the watchlist's performance, the webhook's deliveries with all attempts, and the newest mail:

  KEY={key}
  curl -s 'http://{address}/api/v1/alerts?limit=3' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/watchlist/performance?range=6m' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/webhooks/{webhook}/deliveries?limit=3' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/outbox?limit=1' -H "X-API-Key: $KEY"

Your own receiver that shows whole deliveries, and a webhook that calls it (in two terminals):

  {program} listen --secret 'my webhook secret'
  curl -s http://{address}/api/v1/webhooks -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \
    -d '{{"url": "http://127.0.0.1:9090/", "events": ["alert.triggered"], "secret": "my webhook secret"}}'

Below: each firing with its time in New York and its reason, and, indented, its webhook delivery. Stop with Ctrl-C.
"#
    )
}

/// Returns the name by which this program was called, for commands to copy.
fn program() -> String {
    let name = std::env::args().next();
    name.filter(|name| !name.contains(char::is_whitespace))
        .unwrap_or_else(|| "bellwether".to_owned())
}

/// Returns the alert or stock part of an event's data.
fn part<'a>(event: &'a StoredEvent, part: &str) -> Option<&'a Map<String, Value>> {
    event.data.get(part).and_then(Value::as_object)
}

/// Returns a firing as a JSON line.
pub(super) fn json_line(event: &StoredEvent) -> String {
    let of = |name: &str, key: &str| part(event, name).and_then(|part| part.get(key)).cloned();
    let line = json!({
        "time": wiring::format_timestamp(event.at),
        "alert_id": event.alert.to_string(),
        "symbol": of("alert", "symbol"),
        "condition": of("alert", "condition"),
        "threshold": of("alert", "threshold"),
        "price": of("stock", "price"),
        "metric": of("alert", "triggered_value"),
        "reason": event.data.get("reason"),
    });
    line.to_string()
}

/// Returns a firing as a readable line.
pub(super) fn readable_line(event: &StoredEvent) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_alert = |key: &str| text(part(event, "alert").and_then(|alert| alert.get(key)));
    let time = event
        .at
        .to_zoned(market::calendar::new_york_time_zone())
        .strftime("%H:%M:%S");
    format!(
        "{time}  {:<5} {:<22} {}",
        of_alert("symbol"),
        of_alert("condition"),
        text(event.data.get("reason"))
    )
}

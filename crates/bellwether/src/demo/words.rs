//! What the demo says.
//!
//! Results go to standard output as lines; all that is said about them goes to standard error.

use std::io::{self, Write};
use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use service::webhooks::WebhookId;
use store::model::StoredEvent;

use crate::wiring;

/// The demo's account.
pub(super) const EMAIL: &str = "demo@example.com";

/// What was made for the demo.
#[derive(Debug)]
pub(super) struct Made<'a> {
    /// Where the service listens.
    pub(super) address: SocketAddr,
    /// A key for everything.
    pub(super) key: &'a str,
    /// The account's password, if the account is new.
    pub(super) password: Option<&'a str>,
    /// How many alerts there are.
    pub(super) alerts: usize,
    /// Where the demo's own receiver of webhooks listens.
    pub(super) receiver: SocketAddr,
    /// The webhook that leads there.
    pub(super) webhook: WebhookId,
}

/// What there is, and what to look at and to try.
pub(super) fn introduction(made: &Made<'_>) -> String {
    let Made {
        address,
        key,
        password,
        alerts,
        receiver,
        webhook,
    } = made;
    let password = password.unwrap_or("(as in the first run)");
    let webhook = webhook.0;
    let program = program();
    format!(
        r#"
The service runs with a simulated market that never closes. Nothing of it is real.

  API        http://{address}/api/v1   (description: http://{address}/docs)
  account    {EMAIL}, password {password}, plan premium, operator
  API key    {key}
  alerts     {alerts}, of every family, near the prices of this moment
  watchlist  six stocks with simulated trades of the last months
  webhook    a receiver at http://{receiver} is told of each firing, and verifies both signatures
  mail       is kept instead of sent, for operators to read

Try it from another terminal. The alerts, the performance of the watchlist, what was delivered to the webhook, with every attempt, and the newest mail:

  KEY={key}
  curl -s 'http://{address}/api/v1/alerts?limit=3' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/watchlist/performance?range=6m' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/webhooks/{webhook}/deliveries?limit=3' -H "X-API-Key: $KEY"
  curl -s 'http://{address}/api/v1/outbox?limit=1' -H "X-API-Key: $KEY"

A receiver of your own, which shows whole deliveries, and a webhook that leads there (two terminals):

  {program} listen --secret 'a secret of mine'
  curl -s http://{address}/api/v1/webhooks -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \
    -d '{{"url": "http://127.0.0.1:9090/", "events": ["alert.triggered"], "secret": "a secret of mine"}}'

Below: what fires, by the clocks of New York, and why; and, set in, what the demo's receiver got of it. Ctrl-C ends it.
"#
    )
}

/// How this program was called, so that what is said can be typed.
fn program() -> String {
    let name = std::env::args().next();
    name.filter(|name| !name.contains(char::is_whitespace))
        .unwrap_or_else(|| "bellwether".to_owned())
}

/// Says something on standard error. Nobody may be listening; that is no reason to fail.
pub(super) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The part of an event that tells of the alert or the stock.
fn part<'a>(event: &'a StoredEvent, part: &str) -> Option<&'a Map<String, Value>> {
    event.data.get(part).and_then(Value::as_object)
}

/// What fired, for programs.
pub(super) fn json_line(event: &StoredEvent) -> String {
    let of = |name: &str, key: &str| part(event, name).and_then(|part| part.get(key)).cloned();
    let line = json!({
        "time": wiring::timestamp(event.at),
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

/// What fired, for people.
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

//! Webhook deliveries: two receivers in the test process, which outlives every service process, and the expected deliveries.
//!
//! One receiver accepts everything. The other is unreliable: in each round it randomly accepts, fails, closes the connection or
//! hangs. Firings are recorded once, deliveries arrive at least once. So every delivery belongs to a firing in the history, each
//! firing has one id at each receiver, and each id has one body. A repeated delivery after an accepted one is permitted and
//! counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use acceptance::clock::wait_for;
use acceptance::{ApiClient, Behaviour, RecordedRequest, ScriptedServer};
use jiff::Timestamp;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::survival::audit;
use crate::survival::model::Price;
use crate::survival::worker::random_item;

/// Behaviours of the unreliable receiver, one per round.
const UNRELIABLE_BEHAVIOURS: [Behaviour; 5] = [
    Behaviour::status(204),
    Behaviour::status(200),
    Behaviour::status(503),
    Behaviour::CloseConnection,
    Behaviour::Hang,
];

/// A firing, with the fields that both the history and a delivery show.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FiringRecord {
    pub(crate) alert: String,
    pub(crate) at_ms: i64,
    pub(crate) price: Price,
}

/// Firings and their number of occurrences: two may fall into one millisecond.
pub(crate) type FiringCounts = BTreeMap<FiringRecord, usize>;

/// Counters of the received requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct DeliveryCounts {
    /// Distinct deliveries.
    pub(crate) deliveries: usize,
    /// All requests, including retries of failed deliveries.
    pub(crate) requests: usize,
    /// Requests with an id that had been accepted already.
    pub(crate) duplicates: usize,
}

impl AddAssign for DeliveryCounts {
    fn add_assign(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.requests += other.requests;
        self.duplicates += other.duplicates;
    }
}

/// The receivers and their webhooks.
pub(crate) struct WebhookReceivers {
    reliable: ScriptedServer,
    unreliable: ScriptedServer,
    /// Ids of the webhooks, in the order of the receivers.
    webhooks: Vec<String>,
}

impl WebhookReceivers {
    pub(crate) async fn start(client: &ApiClient) -> Self {
        let (reliable, unreliable) = (ScriptedServer::start().await, ScriptedServer::start().await);
        let mut webhooks = Vec::new();
        for receiver in [&reliable, &unreliable] {
            let body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
            webhooks.push(client.post("/webhooks", &body).await.expect_ok(201).id());
        }
        Self {
            reliable,
            unreliable,
            webhooks,
        }
    }

    /// Selects a random behaviour for the unreliable receiver.
    pub(crate) fn change_behaviour(&self, rng: &mut ChaCha8Rng) {
        self.unreliable
            .set_behaviour(random_item(rng, &UNRELIABLE_BEHAVIOURS).clone());
    }

    /// Returns the requests of each receiver so far. Call it before reading the history, which must contain all of them.
    pub(crate) fn received(&self) -> [Vec<RecordedRequest>; 2] {
        [self.reliable.received(), self.unreliable.received()]
    }

    /// Waits until no delivery is pending. Deliveries claimed by a killed process become available when the claim expires.
    pub(crate) async fn wait_until_all_delivered(&self, client: &ApiClient) {
        self.unreliable.set_behaviour(Behaviour::status(204));
        for webhook in &self.webhooks {
            wait_for("the last delivery", || async {
                (count_deliveries(client, webhook, "pending").await == 0).then_some(())
            })
            .await;
        }
    }

    /// Compares the service's delivery counts with the firings, after all deliveries are complete. Returns the violations.
    pub(crate) async fn compare_reported(&self, client: &ApiClient, firings: &FiringCounts) -> Vec<String> {
        let fired: usize = firings.values().sum();
        let mut violations = Vec::new();
        for webhook in &self.webhooks {
            let delivered = count_deliveries(client, webhook, "delivered").await;
            let failed = count_deliveries(client, webhook, "failed").await;
            if (delivered, failed) != (fired, 0) {
                violations.push(format!("{fired} firings, {delivered} delivered, {failed} failed"));
            }
        }
        violations
    }
}

/// Returns the number of deliveries of a webhook with a status.
async fn count_deliveries(client: &ApiClient, webhook: &str, status: &str) -> usize {
    let path = format!("/webhooks/{webhook}/deliveries?limit=1&status={status}");
    let response = client.get(&path).await.expect_ok(200);
    let total = response.body["meta"]["pagination"]["total"].as_u64().unwrap();
    usize::try_from(total).unwrap()
}

/// Compares the requests of one receiver with the history, which may contain more firings while deliveries are pending.
pub(crate) fn compare(received: &[RecordedRequest], firings: &FiringCounts) -> (DeliveryCounts, Vec<String>) {
    let mut violations = Vec::new();
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    let mut accepted = BTreeSet::new();
    let mut ids: BTreeMap<FiringRecord, BTreeSet<String>> = BTreeMap::new();
    let mut tally = DeliveryCounts::default();
    for delivery in received {
        let (id, body) = (delivery.id(), delivery.json());
        for other in [delivery.header("webhook-id"), body["id"].as_str().unwrap()] {
            if other != id {
                violations.push(format!("{id} also has the id {other}"));
            }
        }
        if *bodies.entry(id.clone()).or_insert(&delivery.body) != delivery.body {
            violations.push(format!("{id} has two bodies, one of them {body}"));
        }
        tally.requests += 1;
        tally.duplicates += usize::from(accepted.contains(&id));
        if delivery.response_status.is_some_and(|status| status < 300) {
            accepted.insert(id.clone());
        }
        let alert = &body["data"]["alert"];
        let at: Timestamp = alert["triggered_at"].as_str().unwrap().parse().unwrap();
        let firing = FiringRecord {
            alert: alert["id"].as_str().unwrap().to_owned(),
            at_ms: at.as_millisecond(),
            price: audit::price(&body["data"]["stock"]["price"]),
        };
        ids.entry(firing).or_default().insert(id);
    }
    tally.deliveries = bodies.len();
    for (firing, ids) in ids {
        match firings.get(&firing) {
            None => violations.push(format!("{ids:?} reports {firing:?}, which is not in the history")),
            Some(occurrences) if ids.len() > *occurrences => {
                violations.push(format!("{firing:?} has several ids: {ids:?}"))
            }
            Some(_) => {}
        }
    }
    (tally, violations)
}

/// Compares the requests of one receiver with the history when no delivery is pending.
pub(crate) fn compare_all(received: &[RecordedRequest], firings: &FiringCounts) -> (DeliveryCounts, Vec<String>) {
    let (tally, mut violations) = compare(received, firings);
    let fired: usize = firings.values().sum();
    if tally.deliveries != fired {
        violations.push(format!("{fired} firings, but {} deliveries arrived", tally.deliveries));
    }
    (tally, violations)
}

#[cfg(test)]
mod tests {
    use acceptance::clock::now;

    use super::*;

    fn request(id: &str, alert: &str, price: f64, response_status: Option<u16>) -> RecordedRequest {
        let alert = json!({"id": alert, "triggered_at": "1970-01-01T00:00:07.000Z"});
        let body = json!({"id": id, "data": {"alert": alert, "stock": {"price": price}}});
        let header = |name: &str| (name.to_owned(), id.to_owned());
        RecordedRequest {
            at: now(),
            line: "POST / HTTP/1.1".to_owned(),
            headers: vec![header("x-service-delivery"), header("webhook-id")],
            body: body.to_string(),
            response_status,
        }
    }

    fn firings(fired: &[(&str, Price)]) -> FiringCounts {
        let mut firings = FiringCounts::new();
        for &(alert, price) in fired {
            let alert = alert.to_owned();
            *firings
                .entry(FiringRecord {
                    alert,
                    at_ms: 7_000,
                    price,
                })
                .or_default() += 1;
        }
        firings
    }

    #[test]
    fn one_delivery_per_firing_is_correct_and_a_retry_is_no_duplicate() {
        let received = [
            request("1", "a", 100.0, Some(503)),
            request("2", "b", 100.5, None),
            request("1", "a", 100.0, Some(204)),
            request("2", "b", 100.5, Some(200)),
        ];
        let (tally, violations) = compare_all(&received, &firings(&[("a", 1_000_000), ("b", 1_005_000)]));
        assert_eq!(violations, [] as [String; 0]);
        assert_eq!((tally.deliveries, tally.requests, tally.duplicates), (2, 4, 0));
    }

    #[test]
    fn repetition_of_an_accepted_delivery_is_a_duplicate() {
        let once = request("1", "a", 100.0, Some(200));
        let (tally, violations) = compare_all(&[once.clone(), once.clone(), once], &firings(&[("a", 1_000_000)]));
        assert_eq!(violations, [] as [String; 0]);
        assert_eq!((tally.deliveries, tally.requests, tally.duplicates), (1, 3, 2));
    }

    #[test]
    fn delivery_without_a_firing_is_a_violation() {
        let received = [request("1", "a", 100.0, Some(200))];
        for others in [&[][..], &[("b", 1_000_000)], &[("a", 1_000_001)]] {
            assert_eq!(compare(&received, &firings(others)).1.len(), 1, "{others:?}");
        }
    }

    #[test]
    fn two_ids_or_two_bodies_are_violations() {
        let fired = firings(&[("a", 1_000_000)]);
        let two_ids = [request("1", "a", 100.0, Some(200)), request("2", "a", 100.0, Some(200))];
        assert_eq!(compare(&two_ids, &fired).1.len(), 1);
        assert_eq!(compare(&two_ids, &firings(&[("a", 1_000_000); 2])).1.len(), 0);
        let both = firings(&[("a", 1_000_000), ("b", 1_000_000)]);
        let two_bodies = [request("1", "a", 100.0, Some(200)), request("1", "b", 100.0, Some(200))];
        assert_eq!(compare(&two_bodies, &both).1.len(), 1);
        let mut two_headers = request("1", "a", 100.0, Some(200));
        two_headers.headers[1].1 = "2".to_owned();
        assert_eq!(compare(&[two_headers], &fired).1.len(), 1);
    }

    #[test]
    fn missing_delivery_is_a_violation_when_none_is_pending() {
        let fired = firings(&[("a", 1_000_000), ("b", 1_000_000)]);
        let received = [request("1", "a", 100.0, Some(200))];
        assert_eq!(compare(&received, &fired).1.len(), 0);
        assert_eq!(compare_all(&received, &fired).1.len(), 1);
    }
}

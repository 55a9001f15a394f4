//! What arrives: two receivers in the process of the test, which outlives every program, and what they must have received.
//!
//! One takes all it gets. The other has moods: it takes, fails, closes or says nothing, as chance has it in each round.
//! Firings are counted once, deliveries arrive at least once. So every delivery belongs to a firing in the history, each
//! firing has one id at each receiver, and under an id there is one body. What is received once more after it had been
//! taken is no fault; it is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use acceptance::clock::wait_for;
use acceptance::{Behaviour, Client, Received, Receiver};
use jiff::Timestamp;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::audit;
use crate::model::Price;
use crate::worker::one_of;

/// What the receiver with moods does in a round.
const MOODS: [Behaviour; 5] = [
    Behaviour::status(204),
    Behaviour::status(200),
    Behaviour::status(503),
    Behaviour::Closes,
    Behaviour::Hangs,
];

/// A firing, as both the history and a delivery show it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Firing {
    pub(crate) alert: String,
    pub(crate) at_ms: i64,
    pub(crate) price: Price,
}

/// Firings, and how many of each there are: two may fall into one millisecond.
pub(crate) type Firings = BTreeMap<Firing, usize>;

/// What was received.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tally {
    /// Deliveries, each counted once.
    pub(crate) deliveries: usize,
    /// All requests: deliveries that failed come again.
    pub(crate) requests: usize,
    /// Requests under an id that had been taken already.
    pub(crate) duplicates: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.requests += other.requests;
        self.duplicates += other.duplicates;
    }
}

/// The receivers and their webhooks.
pub(crate) struct Post {
    patient: Receiver,
    moody: Receiver,
    /// The ids of the webhooks, in that order.
    hooks: Vec<String>,
}

impl Post {
    pub(crate) async fn open(client: &Client) -> Self {
        let (patient, moody) = (Receiver::start().await, Receiver::start().await);
        let mut hooks = Vec::new();
        for receiver in [&patient, &moody] {
            let body = json!({"url": receiver.url(), "events": ["alert.triggered"]});
            hooks.push(client.post("/webhooks", &body).await.ok(201).id());
        }
        Self { patient, moody, hooks }
    }

    /// The receiver with moods gets into another one.
    pub(crate) fn change_mood(&self, chance: &mut ChaCha8Rng) {
        self.moody.becomes(one_of(chance, &MOODS).clone());
    }

    /// What has been received until now. To be asked for before the history, which must have all of it.
    pub(crate) fn received(&self) -> [Vec<Received>; 2] {
        [self.patient.received(), self.moody.received()]
    }

    /// Waits until nothing waits any more: what a killed program had claimed is free only when the claim ends.
    pub(crate) async fn all_delivered(&self, client: &Client) {
        self.moody.becomes(Behaviour::status(204));
        for hook in &self.hooks {
            wait_for("the last delivery", || async {
                (total(client, hook, "pending").await == 0).then_some(())
            })
            .await;
        }
    }

    /// Compares what the service says of its deliveries with what was fired, after all were delivered.
    pub(crate) async fn reported(&self, client: &Client, firings: &Firings) -> Vec<String> {
        let fired: usize = firings.values().sum();
        let mut faults = Vec::new();
        for hook in &self.hooks {
            let delivered = total(client, hook, "delivered").await;
            let failed = total(client, hook, "failed").await;
            if (delivered, failed) != (fired, 0) {
                faults.push(format!("{fired} firings, {delivered} delivered, {failed} given up"));
            }
        }
        faults
    }
}

/// How many deliveries of a webhook are in a status.
async fn total(client: &Client, hook: &str, status: &str) -> usize {
    let path = format!("/webhooks/{hook}/deliveries?limit=1&status={status}");
    let answer = client.get(&path).await.ok(200);
    let total = answer.body["meta"]["pagination"]["total"].as_u64().unwrap();
    usize::try_from(total).unwrap()
}

/// Compares what one receiver got with what is in the history, which may have more: deliveries under way.
pub(crate) fn compare(received: &[Received], firings: &Firings) -> (Tally, Vec<String>) {
    let mut faults = Vec::new();
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let mut ids: BTreeMap<Firing, BTreeSet<String>> = BTreeMap::new();
    let mut tally = Tally::default();
    for delivery in received {
        let (id, body) = (delivery.id(), delivery.json());
        for other in [delivery.header("webhook-id"), body["id"].as_str().unwrap()] {
            if other != id {
                faults.push(format!("{id} is {other}, too"));
            }
        }
        if *bodies.entry(id.clone()).or_insert(&delivery.body) != delivery.body {
            faults.push(format!("{id} came with two bodies, one of them {body}"));
        }
        tally.requests += 1;
        tally.duplicates += usize::from(taken.contains(&id));
        if delivery.answered.is_some_and(|status| status < 300) {
            taken.insert(id.clone());
        }
        let alert = &body["data"]["alert"];
        let at: Timestamp = alert["triggered_at"].as_str().unwrap().parse().unwrap();
        let firing = Firing {
            alert: alert["id"].as_str().unwrap().to_owned(),
            at_ms: at.as_millisecond(),
            price: audit::price(&body["data"]["stock"]["price"]),
        };
        ids.entry(firing).or_default().insert(id);
    }
    tally.deliveries = bodies.len();
    for (firing, ids) in ids {
        match firings.get(&firing) {
            None => faults.push(format!("{ids:?} tells of {firing:?}, which is not in the history")),
            Some(times) if ids.len() > *times => faults.push(format!("{firing:?} came as {ids:?}")),
            Some(_) => {}
        }
    }
    (tally, faults)
}

/// Compares what one receiver got with what is in the history when nothing is under way any more.
pub(crate) fn compare_all(received: &[Received], firings: &Firings) -> (Tally, Vec<String>) {
    let (tally, mut faults) = compare(received, firings);
    let fired: usize = firings.values().sum();
    if tally.deliveries != fired {
        faults.push(format!("{fired} firings, but {} deliveries arrived", tally.deliveries));
    }
    (tally, faults)
}

#[cfg(test)]
mod tests {
    use acceptance::clock::now;

    use super::*;

    fn arrived(id: &str, alert: &str, price: f64, answered: Option<u16>) -> Received {
        let alert = json!({"id": alert, "triggered_at": "1970-01-01T00:00:07.000Z"});
        let body = json!({"id": id, "data": {"alert": alert, "stock": {"price": price}}});
        let header = |name: &str| (name.to_owned(), id.to_owned());
        Received {
            at: now(),
            line: "POST / HTTP/1.1".to_owned(),
            headers: vec![header("x-service-delivery"), header("webhook-id")],
            body: body.to_string(),
            answered,
        }
    }

    fn firings(fired: &[(&str, Price)]) -> Firings {
        let mut firings = Firings::new();
        for &(alert, price) in fired {
            let alert = alert.to_owned();
            *firings
                .entry(Firing {
                    alert,
                    at_ms: 7_000,
                    price,
                })
                .or_default() += 1;
        }
        firings
    }

    #[test]
    fn a_delivery_for_each_firing_is_as_it_must_be_and_another_try_is_no_duplicate() {
        let received = [
            arrived("1", "a", 100.0, Some(503)),
            arrived("2", "b", 100.5, None),
            arrived("1", "a", 100.0, Some(204)),
            arrived("2", "b", 100.5, Some(200)),
        ];
        let (tally, faults) = compare_all(&received, &firings(&[("a", 1_000_000), ("b", 1_005_000)]));
        assert_eq!(faults, [] as [String; 0]);
        assert_eq!((tally.deliveries, tally.requests, tally.duplicates), (2, 4, 0));
    }

    #[test]
    fn what_is_received_again_after_it_was_taken_is_a_duplicate() {
        let once = arrived("1", "a", 100.0, Some(200));
        let (tally, faults) = compare_all(&[once.clone(), once.clone(), once], &firings(&[("a", 1_000_000)]));
        assert_eq!(faults, [] as [String; 0]);
        assert_eq!((tally.deliveries, tally.requests, tally.duplicates), (1, 3, 2));
    }

    #[test]
    fn a_delivery_without_a_firing_is_a_fault() {
        let received = [arrived("1", "a", 100.0, Some(200))];
        for others in [&[][..], &[("b", 1_000_000)], &[("a", 1_000_001)]] {
            assert_eq!(compare(&received, &firings(others)).1.len(), 1, "{others:?}");
        }
    }

    #[test]
    fn a_firing_under_two_ids_and_an_id_with_two_bodies_are_faults() {
        let fired = firings(&[("a", 1_000_000)]);
        let two_ids = [arrived("1", "a", 100.0, Some(200)), arrived("2", "a", 100.0, Some(200))];
        assert_eq!(compare(&two_ids, &fired).1.len(), 1);
        assert_eq!(compare(&two_ids, &firings(&[("a", 1_000_000); 2])).1.len(), 0);
        let both = firings(&[("a", 1_000_000), ("b", 1_000_000)]);
        let two_bodies = [arrived("1", "a", 100.0, Some(200)), arrived("1", "b", 100.0, Some(200))];
        assert_eq!(compare(&two_bodies, &both).1.len(), 1);
        let mut two_headers = arrived("1", "a", 100.0, Some(200));
        two_headers.headers[1].1 = "2".to_owned();
        assert_eq!(compare(&[two_headers], &fired).1.len(), 1);
    }

    #[test]
    fn a_firing_that_did_not_arrive_is_a_fault_once_nothing_is_under_way() {
        let fired = firings(&[("a", 1_000_000), ("b", 1_000_000)]);
        let received = [arrived("1", "a", 100.0, Some(200))];
        assert_eq!(compare(&received, &fired).1.len(), 0);
        assert_eq!(compare_all(&received, &fired).1.len(), 1);
    }
}

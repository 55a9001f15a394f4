//! Compares the actual state with the expected state of the workers.

use std::collections::BTreeSet;

use acceptance::ApiClient;

use crate::survival::audit::{self, DatabaseSnapshot, ListedAlert};
use crate::survival::deliveries;
use crate::survival::harness::KillHarness;
use crate::survival::model::{AlertState, AlertStatus};

impl KillHarness {
    async fn read_snapshot(&self) -> DatabaseSnapshot {
        audit::read_database(self.setup.database(), self.setup.database_url()).await
    }

    /// Reads a state that the API and the database show consistently. The database may still commit a request of a killed process,
    /// and another process a request whose client has given up. Histories only grow, so between two equal ones nothing has changed.
    async fn read_consistent_state(&self, client: &ApiClient) -> (Vec<ListedAlert>, DatabaseSnapshot) {
        loop {
            let before = self.read_snapshot().await;
            let shown = audit::list_alerts(client).await;
            if self.read_snapshot().await == before {
                return (shown, before);
            }
        }
    }

    /// Compares the actual state with the model and resolves uncertain states. Returns the violations.
    pub(super) async fn compare(&mut self) -> Vec<String> {
        let mut violations = Vec::new();
        let clients = self.clients();
        for worker in &mut self.workers {
            let response = clients[0]
                .get(&format!("/stocks/{}", worker.symbol))
                .await
                .expect_ok(200);
            let price = audit::price(&response.data()["last_price"]);
            // Each of two processes has its own last price; one may have missed a quote that was not acknowledged.
            if !worker.prices.contains(&price) {
                violations.push(format!(
                    "{} is at {price}; expected one of {:?}",
                    worker.symbol, worker.prices
                ));
            } else if clients.len() == 1 {
                worker.prices = BTreeSet::from([price]);
            }
        }
        let received = self.receivers.received();
        let (shown, snapshot) = self.read_consistent_state(clients.last().unwrap()).await;
        let written = &snapshot.alerts;
        let triggered: usize = written.values().map(|alert| alert.fired.len()).sum();
        if i64::try_from(triggered) != Ok(snapshot.events) {
            violations.push(format!("{triggered} firings, but {} events", snapshot.events));
        }
        for received in &received {
            violations.extend(deliveries::compare(received, &snapshot.firings).1);
        }
        let mut unknown: Vec<_> = shown.iter().collect();
        for worker in &mut self.workers {
            for alert in &mut worker.alerts {
                let found = unknown.iter().position(|shown| match &alert.id {
                    Some(id) => shown.id == *id,
                    None => shown.note == alert.note,
                });
                let shown = found.map(|index| unknown.swap_remove(index));
                if let Some(shown) = shown {
                    alert.id = Some(shown.id.clone());
                    if (shown.symbol.as_str(), shown.condition.as_str(), shown.note)
                        != (alert.symbol.as_str(), alert.condition(), alert.note)
                    {
                        violations.push(format!("{shown:?} was created as {alert:?}"));
                    }
                }
                let written = alert
                    .id
                    .as_ref()
                    .and_then(|id| written.get(id))
                    .cloned()
                    .unwrap_or_default();
                let state = AlertState {
                    status: match (shown, written.last_status.as_str()) {
                        (Some(shown), _) => shown.status,
                        (None, "") => AlertStatus::Absent,
                        (None, _) => AlertStatus::Deleted,
                    },
                    threshold: shown.map_or(alert.possible_states.first().unwrap().threshold, |shown| {
                        shown.threshold
                    }),
                    fired: written.fired.clone(),
                };
                if !written.last_status.is_empty() && AlertStatus::read(&written.last_status) != state.status {
                    violations.push(format!("{:?} is {state:?}, but its history is {written:?}", alert.id));
                }
                if i64::try_from(written.fired.len()) != Ok(written.events) {
                    violations.push(format!(
                        "{:?} fired {:?} with {} events",
                        alert.id, written.fired, written.events
                    ));
                }
                if let Err(violation) = alert.observe_state(&state, &worker.prices) {
                    violations.push(format!("{:?} {violation}", alert.id));
                }
            }
            worker.alerts.retain(|alert| !alert.is_certainly(AlertStatus::Absent));
        }
        violations.extend(unknown.iter().map(|shown| format!("unexpected alert {shown:?}")));
        violations
    }

    /// Compares the final state, and every firing with the history in the API. Returns the violations.
    pub(crate) async fn final_check(&mut self) -> Vec<String> {
        let mut violations = self.compare().await;
        let client = self.clients().remove(0);
        violations.extend(self.check_deliveries(&client).await);
        for alert in self.workers.iter().flat_map(|worker| &worker.alerts) {
            let path = format!("/alerts/{}/history?limit=200", alert.id.as_ref().unwrap());
            let history = client.get(&path).await.expect_ok(200);
            let fired = history
                .items()
                .iter()
                .rev()
                .filter(|entry| entry["action_type"] == "triggered");
            let prices: Vec<_> = fired.map(|entry| audit::price(&entry["trigger_price"])).collect();
            if alert.possible_states.iter().all(|state| state.fired != prices) {
                violations.push(format!(
                    "{:?} fired at {prices:?}; expected one of {:?}",
                    alert.id, alert.possible_states
                ));
            }
        }
        violations
    }

    /// Waits for all deliveries and messages, and checks that every firing has arrived at each receiver and as one message.
    /// Returns the violations.
    async fn check_deliveries(&mut self, client: &ApiClient) -> Vec<String> {
        self.receivers.wait_until_all_delivered(client).await;
        let firings = self.read_snapshot().await.firings;
        let mut violations = self.receivers.compare_reported(client, &firings).await;
        for received in self.receivers.received() {
            let (counts, more) = deliveries::compare_all(&received, &firings);
            self.received += counts;
            violations.extend(more);
        }
        let (more, summary) = self.messages.check(&self.setup, firings.values().sum()).await;
        violations.extend(more);
        self.messages_summary = summary;
        violations
    }
}

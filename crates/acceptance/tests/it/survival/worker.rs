//! A worker: owns one stock and its alerts, sends one request after another, and updates the model.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acceptance::ApiClient;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::survival::model::{AlertModel, AlertStatus, Operation, Outcome, Price, dollars};

/// Lower bound of prices: 50 dollars.
const MIN_PRICE: Price = 500_000;
/// Upper bound of prices: 150 dollars.
const MAX_PRICE: Price = 1_500_000;
/// Maximum number of alerts that are neither deleted nor triggered.
const MAX_OPEN_ALERTS: usize = 6;

pub(crate) struct Worker {
    pub(crate) symbol: String,
    pub(crate) alerts: Vec<AlertModel>,
    /// Possible current prices of the stock.
    pub(crate) prices: BTreeSet<Price>,
    /// Whether the database may fail, so that a response 503 leaves open whether the request has been executed.
    pub(crate) database_may_fail: bool,
    /// The last price, if it was not acknowledged.
    unacknowledged_price: Option<Price>,
    /// Number of acknowledged requests.
    pub(crate) acknowledged: u64,
    /// Unexpected responses.
    pub(crate) violations: Vec<String>,
    next_note: u64,
}

/// Returns a random integer below `limit`.
pub(crate) fn random_below(rng: &mut ChaCha8Rng, limit: u64) -> u64 {
    rng.next_u64() % limit
}

/// Returns a random item.
pub(crate) fn random_item<'a, T>(rng: &mut ChaCha8Rng, items: &'a [T]) -> &'a T {
    let index = random_below(rng, u64::try_from(items.len()).unwrap());
    &items[usize::try_from(index).unwrap()]
}

impl Worker {
    pub(crate) fn new(number: u64, price: Price) -> Self {
        Self {
            symbol: format!("W{number}"),
            alerts: Vec::new(),
            prices: BTreeSet::from([price]),
            database_may_fail: false,
            unacknowledged_price: None,
            acknowledged: 0,
            violations: Vec::new(),
            next_note: number * 1_000_000,
        }
    }

    /// Sends random requests until `stop` is set or a response is missing. Quotes go to all processes, other requests to one.
    pub(crate) async fn work(mut self, processes: Vec<ApiClient>, mut rng: ChaCha8Rng, stop: Arc<AtomicBool>) -> Self {
        while !stop.load(Ordering::Relaxed) && self.violations.is_empty() {
            let process = random_item(&mut rng, &processes).clone();
            let open = self.open_alerts();
            let got_response = match random_below(&mut rng, 10) {
                0..=2 if open.len() < MAX_OPEN_ALERTS => self.create(&process, &mut rng).await,
                3 if !open.is_empty() => {
                    let at = *random_item(&mut rng, &open);
                    let threshold = self.unused_threshold(&mut rng, self.alerts[at].above);
                    self.send_operation(at, Operation::Edit(threshold), &process).await
                }
                4 if !open.is_empty() => {
                    let at = *random_item(&mut rng, &open);
                    self.send_operation(at, Operation::Pause, &process).await
                }
                5 => match self.alert_to_activate() {
                    Some(at) => self.send_operation(at, Operation::Activate, &process).await,
                    None => true,
                },
                6 if random_below(&mut rng, 3) == 0 && !open.is_empty() => {
                    let at = *random_item(&mut rng, &open);
                    self.send_operation(at, Operation::Delete, &process).await
                }
                _ => self.send_quote(&processes, &mut rng).await,
            };
            if !got_response {
                break;
            }
        }
        self
    }

    /// Returns the indexes of the alerts that are certainly active or certainly paused.
    fn open_alerts(&self) -> Vec<usize> {
        let known = self.alerts.iter().enumerate().filter(|(_, alert)| alert.id.is_some());
        let open = known
            .filter(|(_, alert)| alert.is_certainly(AlertStatus::Active) || alert.is_certainly(AlertStatus::Paused));
        open.map(|(index, _)| index).collect()
    }

    /// Returns the index of a paused or triggered alert whose threshold the current price does not reach, so that it can fire again
    /// after activation.
    fn alert_to_activate(&self) -> Option<usize> {
        self.alerts.iter().rposition(|alert| {
            let out_of_reach = alert.possible_states.iter().all(|state| {
                let mut prices = self.prices.iter();
                prices.all(|&price| (price >= state.threshold) != alert.above && price != state.threshold)
            });
            let is_off = alert.is_certainly(AlertStatus::Paused) || alert.is_certainly(AlertStatus::Triggered);
            alert.id.is_some() && is_off && out_of_reach
        })
    }

    /// Returns a threshold that no possible price has reached and no other alert has, because equivalent alerts would be merged.
    fn unused_threshold(&self, rng: &mut ChaCha8Rng, above: bool) -> Price {
        let states = self.alerts.iter().flat_map(|alert| &alert.possible_states);
        let taken: BTreeSet<_> = states.map(|state| state.threshold).collect();
        loop {
            let away = i64::try_from(1 + random_below(rng, 60_000)).unwrap();
            let level = if above {
                self.prices.last().unwrap() + away
            } else {
                self.prices.first().unwrap() - away
            };
            if !taken.contains(&level) {
                return level;
            }
        }
    }

    async fn create(&mut self, process: &ApiClient, rng: &mut ChaCha8Rng) -> bool {
        let above = random_below(rng, 2) == 0;
        let threshold = self.unused_threshold(rng, above);
        self.next_note += 1;
        self.alerts
            .push(AlertModel::new(&self.symbol, above, self.next_note, threshold));
        self.send_operation(self.alerts.len() - 1, Operation::Create, process)
            .await
    }

    /// Sends an operation and records its outcome; returns false if no response arrived.
    async fn send_operation(&mut self, at: usize, operation: Operation, process: &ApiClient) -> bool {
        let alert = &self.alerts[at];
        let path = format!("/alerts/{}", alert.id.as_deref().unwrap_or_default());
        let request = match operation {
            Operation::Create => {
                let threshold = alert.possible_states.first().unwrap().threshold;
                // Some firings are sent as text messages, within the monthly quota.
                let notification = if alert.note.is_multiple_of(4) { "sms" } else { "email" };
                let mut body = alert.threshold_fields(threshold);
                body["symbol"] = alert.symbol.as_str().into();
                body["condition"] = alert.condition().into();
                body["notification"] = notification.into();
                process.request(Method::POST, "/alerts").json(&body)
            }
            Operation::Edit(threshold) => process
                .request(Method::PUT, &path)
                .json(&alert.threshold_fields(threshold)),
            Operation::Pause => process.request(Method::POST, &format!("{path}/pause")),
            Operation::Activate => process.request(Method::POST, &format!("{path}/activate")),
            Operation::Delete => process.request(Method::DELETE, &path),
        };
        let response = request.try_send().await;
        let outcome = match &response {
            // 200 would mean an existing equivalent alert.
            Ok(response) if operation == Operation::Create && response.status == 201 => Outcome::Succeeded,
            Ok(response) if operation != Operation::Create && response.status == 200 => Outcome::Succeeded,
            Ok(response) if response.status == 422 => Outcome::Rejected,
            Ok(response) if response.status == 404 => Outcome::NotFound,
            Ok(response) if self.database_may_fail && response.status == 503 => Outcome::Unknown,
            Ok(response) => {
                self.violations.push(format!("{operation:?}: {response}"));
                Outcome::Unknown
            }
            Err(_) => Outcome::Unknown,
        };
        let alert = &mut self.alerts[at];
        if let (Operation::Create, Ok(response)) = (operation, &response) {
            alert.id = response.data()["id"].as_str().map(str::to_owned);
        }
        if let Err(violation) = alert.record_outcome(operation, outcome, &self.prices) {
            self.violations.push(format!("{:?}: {violation}", alert.id));
        }
        self.acknowledged += u64::from(outcome != Outcome::Unknown);
        outcome != Outcome::Unknown
    }

    /// Sends a random price; returns false if a process did not acknowledge it.
    async fn send_quote(&mut self, processes: &[ApiClient], rng: &mut ChaCha8Rng) -> bool {
        let from = *self.prices.first().unwrap();
        let move_by = i64::try_from(random_below(rng, 80_000)).unwrap() - 40_000;
        let price = (from + move_by).clamp(MIN_PRICE, MAX_PRICE);
        self.send_price(price, processes).await
    }

    /// Sends a price that was not acknowledged again, until it is. So everything that it fires is written.
    pub(crate) async fn repeat_unacknowledged_price(&mut self, processes: &[ApiClient]) {
        while let Some(price) = self.unacknowledged_price.filter(|_| self.violations.is_empty()) {
            self.send_price(price, processes).await;
        }
    }

    /// Sends a price to all processes concurrently; returns false if one did not acknowledge it.
    async fn send_price(&mut self, price: Price, processes: &[ApiClient]) -> bool {
        let batch = json!({"quotes": [{"symbol": self.symbol, "price": dollars(price)}]});
        let mut requests = tokio::task::JoinSet::new();
        for process in processes {
            let request = process.request(Method::POST, "/market/ingest").json(&batch);
            requests.spawn(request.try_send());
        }
        let mut acknowledged = true;
        for response in requests.join_all().await {
            match response {
                Ok(response) if response.status == 200 && response.data()["rejected"] == Value::Array(Vec::new()) => {}
                Ok(response) if self.database_may_fail && response.status == 503 => acknowledged = false,
                Ok(response) => self.violations.push(response.to_string()),
                Err(_) => acknowledged = false,
            }
        }
        if acknowledged {
            self.prices = BTreeSet::from([price]);
            self.acknowledged += 1;
        } else {
            self.prices.insert(price);
        }
        self.unacknowledged_price = (!acknowledged).then_some(price);
        for alert in &mut self.alerts {
            alert.record_price(price, acknowledged);
        }
        acknowledged
    }
}

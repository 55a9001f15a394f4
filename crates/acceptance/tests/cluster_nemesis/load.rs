//! The load: several clients, each with stocks and alerts that no other client uses.
//!
//! A client pushes prices, each push again until it is accepted. Then each alert that had to fire has fired, and the client activates
//! it again at once. A node that judges the same push later, because it was stopped or got it late, must not fire this activation.

use std::sync::Arc;

use acceptance::CheckedResponse;
use acceptance::clock::{now, wait_for};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::model::{Cents, Condition, ModelAlert, State, dollars};
use crate::nodes::Cluster;
use crate::random::Random;

/// The price of each stock at first.
const FIRST_PRICE: Cents = 10_000;
/// The lowest and the highest price.
const PRICES: (Cents, Cents) = (9_000, 11_000);
/// The largest change of a price in one push.
const MAX_STEP: Cents = 300;
/// The share of the stocks whose prices a push has, in percent.
const MOVED_PERCENT: i64 = 80;
/// The share of pushes after which an alert is created that holds already, in percent.
const CREATED_PERCENT: i64 = 30;
/// The share of triggered alerts that are activated although their condition holds, in percent.
const HOLDING_PERCENT: i64 = 3;
/// How long a firing is waited for that should be on disk. Patroni replaces a primary after some twenty seconds.
const MAX_FIRING_DELAY: SignedDuration = SignedDuration::from_secs(60);

/// A firing that a client has read.
#[derive(Clone, Debug)]
pub(crate) struct ReadFiring {
    pub(crate) symbol: String,
    /// When its push was sent for the first time.
    pub(crate) pushed_at: Timestamp,
    pub(crate) read_at: Timestamp,
}

/// The results of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadResult {
    pub(crate) alerts: Vec<ModelAlert>,
    pub(crate) read: Vec<ReadFiring>,
    pub(crate) pushes: usize,
    /// Pushes that were sent again.
    pub(crate) repetitions: usize,
    /// The times from creation to firing of alerts that held already.
    pub(crate) judged: Vec<SignedDuration>,
    /// Activations with another initial price than the last one that was pushed.
    pub(crate) old_prices: usize,
    /// The largest number of alerts that may have been created twice, because the node that created the first one was killed.
    pub(crate) perhaps_created: usize,
    /// Firings that were read late although the push was accepted, and other violations.
    pub(crate) violations: Vec<String>,
    /// Each step, with its time.
    pub(crate) steps: Vec<String>,
}

impl LoadResult {
    fn note(&mut self, step: &str) {
        self.steps.push(format!("{:.6} {step}", now()));
    }
}

/// A stock of a client.
struct Stock {
    symbol: String,
    /// The price before the last push.
    before: Cents,
    price: Cents,
}

/// A client with its stocks and alerts.
pub(crate) struct Client {
    cluster: Arc<Cluster>,
    random: Random,
    stocks: Vec<Stock>,
    created: i64,
    result: LoadResult,
}

impl Client {
    /// Creates a client, its stocks and its alerts.
    pub(crate) async fn start(cluster: Arc<Cluster>, seed: u64, number: u64, stocks: usize) -> Self {
        let stocks = (0..stocks).map(|stock| Stock {
            symbol: format!("L{number}S{stock:02}"),
            before: FIRST_PRICE,
            price: FIRST_PRICE,
        });
        let mut client = Self {
            cluster,
            random: Random::new(seed, number + 1),
            stocks: stocks.collect(),
            created: 0,
            result: LoadResult::default(),
        };
        let all: Vec<usize> = (0..client.stocks.len()).collect();
        client.push(&all).await;
        for stock in all {
            for condition in conditions(&mut client.random) {
                client.create(stock, condition).await;
            }
        }
        client
    }

    /// Runs until an instant.
    pub(crate) async fn run(mut self, until: Timestamp) -> Self {
        while now() < until {
            let mut moved: Vec<usize> = (0..self.stocks.len()).collect();
            moved.retain(|_| self.random.chance(MOVED_PERCENT));
            for &stock in &moved {
                let step = self.random.between(-MAX_STEP, MAX_STEP);
                let stock = &mut self.stocks[stock];
                stock.before = stock.price;
                stock.price = reflected(stock.price + step);
            }
            if !moved.is_empty() {
                self.push(&moved).await;
            }
            self.activate_triggered().await;
            if self.random.chance(CREATED_PERCENT) {
                self.create_holding().await;
            }
        }
        self
    }

    /// Pushes the last prices again, so that everything before is judged, and returns the results.
    pub(crate) async fn finish(mut self) -> LoadResult {
        let all: Vec<usize> = (0..self.stocks.len()).collect();
        for _ in 0..2 {
            for stock in &mut self.stocks {
                stock.before = stock.price;
            }
            self.push(&all).await;
        }
        self.result
    }

    /// Pushes the prices of stocks until they are accepted, and reads the firings.
    async fn push(&mut self, stocks: &[usize]) {
        let pushed_at = now();
        let stocks: Vec<&Stock> = stocks.iter().map(|&stock| &self.stocks[stock]).collect();
        let quotes = stocks
            .iter()
            .map(|stock| json!({"symbol": stock.symbol, "price": dollars(stock.price), "time": pushed_at.to_string()}));
        let batch = json!({"quotes": quotes.collect::<Vec<Value>>()});
        let (accepted, attempts) = self.cluster.push(&batch).await;
        self.result.pushes += 1;
        for stock in &stocks {
            let (symbol, price) = (&stock.symbol, stock.price);
            let step = format!("{symbol} at {price}, sent at {pushed_at:.6}, accepted in {attempts} attempts");
            self.result.note(&step);
        }
        self.result.repetitions += attempts - 1;
        if accepted.data()["rejected"] != json!([]) {
            self.result.violations.push(format!("rejected: {accepted}"));
        }
        let mut fired = Vec::new();
        for (index, alert) in self.result.alerts.iter_mut().enumerate() {
            let stock = stocks.iter().find(|stock| stock.symbol == alert.symbol);
            if stock.is_some_and(|stock| alert.observe(stock.before, stock.price)) && alert.state == State::Triggered {
                fired.push(index);
            }
        }
        for alert in fired {
            self.read_firing(alert, pushed_at).await;
        }
    }

    /// Reads the firing of an alert whose push was accepted.
    async fn read_firing(&mut self, alert: usize, pushed_at: Timestamp) {
        let alert = &self.result.alerts[alert];
        let (id, symbol, expected) = (alert.id.clone(), alert.symbol.clone(), alert.fired.last().copied());
        let path = format!("/alerts/{id}");
        let read = self.cluster.get(&path).await;
        let step = format!("{symbol} {id} fires at {expected:?}: {}", read.text_of("status"));
        self.result.note(&step);
        if read.text_of("status") != "triggered" {
            let violation = format!(
                "{} {symbol} {id}: accepted at {} before its firing was on disk",
                now(),
                now()
            );
            self.result.violations.push(violation);
            self.wait_until_triggered(&id).await;
        }
        self.result.read.push(ReadFiring {
            symbol,
            pushed_at,
            read_at: now(),
        });
    }

    /// Waits until an alert is triggered. Returns it, if that happens in time.
    async fn wait_until_triggered(&mut self, id: &str) -> Option<CheckedResponse> {
        let until = now() + MAX_FIRING_DELAY;
        let path = format!("/alerts/{id}");
        let read = wait_for("the alert is triggered, or too much time has passed", || async {
            let read = self.cluster.get(&path).await;
            (read.text_of("status") == "triggered" || now() > until).then_some(read)
        })
        .await;
        if read.text_of("status") == "triggered" {
            return Some(read);
        }
        let violation = format!("{} {id}: not triggered within {MAX_FIRING_DELAY:#}", now());
        self.result.violations.push(violation);
        None
    }

    /// Activates the alerts that have fired, if their conditions do not hold any more, and a few that hold.
    async fn activate_triggered(&mut self) {
        for index in 0..self.result.alerts.len() {
            let alert = &self.result.alerts[index];
            let is_once = !matches!(alert.condition, Condition::Above(level) if level < PRICES.0);
            if alert.state != State::Triggered || !is_once {
                continue;
            }
            let stock = self.stocks.iter().find(|stock| stock.symbol == alert.symbol).unwrap();
            let (price, holds) = (stock.price, alert.holds_at(stock.price));
            if holds && !self.random.chance(HOLDING_PERCENT) {
                continue;
            }
            let (id, fired) = (alert.id.clone(), alert.fired.len());
            let initial = self.activate(&id, fired).await;
            self.result.old_prices += usize::from(initial != price);
            let alert = &mut self.result.alerts[index];
            let step = format!(
                "{} {id} is activated from {initial} at {price}; holds: {holds}",
                alert.symbol
            );
            alert.activate(initial, price);
            self.result.note(&step);
            let alert = &mut self.result.alerts[index];
            if holds {
                alert.observe(price, price);
                self.wait_until_triggered(&id).await;
            }
        }
    }

    /// Activates an alert that has fired so often, and returns its initial price.
    async fn activate(&mut self, id: &str, fired: usize) -> Cents {
        loop {
            let path = format!("/alerts/{id}/activate");
            let key = self.random.id().to_string();
            if let Some(activated) = self.cluster.post(&path, None, &key).await {
                return cents(&activated.data()["initial_price"]);
            }
            // Its response is lost, so it may be active. If it has fired since, the history that is read later has the firing.
            let read = self.cluster.get(&format!("/alerts/{id}")).await;
            let history = self.cluster.get(&format!("/alerts/{id}/history?limit=200")).await;
            let triggered = history
                .items()
                .iter()
                .filter(|entry| entry["action_type"] == "triggered");
            let has_fired_since = triggered.count() > fired;
            if has_fired_since || read.text_of("status") == "active" {
                return cents(&read.data()["initial_price"]);
            }
        }
    }

    async fn create(&mut self, stock: usize, condition: Condition) -> CheckedResponse {
        let Stock { symbol, price, .. } = &self.stocks[stock];
        let body = condition.request(symbol);
        let created = loop {
            let key = self.random.id().to_string();
            if let Some(created) = self.cluster.post("/alerts", Some(&body), &key).await {
                break created;
            }
            // Its response is lost, so it may exist. If it has fired since, another one is created.
            self.result.perhaps_created += 1;
        };
        let mut alert = ModelAlert::new(created.id(), symbol, condition, *price);
        let initial = cents(&created.data()["initial_price"]);
        self.result.old_prices += usize::from(initial != *price);
        alert.activate(initial, *price);
        self.result.alerts.push(alert);
        created
    }

    /// Creates an alert that holds already, and measures the time until it has fired.
    async fn create_holding(&mut self) {
        let last = i64::try_from(self.stocks.len()).unwrap() - 1;
        let stock = usize::try_from(self.random.between(0, last)).unwrap();
        // Each level is used once, because an alert that is equal to another one is not created.
        self.created += 1;
        let id = self.create(stock, Condition::Above(100 + self.created)).await.id();
        let price = self.stocks[stock].price;
        let alert = self.result.alerts.last_mut().unwrap();
        alert.observe(price, price);
        if let Some(read) = self.wait_until_triggered(&id).await {
            let at = |field: &str| read.text_of(field).parse::<Timestamp>().unwrap();
            let judged = at("triggered_at").duration_since(at("created_at"));
            self.result.judged.push(judged);
        }
    }
}

/// Returns a price within the limits.
const fn reflected(price: Cents) -> Cents {
    let (least, most) = PRICES;
    if price < least {
        2 * least - price
    } else if price > most {
        2 * most - price
    } else {
        price
    }
}

/// Returns a price of the API.
fn cents(price: &Value) -> Cents {
    let scaled = price.as_f64().unwrap_or_default() * 100.0;
    format!("{scaled:.0}").parse().unwrap()
}

/// Returns the conditions of a stock's alerts.
fn conditions(random: &mut Random) -> [Condition; 8] {
    [
        Condition::Above(random.between(10_100, 10_800)),
        Condition::Below(random.between(9_200, 9_900)),
        Condition::RiseBy(random.between(100, 500)),
        Condition::FallBy(random.between(100, 500)),
        Condition::BelowHighest(random.between(150, 500)),
        Condition::CrossesAbove(random.between(9_600, 10_400)),
        Condition::Repeating {
            level: random.between(10_100, 10_300),
            rearm: random.between(9_800, 10_000),
        },
        Condition::Repeating {
            level: random.between(10_350, 10_600),
            rearm: random.between(9_700, 10_000),
        },
    ]
}

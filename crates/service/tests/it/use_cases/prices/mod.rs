//! Current prices, and the behaviour without one.

mod pushed;
mod source;
mod waiting;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use alerts::engine::{EvaluationIssue, EvaluationStatus};
use alerts::{Alert, AlertId, HistoryAction};
use clock::Clock as _;
use evaluation::prices::PriceSourceConfig;
use foundation::Actor;
use jiff::{SignedDuration, Timestamp};
use market::records::{Batch, QuoteRow};
use market::{Price, Symbol};
use serde_json::{Value, json};
use sources::live::{PriceReply, PriceRequest};
use tokio::sync::mpsc;

use crate::support::{TestApp, symbol};

/// Returns `2024-03-08T{time}Z`.
fn friday(time: &str) -> Timestamp {
    format!("2024-03-08T{time}Z").parse().unwrap()
}

fn percent(condition: &str, threshold: f64) -> Value {
    json!({"symbol": "AAPL", "condition": condition, "threshold": threshold})
}

fn initial(alert: &Alert) -> Option<String> {
    alert.initial_price.map(|price| price.to_string())
}

impl TestApp {
    fn reach(&self, then: Timestamp) {
        self.clock.set(then);
    }

    async fn alert_of(&self, actor: &Actor, id: AlertId) -> Alert {
        self.service.alerts.alert(actor, id).await.unwrap().stored.alert
    }

    /// Waits until an alert has an initial price.
    async fn filled(&self, actor: &Actor, id: AlertId) -> Alert {
        loop {
            let alert = self.alert_of(actor, id).await;
            if alert.initial_price.is_some() {
                return alert;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn state(&self, actor: &Actor, id: AlertId) -> EvaluationStatus {
        self.service
            .alerts
            .alert(actor, id)
            .await
            .unwrap()
            .evaluation
            .unwrap()
            .state
    }

    async fn times_fired(&self, actor: &Actor, id: AlertId) -> usize {
        self.service.evaluate().await.unwrap();
        let actions = self.actions(actor, id).await;
        actions
            .iter()
            .filter(|action| **action == HistoryAction::Triggered)
            .count()
    }
}

/// A source that can be asked, with a table of prices.
struct Source {
    board: Arc<Mutex<HashMap<Symbol, (Price, Timestamp)>>>,
    asked: Arc<Mutex<BTreeMap<Symbol, usize>>>,
}

impl Source {
    /// Connects a source whose prices are current for two minutes.
    fn connect(app: &TestApp) -> Self {
        Self::connect_with(app, SignedDuration::from_mins(2))
    }

    fn connect_with(app: &TestApp, current_for: SignedDuration) -> Self {
        let config = PriceSourceConfig {
            current_for,
            has_daily_bars: false,
        };
        let requests = app.service.prices.connect_price_source(config);
        let source = Self {
            board: Arc::default(),
            asked: Arc::default(),
        };
        tokio::spawn(answer(
            app.service.clone(),
            Arc::clone(&app.clock),
            requests,
            Arc::clone(&source.board),
            Arc::clone(&source.asked),
        ));
        source
    }

    /// Sets the newest price of a stock.
    fn say(&self, name: &str, price: &str, at: Timestamp) {
        let price = price.parse().unwrap();
        self.board.lock().unwrap().insert(symbol(name), (price, at));
    }

    fn times_asked_in_all(&self) -> usize {
        self.asked.lock().unwrap().values().sum()
    }

    fn times_asked(&self, name: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .get(&symbol(name))
            .copied()
            .unwrap_or_default()
    }
}

async fn answer(
    service: service::Service,
    clock: Arc<clock::ManualClock>,
    mut requests: mpsc::Receiver<PriceRequest>,
    board: Arc<Mutex<HashMap<Symbol, (Price, Timestamp)>>>,
    asked: Arc<Mutex<BTreeMap<Symbol, usize>>>,
) {
    while let Some(PriceRequest { symbol, reply }) = requests.recv().await {
        *asked.lock().unwrap().entry(symbol).or_default() += 1;
        let known = board.lock().unwrap().get(&symbol).copied();
        let said = match known {
            None => PriceReply::Unknown,
            Some((price, at)) => {
                // Like the live source: a price that is too old is not evaluated.
                let is_delivered = clock.now().duration_since(at) <= SignedDuration::from_mins(15);
                let quote = QuoteRow {
                    symbol,
                    price,
                    volume: None,
                    time: Some(at),
                    bid: None,
                    ask: None,
                    vwap: None,
                };
                let batch = Batch {
                    quotes: if is_delivered { vec![quote] } else { Vec::new() },
                    ..Batch::default()
                };
                service.market_intake.ingest(batch).await.unwrap();
                PriceReply::Known {
                    newest: Some(at),
                    is_delivered,
                }
            }
        };
        // The requester may have given up.
        let _ = reply.send(said);
    }
}

/// The state of a percentage that waits for its initial price.
const WAITS: EvaluationStatus = EvaluationStatus::Waiting(EvaluationIssue::NoInitialPrice);

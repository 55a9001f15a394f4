//! A running node, and requests to it.

use acceptance::clock::wait_for;
use acceptance::{ApiClient, RunningService};
use serde_json::{Value, json};

use super::harness::{quotes, wait_until};

/// A running node.
#[derive(Debug)]
pub(super) struct TestNode {
    pub(super) name: String,
    pub(super) roles: String,
    pub(super) server: RunningService,
    /// The operator's client of this node.
    pub(super) operator: ApiClient,
}

impl TestNode {
    /// Whether the node has the role `evaluator`.
    pub(super) fn is_evaluator(&self) -> bool {
        self.roles.contains("evaluator")
    }

    /// Sends the process a signal.
    pub(super) fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill")
            .args([format!("-{name}"), self.server.pid().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Kills the process.
    pub(super) async fn kill(self) {
        self.server.kill().await;
    }

    /// Stops the service as an operator does, and waits for its end.
    pub(super) async fn shut_down(self) {
        self.signal("TERM");
        self.server.wait_for_exit().await;
    }

    /// Returns a metric of the node; 0 if it was never measured, or if the node does not answer.
    pub(super) async fn metric(&self, name: &str) -> f64 {
        let response = self
            .operator
            .request_to(reqwest::Method::GET, "/metrics")
            .try_send()
            .await;
        let Ok(response) = response else { return 0.0 };
        let text = response.text.clone();
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.map_or(0.0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
    }

    /// Whether the node says that it is ready; `None` if it does not answer.
    pub(super) async fn is_ready(&self) -> Option<bool> {
        let response = self
            .operator
            .request_to(reqwest::Method::GET, "/readyz")
            .try_send()
            .await;
        response.ok().map(|response| response.status == 200)
    }

    /// Waits until the node says that it is not ready.
    pub(super) async fn wait_until_not_ready(&self) {
        wait_until("the node is not ready", || async {
            self.is_ready().await == Some(false)
        })
        .await;
    }

    /// Waits until the node says that it is ready.
    pub(super) async fn wait_until_ready(&self) {
        wait_until("the node is ready", || async { self.is_ready().await == Some(true) }).await;
    }

    /// Pushes market data, again until it is accepted.
    pub(super) async fn ingest_until_accepted(&self, batch: &Value) {
        wait_for("the market data is accepted", || async {
            let request = self
                .operator
                .request(reqwest::Method::POST, "/market/ingest")
                .json(batch);
            let response = request.try_send().await.ok()?;
            (response.status == 200).then_some(())
        })
        .await;
    }

    /// Adds stocks, and quotes each at 100.
    pub(super) async fn add_stocks(&self, symbols: &[String]) {
        let stocks: Vec<Value> = symbols
            .iter()
            .map(|symbol| json!({"symbol": symbol, "name": format!("{symbol} Company")}))
            .collect();
        let batch = json!({"stocks": stocks, "quotes": quotes(symbols, 100.0)});
        self.ingest_until_accepted(&batch).await;
    }

    /// Creates an alert that fires at a price above 110, and returns its id.
    pub(super) async fn create_alert(&self, symbol: &str) -> String {
        let body = json!({"symbol": symbol, "condition": "price_above", "threshold": 110});
        let created = self.operator.post("/alerts", &body).await.expect_ok(201);
        created.text_of("id").to_owned()
    }

    /// Adds stocks, and creates an alert on each that fires at a price above 110. Returns the ids of the alerts.
    pub(super) async fn add_stocks_with_alerts(&self, symbols: &[String]) -> Vec<String> {
        self.add_stocks(symbols).await;
        let mut alerts = Vec::new();
        for symbol in symbols {
            alerts.push(self.create_alert(symbol).await);
        }
        alerts
    }

    /// Activates alerts that have fired.
    pub(super) async fn activate(&self, ids: &[String]) {
        for id in ids {
            let activated = self.operator.post_empty(&format!("/alerts/{id}/activate")).await;
            assert_eq!(activated.status, 200, "{activated}");
        }
    }

    /// Returns the status of an alert.
    pub(super) async fn status_of(&self, id: &str) -> String {
        let alert = self.operator.get(&format!("/alerts/{id}")).await.expect_ok(200);
        alert.text_of("status").to_owned()
    }

    /// Returns the number of firings in the history of an alert.
    pub(super) async fn firings_of(&self, id: &str) -> usize {
        let path = format!("/alerts/{id}/history?limit=200");
        let history = self.operator.get(&path).await.expect_ok(200);
        let fired = history
            .items()
            .iter()
            .filter(|entry| entry["action_type"] == "triggered");
        fired.count()
    }

    /// Waits until each of these alerts has fired, and asserts that none has fired twice.
    pub(super) async fn assert_fired_once(&self, ids: &[String]) {
        for id in ids {
            wait_until("the alert has fired", || async {
                self.status_of(id).await == "triggered"
            })
            .await;
            assert_eq!(self.firings_of(id).await, 1, "{id}");
        }
    }
}

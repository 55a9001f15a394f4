//! Nodes that are started, killed, stopped and continued.

use acceptance::clock::wait_for;
use acceptance::environment::{ALL_SCOPES, OPERATOR};
use acceptance::{ApiClient, DatabaseKind, RunningService, ServiceSetup};
use serde_json::{Value, json};
use testkit::nats::NatsServer;

/// The number of shards, and that of dispatch shards.
pub(super) const SHARDS: f64 = 256.0;

/// A cluster with its NATS server and its database.
#[derive(Debug)]
pub(super) struct TestCluster {
    setup: ServiceSetup,
    pub(super) nats: NatsServer,
    key: String,
    pub(super) nodes: Vec<TestNode>,
}

/// A running node.
#[derive(Debug)]
pub(super) struct TestNode {
    pub(super) name: String,
    is_evaluator: bool,
    server: RunningService,
    /// The operator's client of this node.
    pub(super) operator: ApiClient,
}

impl TestCluster {
    /// Starts nodes with these roles, and waits until the shards are shared.
    pub(super) async fn start(roles: &[&str]) -> Self {
        Self::with_settings(roles, &[]).await
    }

    /// As [`start`](Self::start), with leases that outlast a busy machine.
    pub(super) async fn steady(roles: &[&str]) -> Self {
        Self::with_settings(roles, &[("cluster.lease_ttl", "10s")]).await
    }

    /// As [`start`](Self::start), with further settings.
    pub(super) async fn with_settings(roles: &[&str], settings: &[(&str, &str)]) -> Self {
        let nats = NatsServer::start().await;
        let setup = ServiceSetup::on(DatabaseKind::Postgres).await;
        let mut setup = setup
            .set("auth.secret_key", "a secret that all nodes of the cluster have")
            .set("server.public_url", "http://127.0.0.1:8080");
        for (name, value) in settings {
            setup = setup.set(name, value);
        }
        setup.create_user(OPERATOR, "premium", &["--operator"]).await;
        let key = setup.create_key(OPERATOR, Some(ALL_SCOPES)).await;
        let setup = setup.set("cluster.nats_urls", &nats.url());
        let mut cluster = Self {
            setup,
            nats,
            key,
            nodes: Vec::new(),
        };
        for (number, roles) in roles.iter().enumerate() {
            cluster.add(&format!("node-{number}"), roles).await;
        }
        cluster.wait_until_shared().await;
        cluster
    }

    /// Starts a node, and waits until it is ready.
    pub(super) async fn add(&mut self, name: &str, roles: &str) {
        let named = [("cluster.node_id", name)];
        let started = self.setup.launch_with_settings(&["serve", "--roles", roles], &named);
        let server = started.wait_until_ready().await;
        let operator = server.anonymous_client().with_key(&self.key);
        self.nodes.push(TestNode {
            name: name.to_owned(),
            is_evaluator: roles.contains("evaluator"),
            server,
            operator,
        });
    }

    /// Creates an account, and returns its client of the first node.
    pub(super) async fn add_account(&self, email: &str) -> ApiClient {
        self.setup.create_user(email, "premium", &[]).await;
        let key = self.setup.create_key(email, None).await;
        self.first().operator.with_key(&key)
    }

    /// Waits until the nodes with these names together have all dispatch shards, and each of them some.
    pub(super) async fn wait_until_dispatched_by(&self, names: &[&str]) {
        wait_until("the dispatchers share the deliveries", || async {
            let mut shares = Vec::new();
            for node in self.nodes.iter().filter(|node| names.contains(&node.name.as_str())) {
                shares.push(node.metric("bellwether_dispatch_shards").await);
            }
            shares.len() == names.len()
                && shares.iter().sum::<f64>() == SHARDS
                && shares.iter().all(|share| *share > 0.0)
        })
        .await;
    }

    /// Removes a node from the list, for example to kill it.
    pub(super) fn take(&mut self, name: &str) -> TestNode {
        let at = self.nodes.iter().position(|node| node.name == name).unwrap();
        self.nodes.remove(at)
    }

    /// Waits until each shard has an owner among the running nodes and, if there are two evaluators, a standby that is ready.
    pub(super) async fn wait_until_shared(&self) {
        let evaluators = self.nodes.iter().filter(|node| node.is_evaluator).count();
        let standbys = if evaluators < 2 { 0.0 } else { SHARDS };
        wait_until("all shards have an owner and a standby", || async {
            self.sum("bellwether_shard_owner").await == SHARDS && self.sum("bellwether_shard_standby").await == standbys
        })
        .await;
    }

    /// Returns the sum of a metric over the nodes.
    async fn sum(&self, metric: &str) -> f64 {
        let mut sum = 0.0;
        for node in &self.nodes {
            sum += node.metric(metric).await;
        }
        sum
    }

    /// Returns the first node.
    pub(super) fn first(&self) -> &TestNode {
        &self.nodes[0]
    }
}

impl TestNode {
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

/// Waits until a condition holds.
pub(super) async fn wait_until<F: Future<Output = bool>>(description: &str, mut holds: impl FnMut() -> F) {
    wait_for(description, || {
        let holds = holds();
        async { holds.await.then_some(()) }
    })
    .await;
}

/// Symbols that lie in many shards.
pub(super) fn symbols(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("S{number:03}")).collect()
}

/// Quotes of stocks at one price.
pub(super) fn quotes(symbols: &[String], price: f64) -> Value {
    let quotes = symbols.iter().map(|symbol| json!({"symbol": symbol, "price": price}));
    quotes.collect()
}

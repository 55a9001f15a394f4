//! Nodes that are started, killed, stopped, continued and cut off, and their database.

use std::path::Path;

use acceptance::clock::wait_for;
use acceptance::environment::{ALL_SCOPES, OPERATOR};
use acceptance::tools::faketime_environment;
use acceptance::{ApiClient, DatabaseKind, Relay, ServiceSetup};
use serde_json::{Value, json};
use testkit::nats::NatsServer;

use super::node::TestNode;

/// The number of shards, and that of dispatch shards.
pub(super) const SHARDS: f64 = 256.0;
/// An evaluator that has its share of the shards owns more than this. Shares differ, because shards rank the evaluators by hashes.
const MIN_SHARE: f64 = 60.0;

/// A cluster with its NATS server and its database.
#[derive(Debug)]
pub(super) struct TestCluster {
    pub(super) setup: ServiceSetup,
    pub(super) nats: NatsServer,
    key: String,
    pub(super) nodes: Vec<TestNode>,
}

/// The connections of a node, which a test cuts.
#[derive(Debug)]
pub(super) struct NodeRelays {
    pub(super) to_database: Relay,
    pub(super) to_nats: Relay,
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
        let mut cluster = Self::without_nodes(settings).await;
        for (number, roles) in roles.iter().enumerate() {
            cluster.add(&format!("node-{number}"), roles).await;
        }
        cluster.wait_until_shared().await;
        cluster
    }

    /// Starts a NATS server, and creates a database with the operator's account.
    pub(super) async fn without_nodes(settings: &[(&str, &str)]) -> Self {
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
        Self {
            setup,
            nats,
            key,
            nodes: Vec::new(),
        }
    }

    /// Starts a node, and waits until it is ready.
    pub(super) async fn add(&mut self, name: &str, roles: &str) {
        self.add_with(name, roles, &[], &[]).await;
    }

    /// As [`add`](Self::add), with settings and environment variables of this node alone.
    pub(super) async fn add_with(
        &mut self,
        name: &str,
        roles: &str,
        settings: &[(&str, &str)],
        environment: &[(&str, &str)],
    ) {
        let node = self.start_node(name, roles, settings, environment).await;
        self.nodes.push(node);
    }

    /// As [`add`](Self::add), for a node that reaches the database and NATS through relays.
    pub(super) async fn add_behind_relays(&mut self, name: &str, roles: &str) -> NodeRelays {
        let relays = NodeRelays {
            to_database: Relay::to_postgres(self.setup.database_url()).await,
            to_nats: Relay::to_nats(&self.nats.url()).await,
        };
        let settings = [
            ("database.url", relays.to_database.url()),
            ("cluster.nats_urls", relays.to_nats.url()),
        ];
        self.add_with(name, roles, &settings, &[]).await;
        relays
    }

    async fn start_node(
        &self,
        name: &str,
        roles: &str,
        settings: &[(&str, &str)],
        environment: &[(&str, &str)],
    ) -> TestNode {
        let settings = [&[("cluster.node_id", name)], settings].concat();
        let arguments = ["serve", "--roles", roles];
        let started = self.setup.launch_with_environment(&arguments, &settings, environment);
        let server = started.wait_until_ready().await;
        let operator = server.anonymous_client().with_key(&self.key);
        TestNode {
            name: name.to_owned(),
            roles: roles.to_owned(),
            server,
            operator,
        }
    }

    /// Shuts a node down as an operator does, and starts it again under its name.
    pub(super) async fn upgrade(&mut self, name: &str) {
        let at = self.position(name);
        let node = self.nodes.remove(at);
        let roles = node.roles.clone();
        node.shut_down().await;
        let node = self.start_node(name, &roles, &[], &[]).await;
        self.nodes.insert(at, node);
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
        let at = self.position(name);
        self.nodes.remove(at)
    }

    /// Returns a running node.
    pub(super) fn node(&self, name: &str) -> &TestNode {
        &self.nodes[self.position(name)]
    }

    fn position(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).unwrap()
    }

    /// Waits as [`wait_until_shared`](Self::wait_until_shared), and until each evaluator owns its share.
    pub(super) async fn wait_until_each_owns_its_share(&self) {
        wait_until("each evaluator owns its share", || async {
            let mut shares = Vec::new();
            for node in self.nodes.iter().filter(|node| node.is_evaluator()) {
                shares.push(node.metric("bellwether_shard_owner").await);
            }
            shares.iter().all(|share| *share > MIN_SHARE)
        })
        .await;
        self.wait_until_shared().await;
    }

    /// Waits until each shard has an owner among the running nodes and, if there are two evaluators, a standby that is ready.
    pub(super) async fn wait_until_shared(&self) {
        let evaluators = self.nodes.iter().filter(|node| node.is_evaluator()).count();
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

/// Returns the environment variables of a node whose system clock is wrong by an offset such as `+5s`.
pub(super) fn shifted_clock<'a>(libfaketime: &'a Path, offset: &'a str) -> [(&'static str, &'a str); 4] {
    let [preload, one, other] = faketime_environment(libfaketime);
    [preload, one, other, ("FAKETIME", offset)]
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

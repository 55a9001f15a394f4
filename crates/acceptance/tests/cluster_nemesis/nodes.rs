//! The processes of a round.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use acceptance::clock::wait_for;
use acceptance::environment::{ALL_SCOPES, OPERATOR};
use acceptance::{ApiClient, Cut, DatabaseKind, Relay, RunningService, ServiceSetup};
use jiff::Timestamp;
use sqlx::{Connection, PgConnection};
use testkit::nats::NatsServer;
use tokio::sync::Mutex as AsyncMutex;

use crate::clocks::NodeClock;
use crate::database::Database;
use crate::schedule::{Action, Part, Servers, TOPOLOGY};

/// The name of the database among the processes that have faults.
const DATABASE_NAME: &str = "primary";
/// The name of its disk.
const DISK_NAME: &str = "disk";
/// How often a node that ends during its start is started again.
const MAX_STARTS: usize = 100;
/// The pause before such a start.
const START_INTERVAL: Duration = Duration::from_millis(200);

/// A node of the cluster.
pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) part: Part,
    server: AsyncMutex<Option<RunningService>>,
    /// Where the node can be reached, unless it was killed.
    pub(crate) origin: Mutex<Option<String>>,
    /// Until when clients send it no requests, because it has not answered.
    pub(crate) avoided_until: Mutex<Timestamp>,
    is_faulty: AtomicBool,
    to_nats: Vec<Relay>,
    to_database: Relay,
    clock: NodeClock,
}

impl Node {
    /// Cuts the node off, or ends the cut.
    fn set_cut(&self, servers: Servers, cut: Option<Cut>) {
        if servers != Servers::Database {
            for relay in &self.to_nats {
                relay.set_cut(cut);
            }
        }
        if servers != Servers::Nats {
            self.to_database.set_cut(cut);
        }
    }
}

struct Nats {
    server: AsyncMutex<NatsServer>,
    is_faulty: AtomicBool,
}

/// The nodes, the NATS servers and the database.
pub(crate) struct Cluster {
    setup: ServiceSetup,
    database: Database,
    is_failed_over: AtomicBool,
    pub(crate) client: ApiClient,
    pub(crate) nodes: Vec<Node>,
    nats: Vec<Nats>,
    /// The number of requests so far, which go to the API nodes in turn.
    pub(crate) next_api: AtomicUsize,
    /// The logs of processes that have ended, with their nodes.
    ended: Mutex<Vec<(&'static str, String)>>,
}

impl Cluster {
    /// Starts the nodes of the topology, and waits until the shards are shared.
    pub(crate) async fn start(nats_servers: usize, has_clock_faults: bool, settings: &[(&str, &str)]) -> Self {
        let servers = NatsServer::start_cluster(nats_servers).await;
        let database = Database::start();
        // All processes use `database` instead of the setup's own file.
        let mut setup = ServiceSetup::on(DatabaseKind::Sqlite)
            .await
            .set("database.url", &database.url())
            .set("auth.secret_key", "a secret that all nodes of the cluster have")
            .set("server.public_url", "http://127.0.0.1:8080")
            .set("limits.premium_per_hour", "100000000")
            .set("notifications.burst_limit", "1000000")
            .set("webhooks.allow_private_cidrs", "127.0.0.1")
            .set("webhooks.timeout", "2s")
            .set("webhooks.retry_delays", &["1s"; 60].join(","));
        for (name, value) in settings {
            setup = setup.set(name, value);
        }
        setup.create_user(OPERATOR, "premium", &["--operator"]).await;
        let key = setup.create_key(OPERATOR, Some(ALL_SCOPES)).await;
        database.prepare_disk().await;
        let mut nodes = Vec::new();
        for (name, part) in TOPOLOGY {
            let mut to_nats = Vec::new();
            for server in &servers {
                to_nats.push(Relay::to_nats(&server.url()).await);
            }
            nodes.push(Node {
                name,
                part,
                server: AsyncMutex::new(None),
                origin: Mutex::new(None),
                avoided_until: Mutex::new(Timestamp::MIN),
                is_faulty: AtomicBool::new(false),
                to_nats,
                to_database: Relay::to_postgres_socket(&database.url(), database.socket()),
                clock: NodeClock::new(has_clock_faults),
            });
        }
        let nats = servers.into_iter().map(|server| Nats {
            server: AsyncMutex::new(server),
            is_faulty: AtomicBool::new(false),
        });
        let cluster = Self {
            setup,
            database,
            is_failed_over: AtomicBool::new(false),
            client: ApiClient::new("http://127.0.0.1").with_key(&key),
            nodes,
            nats: nats.collect(),
            next_api: AtomicUsize::new(0),
            ended: Mutex::default(),
        };
        for node in &cluster.nodes {
            cluster.start_node(node).await;
        }
        cluster.wait_until_shared().await;
        cluster
    }

    /// Starts a node, again if it ends, as a supervisor does, and waits until it is ready.
    async fn start_node(&self, node: &Node) {
        let mut server = node.server.lock().await;
        let nats_urls: Vec<&str> = node.to_nats.iter().map(Relay::url).collect();
        let settings = [
            ("cluster.node_id", node.name),
            ("cluster.nats_urls", &nats_urls.join(",")),
            ("database.url", node.to_database.url()),
        ];
        for _ in 0..MAX_STARTS {
            let arguments = ["serve", "--roles", node.part.roles()];
            let environment = node.clock.environment();
            let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
            let started = self.setup.launch_with_environment(&arguments, &settings, &environment);
            match tokio::spawn(started.wait_until_ready()).await {
                Ok(ready) => {
                    *node.origin.lock().unwrap() = Some(ready.origin.clone());
                    *server = Some(ready);
                    return;
                }
                Err(error) => println!("{} does not start: {error}", node.name),
            }
            tokio::time::sleep(START_INTERVAL).await;
        }
        panic!("{} does not start", node.name);
    }

    /// Waits until each shard has an owner and a standby that is ready.
    pub(crate) async fn wait_until_shared(&self) {
        wait_for("each shard has an owner and a standby", || async {
            let mut connection = PgConnection::connect(&self.database_url()).await.ok()?;
            let shared: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM shards s JOIN nodes o ON o.id = s.owner_id JOIN nodes b ON b.id = s.standby_id \
                 WHERE s.is_standby_ready AND o.id <> b.id",
            )
            .fetch_one(&mut connection)
            .await
            .ok()?;
            (shared == 256).then_some(())
        })
        .await;
    }

    /// Returns the shards that a node owns.
    pub(crate) async fn shards_of(&self, name: &str) -> HashSet<u8> {
        let query = "SELECT s.shard FROM shards s JOIN nodes n ON n.id = s.owner_id WHERE n.name = $1";
        let shards: Vec<i64> = wait_for("the database responds", || async {
            let mut connection = PgConnection::connect(&self.database_url()).await.ok()?;
            sqlx::query_scalar(query)
                .bind(name)
                .fetch_all(&mut connection)
                .await
                .ok()
        })
        .await;
        shards.into_iter().map(|shard| u8::try_from(shard).unwrap()).collect()
    }

    /// Returns the URL of the primary.
    pub(crate) fn database_url(&self) -> String {
        self.database.url()
    }

    /// Takes a process of a part for a fault: the one with this index, or the next one that works. `None` if too many are faulty.
    pub(crate) fn take_for_fault(&self, part: Part, index: usize) -> Option<&'static str> {
        const NATS_NAMES: [&str; 3] = ["nats-0", "nats-1", "nats-2"];
        if part == Part::Database {
            return (!self.is_failed_over.swap(true, Ordering::AcqRel)).then_some(DATABASE_NAME);
        }
        if part == Part::Disk {
            return Some(DISK_NAME);
        }
        if part == Part::Nats {
            let at = index % self.nats.len();
            let taken = !self.nats[at].is_faulty.swap(true, Ordering::AcqRel);
            return taken.then_some(NATS_NAMES[at]);
        }
        let nodes: Vec<&Node> = self.nodes.iter().filter(|node| node.part == part).collect();
        let working: Vec<&&Node> = nodes
            .iter()
            .filter(|node| !node.is_faulty.load(Ordering::Acquire))
            .collect();
        // One of them keeps working.
        if working.len() < 2 {
            return None;
        }
        let node = working[index % working.len()];
        node.is_faulty.store(true, Ordering::Release);
        Some(node.name)
    }

    /// Applies a fault to a process.
    pub(crate) async fn break_process(&self, name: &str, action: Action) {
        if name == DATABASE_NAME {
            return self.database.kill_primary();
        }
        if name == DISK_NAME {
            return self.database.set_disk_full(true).await;
        }
        match (self.nats_server(name), action) {
            (Some(nats), Action::Kill) => nats.server.lock().await.kill(),
            (Some(nats), _) => nats.server.lock().await.pause(),
            (None, Action::Kill) => self.kill_node(self.node(name)).await,
            (None, Action::Stop) => self.signal(name, "STOP").await,
            (None, Action::Cut(servers, cut)) => self.node(name).set_cut(servers, Some(cut)),
            (None, Action::ClockAhead | Action::ClockBehind) => self.node(name).clock.set(action),
            (None, Action::Fill) => unreachable!("only the disk is filled"),
        }
    }

    /// Ends a fault.
    pub(crate) async fn repair(&self, name: &str, action: Action) {
        if name == DATABASE_NAME {
            return self.database.promote_replica();
        }
        if name == DISK_NAME {
            return self.database.set_disk_full(false).await;
        }
        match (self.nats_server(name), action) {
            (Some(nats), Action::Kill) => restart(&mut *nats.server.lock().await),
            (Some(nats), _) => nats.server.lock().await.resume(),
            (None, Action::Kill) => self.start_node(self.node(name)).await,
            (None, Action::Stop) => self.signal(name, "CONT").await,
            (None, Action::Cut(servers, _)) => self.node(name).set_cut(servers, None),
            (None, Action::ClockAhead | Action::ClockBehind) => self.node(name).clock.set_right(),
            (None, Action::Fill) => unreachable!("only the disk is filled"),
        }
        match self.nats_server(name) {
            Some(nats) => nats.is_faulty.store(false, Ordering::Release),
            None => self.node(name).is_faulty.store(false, Ordering::Release),
        }
    }

    async fn kill_node(&self, node: &Node) {
        *node.origin.lock().unwrap() = None;
        let killed = node.server.lock().await.take().unwrap();
        let log = killed.log();
        killed.kill().await;
        self.ended.lock().unwrap().push((node.name, log));
    }

    async fn signal(&self, name: &str, signal: &str) {
        let pid = self.node(name).server.lock().await.as_ref().unwrap().pid();
        let mut command = tokio::process::Command::new("kill");
        let sent = command.args([format!("-{signal}"), pid.to_string()]).status().await;
        assert!(sent.unwrap().success(), "kill -{signal} {name}");
    }

    fn node(&self, name: &str) -> &Node {
        self.nodes.iter().find(|node| node.name == name).unwrap()
    }

    fn nats_server(&self, name: &str) -> Option<&Nats> {
        let index: usize = name.strip_prefix("nats-")?.parse().ok()?;
        self.nats.get(index)
    }

    /// Returns the logs of all processes, with their nodes.
    pub(crate) async fn logs(&self) -> Vec<(&'static str, String)> {
        let mut logs = self.ended.lock().unwrap().clone();
        for node in &self.nodes {
            if let Some(server) = &*node.server.lock().await {
                logs.push((node.name, server.log()));
            }
        }
        logs
    }
}

/// Starts a NATS server again.
fn restart(server: &mut NatsServer) {
    // Its future cannot be sent to another thread.
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(server.restart()));
}

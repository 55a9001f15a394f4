//! The source on two nodes of a cluster. Only nodes of a cluster have a leased source, so these tests run on PostgreSQL.

use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clock::{Clock, ManualClock};
use foundation::{Network, Random};
use market::Calendar;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sources::simulated::SimulationConfig;
use store::{Store, StoreOptions};
use testkit::{Database, eventually};
use tokio::sync::Notify;

use super::*;
use crate::feed::SourceConfig;
use crate::{EvaluationConfig, EvaluationUseCases};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// The duration of a lease that ends during the test if it is not renewed.
const SHORT_LEASE: SignedDuration = SignedDuration::from_millis(50);

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new("2024-03-08T15:00:00Z".parse().unwrap()))
}

async fn ports(database: &Database, clock: &Arc<ManualClock>, node: u64) -> Ports {
    Ports {
        store: Store::open(StoreOptions::new(database.url())).await.unwrap(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        random: Arc::new(Random::new(Box::new(ChaCha20Rng::seed_from_u64(node)))),
        vault: Arc::new(foundation::vault::Vault::new(b"a key for tests")),
        network: Network::new(clock.clone()),
    }
}

/// The sources of all nodes: how many run, and the maximum that ran at the same time.
#[derive(Debug, Default)]
struct Sources {
    running: AtomicUsize,
    maximum: AtomicUsize,
}

/// A running source. Dropping it stops it.
struct RunningSource {
    sources: Arc<Sources>,
    of_node: Arc<AtomicUsize>,
}

impl RunningSource {
    fn start(sources: &Arc<Sources>, of_node: &Arc<AtomicUsize>) -> Self {
        let running = sources.running.fetch_add(1, Ordering::SeqCst) + 1;
        sources.maximum.fetch_max(running, Ordering::SeqCst);
        of_node.fetch_add(1, Ordering::SeqCst);
        Self {
            sources: Arc::clone(sources),
            of_node: Arc::clone(of_node),
        }
    }
}

impl Drop for RunningSource {
    fn drop(&mut self) {
        self.sources.running.fetch_sub(1, Ordering::SeqCst);
        self.of_node.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A node with a source that runs until it is stopped.
struct Node {
    store: Store,
    clock: Arc<ManualClock>,
    source: LeasedSource,
    running: Arc<AtomicUsize>,
    /// The argument of each start.
    starts: Arc<Mutex<Vec<Option<Timestamp>>>>,
}

impl Node {
    /// Starts a node whose source fails `failures` times before it runs.
    async fn start(
        database: &Database,
        (number, lease_ttl): (u64, SignedDuration),
        sources: &Arc<Sources>,
        failures: usize,
    ) -> Self {
        let clock = clock();
        let ports = ports(database, &clock, number).await;
        let (running, starts) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<_>>>::default());
        let (sources, of_node, log) = (Arc::clone(sources), Arc::clone(&running), Arc::clone(&starts));
        let source = LeasedSource::start(&ports, lease_ttl, move |used_until| {
            let (sources, of_node, log) = (Arc::clone(&sources), Arc::clone(&of_node), Arc::clone(&log));
            async move {
                let _running = RunningSource::start(&sources, &of_node);
                let started = {
                    let mut log = log.lock().unwrap();
                    log.push(used_until);
                    log.len()
                };
                if started <= failures {
                    return Err("the provider does not answer".to_owned());
                }
                pending().await
            }
        });
        Self {
            store: ports.store,
            clock,
            source,
            running,
            starts,
        }
    }

    fn starts(&self) -> Vec<Option<Timestamp>> {
        self.starts.lock().unwrap().clone()
    }

    fn is_running(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 1
    }

    /// Advances the clock of the node until its source runs.
    async fn runs_after(&self, step: SignedDuration) {
        eventually("the source of the node runs", async || {
            self.clock.advance(step);
            self.is_running()
        })
        .await;
    }

    async fn lease_end(&self) -> Timestamp {
        self.store.job_lease_end(LEASE).await.unwrap().unwrap()
    }

    /// Returns the time by the database's clock: the end of a lease of no duration.
    async fn database_time(&self) -> Timestamp {
        let (job, holder) = ("nothing", uuid::Uuid::nil());
        assert!(
            self.store
                .claim_job_lease(job, holder, SignedDuration::ZERO)
                .await
                .unwrap()
        );
        self.store.job_lease_end(job).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn one_of_two_nodes_runs_the_source_until_it_stops() {
    let (database, sources) = (Database::postgres().await, Arc::<Sources>::default());
    let first = Node::start(&database, (1, HOUR), &sources, 0).await;
    first.runs_after(SignedDuration::ZERO).await;
    assert_eq!(first.starts(), [None], "no node ran it before");
    let second = Node::start(&database, (2, HOUR), &sources, 0).await;
    let before = second.store.write_stats().transactions;
    eventually("the second node has tried to claim the lease three times", async || {
        for node in [&first, &second] {
            node.clock.advance(HOUR / 3);
        }
        tokio::task::yield_now().await;
        second.store.write_stats().transactions > before + 2
    })
    .await;
    assert!(first.is_running() && second.starts().is_empty());
    let stopped_after = second.database_time().await;
    first.source.stop().await;
    assert_eq!(first.running.load(Ordering::SeqCst), 0, "it has stopped");
    second.runs_after(HOUR / 3).await;
    let starts = second.starts();
    let used_until = starts[0].unwrap();
    let latest = second.database_time().await.saturating_add(HOUR).unwrap();
    assert!((stopped_after..=latest).contains(&used_until), "{starts:?}");
    assert_eq!(sources.maximum.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn other_node_runs_the_source_when_the_lease_has_ended() {
    let (database, sources) = (Database::postgres().await, Arc::<Sources>::default());
    let first = Node::start(&database, (1, SHORT_LEASE), &sources, 0).await;
    first.runs_after(SignedDuration::ZERO).await;
    // The clock of the first node stands still, so it does not renew its lease, as if it was stopped.
    let end = first.lease_end().await;
    let second = Node::start(&database, (2, HOUR), &sources, 0).await;
    second.runs_after(HOUR / 3).await;
    assert_eq!(
        second.starts(),
        [Some(end)],
        "the first node may have fetched data until then"
    );
    eventually("the first node notices that its lease has ended", async || {
        first.clock.advance(SHORT_LEASE / 3);
        tokio::task::yield_now().await;
        !first.is_running()
    })
    .await;
    assert!(second.is_running());
    assert_eq!(first.starts().len(), 1);
}

#[tokio::test]
async fn lease_returns_to_a_node_with_the_end_of_the_others() {
    let (database, sources) = (Database::postgres().await, Arc::<Sources>::default());
    let first = Node::start(&database, (1, HOUR), &sources, 0).await;
    first.runs_after(SignedDuration::ZERO).await;
    let second = Node::start(&database, (2, HOUR), &sources, 0).await;
    first.source.stop().await;
    second.runs_after(HOUR / 3).await;
    second.source.stop().await;
    let released_at = second.store.job_lease_end(LEASE).await.unwrap().unwrap();
    let third = Node::start(&database, (3, HOUR), &sources, 0).await;
    third.runs_after(HOUR / 3).await;
    assert_eq!(third.starts(), [Some(released_at)]);
    assert_eq!(sources.maximum.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn source_that_fails_is_started_again_on_the_same_node() {
    let (database, sources) = (Database::postgres().await, Arc::<Sources>::default());
    let node = Node::start(&database, (1, HOUR), &sources, 2).await;
    eventually("the source has been started three times", async || {
        node.clock.advance(HOUR / 3);
        tokio::task::yield_now().await;
        node.starts().len() == 3 && node.is_running()
    })
    .await;
    assert_eq!(sources.maximum.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn source_has_ended_when_its_lease_is_released() {
    let (database, clock) = (Database::postgres().await, clock());
    let ports = ports(&database, &clock, 1).await;
    let config = EvaluationConfig {
        calendar: Calendar::nyse(),
        engine: ::alerts::engine::EngineConfig::default(),
        benchmark: "SPY".parse().unwrap(),
        missing_feeds: Vec::new(),
        follow_every: SignedDuration::from_secs(1),
        compare_every: SignedDuration::from_mins(5),
    };
    let evaluation = EvaluationUseCases::new(&ports, &Arc::new(config), None);
    evaluation.evaluator.load().await.unwrap();
    // Only the source and this test hold it.
    let held = Arc::new(ManualClock::new(clock.now()));
    let of_source: Arc<dyn Clock> = held.clone();
    let started = Arc::new(Notify::new());
    let began = Arc::clone(&started);
    let source = LeasedSource::start(&ports, HOUR, move |_| {
        let market = SimulationConfig {
            companies: 1,
            history_days: 5,
            ..SimulationConfig::default()
        };
        let source = SourceConfig::Simulated { market, saved: None };
        let task = SourceTask::start(source, &Calendar::nyse(), &evaluation, &of_source);
        began.notify_one();
        async move { Ok::<_, String>(task) }
    });
    started.notified().await;
    source.stop().await;
    assert_eq!(Arc::strong_count(&held), 1, "no task of the source runs any more");
}

//! Several dispatchers share the endpoints of an outbox: each serves its share, which may change at any time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use notify::dispatcher::{
    ClaimParams, ClaimedJob, DispatchShard, DispatcherLimits, DueEndpoint, EndpointShare, Outbox, SettledJob,
    WakeHandle,
};

use crate::notify::common::dispatcher_fixture::{
    AttemptBehaviour, DispatcherFixture, Job, RunningDispatcher, TestReport,
};
use crate::notify::common::outbox::{MemoryOutbox, OutboxCall, Status};
use crate::notify::common::random::Random;

const QUEUE: &str = "webhooks";

type Shards = BTreeSet<DispatchShard>;

/// Returns the lower or the upper half of the shards.
fn half(is_lower: bool) -> Shards {
    DispatchShard::all()
        .filter(|shard| (shard.0 < 128) == is_lower)
        .collect()
}

fn all_shards() -> Shards {
    DispatchShard::all().collect()
}

/// Returns endpoints of some shards, in ascending order.
fn endpoints_in(shards: &Shards) -> impl Iterator<Item = i64> {
    (1..).filter(|endpoint| shards.contains(&DispatchShard::of(QUEUE, *endpoint)))
}

/// The outbox of one of several dispatchers.
struct SharedOutbox {
    outbox: Arc<MemoryOutbox<Job, TestReport>>,
    share: Mutex<EndpointShare>,
    /// The endpoints in its claims.
    claimed: Mutex<BTreeSet<i64>>,
}

impl Outbox for SharedOutbox {
    type Job = Job;
    type Report = TestReport;
    type Error = String;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, String> {
        self.outbox.due_endpoints(after, limit).await
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<Job>>, String> {
        self.claimed.lock().unwrap().extend(&params.endpoints);
        self.outbox.claim(params).await
    }

    async fn settle(&self, settled: &[SettledJob<TestReport>]) -> Result<(), String> {
        self.outbox.settle(settled).await
    }

    fn share(&self) -> EndpointShare {
        self.share.lock().unwrap().clone()
    }
}

/// One of several dispatchers.
struct SharingDispatcher {
    outbox: Arc<SharedOutbox>,
    wake_handle: WakeHandle,
    running: RunningDispatcher,
}

impl SharingDispatcher {
    fn start(
        fixture: &DispatcherFixture,
        limits: &DispatcherLimits,
        (shards, dispatchers): (Shards, usize),
        random: u64,
    ) -> Self {
        let outbox = Arc::new(SharedOutbox {
            outbox: Arc::clone(&fixture.outbox),
            share: Mutex::new(EndpointShare::new(QUEUE, Arc::new(shards), dispatchers)),
            claimed: Mutex::default(),
        });
        let wake_handle = WakeHandle::default();
        let running = fixture.dispatch_from(Arc::clone(&outbox), &wake_handle, limits.clone(), random);
        Self {
            outbox,
            wake_handle,
            running,
        }
    }

    fn set_share(&self, shards: Shards, dispatchers: usize) {
        *self.outbox.share.lock().unwrap() = EndpointShare::new(QUEUE, Arc::new(shards), dispatchers);
        self.wake_handle.wake();
    }

    fn claimed(&self) -> BTreeSet<i64> {
        self.outbox.claimed.lock().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn two_dispatchers_claim_only_endpoints_of_their_shares() {
    let fixture = DispatcherFixture::new();
    for endpoint in 0..200 {
        for _ in 0..3 {
            fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(20)]);
        }
    }
    let limits = DispatcherLimits::default();
    let [lower, upper] = [true, false].map(|is_lower| {
        let random = if is_lower { 2 } else { 4 };
        SharingDispatcher::start(&fixture, &limits, (half(is_lower), 2), random)
    });
    fixture.outbox.done().await;
    assert_eq!(fixture.transport.attempts(), 600);
    for (dispatcher, is_lower) in [(&lower, true), (&upper, false)] {
        let expected: BTreeSet<i64> = endpoints_in(&half(is_lower)).take_while(|id| *id < 200).collect();
        let claimed: BTreeSet<i64> = dispatcher.claimed().into_iter().filter(|id| *id > 0).collect();
        assert_eq!(claimed, expected);
        assert!(expected.len() > 60, "{expected:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn endpoint_behind_whole_pages_of_other_dispatchers_is_found_by_the_same_poll() {
    let fixture = DispatcherFixture::new();
    let others: Vec<i64> = endpoints_in(&half(false)).take(9_000).collect();
    for endpoint in &others {
        fixture.queue(*endpoint, &[AttemptBehaviour::Succeeds(0)]);
    }
    let last = others.last().unwrap();
    let own = endpoints_in(&half(true)).find(|endpoint| endpoint > last).unwrap();
    let key = fixture.queue(own, &[AttemptBehaviour::Succeeds(0)]);
    let dispatcher = SharingDispatcher::start(&fixture, &DispatcherLimits::default(), (half(true), 2), 0);
    fixture.outbox.tried(key, 1).await;
    assert_eq!(fixture.latency_ms(key), 0);
    assert_eq!(dispatcher.claimed(), BTreeSet::from([own]));
}

#[tokio::test(start_paused = true)]
async fn endpoint_of_another_dispatcher_causes_no_polls_when_it_is_due() {
    let fixture = DispatcherFixture::new();
    let other = endpoints_in(&half(false)).next().unwrap();
    fixture.queue(other, &[AttemptBehaviour::Succeeds(0)]);
    SharingDispatcher::start(&fixture, &DispatcherLimits::default(), (half(true), 2), 0);
    fixture.sleep(60_001).await;
    // It polls at the start, and then every 15 seconds.
    assert_eq!(fixture.outbox.all.lock().unwrap().polls, 5);
}

#[tokio::test(start_paused = true)]
async fn dispatcher_that_loses_an_endpoint_releases_its_waiting_deliveries_at_once() {
    let fixture = DispatcherFixture::new();
    let keys: Vec<i64> = (0..4)
        .map(|_| fixture.queue(1, &[AttemptBehaviour::Succeeds(900)]))
        .collect();
    let limits = DispatcherLimits::default();
    let first = SharingDispatcher::start(&fixture, &limits, (all_shards(), 1), 2);
    let leased = || {
        let all = fixture.outbox.all.lock().unwrap();
        all.rows.values().filter(|row| row.lease.is_some()).count()
    };
    fixture.sleep(100).await;
    assert_eq!((fixture.transport.running(), leased()), (2, 4));
    first.set_share(Shards::new(), 2);
    fixture.sleep(100).await;
    assert_eq!((fixture.transport.running(), leased()), (2, 2));
    // Before the next poll of the first one, and long before the end of its claims.
    SharingDispatcher::start(&fixture, &limits, (all_shards(), 2), 4);
    fixture.outbox.done().await;
    assert!(keys.iter().all(|key| fixture.latency_ms(*key) <= 1_100));
    assert_eq!(fixture.transport.attempts(), 4);
}

#[tokio::test(start_paused = true)]
async fn claim_that_returns_after_the_loss_of_its_endpoint_starts_no_attempt() {
    let fixture = DispatcherFixture::new();
    let key = fixture.queue(1, &[AttemptBehaviour::Succeeds(0)]);
    fixture.outbox.takes(OutboxCall::Claim, 1_000);
    let dispatcher = SharingDispatcher::start(&fixture, &DispatcherLimits::default(), (all_shards(), 1), 0);
    fixture.sleep(500).await;
    assert_eq!(dispatcher.claimed(), BTreeSet::from([1]));
    dispatcher.set_share(Shards::new(), 2);
    fixture.sleep(1_000).await;
    let row = fixture.outbox.row(key);
    assert_eq!((row.status, row.lease, row.tries), (Status::Pending, None, 0));
    dispatcher.set_share(all_shards(), 1);
    fixture.outbox.tried(key, 1).await;
    // It looks at once when it has the endpoint again, and the claim takes a second.
    assert_eq!(fixture.latency_ms(key), 2_500);
}

/// Queues deliveries for twenty endpoints that have one host or one account.
fn queue_for_one(of: &'static str, fixture: &DispatcherFixture) {
    for endpoint in 0..20 {
        let (host, account) = match of {
            "host" => ("one.example".to_owned(), u128::try_from(endpoint).unwrap()),
            _ => (format!("{endpoint}.example"), 1),
        };
        for _ in 0..20 {
            fixture.queue_for(endpoint, &host, account, &[AttemptBehaviour::Succeeds(100)]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn bounds_of_hosts_and_accounts_follow_the_number_of_dispatchers() {
    for of in ["host", "account"] {
        let limits = DispatcherLimits {
            max_attempts_per_host: 9,
            max_attempts_per_account: 9,
            ..DispatcherLimits::default()
        };
        let fixture = DispatcherFixture::new();
        queue_for_one(of, &fixture);
        let dispatcher = SharingDispatcher::start(&fixture, &limits, (all_shards(), 2), 0);
        fixture.sleep(1_050).await;
        assert_eq!(fixture.transport.max(of), 4, "half of 9, rounded down");
        dispatcher.set_share(all_shards(), 1);
        fixture.sleep(20).await;
        assert_eq!(fixture.transport.running(), 9, "free slots are used at once");
        dispatcher.set_share(all_shards(), 10);
        fixture.sleep(20).await;
        assert!(fixture.transport.running() > 1, "attempts in progress end");
        fixture.sleep(100).await;
        assert_eq!(fixture.transport.running(), 1, "at least one attempt");
        dispatcher.set_share(all_shards(), 1);
        fixture.outbox.done().await;
        assert_eq!(fixture.transport.attempts(), 400);
        assert_eq!(fixture.transport.max(of), 9);
    }
}

#[tokio::test(start_paused = true)]
async fn random_changes_of_the_shares_lose_and_double_nothing() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let limits = DispatcherLimits {
            max_attempts: random.small(12),
            max_attempts_per_host: random.small(6),
            max_attempts_per_account: random.small(6),
            max_waiting: random.small(20) + 1,
            max_waiting_per_endpoint: random.small(8),
            ..DispatcherLimits::default()
        };
        let fixture = DispatcherFixture::new();
        let dispatchers = [1, 2]
            .map(|number| SharingDispatcher::start(&fixture, &limits, (half(number == 1), 2), 4 * seed + 2 * number));
        let mut queued = 0;
        for _ in 0..random.small(6) {
            for _ in 0..random.small(80) {
                let endpoint = i64::try_from(random.below(12)).unwrap();
                let behaviours = [AttemptBehaviour::Succeeds(random.below(2_000))];
                fixture.queue_for(
                    endpoint,
                    &format!("{}.example", endpoint % 3),
                    u128::from(random.below(4)),
                    &behaviours,
                );
                queued += 1;
            }
            // Each shard goes to one of them, or all go to one.
            let lower = match random.below(4) {
                0 => all_shards(),
                1 => Shards::new(),
                _ => DispatchShard::all().filter(|_| random.below(2) == 0).collect(),
            };
            let upper = all_shards().difference(&lower).copied().collect();
            let live = random.small(3);
            for (dispatcher, shards) in dispatchers.iter().zip([lower, upper]) {
                dispatcher.set_share(shards, live);
            }
            fixture.sleep(random.below(3_000)).await;
        }
        let done = tokio::time::timeout(Duration::from_secs(86_400), fixture.outbox.done()).await;
        assert!(done.is_ok(), "seed {seed}: something is stuck with {limits:?}");
        assert_eq!(fixture.transport.attempts(), queued, "seed {seed}");
        for dispatcher in dispatchers {
            dispatcher.running.end().await;
        }
    }
}

//! The dispatcher: no delivery is lost, and all are attempted when they are due.

use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use notify::dispatcher::DispatcherLimits;

use crate::notify::common::dispatcher_fixture::{AttemptBehaviour, DispatcherFixture};
use crate::notify::common::outbox::{InjectedFailure, OutboxCall, Status};

/// The random number that gives no jitter.
const NO_JITTER: u64 = 2_000;

fn millis_between(instants: &[Timestamp]) -> Vec<i128> {
    let pairs = instants.windows(2);
    pairs.map(|pair| pair[1].duration_since(pair[0]).as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn wake_up_delivers_at_once() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    fixture.sleep(3_000).await;
    let key = fixture.queue(1, &[AttemptBehaviour::Succeeds(20)]);
    fixture.wake_handle.wake();
    let row = fixture.outbox.tried(key, 1).await;
    assert_eq!(row.status, Status::Delivered);
    assert_eq!(fixture.latency_ms(key), 20);
}

#[tokio::test(start_paused = true)]
async fn next_poll_finds_deliveries_without_wake_up() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    fixture.sleep(3_000).await;
    let key = fixture.queue(1, &[AttemptBehaviour::Succeeds(0)]);
    fixture.outbox.done().await;
    assert_eq!(fixture.latency_ms(key), 12_000);
}

#[tokio::test(start_paused = true)]
async fn idle_dispatcher_polls_rarely() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    // It polls at the start, and then every 15 seconds. One millisecond more, because the last poll may not have run yet.
    fixture.sleep(3_600_001).await;
    let all = fixture.outbox.all.lock().unwrap();
    assert_eq!((all.polls, all.claims), (241, 0));
}

#[tokio::test(start_paused = true)]
async fn failure_is_retried_after_10_60_and_300_seconds_and_then_given_up() {
    for (random, expected) in [
        (NO_JITTER, [10_000, 60_000, 300_000]),
        (0, [8_000, 48_000, 240_000]),
        (4_000, [12_000, 72_000, 360_000]),
    ] {
        let fixture = DispatcherFixture::new();
        fixture.dispatch(DispatcherLimits::default(), random);
        let key = fixture.queue(1, &[AttemptBehaviour::Fails(0)]);
        fixture.outbox.done().await;
        let row = fixture.outbox.row(key);
        assert_eq!((row.status, row.tries), (Status::Failed, 4));
        let at: Vec<_> = row.reports.iter().map(|report| report.at).collect();
        assert_eq!(millis_between(&at), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_delay_starts_at_the_end_of_the_attempt() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
    let key = fixture.queue(1, &[AttemptBehaviour::Fails(5_000), AttemptBehaviour::Succeeds(0)]);
    fixture.outbox.done().await;
    let at: Vec<_> = fixture.outbox.row(key).reports.iter().map(|report| report.at).collect();
    assert_eq!(millis_between(&at), [15_000]);
}

#[tokio::test(start_paused = true)]
async fn consecutive_failures_of_an_endpoint_are_retried_in_order() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
    let keys = [0, 700, 3_000].map(|millis| {
        (
            millis,
            fixture.queue(1, &[AttemptBehaviour::Fails(millis), AttemptBehaviour::Succeeds(0)]),
        )
    });
    fixture.outbox.done().await;
    for (millis, key) in keys {
        let at: Vec<_> = fixture.outbox.row(key).reports.iter().map(|report| report.at).collect();
        assert_eq!(millis_between(&at), [10_000 + i128::from(millis)]);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_of_a_receiver_is_respected() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
    let key = fixture.queue(
        1,
        &[
            AttemptBehaviour::RetryAfter(120),
            AttemptBehaviour::RetryAfter(7_200),
            AttemptBehaviour::RetryAfter(1),
            AttemptBehaviour::Succeeds(0),
        ],
    );
    fixture.outbox.done().await;
    let row = fixture.outbox.row(key);
    let at: Vec<_> = row.reports.iter().map(|report| report.at).collect();
    assert_eq!(millis_between(&at), [120_000, 3_600_000, 300_000]);
    assert_eq!(row.status, Status::Delivered);
}

#[tokio::test(start_paused = true)]
async fn gone_endpoint_is_disabled_without_retry() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    let key = fixture.queue(1, &[AttemptBehaviour::Gone]);
    fixture.outbox.done().await;
    assert_eq!(fixture.outbox.row(key).tries, 1);
    assert!(fixture.outbox.all.lock().unwrap().disabled.contains(&1));
}

#[tokio::test(start_paused = true)]
async fn panicking_attempt_is_retried_and_affects_no_other() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
    let key = fixture.queue(1, &[AttemptBehaviour::Panics, AttemptBehaviour::Succeeds(0)]);
    let other = fixture.queue(2, &[AttemptBehaviour::Succeeds(0)]);
    fixture.outbox.done().await;
    assert_eq!(fixture.latency_ms(key), 10_000);
    assert_eq!(fixture.latency_ms(other), 0);
}

#[tokio::test(start_paused = true)]
async fn claimed_deliveries_are_reclaimed_after_a_crash_when_the_lease_ends() {
    let fixture = DispatcherFixture::new();
    let before = fixture.dispatch(DispatcherLimits::default(), 1);
    // The first two are in progress when the dispatcher dies.
    let hang = (0..2).map(|_| fixture.queue(1, &[AttemptBehaviour::Hangs, AttemptBehaviour::Succeeds(0)]));
    let mut keys: Vec<_> = hang.collect();
    keys.extend((0..38).map(|_| fixture.queue(1, &[AttemptBehaviour::Succeeds(0)])));
    fixture.sleep(1).await;
    let claimed = fixture
        .outbox
        .all
        .lock()
        .unwrap()
        .rows
        .values()
        .filter(|row| row.lease.is_some())
        .count();
    before.task.abort();
    let _ = before.task.await;
    fixture.sleep(1_000).await;
    fixture.dispatch(DispatcherLimits::default(), 2);
    fixture.outbox.done().await;
    // Claimed deliveries are attempted again when the lease ends, the others at once.
    let latencies: Vec<_> = keys.iter().map(|key| fixture.latency_ms(*key)).collect();
    assert!((3..40).contains(&claimed), "{claimed}");
    assert_eq!(latencies[..claimed], vec![60_000; claimed]);
    assert_eq!(latencies[claimed..], vec![1_001; 40 - claimed]);
    for key in keys {
        let row = fixture.outbox.row(key);
        assert_eq!((row.status, row.tries), (Status::Delivered, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn success_counts_after_the_claim_has_ended() {
    let fixture = DispatcherFixture::new();
    let limits = DispatcherLimits {
        lease_duration: SignedDuration::from_secs(20),
        ..DispatcherLimits::default()
    };
    fixture.dispatch(limits, 1);
    let key = fixture.queue(1, &[AttemptBehaviour::Succeeds(30_000)]);
    fixture.outbox.done().await;
    assert_eq!(
        (fixture.outbox.row(key).status, fixture.outbox.row(key).tries),
        (Status::Delivered, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn stop_finishes_attempts_and_releases_waiting_deliveries() {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(DispatcherLimits::default(), 0);
    let keys: Vec<_> = (0..6)
        .map(|_| fixture.queue(1, &[AttemptBehaviour::Succeeds(4_000)]))
        .collect();
    fixture.sleep(1_000).await;
    running.stop.send(()).unwrap();
    let began = tokio::time::Instant::now();
    running.task.await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 3_000);
    let count = |status| {
        keys.iter()
            .filter(|key| fixture.outbox.row(**key).status == status)
            .count()
    };
    assert_eq!((count(Status::Delivered), count(Status::Pending)), (2, 4));
    // Other dispatchers can claim the waiting deliveries at once.
    for row in keys.iter().map(|key| fixture.outbox.row(*key)) {
        let may = row.status == Status::Delivered || row.due <= fixture.time.now();
        assert!(row.lease.is_none() && may, "{row:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn stop_times_out_and_hanging_attempts_stay_claimed() {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(DispatcherLimits::default(), 0);
    let key = fixture.queue(1, &[AttemptBehaviour::Hangs, AttemptBehaviour::Succeeds(0)]);
    fixture.sleep(1_000).await;
    running.stop.send(()).unwrap();
    running.task.await.unwrap();
    let row = fixture.outbox.row(key);
    assert_eq!((row.status, row.lease.is_some(), row.tries), (Status::Pending, true, 0));
    // It is claimed again when the lease has ended.
    fixture.dispatch(DispatcherLimits::default(), 0);
    fixture.outbox.done().await;
    assert_eq!(fixture.latency_ms(key), 60_000);
}

#[tokio::test(start_paused = true)]
async fn idle_dispatcher_stops_at_once() {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(DispatcherLimits::default(), 0);
    fixture.sleep(20_000).await;
    running.stop.send(()).unwrap();
    let began = tokio::time::Instant::now();
    running.task.await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn failed_outbox_call_is_repeated_without_duplicate_attempts() {
    for call in [OutboxCall::DueEndpoints, OutboxCall::Claim, OutboxCall::Settle] {
        for failure in [InjectedFailure::Error, InjectedFailure::Panic] {
            let fixture = DispatcherFixture::new();
            for _ in 0..3 {
                fixture.outbox.fail(call, failure);
            }
            fixture.dispatch(DispatcherLimits::default(), 0);
            let key = fixture.queue(1, &[AttemptBehaviour::Succeeds(0)]);
            fixture.wake_handle.wake();
            fixture.outbox.done().await;
            assert_eq!(fixture.outbox.row(key).tries, 1, "{call:?} {failure:?}");
            assert_eq!(fixture.latency_ms(key), 3_000, "{call:?} {failure:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_settled_in_batches() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..200 {
        fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(10)]);
    }
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    let all = fixture.outbox.all.lock().unwrap();
    assert!(all.batches.len() < 20, "{:?}", all.batches);
    assert_eq!(all.batches.iter().sum::<usize>(), 200);
}

#[tokio::test(start_paused = true)]
async fn many_endpoints_are_all_served() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..9_000 {
        fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(0)]);
    }
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    let latest = (1..=9_000).map(|key| fixture.latency_ms(key)).max().unwrap();
    assert_eq!(latest, 0);
}

#[tokio::test(start_paused = true)]
async fn two_dispatchers_share_an_outbox_without_duplicates() {
    let fixture = DispatcherFixture::new();
    for endpoint in 0..50 {
        for _ in 0..20 {
            fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(50)]);
        }
    }
    fixture.dispatch(DispatcherLimits::default(), 1);
    fixture.dispatch(DispatcherLimits::default(), 2);
    fixture.outbox.done().await;
    let all = fixture.outbox.all.lock().unwrap();
    assert!(
        all.rows
            .values()
            .all(|row| row.tries == 1 && row.status == Status::Delivered)
    );
}

//! Robustness of the dispatcher: shared hosts, slow or failing outboxes, invalid limits. All deliveries finish, and there are no busy
//! loops (the clock of these tests detects them).

use jiff::SignedDuration;
use notify::dispatcher::DispatcherLimits;

use crate::notify::common::dispatcher_fixture::{AttemptBehaviour, DispatcherFixture};
use crate::notify::common::outbox::{OutboxCall, Status};
use crate::notify::common::random::Random;

/// The random number that gives no jitter.
const NO_JITTER: u64 = 2_000;

/// Queues a backlog for endpoints of one host, and later a delivery for another endpoint of it. Returns the latency of that delivery.
async fn latency_of_a_late_endpoint_at_a_busy_host(limits: DispatcherLimits) -> i128 {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(limits, 0);
    for endpoint in 0..5 {
        for _ in 0..200 {
            fixture.queue_for(
                endpoint,
                "all.example",
                u128::try_from(endpoint).unwrap(),
                &[AttemptBehaviour::Succeeds(100)],
            );
        }
    }
    fixture.wake_handle.wake();
    fixture.sleep(5_000).await;
    let late = fixture.queue_for(9, "all.example", 9, &[AttemptBehaviour::Succeeds(100)]);
    fixture.wake_handle.wake();
    fixture.outbox.tried(late, 1).await;
    assert!(fixture.transport.max("host") <= 2);
    running.end().await;
    fixture.latency_ms(late)
}

#[tokio::test(start_paused = true)]
async fn late_endpoint_of_a_busy_host_waits_its_turn_only() {
    let few = DispatcherLimits {
        max_attempts_per_host: 2,
        ..DispatcherLimits::default()
    };
    // Twenty attempts per second, four waiting deliveries. The late endpoint waits behind the five others once to claim and once to
    // send.
    let latency = latency_of_a_late_endpoint_at_a_busy_host(few.clone()).await;
    assert!(latency <= 1_500, "{latency} ms");
    // The same with a single slot, although the queues of the others are never empty.
    let latency = latency_of_a_late_endpoint_at_a_busy_host(DispatcherLimits {
        max_attempts_per_host: 1,
        ..few
    })
    .await;
    assert!(latency <= 3_000, "{latency} ms");
}

#[tokio::test(start_paused = true)]
async fn blocked_new_endpoints_do_not_delay_healthy_ones_of_the_same_host() {
    let limits = DispatcherLimits {
        max_attempts_per_host: 2,
        ..DispatcherLimits::default()
    };
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(limits, 0);
    let queue = |endpoint: i64, behaviour| {
        fixture.queue_for(endpoint, "all.example", u128::try_from(endpoint).unwrap(), &[behaviour])
    };
    let good: Vec<_> = (0..4)
        .map(|endpoint| queue(endpoint, AttemptBehaviour::Succeeds(30)))
        .collect();
    fixture.outbox.done().await;
    // All slots for unproven endpoints are in use, and more deliveries wait than there are slots.
    for endpoint in 1_000..3_000 {
        fixture.queue(endpoint, &[AttemptBehaviour::Fails(9_000)]);
    }
    fixture.wake_handle.wake();
    fixture.sleep(2_000).await;
    let new: Vec<_> = (10..30)
        .map(|endpoint| queue(endpoint, AttemptBehaviour::Succeeds(30)))
        .collect();
    let more: Vec<_> = (0..20)
        .map(|nth| queue(nth % 4, AttemptBehaviour::Succeeds(30)))
        .collect();
    fixture.wake_handle.wake();
    fixture.sleep(400).await;
    for key in good.iter().chain(&more) {
        assert_eq!(fixture.outbox.row(*key).status, Status::Delivered);
    }
    assert!(new.iter().all(|key| fixture.outbox.row(*key).status == Status::Pending));
    for key in new {
        fixture.outbox.tried(key, 1).await;
    }
    running.end().await;
}

#[tokio::test(start_paused = true)]
async fn constant_wake_ups_do_not_interrupt_a_poll() {
    let fixture = DispatcherFixture::new();
    fixture.outbox.takes(OutboxCall::DueEndpoints, 5);
    fixture.dispatch(DispatcherLimits::default(), 0);
    // More endpoints with deliveries that are not due yet than one page of a poll ...
    for endpoint in 0..5_000 {
        fixture.queue(endpoint, &[AttemptBehaviour::RetryAfter(3_000)]);
    }
    fixture.wake_handle.wake();
    fixture
        .outbox
        .until(|all| all.rows.values().all(|row| row.tries == 1))
        .await;
    // ... and one after them, with more wake-ups than polls can finish.
    let last = fixture.queue(9_999, &[AttemptBehaviour::Succeeds(0)]);
    for _ in 0..100 {
        fixture.wake_handle.wake();
        fixture.sleep(1).await;
    }
    assert_eq!(fixture.outbox.row(last).status, Status::Delivered);
    assert!(fixture.latency_ms(last) <= 20);
}

#[tokio::test(start_paused = true)]
async fn slow_outbox_is_waited_for() {
    for call in [OutboxCall::DueEndpoints, OutboxCall::Claim, OutboxCall::Settle] {
        let fixture = DispatcherFixture::new();
        fixture.outbox.takes(call, 20_000);
        let running = fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
        let keys = [1, 2, 3]
            .map(|endpoint| fixture.queue(endpoint, &[AttemptBehaviour::Fails(10), AttemptBehaviour::Succeeds(10)]));
        fixture.wake_handle.wake();
        fixture.outbox.done().await;
        for key in keys {
            let row = fixture.outbox.row(key);
            assert_eq!((row.status, row.tries), (Status::Delivered, 2), "{call:?}");
        }
        let polls = fixture.outbox.all.lock().unwrap().polls;
        assert!(polls < 20, "{call:?}: {polls}");
        running.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn retry_is_on_time_after_a_poll_before_its_settlement() {
    let fixture = DispatcherFixture::new();
    fixture.outbox.takes(OutboxCall::Settle, 3_000);
    fixture.dispatch(DispatcherLimits::default(), NO_JITTER);
    let key = fixture.queue(1, &[AttemptBehaviour::Fails(0), AttemptBehaviour::Succeeds(0)]);
    fixture.wake_handle.wake();
    fixture.sleep(1_000).await;
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    // The retry comes after ten seconds, and is settled three seconds later.
    assert_eq!(fixture.latency_ms(key), 13_000);
}

#[tokio::test(start_paused = true)]
async fn unwritable_result_does_not_block_others() {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(DispatcherLimits::default(), 0);
    let keys: Vec<_> = (0..100)
        .map(|endpoint| fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(10)]))
        .collect();
    fixture.outbox.cannot_settle(keys[50]);
    fixture.wake_handle.wake();
    let others = |key: &i64| *key != keys[50];
    for key in keys.iter().copied().filter(others) {
        fixture.outbox.tried(key, 1).await;
        // The batch is halved every second, so it shrinks from a hundred to one within a minute.
        assert!(fixture.latency_ms(key) < 60_000);
    }
    assert_eq!(fixture.outbox.row(keys[50]).status, Status::Pending);
    running.end().await;
}

#[tokio::test(start_paused = true)]
async fn deliveries_are_not_repeated_while_settling_fails() {
    let fixture = DispatcherFixture::new();
    let limits = DispatcherLimits {
        max_waiting: 10,
        ..DispatcherLimits::default()
    };
    let running = fixture.dispatch(limits, 0);
    for endpoint in 0..100 {
        fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(10)]);
    }
    fixture.outbox.takes(OutboxCall::Settle, 3_600_000);
    fixture.wake_handle.wake();
    // All claims expire fifty times in this period.
    fixture.sleep(3_000_000).await;
    assert_eq!(fixture.transport.attempts(), 100);
    running.task.abort();
}

#[tokio::test(start_paused = true)]
async fn zero_limits_do_not_stop_delivery() {
    let fixture = DispatcherFixture::new();
    let nothing = DispatcherLimits {
        max_healthy_attempts: 0,
        max_new_attempts: 0,
        max_unhealthy_attempts: 0,
        max_unproven_attempts: 0,
        max_attempts: 0,
        max_attempts_per_healthy_endpoint: 0,
        max_attempts_per_unproven_endpoint: 0,
        max_attempts_per_host: 0,
        max_attempts_per_account: 0,
        max_waiting: 0,
        max_waiting_per_endpoint: 0,
        settle_batch_size: 0,
        slow_after: SignedDuration::ZERO,
        lease_duration: SignedDuration::ZERO,
        max_attempt_duration: SignedDuration::ZERO,
        poll_interval: SignedDuration::ZERO,
        unhealthy_claim_interval: SignedDuration::ZERO,
        outbox_retry_delay: SignedDuration::ZERO,
        drain_timeout: SignedDuration::ZERO,
    };
    let running = fixture.dispatch(nothing, NO_JITTER);
    for endpoint in 0..10 {
        fixture.queue(
            endpoint % 3,
            &[AttemptBehaviour::Fails(20), AttemptBehaviour::Succeeds(50)],
        );
    }
    fixture.outbox.done().await;
    assert_eq!(fixture.transport.max("all"), 1);
    running.end().await;
}

#[tokio::test(start_paused = true)]
async fn random_limits_and_failures_always_finish() {
    for seed in 0..150 {
        let mut random = Random(seed);
        let limits = DispatcherLimits {
            max_healthy_attempts: random.small(6),
            max_new_attempts: random.small(4),
            max_unhealthy_attempts: random.small(4),
            max_unproven_attempts: random.small(6),
            max_attempts: random.small(12),
            max_attempts_per_healthy_endpoint: random.small(3),
            max_attempts_per_unproven_endpoint: random.small(2),
            max_attempts_per_host: random.small(3),
            max_attempts_per_account: random.small(3),
            max_waiting: random.small(20) + 1,
            max_waiting_per_endpoint: random.small(8),
            settle_batch_size: random.small(5),
            ..DispatcherLimits::default()
        };
        let fixture = DispatcherFixture::new();
        let running = fixture.dispatch(limits.clone(), seed);
        for _ in 0..random.small(4) {
            for _ in 0..random.small(120) {
                let endpoint = i64::try_from(random.below(12)).unwrap();
                let host = format!("{}.example", if random.below(20) == 0 { 9 } else { endpoint % 4 });
                let behaviours: Vec<_> = (0..4)
                    .map(|_| match random.below(12) {
                        0 => AttemptBehaviour::Fails(random.below(6_000)),
                        1 => AttemptBehaviour::RetryAfter(100),
                        2 => AttemptBehaviour::Succeeds(random.below(9_000)),
                        3 => AttemptBehaviour::Panics,
                        4 => AttemptBehaviour::Gone,
                        _ => AttemptBehaviour::Succeeds(random.below(50)),
                    })
                    .collect();
                fixture.queue_for(endpoint, &host, u128::from(random.below(5)), &behaviours);
            }
            fixture.wake_handle.wake();
            fixture.sleep(random.below(3_000)).await;
        }
        let done = tokio::time::timeout(std::time::Duration::from_secs(86_400), fixture.outbox.done()).await;
        assert!(done.is_ok(), "seed {seed}: something is stuck with {limits:?}");
        let most = ["all", "host", "account"].map(|of| fixture.transport.max(of));
        assert!(most[0] <= limits.max_attempts, "seed {seed}: {most:?} {limits:?}");
        assert!(
            most[1] <= limits.max_attempts_per_host && most[2] <= limits.max_attempts_per_account,
            "seed {seed}: {most:?} {limits:?}"
        );
        running.end().await;
    }
}

//! Fairness of the dispatcher: slow or dead endpoints do not delay others, and everything is limited.
//!
//! Time is virtual and advances only when all tasks are idle. So the measured latencies are waiting times only.

use jiff::SignedDuration;
use notify::dispatcher::DispatcherLimits;

use crate::notify::common::dispatcher_fixture::{AttemptBehaviour, DispatcherFixture};
use crate::notify::common::outbox::Status;

const HEALTHY: i64 = 1_000_000;

/// Queues four deliveries per second for a healthy endpoint, and returns their latencies.
async fn healthy_latencies(fixture: &DispatcherFixture, count: usize) -> Vec<i128> {
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(fixture.queue(HEALTHY, &[AttemptBehaviour::Succeeds(30)]));
        fixture.wake_handle.wake();
        fixture.sleep(250).await;
    }
    for key in &keys {
        fixture.outbox.tried(*key, 1).await;
    }
    keys.iter().map(|key| fixture.latency_ms(*key)).collect()
}

/// Checks a healthy endpoint beside a thousand others with this behaviour.
async fn healthy_beside_a_thousand(behaviour: AttemptBehaviour) {
    let fixture = DispatcherFixture::new();
    let running = fixture.dispatch(DispatcherLimits::default(), 0);
    // The first delivery makes it healthy ...
    assert_eq!(healthy_latencies(&fixture, 1).await, [30]);
    // ... before a thousand others get thirty deliveries each, which takes several seconds.
    for endpoint in 0..1_000 {
        for _ in 0..30 {
            fixture.queue(endpoint, &[behaviour]);
        }
    }
    let latencies = healthy_latencies(&fixture, 120).await;
    assert_eq!(latencies.iter().max(), Some(&30), "{latencies:?}");
    running.end().await;
}

#[tokio::test(start_paused = true)]
async fn thousand_hanging_endpoints_do_not_delay_a_healthy_one() {
    healthy_beside_a_thousand(AttemptBehaviour::Fails(5_000)).await;
}

#[tokio::test(start_paused = true)]
async fn thousand_failing_endpoints_do_not_delay_a_healthy_one() {
    healthy_beside_a_thousand(AttemptBehaviour::Fails(50)).await;
}

#[tokio::test(start_paused = true)]
async fn thousand_endpoints_with_retry_after_do_not_delay_a_healthy_one() {
    healthy_beside_a_thousand(AttemptBehaviour::RetryAfter(1)).await;
}

#[tokio::test(start_paused = true)]
async fn thousand_slow_endpoints_do_not_delay_a_healthy_one() {
    healthy_beside_a_thousand(AttemptBehaviour::Succeeds(4_000)).await;
}

#[tokio::test(start_paused = true)]
async fn new_endpoint_waits_a_few_seconds_beside_a_thousand_hanging_ones() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..1_000 {
        for _ in 0..10 {
            fixture.queue(endpoint, &[AttemptBehaviour::Fails(5_000)]);
        }
    }
    let latencies = healthy_latencies(&fixture, 60).await;
    // Of a thousand endpoints, 256 are attempted at once, and 256 more when the first became slow. Then all slots for unproven
    // endpoints are in use until the first attempts end after 5 s. The last endpoint waits another second. Its attempt takes
    // 30 ms.
    assert!(latencies[0] <= 6_030, "{latencies:?}");
    assert_eq!(latencies[40..].iter().max(), Some(&30), "{latencies:?}");
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_fail_all_at_once_delay_others_briefly() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    healthy_latencies(&fixture, 1).await;
    for endpoint in 0..1_000 {
        fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(10)]);
    }
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    for endpoint in 0..1_000 {
        for _ in 0..10 {
            fixture.queue(endpoint, &[AttemptBehaviour::Fails(5_000)]);
        }
    }
    let latencies = healthy_latencies(&fixture, 120).await;
    assert!(*latencies.iter().max().unwrap() <= 6_000, "{latencies:?}");
    assert_eq!(latencies[40..].iter().max(), Some(&30), "{latencies:?}");
}

#[tokio::test(start_paused = true)]
async fn dead_host_with_a_thousand_endpoints_is_limited() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..1_000 {
        fixture.queue_for(
            endpoint,
            "dead.example",
            u128::try_from(endpoint).unwrap(),
            &[AttemptBehaviour::Fails(5_000)],
        );
    }
    let latencies = healthy_latencies(&fixture, 120).await;
    assert!(latencies[0] <= 1_030, "{latencies:?}");
    assert_eq!(latencies[8..].iter().max(), Some(&30), "{latencies:?}");
    assert!(fixture.transport.max("host") <= 32);
}

#[tokio::test(start_paused = true)]
async fn backlog_of_one_endpoint_stays_in_the_outbox_and_delays_no_other() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    healthy_latencies(&fixture, 1).await;
    for _ in 0..10_000 {
        fixture.queue(7, &[AttemptBehaviour::Succeeds(100)]);
    }
    let latencies = healthy_latencies(&fixture, 20).await;
    assert_eq!(latencies.iter().max(), Some(&30), "{latencies:?}");
    let most = fixture.outbox.all.lock().unwrap().max_claimed;
    assert!(most <= 64, "{most} were claimed at once");
    fixture.outbox.done().await;
    assert_eq!(fixture.transport.max("endpoint"), 8);
}

#[tokio::test(start_paused = true)]
async fn failing_endpoints_cause_at_most_ten_claims_per_second() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..5 {
        for _ in 0..100 {
            fixture.queue(endpoint, &[AttemptBehaviour::Fails(1)]);
        }
    }
    fixture.wake_handle.wake();
    fixture.sleep(2_000).await;
    let claims = fixture.outbox.all.lock().unwrap().claims;
    // At the first claim, the endpoints are still new.
    assert!((20..=22).contains(&claims), "{claims} claims in two seconds");
    // Each claim returns two deliveries per endpoint.
    let attempts = fixture.transport.attempts();
    assert!(attempts >= 5 * 2 * (claims - 1), "{attempts} attempts, {claims} claims");
}

#[tokio::test(start_paused = true)]
async fn attempts_are_limited_per_endpoint_host_account_and_in_total() {
    let limits = DispatcherLimits {
        max_healthy_attempts: 20,
        max_new_attempts: 20,
        max_unhealthy_attempts: 10,
        max_unproven_attempts: 25,
        max_attempts: 30,
        max_attempts_per_healthy_endpoint: 3,
        max_attempts_per_unproven_endpoint: 2,
        max_attempts_per_host: 5,
        max_attempts_per_account: 4,
        ..DispatcherLimits::default()
    };
    // Number of endpoints, endpoints per host, endpoints per account, and the limit that they reach.
    for (endpoints, of_host, of_account, reached) in [
        (60, 6, 5, "all"),
        (1, 1, 1, "endpoint"),
        (6, 6, 1, "host"),
        (6, 1, 6, "account"),
    ] {
        let fixture = DispatcherFixture::new();
        let running = fixture.dispatch(limits.clone(), 0);
        for endpoint in 0..endpoints {
            for _ in 0..20 {
                fixture.queue_for(
                    endpoint,
                    &format!("{}.example", endpoint / of_host),
                    u128::try_from(endpoint / of_account).unwrap(),
                    &[AttemptBehaviour::Succeeds(100)],
                );
            }
        }
        fixture.wake_handle.wake();
        fixture.outbox.done().await;
        for (of, bound) in [("all", 30), ("endpoint", 3), ("host", 5), ("account", 4)] {
            let most = fixture.transport.max(of);
            assert!(most <= bound && (most == bound || of != reached), "{most} of {of}");
        }
        running.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn claimed_deliveries_are_limited() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    for endpoint in 0..500 {
        for _ in 0..60 {
            fixture.queue(endpoint, &[AttemptBehaviour::Succeeds(20)]);
        }
    }
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    let all = fixture.outbox.all.lock().unwrap();
    // Waiting deliveries, attempts, and results to settle.
    assert!(
        all.max_claimed <= 2_048 + 768 + 1_024,
        "{} were claimed at once",
        all.max_claimed
    );
    assert!(
        all.rows
            .values()
            .all(|row| row.status == Status::Delivered && row.tries == 1)
    );
    // 256 concurrent attempts of 20 ms each.
    drop(all);
    let latest = (1..=30_000).map(|key| fixture.latency_ms(key)).max().unwrap();
    assert!(latest < 30_000 * 20 / 256 * 5 / 4, "{latest} ms");
}

#[tokio::test(start_paused = true)]
async fn waiting_delivery_is_released_before_its_claim_ends() {
    let fixture = DispatcherFixture::new();
    let limits = DispatcherLimits {
        max_attempts_per_host: 1,
        lease_duration: SignedDuration::from_secs(30),
        ..DispatcherLimits::default()
    };
    // Two dispatchers, and one slow host.
    fixture.dispatch(limits.clone(), 1);
    fixture.dispatch(limits, 2);
    for endpoint in 0..20 {
        fixture.queue_for(endpoint, "slow.example", 1, &[AttemptBehaviour::Succeeds(9_000)]);
    }
    fixture.outbox.done().await;
    // The transport panics if a delivery is attempted twice at once.
    assert!(
        fixture
            .outbox
            .all
            .lock()
            .unwrap()
            .rows
            .values()
            .all(|row| row.tries == 1)
    );
    assert_eq!(fixture.transport.max("host"), 2);
}

#[tokio::test(start_paused = true)]
async fn failing_endpoint_that_recovers_is_tried_without_another_wake_up() {
    let fixture = DispatcherFixture::new();
    fixture.dispatch(DispatcherLimits::default(), 0);
    let behaviours = [AttemptBehaviour::Fails(1), AttemptBehaviour::Succeeds(1)];
    let keys: Vec<i64> = (0..4).map(|_| fixture.queue(1, &behaviours)).collect();
    fixture.wake_handle.wake();
    fixture.outbox.done().await;
    for key in keys {
        assert_eq!(fixture.outbox.row(key).tries, 2);
    }
}

//! One endpoint and the others: who is slow or dead delays nobody else, and everything is bounded.
//!
//! Time is virtual and goes on only when nobody has anything to do, so what is measured is waiting for one's turn, and
//! nothing else.

use jiff::SignedDuration;
use notify::dispatcher::Limits;

use crate::common::channel::{Act, House};
use crate::common::outbox::Status;

const HEALTHY: i64 = 1_000_000;

/// The latencies of a healthy endpoint to which something goes four times a second, for a while.
async fn healthy(house: &House, count: usize) -> Vec<i128> {
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(house.queue(HEALTHY, &[Act::Takes(30)]));
        house.bell.ring();
        house.sleep(250).await;
    }
    for key in &keys {
        house.outbox.tried(*key, 1).await;
    }
    keys.iter().map(|key| house.latency_ms(*key)).collect()
}

/// A healthy endpoint beside a thousand others that all do this.
async fn healthy_beside_a_thousand(act: Act) {
    let house = House::new();
    let at_work = house.dispatch(Limits::default(), 0);
    // It is known to do well ...
    assert_eq!(healthy(&house, 1).await, [30]);
    // ... when a thousand others get thirty deliveries each, which takes them seconds at the least.
    for lane in 0..1_000 {
        for _ in 0..30 {
            house.queue(lane, &[act]);
        }
    }
    let latencies = healthy(&house, 120).await;
    assert_eq!(latencies.iter().max(), Some(&30), "{latencies:?}");
    at_work.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_keeps_its_place_beside_a_thousand_that_hang() {
    healthy_beside_a_thousand(Act::Fails(5_000)).await;
}

#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_keeps_its_place_beside_a_thousand_that_fail_quickly() {
    healthy_beside_a_thousand(Act::Fails(50)).await;
}

#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_keeps_its_place_beside_a_thousand_that_ask_to_be_left_alone() {
    healthy_beside_a_thousand(Act::Later(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_keeps_its_place_beside_a_thousand_that_are_slow() {
    healthy_beside_a_thousand(Act::Takes(4_000)).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_endpoint_waits_a_few_seconds_at_most_beside_a_thousand_that_hang() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..1_000 {
        for _ in 0..10 {
            house.queue(lane, &[Act::Fails(5_000)]);
        }
    }
    let latencies = healthy(&house, 60).await;
    // Of a thousand, 256 are tried at once, and as many more when those have turned out to be slow; then all doubtful places
    // are taken until the first attempts end, after 5 s, and another second goes until it is the turn of the last. Its own
    // attempt takes 30 ms.
    assert!(latencies[0] <= 6_030, "{latencies:?}");
    assert_eq!(latencies[40..].iter().max(), Some(&30), "{latencies:?}");
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_turn_bad_all_at_once_hold_others_up_for_moments_only() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    healthy(&house, 1).await;
    for lane in 0..1_000 {
        house.queue(lane, &[Act::Takes(10)]);
    }
    house.bell.ring();
    house.outbox.done().await;
    for lane in 0..1_000 {
        for _ in 0..10 {
            house.queue(lane, &[Act::Fails(5_000)]);
        }
    }
    let latencies = healthy(&house, 120).await;
    assert!(*latencies.iter().max().unwrap() <= 6_000, "{latencies:?}");
    assert_eq!(latencies[40..].iter().max(), Some(&30), "{latencies:?}");
}

#[tokio::test(start_paused = true)]
async fn a_dead_host_with_a_thousand_endpoints_takes_its_share_and_no_more() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..1_000 {
        house.queue_for(
            lane,
            "dead.example",
            u128::try_from(lane).unwrap(),
            &[Act::Fails(5_000)],
        );
    }
    let latencies = healthy(&house, 120).await;
    assert!(latencies[0] <= 1_030, "{latencies:?}");
    assert_eq!(latencies[8..].iter().max(), Some(&30), "{latencies:?}");
    assert!(house.channel.most("host") <= 32);
}

#[tokio::test(start_paused = true)]
async fn a_backlog_of_one_endpoint_delays_no_other_and_lies_in_the_outbox() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    healthy(&house, 1).await;
    for _ in 0..10_000 {
        house.queue(7, &[Act::Takes(100)]);
    }
    let latencies = healthy(&house, 20).await;
    assert_eq!(latencies.iter().max(), Some(&30), "{latencies:?}");
    let most = house.outbox.all.lock().unwrap().most_claimed;
    assert!(most <= 64, "{most} were claimed at once");
    house.outbox.done().await;
    assert_eq!(house.channel.most("lane"), 8);
}

#[tokio::test(start_paused = true)]
async fn failing_endpoints_cost_ten_claims_a_second_however_fast_they_fail() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..5 {
        for _ in 0..100 {
            house.queue(lane, &[Act::Fails(1)]);
        }
    }
    house.bell.ring();
    house.sleep(2_000).await;
    let claims = house.outbox.all.lock().unwrap().claims;
    // The first claim finds endpoints that are not known to fail.
    assert!((20..=22).contains(&claims), "{claims} claims in two seconds");
    // Each claim brings two deliveries of each endpoint.
    let attempts = house.channel.attempts();
    assert!(attempts >= 5 * 2 * (claims - 1), "{attempts} attempts, {claims} claims");
}

#[tokio::test(start_paused = true)]
async fn attempts_are_bounded_for_each_endpoint_host_and_account_and_in_all() {
    let limits = Limits {
        good_at_once: 20,
        new_at_once: 20,
        poor_at_once: 10,
        doubtful_at_once: 25,
        at_once: 30,
        each_good: 3,
        each_doubtful: 2,
        each_host: 5,
        each_account: 4,
        ..Limits::default()
    };
    // So many endpoints, of which so many share a host, and so many an account, come to one of the bounds.
    for (lanes, of_host, of_account, reached) in [
        (60, 6, 5, "all"),
        (1, 1, 1, "lane"),
        (6, 6, 1, "host"),
        (6, 1, 6, "account"),
    ] {
        let house = House::new();
        let at_work = house.dispatch(limits.clone(), 0);
        for lane in 0..lanes {
            for _ in 0..20 {
                house.queue_for(
                    lane,
                    &format!("{}.example", lane / of_host),
                    u128::try_from(lane / of_account).unwrap(),
                    &[Act::Takes(100)],
                );
            }
        }
        house.bell.ring();
        house.outbox.done().await;
        for (of, bound) in [("all", 30), ("lane", 3), ("host", 5), ("account", 4)] {
            let most = house.channel.most(of);
            assert!(most <= bound && (most == bound || of != reached), "{most} of {of}");
        }
        at_work.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_claimed_is_bounded_however_much_there_is() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..500 {
        for _ in 0..60 {
            house.queue(lane, &[Act::Takes(20)]);
        }
    }
    house.bell.ring();
    house.outbox.done().await;
    let all = house.outbox.all.lock().unwrap();
    // What waits, what is being tried, and what is being settled.
    assert!(
        all.most_claimed <= 2_048 + 768 + 1_024,
        "{} were claimed at once",
        all.most_claimed
    );
    assert!(
        all.rows
            .values()
            .all(|row| row.status == Status::Delivered && row.tries == 1)
    );
    // 256 attempts at once, 20 ms each.
    drop(all);
    let latest = (1..=30_000).map(|key| house.latency_ms(key)).max().unwrap();
    assert!(latest < 30_000 * 20 / 256 * 5 / 4, "{latest} ms");
}

#[tokio::test(start_paused = true)]
async fn what_waits_too_long_goes_back_before_its_claim_ends() {
    let house = House::new();
    let limits = Limits {
        each_host: 1,
        lease: SignedDuration::from_secs(30),
        ..Limits::default()
    };
    // Two processes, and one slow host.
    house.dispatch(limits.clone(), 1);
    house.dispatch(limits, 2);
    for lane in 0..20 {
        house.queue_for(lane, "slow.example", 1, &[Act::Takes(9_000)]);
    }
    house.outbox.done().await;
    // The channel itself fails if one is tried twice at once.
    assert!(house.outbox.all.lock().unwrap().rows.values().all(|row| row.tries == 1));
    assert_eq!(house.channel.most("host"), 2);
}

#[tokio::test(start_paused = true)]
async fn failing_endpoint_that_recovers_is_tried_without_another_wake_up() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    let keys: Vec<i64> = (0..4).map(|_| house.queue(1, &[Act::Fails(1), Act::Takes(1)])).collect();
    house.bell.ring();
    house.outbox.done().await;
    for key in keys {
        assert_eq!(house.outbox.row(key).tries, 2);
    }
}

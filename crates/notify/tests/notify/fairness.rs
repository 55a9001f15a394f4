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

#[tokio::test(start_paused = true)]
async fn a_healthy_endpoint_keeps_its_place_beside_a_thousand_bad_ones() {
    for (what, act) in [
        ("hang", Act::Fails(5_000)),
        ("fail at once", Act::Fails(5)),
        ("ask to be left alone", Act::Later(1)),
        ("are slow", Act::Takes(4_000)),
    ] {
        let house = House::new();
        house.dispatch(Limits::default(), 0);
        // It is known to do well ...
        assert_eq!(healthy(&house, 1).await, [30]);
        // ... when a thousand others get a hundred deliveries each.
        for lane in 0..1_000 {
            for _ in 0..100 {
                house.queue(lane, &[act]);
            }
        }
        let latencies = healthy(&house, 120).await;
        assert_eq!(latencies.iter().max(), Some(&30), "{what}: {latencies:?}");
    }
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
    assert!(latencies[0] <= 6_000, "{latencies:?}");
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
    let house = House::new();
    house.dispatch(limits, 0);
    for lane in 0..60 {
        for _ in 0..20 {
            house.queue_for(
                lane,
                &format!("{}.example", lane % 10),
                u128::try_from(lane % 12).unwrap(),
                &[Act::Takes(100)],
            );
        }
    }
    house.bell.ring();
    house.outbox.done().await;
    let most = ["all", "lane", "host", "account"].map(|of| house.channel.most(of));
    assert!(
        most[0] <= 30 && most[1] <= 3 && most[2] <= 5 && most[3] <= 4,
        "{most:?}"
    );
    assert!(
        most[0] >= 20 && most[1] == 3 && most[2] == 5 && most[3] == 4,
        "{most:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_claimed_is_bounded_however_much_there_is() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..500 {
        for _ in 0..200 {
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
    let latest = (2..=100_000).map(|key| house.latency_ms(key)).max().unwrap();
    assert!(latest < 100_000 * 20 / 256 * 5 / 4, "{latest} ms");
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

/// A generator of numbers, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn small(&mut self, bound: u64) -> usize {
        usize::try_from(self.below(bound)).unwrap() + 1
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_the_limits_and_whatever_happens_all_is_done_in_the_end() {
    for seed in 0..150 {
        let mut numbers = Numbers(seed);
        let limits = Limits {
            good_at_once: numbers.small(6),
            new_at_once: numbers.small(4),
            poor_at_once: numbers.small(4),
            doubtful_at_once: numbers.small(6),
            at_once: numbers.small(12),
            each_good: numbers.small(3),
            each_doubtful: numbers.small(2),
            each_host: numbers.small(3),
            each_account: numbers.small(3),
            waiting: numbers.small(20) + 1,
            waiting_each: numbers.small(8),
            settled_at_once: numbers.small(5),
            ..Limits::default()
        };
        let house = House::new();
        house.dispatch(limits.clone(), seed);
        for _ in 0..numbers.small(4) {
            for _ in 0..numbers.small(120) {
                let lane = i64::try_from(numbers.below(12)).unwrap();
                let host = format!("{}.example", if numbers.below(20) == 0 { 9 } else { lane % 4 });
                let acts: Vec<_> = (0..4)
                    .map(|_| match numbers.below(12) {
                        0 => Act::Fails(numbers.below(6_000)),
                        1 => Act::Later(100),
                        2 => Act::Takes(numbers.below(9_000)),
                        3 => Act::Panics,
                        4 => Act::Gone,
                        _ => Act::Takes(numbers.below(50)),
                    })
                    .collect();
                house.queue_for(lane, &host, u128::from(numbers.below(5)), &acts);
            }
            house.bell.ring();
            house.sleep(numbers.below(3_000)).await;
        }
        let done = tokio::time::timeout(std::time::Duration::from_secs(86_400), house.outbox.done()).await;
        assert!(done.is_ok(), "seed {seed}: something is stuck with {limits:?}");
        let most = ["all", "host", "account"].map(|of| house.channel.most(of));
        assert!(most[0] <= limits.at_once, "seed {seed}: {most:?} {limits:?}");
        assert!(
            most[1] <= limits.each_host && most[2] <= limits.each_account,
            "seed {seed}: {most:?} {limits:?}"
        );
    }
}

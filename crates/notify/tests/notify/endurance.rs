//! The dispatcher in bad company: hosts that many share, outboxes that are slow or cannot write, limits that make no sense.
//! Nobody waits for ever, and nothing goes round in a circle (which the clock of these tests would find out).

use jiff::SignedDuration;
use notify::dispatcher::Limits;

use crate::common::channel::{Act, House};
use crate::common::outbox::{Question, Status};

/// The number that makes a delay neither longer nor shorter.
const NO_CHANCE: u64 = 2_000;

/// Endpoints with a backlog at one host, and one that gets something later; how long that takes.
async fn late_comer_at_a_busy_host(limits: Limits) -> i128 {
    let house = House::new();
    let at_work = house.dispatch(limits, 0);
    for lane in 0..5 {
        for _ in 0..200 {
            house.queue_for(lane, "all.example", u128::try_from(lane).unwrap(), &[Act::Takes(100)]);
        }
    }
    house.bell.ring();
    house.sleep(5_000).await;
    let late = house.queue_for(9, "all.example", 9, &[Act::Takes(100)]);
    house.bell.ring();
    house.outbox.tried(late, 1).await;
    assert!(house.channel.most("host") <= 2);
    at_work.end().await;
    house.latency_ms(late)
}

#[tokio::test(start_paused = true)]
async fn at_a_host_that_many_share_a_late_comer_waits_behind_those_who_wait_and_no_longer() {
    let few = Limits {
        each_host: 2,
        ..Limits::default()
    };
    // Twenty attempts a second, four deliveries that wait, and who comes later waits behind the five others once to claim
    // and once to send.
    let latency = late_comer_at_a_busy_host(few.clone()).await;
    assert!(latency <= 1_500, "{latency} ms");
    // Likewise where one gets the place again and again whose line is never empty.
    let latency = late_comer_at_a_busy_host(Limits { each_host: 1, ..few }).await;
    assert!(latency <= 3_000, "{latency} ms");
}

#[tokio::test(start_paused = true)]
async fn new_endpoints_of_a_host_that_cannot_have_their_turn_keep_no_place_from_good_ones() {
    let limits = Limits {
        each_host: 2,
        ..Limits::default()
    };
    let house = House::new();
    let at_work = house.dispatch(limits, 0);
    let queue = |lane: i64, act| house.queue_for(lane, "all.example", u128::try_from(lane).unwrap(), &[act]);
    let good: Vec<_> = (0..4).map(|lane| queue(lane, Act::Takes(30))).collect();
    house.outbox.done().await;
    // All doubtful places are taken, and more wait for them than there is room for.
    for lane in 1_000..3_000 {
        house.queue(lane, &[Act::Fails(9_000)]);
    }
    house.bell.ring();
    house.sleep(2_000).await;
    let new: Vec<_> = (10..30).map(|lane| queue(lane, Act::Takes(30))).collect();
    let more: Vec<_> = (0..20).map(|nth| queue(nth % 4, Act::Takes(30))).collect();
    house.bell.ring();
    house.sleep(400).await;
    for key in good.iter().chain(&more) {
        assert_eq!(house.outbox.row(*key).status, Status::Delivered);
    }
    assert!(new.iter().all(|key| house.outbox.row(*key).status == Status::Pending));
    for key in new {
        house.outbox.tried(key, 1).await;
    }
    at_work.end().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_rings_all_the_time_keeps_no_look_from_its_end() {
    let house = House::new();
    house.outbox.takes(Question::Lanes, 5);
    house.dispatch(Limits::default(), 0);
    // More lanes with something that is not due yet than are looked at, at a time ...
    for lane in 0..5_000 {
        house.queue(lane, &[Act::Later(3_000)]);
    }
    house.bell.ring();
    house
        .outbox
        .until(|all| all.rows.values().all(|row| row.tries == 1))
        .await;
    // ... and one behind them, while it is rung more often than anybody can look.
    let last = house.queue(9_999, &[Act::Takes(0)]);
    for _ in 0..100 {
        house.bell.ring();
        house.sleep(1).await;
    }
    assert_eq!(house.outbox.row(last).status, Status::Delivered);
    assert!(house.latency_ms(last) <= 20);
}

#[tokio::test(start_paused = true)]
async fn an_outbox_that_takes_long_to_answer_is_waited_for() {
    for question in [Question::Lanes, Question::Claim, Question::Settle] {
        let house = House::new();
        house.outbox.takes(question, 20_000);
        let at_work = house.dispatch(Limits::default(), NO_CHANCE);
        let keys = [1, 2, 3].map(|lane| house.queue(lane, &[Act::Fails(10), Act::Takes(10)]));
        house.bell.ring();
        house.outbox.done().await;
        for key in keys {
            let row = house.outbox.row(key);
            assert_eq!((row.status, row.tries), (Status::Delivered, 2), "{question:?}");
        }
        let looks = house.outbox.all.lock().unwrap().looks;
        assert!(looks < 20, "{question:?}: {looks}");
        at_work.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_comes_when_it_is_due_although_one_looked_before_it_was_written_down() {
    let house = House::new();
    house.outbox.takes(Question::Settle, 3_000);
    house.dispatch(Limits::default(), NO_CHANCE);
    let key = house.queue(1, &[Act::Fails(0), Act::Takes(0)]);
    house.bell.ring();
    house.sleep(1_000).await;
    house.bell.ring();
    house.outbox.done().await;
    // Ten seconds later it is tried, and three later written down.
    assert_eq!(house.latency_ms(key), 13_000);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_written_costs_itself_and_not_the_others() {
    let house = House::new();
    let at_work = house.dispatch(Limits::default(), 0);
    let keys: Vec<_> = (0..100).map(|lane| house.queue(lane, &[Act::Takes(10)])).collect();
    house.outbox.cannot_settle(keys[50]);
    house.bell.ring();
    let others = |key: &i64| *key != keys[50];
    for key in keys.iter().copied().filter(others) {
        house.outbox.tried(key, 1).await;
        // Halved each second, a hundred come down to one before the minute is over.
        assert!(house.latency_ms(key) < 60_000);
    }
    assert_eq!(house.outbox.row(keys[50]).status, Status::Pending);
    at_work.end().await;
}

#[tokio::test(start_paused = true)]
async fn while_nothing_can_be_written_nobody_gets_the_same_over_and_over() {
    let house = House::new();
    let limits = Limits {
        waiting: 10,
        ..Limits::default()
    };
    let at_work = house.dispatch(limits, 0);
    for lane in 0..100 {
        house.queue(lane, &[Act::Takes(10)]);
    }
    house.outbox.takes(Question::Settle, 3_600_000);
    house.bell.ring();
    // All claims end fifty times meanwhile.
    house.sleep(3_000_000).await;
    assert_eq!(house.channel.attempts(), 100);
    at_work.task.abort();
}

#[tokio::test(start_paused = true)]
async fn limits_that_make_no_sense_stop_nothing() {
    let house = House::new();
    let nothing = Limits {
        good_at_once: 0,
        new_at_once: 0,
        poor_at_once: 0,
        doubtful_at_once: 0,
        at_once: 0,
        each_good: 0,
        each_doubtful: 0,
        each_host: 0,
        each_account: 0,
        waiting: 0,
        waiting_each: 0,
        settled_at_once: 0,
        slow_after: SignedDuration::ZERO,
        lease: SignedDuration::ZERO,
        longest_attempt: SignedDuration::ZERO,
        look_every: SignedDuration::ZERO,
        poor_claim_pause: SignedDuration::ZERO,
        retry_outbox: SignedDuration::ZERO,
        drain: SignedDuration::ZERO,
    };
    let at_work = house.dispatch(nothing, NO_CHANCE);
    for lane in 0..10 {
        house.queue(lane % 3, &[Act::Fails(20), Act::Takes(50)]);
    }
    house.outbox.done().await;
    assert_eq!(house.channel.most("all"), 1);
    at_work.end().await;
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
        let at_work = house.dispatch(limits.clone(), seed);
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
        at_work.end().await;
    }
}

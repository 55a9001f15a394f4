//! The dispatcher: nothing is lost, and everything comes when it is due.

use jiff::{SignedDuration, Timestamp};
use notify::dispatcher::Limits;
use notify::time::Time;

use crate::common::channel::{Act, House};
use crate::common::outbox::{Fault, Question, Status};

/// The number that makes a delay neither longer nor shorter.
const NO_CHANCE: u64 = 2_000;

fn seconds_between(instants: &[Timestamp]) -> Vec<i128> {
    let pairs = instants.windows(2);
    pairs.map(|pair| pair[1].duration_since(pair[0]).as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_rung_for_is_delivered_at_once() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    house.sleep(3_000).await;
    let key = house.queue(1, &[Act::Takes(20)]);
    house.bell.ring();
    let row = house.outbox.tried(key, 1).await;
    assert_eq!(row.status, Status::Delivered);
    assert_eq!(house.latency_ms(key), 20);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_rang_for_is_found_at_the_next_look() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    house.sleep(3_000).await;
    let key = house.queue(1, &[Act::Takes(0)]);
    house.outbox.done().await;
    assert_eq!(house.latency_ms(key), 12_000);
}

#[tokio::test(start_paused = true)]
async fn an_idle_dispatcher_asks_for_little() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    // It looks when it begins, and then every 15 seconds. A moment more, as at the very instant of a look it may not have
    // been yet.
    house.sleep(3_600_001).await;
    let all = house.outbox.all.lock().unwrap();
    assert_eq!((all.looks, all.claims), (241, 0));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_tried_again_after_10_60_and_300_seconds_and_then_given_up() {
    for (chance, expected) in [
        (NO_CHANCE, [10_000, 60_000, 300_000]),
        (0, [8_000, 48_000, 240_000]),
        (4_000, [12_000, 72_000, 360_000]),
    ] {
        let house = House::new();
        house.dispatch(Limits::default(), chance);
        let key = house.queue(1, &[Act::Fails(0)]);
        house.outbox.done().await;
        let row = house.outbox.row(key);
        assert_eq!((row.status, row.tries), (Status::Failed, 4));
        let at: Vec<_> = row.reports.iter().map(|told| told.at).collect();
        assert_eq!(seconds_between(&at), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn delays_count_from_the_end_of_an_attempt() {
    let house = House::new();
    house.dispatch(Limits::default(), NO_CHANCE);
    let key = house.queue(1, &[Act::Fails(5_000), Act::Takes(0)]);
    house.outbox.done().await;
    let at: Vec<_> = house.outbox.row(key).reports.iter().map(|told| told.at).collect();
    assert_eq!(seconds_between(&at), [15_000]);
}

#[tokio::test(start_paused = true)]
async fn what_failed_one_after_the_other_at_one_endpoint_is_tried_again_one_after_the_other() {
    let house = House::new();
    house.dispatch(Limits::default(), NO_CHANCE);
    let keys = [0, 700, 3_000].map(|millis| (millis, house.queue(1, &[Act::Fails(millis), Act::Takes(0)])));
    house.outbox.done().await;
    for (millis, key) in keys {
        let at: Vec<_> = house.outbox.row(key).reports.iter().map(|told| told.at).collect();
        assert_eq!(seconds_between(&at), [10_000 + i128::from(millis)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_asks_to_be_left_alone_is() {
    let house = House::new();
    house.dispatch(Limits::default(), NO_CHANCE);
    let key = house.queue(1, &[Act::Later(120), Act::Later(7_200), Act::Later(1), Act::Takes(0)]);
    house.outbox.done().await;
    let row = house.outbox.row(key);
    let at: Vec<_> = row.reports.iter().map(|told| told.at).collect();
    assert_eq!(seconds_between(&at), [120_000, 3_600_000, 300_000]);
    assert_eq!(row.status, Status::Delivered);
}

#[tokio::test(start_paused = true)]
async fn who_is_gone_is_switched_off_and_not_tried_again() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    let key = house.queue(1, &[Act::Gone]);
    house.outbox.done().await;
    assert_eq!(house.outbox.row(key).tries, 1);
    assert!(house.outbox.all.lock().unwrap().off.contains(&1));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_breaks_is_tried_again_and_breaks_nothing_else() {
    let house = House::new();
    house.dispatch(Limits::default(), NO_CHANCE);
    let key = house.queue(1, &[Act::Panics, Act::Takes(0)]);
    let other = house.queue(2, &[Act::Takes(0)]);
    house.outbox.done().await;
    assert_eq!(house.latency_ms(key), 10_000);
    assert_eq!(house.latency_ms(other), 0);
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_what_was_claimed_is_claimed_again_when_the_lease_ends() {
    let house = House::new();
    let before = house.dispatch(Limits::default(), 1);
    // The first two are being tried when it dies.
    let hang = (0..2).map(|_| house.queue(1, &[Act::Never, Act::Takes(0)]));
    let mut keys: Vec<_> = hang.collect();
    keys.extend((0..38).map(|_| house.queue(1, &[Act::Takes(0)])));
    house.sleep(1).await;
    let claimed = house
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
    house.sleep(1_000).await;
    house.dispatch(Limits::default(), 2);
    house.outbox.done().await;
    // Two were tried and some more were held; those come when the lease ends, the others at once.
    let latencies: Vec<_> = keys.iter().map(|key| house.latency_ms(*key)).collect();
    assert!((3..40).contains(&claimed), "{claimed}");
    assert_eq!(latencies[..claimed], vec![60_000; claimed]);
    assert_eq!(latencies[claimed..], vec![1_001; 40 - claimed]);
    for key in keys {
        let row = house.outbox.row(key);
        assert_eq!((row.status, row.tries), (Status::Delivered, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_counts_although_the_claim_has_ended() {
    let house = House::new();
    let limits = Limits {
        lease: SignedDuration::from_secs(20),
        ..Limits::default()
    };
    house.dispatch(limits, 1);
    let key = house.queue(1, &[Act::Takes(30_000)]);
    house.outbox.done().await;
    assert_eq!(
        (house.outbox.row(key).status, house.outbox.row(key).tries),
        (Status::Delivered, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_attempts_end_and_gives_back_what_waits() {
    let house = House::new();
    let at_work = house.dispatch(Limits::default(), 0);
    let keys: Vec<_> = (0..6).map(|_| house.queue(1, &[Act::Takes(4_000)])).collect();
    house.sleep(1_000).await;
    at_work.stop.send(()).unwrap();
    let began = tokio::time::Instant::now();
    at_work.task.await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 3_000);
    let count = |status| {
        keys.iter()
            .filter(|key| house.outbox.row(**key).status == status)
            .count()
    };
    assert_eq!((count(Status::Delivered), count(Status::Pending)), (2, 4));
    // What waits may be claimed by others at once.
    for row in keys.iter().map(|key| house.outbox.row(*key)) {
        let may = row.status == Status::Delivered || row.due <= house.time.now();
        assert!(row.lease.is_none() && may, "{row:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_ever_and_what_hangs_stays_claimed() {
    let house = House::new();
    let at_work = house.dispatch(Limits::default(), 0);
    let key = house.queue(1, &[Act::Never, Act::Takes(0)]);
    house.sleep(1_000).await;
    at_work.stop.send(()).unwrap();
    at_work.task.await.unwrap();
    let row = house.outbox.row(key);
    assert_eq!((row.status, row.lease.is_some(), row.tries), (Status::Pending, true, 0));
    // It comes again when its claim has ended.
    house.dispatch(Limits::default(), 0);
    house.outbox.done().await;
    assert_eq!(house.latency_ms(key), 60_000);
}

#[tokio::test(start_paused = true)]
async fn an_idle_dispatcher_stops_at_once() {
    let house = House::new();
    let at_work = house.dispatch(Limits::default(), 0);
    house.sleep(20_000).await;
    at_work.stop.send(()).unwrap();
    let began = tokio::time::Instant::now();
    at_work.task.await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_outbox_that_fails_is_asked_again_and_nothing_is_tried_twice() {
    for question in [Question::Lanes, Question::Claim, Question::Settle] {
        for fault in [Fault::Error, Fault::Panic] {
            let house = House::new();
            for _ in 0..3 {
                house.outbox.fail(question, fault);
            }
            house.dispatch(Limits::default(), 0);
            let key = house.queue(1, &[Act::Takes(0)]);
            house.bell.ring();
            house.outbox.done().await;
            assert_eq!(house.outbox.row(key).tries, 1, "{question:?} {fault:?}");
            assert_eq!(house.latency_ms(key), 3_000, "{question:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_settled_many_at_once() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..200 {
        house.queue(lane, &[Act::Takes(10)]);
    }
    house.bell.ring();
    house.outbox.done().await;
    let all = house.outbox.all.lock().unwrap();
    assert!(all.batches.len() < 20, "{:?}", all.batches);
    assert_eq!(all.batches.iter().sum::<usize>(), 200);
}

#[tokio::test(start_paused = true)]
async fn however_many_lanes_there_are_all_are_served() {
    let house = House::new();
    house.dispatch(Limits::default(), 0);
    for lane in 0..9_000 {
        house.queue(lane, &[Act::Takes(0)]);
    }
    house.bell.ring();
    house.outbox.done().await;
    let latest = (1..=9_000).map(|key| house.latency_ms(key)).max().unwrap();
    assert_eq!(latest, 0);
}

#[tokio::test(start_paused = true)]
async fn two_dispatchers_at_one_outbox_do_each_thing_once() {
    let house = House::new();
    for lane in 0..50 {
        for _ in 0..20 {
            house.queue(lane, &[Act::Takes(50)]);
        }
    }
    house.dispatch(Limits::default(), 1);
    house.dispatch(Limits::default(), 2);
    house.outbox.done().await;
    let all = house.outbox.all.lock().unwrap();
    assert!(
        all.rows
            .values()
            .all(|row| row.tries == 1 && row.status == Status::Delivered)
    );
}

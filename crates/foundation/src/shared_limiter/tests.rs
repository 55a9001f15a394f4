//! Limits that hold for all processes on one database together.

use store::StoreOptions;
use testkit::{Database, eventually, on_both_databases};

use super::*;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const HUNDRED: SharedLimit = SharedLimit::in_chunks(100, HOUR);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

fn key() -> LimitKey {
    LimitKey::new("requests", b"ann")
}

/// Starts a process, unless the database has one process.
async fn process(database: &Database) -> Option<Arc<SharedLimiter>> {
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    SharedLimiter::new(&store, 100).map(Arc::new)
}

async fn count(process: &SharedLimiter, limit: SharedLimit, now: Timestamp) -> SharedDecision {
    process.count(key(), limit, now).await.unwrap().unwrap()
}

/// Returns how many uses a process allows.
async fn spend_all(process: &SharedLimiter, limit: SharedLimit) -> u32 {
    let mut allowed = 0;
    while count(process, limit, at(0)).await.is_allowed {
        allowed += 1;
    }
    allowed
}

#[test]
fn chunk_is_a_fiftieth_and_at_least_one() {
    for (uses, chunk) in [(0, 1), (5, 1), (99, 1), (100, 2), (10_000, 200)] {
        assert_eq!(SharedLimit::in_chunks(uses, HOUR).chunk, chunk, "{uses}");
    }
}

on_both_databases! {
    async fn concurrent_uses_of_two_processes_never_pass_the_limit(database) {
        let (Some(first), Some(second)) = (process(database).await, process(database).await) else {
            return assert!(!database.is_postgres());
        };
        let mut uses = tokio::task::JoinSet::new();
        for process in [first, second] {
            for _ in 0..90 {
                let process = Arc::clone(&process);
                uses.spawn(async move { count(&process, HUNDRED, at(0)).await.is_allowed });
            }
        }
        let allowed = uses.join_all().await.into_iter().filter(|is_allowed| *is_allowed).count();
        assert_eq!(allowed, 100);
    }

    async fn two_processes_leave_at_most_a_tenth_unused(database) {
        for limit in [1, 10, 50, 100, 1000].map(|uses| SharedLimit::in_chunks(uses, HOUR)) {
            let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
            let key = LimitKey::new("requests", &limit.uses.to_be_bytes());
            let uses = async |process: &SharedLimiter| process.count(key, limit, at(0)).await.unwrap().unwrap().is_allowed;
            // One process uses the limit once, the other one as often as it can.
            let mut allowed = u32::from(uses(&second).await);
            while uses(&first).await {
                allowed += 1;
            }
            assert!(allowed <= limit.uses && allowed * 10 >= limit.uses * 9, "{allowed} of {}", limit.uses);
        }
    }

    async fn limit_that_is_taken_one_by_one_leaves_nothing_unused(database) {
        let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
        let limit = SharedLimit::one_by_one(100, HOUR);
        assert!(count(&first, limit, at(0)).await.is_allowed);
        assert_eq!(spend_all(&second, limit).await, 99);
    }

    async fn remainder_is_that_of_the_last_chunk(database) {
        let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
        assert_eq!(count(&first, HUNDRED, at(0)).await.remaining, 99);
        assert_eq!(spend_all(&second, HUNDRED).await, 98);
        assert!(count(&first, HUNDRED, at(1)).await.is_allowed, "it is a part of the chunk");
        let refused = count(&first, HUNDRED, at(2)).await;
        assert!(!refused.is_allowed && refused.remaining == 0 && refused.ends_in <= HUNDRED.window, "{refused:?}");
    }

    async fn chunk_is_not_spent_after_its_window_if_the_clock_was_set_back(database) {
        let Some(process) = process(database).await else { return };
        let limit = SharedLimit { uses: 4, window: SignedDuration::from_millis(50), chunk: 4 };
        let ends = count(&process, limit, at(0)).await.ends;
        let is_new = async || count(&process, limit, at(-100)).await.ends > ends;
        eventually("a new window has begun", is_new).await;
    }

    async fn new_window_begins_anew(database) {
        let (Some(first), Some(second)) = (process(database).await, process(database).await) else { return };
        let limit = SharedLimit::in_chunks(2, SignedDuration::from_millis(50));
        assert!(count(&first, limit, at(0)).await.is_allowed);
        assert!(count(&second, limit, at(0)).await.remaining <= 1);
        // After the end of the window by the clock of the process, the database says whether it has ended.
        let mut seconds = 0;
        let is_new = async || {
            seconds += 1;
            count(&first, limit, at(seconds)).await.remaining == 1
        };
        eventually("a new window has begun", is_new).await;
    }

    async fn use_that_is_given_back_can_be_spent_again(database) {
        let Some(process) = process(database).await else { return };
        let limit = SharedLimit::one_by_one(1, HOUR);
        let counted = count(&process, limit, at(0)).await;
        assert!(!count(&process, limit, at(0)).await.is_allowed);
        process.give_back(key(), counted).await;
        assert_eq!(spend_all(&process, limit).await, 1);
    }

    async fn chunk_of_a_cancelled_use_is_not_lost(database) {
        let Some(process) = process(database).await else { return };
        {
            // A client disconnects while the database is asked.
            let mut cancelled = std::pin::pin!(process.count(key(), HUNDRED, at(0)));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(cancelled.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(spend_all(&process, HUNDRED).await, 100);
    }

    async fn lowered_limit_holds_at_once(database) {
        let Some(process) = process(database).await else { return };
        assert!(count(&process, HUNDRED, at(0)).await.is_allowed);
        assert!(!count(&process, SharedLimit::in_chunks(1, HOUR), at(0)).await.is_allowed);
        assert_eq!(count(&process, HUNDRED, at(0)).await.remaining, 98);
    }

    async fn windows_beyond_the_bound_are_not_counted(database) {
        let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
        let Some(process) = SharedLimiter::new(&store, 1) else { return };
        assert!(count(&process, HUNDRED, at(0)).await.is_allowed);
        let other = LimitKey::new("requests", b"bob");
        assert_eq!(process.count(other, HUNDRED, at(0)).await.unwrap(), None);
        assert!(process.count(other, HUNDRED, at(3_601)).await.unwrap().is_some(), "the first window has ended");
    }

    async fn rest_can_be_spent_without_the_database(database) {
        let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
        let Some(process) = SharedLimiter::new(&store, 100) else { return };
        assert_eq!(count(&process, HUNDRED, at(0)).await.remaining, 99);
        store.close().await;
        assert!(count(&process, HUNDRED, at(10)).await.is_allowed);
        for _ in 0..2 {
            assert!(process.count(key(), HUNDRED, at(10)).await.unwrap_err().is_unavailable());
        }
    }
}

//! Limits that several processes on one database share.

use jiff::SignedDuration;
use store::{LimitChunk, SharedLimits, Store};
use testkit::{Database, eventually, on_both_databases};

use crate::support::open;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const KEY: [u8; 32] = [1; 32];
const OTHER_KEY: [u8; 32] = [2; 32];

/// Returns the shared limits of a new process, unless the database has one process.
async fn limits(database: &Database) -> Option<SharedLimits> {
    open(database).await.shared_limits()
}

async fn take(limits: &SharedLimits, limit: u32, size: u32) -> (u32, u32) {
    let LimitChunk { size, granted, .. } = limits.take(&KEY, limit, size, HOUR).await.unwrap();
    (size, granted)
}

on_both_databases! {
    async fn limits_are_shared_on_postgresql_only(database) {
        let store: Store = open(database).await;
        assert_eq!(store.shared_limits().is_some(), store.is_shared());
        assert_eq!(store.shared_limits().is_some(), database.is_postgres());
    }

    async fn chunks_of_all_processes_add_up_to_the_limit(database) {
        let (Some(first), Some(second)) = (limits(database).await, limits(database).await) else { return };
        assert_eq!(take(&first, 10, 4).await, (4, 4));
        assert_eq!(take(&second, 10, 4).await, (4, 8));
        assert_eq!(take(&first, 10, 4).await, (2, 10), "no more than is left");
        assert_eq!(take(&second, 10, 4).await, (0, 10));
        assert_eq!(second.take(&OTHER_KEY, 10, 4, HOUR).await.unwrap().size, 4);
        assert_eq!(take(&second, 12, 4).await, (2, 12), "the limit was raised");
        assert_eq!(take(&second, 5, 4).await, (0, 12), "the limit was lowered");
        assert_eq!(first.take(&[3; 32], 0, 4, HOUR).await.unwrap().size, 0);
    }

    async fn window_keeps_its_end(database) {
        let Some(limits) = limits(database).await else { return };
        let first = limits.take(&KEY, 10, 1, HOUR).await.unwrap();
        let second = limits.take(&KEY, 10, 1, HOUR).await.unwrap();
        assert_eq!(first.ends, second.ends);
        let (first, second) = (first.ends_in, second.ends_in);
        assert!(second < first && first <= HOUR && second > HOUR / 2, "{first} {second}");
    }

    async fn new_window_begins_anew(database) {
        let Some(limits) = limits(database).await else { return };
        let short = SignedDuration::from_millis(50);
        assert_eq!(limits.take(&KEY, 3, 3, short).await.unwrap().size, 3);
        let new = async || limits.take(&KEY, 3, 2, short).await.unwrap().size == 2;
        eventually("a new window has begun", new).await;
    }

    async fn window_that_ends_after_the_clock_was_set_back_begins_anew(database) {
        let Some(limits) = limits(database).await else { return };
        limits.take(&KEY, 3, 3, HOUR * 3).await.unwrap();
        assert_eq!(take(&limits, 3, 1).await, (1, 1), "it would last longer than two windows");
        limits.take(&OTHER_KEY, 3, 3, HOUR * 2 - SignedDuration::from_secs(1)).await.unwrap();
        assert_eq!(limits.take(&OTHER_KEY, 3, 1, HOUR).await.unwrap().size, 0, "a little later is no new window");
    }

    async fn concurrent_chunks_of_two_processes_never_pass_the_limit(database) {
        let (Some(first), Some(second)) = (limits(database).await, limits(database).await) else { return };
        let mut taking = tokio::task::JoinSet::new();
        for process in [first, second] {
            for _ in 0..40 {
                let process = process.clone();
                taking.spawn(async move { take(&process, 100, 2).await.0 });
            }
        }
        assert_eq!(taking.join_all().await.into_iter().sum::<u32>(), 100);
    }

    async fn purge_deletes_ended_windows_only(database) {
        let Some(limits) = limits(database).await else { return };
        take(&limits, 10, 4).await;
        for number in 3..6 {
            limits.take(&[number; 32], 10, 4, SignedDuration::ZERO).await.unwrap();
        }
        assert_eq!(limits.purge(2).await.unwrap(), 2);
        assert_eq!(limits.purge(2).await.unwrap(), 1);
        assert_eq!(take(&limits, 10, 1).await, (1, 5), "it was not deleted");
    }
}

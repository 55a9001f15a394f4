//! The fence of observations.

use std::sync::Arc;

use futures_util::future::join_all;
use jiff::Timestamp;
use store::model::{EvaluationCommit, EvaluationOutcome, Fence, FiringResult, Shard};
use store::{Store, StoreError, StoreOptions};
use testkit::{Database, eventually, eventually_some, on_both_databases};
use tokio::sync::{Notify, Semaphore};

use super::{claim, end, in_epoch, join, node, set_connected, stand_by};
use crate::firings::{composer, firing, quote};
use crate::postgres::wait_until_blocked;
use crate::support::{add_many, at, open, symbol, with_accounts};

fn fence(owner: u128, epoch: i64, shards: &[u8]) -> Option<Fence> {
    Some(Fence {
        owner: node(owner),
        shards: in_epoch(epoch, shards),
    })
}

/// A commit of a quote and the clock.
fn observation(fence: Option<Fence>, seconds: i64) -> EvaluationCommit {
    EvaluationCommit {
        quotes: vec![quote("AAPL", "200", seconds)],
        clock: Some(at(seconds)),
        fence,
        ..EvaluationCommit::default()
    }
}

async fn commit(store: &Store, commit: EvaluationCommit) -> EvaluationOutcome {
    store.commit_evaluation(commit, composer()).await.unwrap()
}

/// Commits a quote and the clock, and returns the lost shards.
async fn observe(store: &Store, fence: Option<Fence>, seconds: i64) -> Vec<Shard> {
    commit(store, observation(fence, seconds)).await.lost_shards
}

/// The time of the latest quote.
async fn quoted_at(store: &Store) -> Option<Timestamp> {
    store.latest_quotes().await.unwrap().first().map(|quote| quote.at)
}

async fn clock_of(store: &Store, shard: u8) -> Option<Timestamp> {
    store.cluster().unwrap().state().await.unwrap().shards[usize::from(shard)].clock
}

/// A store whose first node owns shards 0 and 1, unless the database has one process.
async fn with_owner(database: &Database) -> Option<Store> {
    let store = with_accounts(database, 1).await;
    let cluster = store.cluster()?;
    join(&cluster, &[1, 2]).await;
    assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
    Some(store)
}

/// Queues a transaction that lasts until there is a permit.
async fn wait(store: &Store, began: &Arc<Notify>, may_end: &Arc<Semaphore>) -> Result<(), StoreError> {
    let inputs = (Arc::clone(began), Arc::clone(may_end));
    let waiting = store.commit(inputs, |(began, may_end), _| {
        Box::pin(async move {
            began.notify_one();
            drop(may_end.acquire().await);
            Ok(())
        })
    });
    waiting.await
}

/// Queues transactions while another one runs, so that they are committed together.
async fn in_one_group<T>(store: &Store, queue: impl Future<Output = T>) -> T {
    let (began, may_end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let queued = async {
        began.notified().await;
        tokio::join!(queue, async { may_end.add_permits(1) }).0
    };
    let (waited, queued) = tokio::join!(wait(store, &began, &may_end), queued);
    waited.unwrap();
    queued
}

/// Commits in a group that ends when there is a permit.
async fn observe_slowly(
    store: &Store,
    commit: EvaluationCommit,
    began: &Arc<Notify>,
    may_end: &Arc<Semaphore>,
) -> Result<EvaluationOutcome, StoreError> {
    let committing = store.commit_evaluation(commit, composer());
    let queue = async { tokio::join!(committing, wait(store, began, may_end)).0 };
    in_one_group(store, queue).await
}

on_both_databases! {
    async fn owner_writes_observations_and_the_clock_of_its_shards(database) {
        let Some(store) = with_owner(database).await else { return };
        assert_eq!(observe(&store, fence(1, 1, &[0, 1]), 60).await, []);
        assert_eq!(quoted_at(&store).await, Some(at(60)));
        for (shard, clock) in [(0, Some(at(60))), (1, Some(at(60))), (2, None)] {
            assert_eq!(clock_of(&store, shard).await, clock);
        }
        assert_eq!(store.clock().await.unwrap(), None, "that of a single process");
        assert_eq!(observe(&store, fence(1, 1, &[1]), 50).await, []);
        assert_eq!(observe(&store, fence(1, 1, &[0]), 70).await, []);
        for (shard, clock) in [(0, at(70)), (1, at(60))] {
            assert_eq!(clock_of(&store, shard).await, Some(clock), "it never goes back");
        }
        let quotes = vec![quote("AAPL", "200", 80)];
        let without_clock = EvaluationCommit { quotes, fence: fence(1, 1, &[0]), ..EvaluationCommit::default() };
        assert_eq!(commit(&store, without_clock).await.lost_shards, []);
        assert_eq!((quoted_at(&store).await, clock_of(&store, 0).await), (Some(at(80)), Some(at(70))));
    }

    async fn former_owner_writes_nothing(database) {
        let Some(store) = with_owner(database).await else { return };
        let cluster = store.cluster().unwrap();
        assert_eq!(observe(&store, fence(2, 1, &[0]), 60).await, [Shard(0)], "it never was the owner");
        assert_eq!(observe(&store, fence(1, 0, &[0]), 60).await, [Shard(0)], "the epoch is another one");
        set_connected(&cluster, 1, false).await.unwrap();
        assert_eq!(claim(&cluster, 2, 1, &[1]).await, [1]);
        assert_eq!(observe(&store, fence(1, 1, &[1, 0]), 60).await, [Shard(1)], "one of two is lost");
        assert_eq!((quoted_at(&store).await, clock_of(&store, 0).await), (None, None));
        assert_eq!(observe(&store, fence(1, 1, &[0]), 61).await, []);
        assert_eq!(observe(&store, fence(2, 2, &[1]), 62).await, []);
        assert_eq!(quoted_at(&store).await, Some(at(62)));
    }

    async fn owner_that_has_lost_and_regained_a_shard_needs_the_new_epoch(database) {
        let Some(store) = with_owner(database).await else { return };
        let cluster = store.cluster().unwrap();
        stand_by(&cluster, 2, &[0]).await;
        assert_eq!(cluster.hand_over(node(1), &in_epoch(1, &[0])).await.unwrap(), [Shard(0)]);
        assert_eq!(cluster.hand_over(node(2), &in_epoch(2, &[0])).await.unwrap(), [Shard(0)]);
        assert_eq!(observe(&store, fence(1, 1, &[0]), 60).await, [Shard(0)]);
        assert_eq!(observe(&store, fence(1, 3, &[0]), 60).await, []);
    }

    async fn owner_whose_lease_has_ended_writes_until_its_shard_is_claimed(database) {
        let Some(store) = with_owner(database).await else { return };
        let cluster = store.cluster().unwrap();
        end(&cluster, 1).await;
        assert_eq!(observe(&store, fence(1, 1, &[0]), 60).await, []);
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, [0]);
        assert_eq!(observe(&store, fence(1, 1, &[0]), 61).await, [Shard(0)]);
    }

    async fn former_owner_fires_nothing(database) {
        let Some(store) = with_owner(database).await else { return };
        let alerts = add_many(&store, 2).await;
        let commit_of = |owner, seconds| EvaluationCommit {
            firings: alerts.iter().map(|alert| firing(alert, seconds)).collect(),
            fence: fence(owner, 1, &[0]),
            ..EvaluationCommit::default()
        };
        let outcome = commit(&store, commit_of(2, 60)).await;
        assert_eq!(outcome.firings, [FiringResult::ShardLost, FiringResult::ShardLost]);
        assert_eq!(outcome.lost_shards, [Shard(0)]);
        let outcome = commit(&store, commit_of(1, 61)).await;
        assert!(matches!(outcome.firings[..], [FiringResult::Fired(_), FiringResult::Fired(_)]));
        assert_eq!(outcome.lost_shards, []);
    }

    async fn standby_fires_an_alert_once_without_owning_its_shard(database) {
        let Some(store) = with_owner(database).await else { return };
        let alert = add_many(&store, 1).await.remove(0);
        let commit_of = |seconds| EvaluationCommit {
            firings: vec![firing(&alert, seconds)],
            fence: fence(2, 1, &[]),
            ..EvaluationCommit::default()
        };
        let outcome = commit(&store, commit_of(60)).await;
        assert!(matches!(outcome.firings[..], [FiringResult::Fired(_)]));
        let repeated = commit(&store, commit_of(61)).await;
        assert!(matches!(repeated.firings[..], [FiringResult::Stale(Some(_))]));
    }

    async fn fence_without_shards_loses_nothing(database) {
        let store = open(database).await;
        assert_eq!(observe(&store, fence(1, 1, &[]), 60).await, []);
        assert_eq!((quoted_at(&store).await, store.clock().await.unwrap()), (Some(at(60)), None));
    }

    async fn single_process_needs_no_fence_and_has_no_shards(database) {
        let store = open(database).await;
        assert_eq!(observe(&store, None, 60).await, []);
        assert_eq!((quoted_at(&store).await, store.clock().await.unwrap()), (Some(at(60)), Some(at(60))));
        assert_eq!(observe(&store, fence(1, 0, &[0, 7]), 61).await, [Shard(0), Shard(7)]);
        assert_eq!(quoted_at(&store).await, Some(at(60)));
    }

    async fn lost_fence_does_not_matter_to_other_commits_of_its_group(database) {
        let Some(store) = with_owner(database).await else { return };
        let before = store.write_stats().commits;
        let commit_of = |symbol: &str, owner, shard| EvaluationCommit {
            quotes: vec![quote(symbol, "200", 60)],
            ..observation(fence(owner, 1, &[shard]), 60)
        };
        let queue = [("AAPL", 1, 0), ("IBM", 2, 0), ("MSFT", 1, 1)]
            .map(|(symbol, owner, shard)| commit(&store, commit_of(symbol, owner, shard)));
        let outcomes = in_one_group(&store, join_all(queue)).await;
        assert_eq!(store.write_stats().commits - before, 2, "the group and the transaction before it");
        let lost: Vec<_> = outcomes.iter().map(|outcome| &outcome.lost_shards[..]).collect();
        assert_eq!(lost, [&[][..], &[Shard(0)], &[]]);
        let written: Vec<_> = store.latest_quotes().await.unwrap().iter().map(|quote| quote.symbol).collect();
        assert_eq!(written, [symbol("AAPL"), symbol("MSFT")]);
    }

    async fn claim_waits_for_the_commit_of_the_former_owner(database) {
        let Some(store) = with_owner(database).await else { return };
        let other = open(database).await.cluster().unwrap();
        end(&other, 1).await;
        let quotes = || vec![quote("AAPL", "200", 60)];
        let (shared, with_clock) = (fence(1, 1, &[0]), fence(1, 1, &[1]));
        for (shard, commit) in [
            (0, EvaluationCommit { quotes: quotes(), fence: shared, ..EvaluationCommit::default() }),
            (1, observation(with_clock, 61)),
        ] {
            let (began, may_end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
            let committing = observe_slowly(&store, commit, &began, &may_end);
            let claiming = async {
                began.notified().await;
                let wanted = in_epoch(1, &[shard]);
                // It fails if it waits for too long.
                let claimed = eventually_some("the shard is claimed", async || {
                    other.claim(node(2), &wanted).await.ok().filter(|gained| !gained.is_empty())
                });
                tokio::pin!(claimed);
                tokio::select! {
                    claimed = &mut claimed => panic!("{claimed:?} was claimed while the former owner wrote"),
                    () = wait_until_blocked(database) => may_end.add_permits(1),
                }
                claimed.await
            };
            let (committed, claimed) = tokio::join!(committing, claiming);
            assert_eq!((committed.unwrap().lost_shards, claimed), (vec![], in_epoch(2, &[shard])));
            assert_eq!(quoted_at(&store).await, Some(at(60 + i64::from(shard))));
        }
        assert_eq!((clock_of(&store, 0).await, clock_of(&store, 1).await), (None, Some(at(61))));
        assert_eq!(observe(&store, fence(1, 1, &[0, 1]), 70).await, [Shard(0), Shard(1)]);
    }

    async fn claim_waits_at_most_two_seconds_for_an_owner_that_has_stopped(database) {
        let Some(store) = with_owner(database).await else { return };
        let other = open(database).await.cluster().unwrap();
        end(&other, 1).await;
        let (began, may_end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let committing = observe_slowly(&store, observation(fence(1, 1, &[0]), 60), &began, &may_end);
        let claiming = async {
            began.notified().await;
            // It may not get the answer to a claim. Then the shard has another epoch.
            let claimed = async || {
                let state = other.state().await.unwrap().shards[0];
                let gained = other.claim(node(2), &[(state.shard, state.epoch)]).await;
                gained.is_ok_and(|gained| !gained.is_empty())
            };
            assert!(!claimed().await, "the former owner writes");
            eventually("the server has ended the transaction", claimed).await;
            may_end.add_permits(1);
        };
        let (committed, ()) = tokio::join!(committing, claiming);
        assert!(matches!(committed, Err(StoreError::Unconfirmed(_))), "{committed:?}");
        assert_eq!(observe(&store, fence(1, 1, &[0]), 60).await, [Shard(0)], "it tries again");
        assert_eq!((quoted_at(&store).await, clock_of(&store, 0).await), (None, None));
    }

    async fn commits_of_two_connections_with_the_same_shards_do_not_fail(database) {
        let Some(store) = with_owner(database).await else { return };
        let other = open(database).await;
        let mut commits = tokio::task::JoinSet::new();
        for number in 0..60_u8 {
            let (store, seconds) = (if number % 2 == 0 { store.clone() } else { other.clone() }, i64::from(number));
            let fence = fence(1, 1, if number % 3 == 0 { &[1, 0] } else { &[0, 1] });
            commits.spawn(async move {
                let clock = if number % 4 < 2 { Some(at(seconds)) } else { None };
                commit(&store, EvaluationCommit { clock, ..observation(fence, seconds) }).await.lost_shards
            });
        }
        assert!(commits.join_all().await.iter().all(Vec::is_empty));
        assert_eq!(clock_of(&store, 0).await, Some(at(57)));
    }

    async fn without_fence_every_observation_is_written(database) {
        let Some(store) = with_owner(database).await else { return };
        let options = StoreOptions { unsafe_without_fence: true, ..StoreOptions::new(database.url()) };
        let careless = Store::open(options).await.unwrap();
        assert_eq!(observe(&careless, fence(2, 9, &[0]), 60).await, []);
        assert_eq!((quoted_at(&store).await, clock_of(&store, 0).await), (Some(at(60)), Some(at(60))));
    }
}

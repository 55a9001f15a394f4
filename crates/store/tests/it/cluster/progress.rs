//! The messages whose results are on disk.

use store::Store;
use store::model::{EvaluationCommit, Fence, Shard, ShardProgress};
use testkit::on_both_databases;

use super::{claim, in_epoch, join, node, set_connected};
use crate::firings::{composer, quote};
use crate::support::{uuid, with_accounts};

fn progress(shard: u8, origin: u128, sequence: u64) -> ShardProgress {
    ShardProgress {
        shard: Shard(shard),
        origin: uuid(origin),
        sequence,
    }
}

/// Commits the results of messages as the owner of shards 0 and 1.
async fn judge(store: &Store, seconds: i64, progress: &[ShardProgress]) {
    let commit = EvaluationCommit {
        quotes: vec![quote("AAPL", "200", seconds)],
        progress: progress.to_vec(),
        fence: Some(Fence {
            owner: node(1),
            shards: in_epoch(1, &[0, 1]),
        }),
        ..EvaluationCommit::default()
    };
    store.commit_evaluation(commit, composer()).await.unwrap();
}

async fn progress_of(store: &Store, shards: &[u8]) -> Vec<ShardProgress> {
    let shards: Vec<Shard> = shards.iter().copied().map(Shard).collect();
    store.cluster().unwrap().progress(&shards).await.unwrap()
}

on_both_databases! {
    async fn last_message_of_each_origin_is_known_for_each_shard(database) {
        let store = with_accounts(database, 1).await;
        let Some(cluster) = store.cluster() else { return };
        join(&cluster, &[1]).await;
        claim(&cluster, 1, 0, &[0, 1]).await;
        assert_eq!(progress_of(&store, &[0, 1]).await, []);
        judge(&store, 1, &[progress(0, 8, 5), progress(1, 8, 5)]).await;
        judge(&store, 2, &[progress(0, 9, 1)]).await;
        judge(&store, 3, &[progress(0, 8, 7)]).await;
        judge(&store, 4, &[progress(0, 8, 6)]).await;
        assert_eq!(progress_of(&store, &[0]).await, [progress(0, 8, 7), progress(0, 9, 1)], "it never goes back");
        assert_eq!(progress_of(&store, &[1, 2]).await, [progress(1, 8, 5)]);
    }

    async fn former_owner_makes_no_progress(database) {
        let store = with_accounts(database, 1).await;
        let Some(cluster) = store.cluster() else { return };
        join(&cluster, &[1, 2]).await;
        claim(&cluster, 1, 0, &[0, 1]).await;
        set_connected(&cluster, 1, false).await.unwrap();
        assert_eq!(claim(&cluster, 2, 1, &[1]).await, [1]);
        judge(&store, 1, &[progress(0, 8, 5), progress(1, 8, 5)]).await;
        assert_eq!(progress_of(&store, &[0, 1]).await, []);
    }

    async fn progress_of_an_origin_that_has_ended_is_kept_for_the_next_owner(database) {
        let store = with_accounts(database, 1).await;
        let Some(cluster) = store.cluster() else { return };
        join(&cluster, &[1]).await;
        claim(&cluster, 1, 0, &[0, 1]).await;
        judge(&store, 1, &[progress(0, 1, 5)]).await;
        cluster.leave(node(1)).await.unwrap();
        join(&cluster, &[2]).await;
        assert_eq!(progress_of(&store, &[0]).await, [progress(0, 1, 5)]);
    }
}

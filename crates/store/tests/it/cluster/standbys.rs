//! Standbys of shards.

use store::ClusterTables;
use store::model::Shard;
use testkit::on_both_databases;

use super::{assignment, claim, cluster, end, in_epoch, join, node, shards, stand_by};

/// Takes the place of a standby, and returns whether it was taken.
async fn take(cluster: &ClusterTables, number: u128, shard: u8, replaced: Option<u128>) -> bool {
    let wanted = [(Shard(shard), replaced.map(node))];
    let taken = cluster.take_standby(node(number), &wanted).await.unwrap();
    !taken.is_empty()
}

on_both_databases! {
    async fn standby_is_another_living_node_than_the_living_owner(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert!(!take(&cluster, 1, 0, None).await, "it has no owner");
        assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
        assert!(!take(&cluster, 1, 0, None).await, "it is the owner");
        assert!(!take(&cluster, 9, 0, None).await, "it has not joined");
        assert!(take(&cluster, 2, 0, None).await);
        assert_eq!(assignment(&cluster, 0).await, (Some(1), Some(2), false, 1));
        end(&cluster, 1).await;
        assert!(!take(&cluster, 2, 1, None).await, "the owner has ended");
    }

    async fn standby_is_replaced_if_it_is_the_expected_one_or_has_ended(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3, 4]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
        stand_by(&cluster, 2, &[0, 1]).await;
        assert!(!take(&cluster, 3, 0, None).await);
        assert!(!take(&cluster, 3, 0, Some(4)).await);
        assert!(take(&cluster, 3, 0, Some(2)).await);
        assert_eq!(assignment(&cluster, 0).await, (Some(1), Some(3), false, 1), "it is not ready yet");
        assert!(!take(&cluster, 2, 0, Some(2)).await, "it was replaced meanwhile");
        end(&cluster, 2).await;
        assert!(take(&cluster, 4, 1, Some(3)).await);
        let both = [(Shard(0), Some(node(3))), (Shard(1), None)];
        assert_eq!(cluster.take_standby(node(4), &both).await.unwrap(), [Shard(0)]);
    }

    async fn only_the_standby_becomes_ready(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
        assert!(take(&cluster, 2, 0, None).await);
        assert!(take(&cluster, 3, 1, None).await);
        assert_eq!(cluster.standby_ready(node(2), &shards(&[0, 1, 2])).await.unwrap(), shards(&[0]));
        assert_eq!(assignment(&cluster, 0).await, (Some(1), Some(2), true, 1));
        assert_eq!(assignment(&cluster, 1).await, (Some(1), Some(3), false, 1));
    }

    async fn owner_and_ready_standby_change_places(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1, 2, 3]).await, [0, 1, 2, 3]);
        stand_by(&cluster, 2, &[0, 1]).await;
        assert!(take(&cluster, 2, 2, None).await);
        stand_by(&cluster, 3, &[3]).await;
        end(&cluster, 3).await;
        let owned = in_epoch(1, &[0, 1, 2, 3]);
        assert_eq!(cluster.hand_over(node(2), &owned).await.unwrap(), [], "it is not the owner");
        let former = in_epoch(0, &[0, 1, 2, 3]);
        assert_eq!(cluster.hand_over(node(1), &former).await.unwrap(), [], "the epoch is another one");
        assert_eq!(cluster.hand_over(node(1), &owned[1..]).await.unwrap(), shards(&[1]));
        assert_eq!(assignment(&cluster, 0).await, (Some(1), Some(2), true, 1), "it was not asked for");
        assert_eq!(assignment(&cluster, 1).await, (Some(2), Some(1), true, 2));
        assert_eq!(assignment(&cluster, 2).await, (Some(1), Some(2), false, 1), "the standby is not ready");
        assert_eq!(assignment(&cluster, 3).await, (Some(1), Some(3), true, 1), "the standby has ended");
        assert_eq!(cluster.hand_over(node(2), &in_epoch(2, &[1])).await.unwrap(), shards(&[1]), "and back");
    }

    async fn concurrent_standbys_get_different_shards(database) {
        let (Some(first), Some(second)) = (cluster(database).await, cluster(database).await) else { return };
        join(&first, &[1, 2, 3]).await;
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(claim(&first, 1, 0, &all).await, all);
        let wanted: Vec<_> = Shard::all().map(|shard| (shard, None)).collect();
        let mut reversed = wanted.clone();
        reversed.reverse();
        let (two, three) = tokio::join!(first.take_standby(node(2), &wanted), second.take_standby(node(3), &reversed));
        let (two, three) = (two.unwrap(), three.unwrap());
        let mut taken: Vec<Shard> = two.iter().chain(&three).copied().collect();
        taken.sort_unstable();
        assert_eq!(taken, shards(&all), "each once");
    }
}

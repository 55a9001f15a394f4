//! Leases of nodes.

use store::model::{Shard, ShardState};
use testkit::on_both_databases;

use super::{HOUR, assignment, claim, cluster, cluster_node, end, in_epoch, join, node, set_connected, stand_by};
use crate::support::open;

on_both_databases! {
    async fn cluster_is_on_postgresql_only(database) {
        let store = open(database).await;
        assert_eq!(store.cluster().is_some(), database.is_postgres());
    }

    async fn new_cluster_has_all_shards_and_no_owner(database) {
        let Some(cluster) = cluster(database).await else { return };
        let state = cluster.state().await.unwrap();
        assert_eq!(state.nodes, []);
        assert_eq!(state.shards.len(), Shard::COUNT);
        for (state, shard) in state.shards.into_iter().zip(Shard::all()) {
            let unowned = ShardState {
                shard, owner: None, standby: None, is_standby_ready: false, epoch: store::model::Epoch(0), clock: None,
            };
            assert_eq!(state, unowned);
        }
    }

    async fn node_is_alive_while_it_renews_its_lease(database) {
        let (Some(cluster), Some(other)) = (cluster(database).await, cluster(database).await) else { return };
        join(&cluster, &[2, 1]).await;
        let state = set_connected(&cluster, 1, false).await.unwrap();
        let mut first = cluster_node(1);
        first.is_connected = false;
        assert_eq!(state.nodes, [first, cluster_node(2)]);
        end(&cluster, 2).await;
        assert_eq!(set_connected(&cluster, 2, true).await, None, "its lease has ended");
        let state = set_connected(&other, 1, true).await.unwrap();
        assert_eq!(state.nodes, [cluster_node(1)]);
        assert_eq!(set_connected(&cluster, 3, true).await, None, "it is unknown");
    }

    async fn node_that_has_ended_may_join_again_and_owns_nothing(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
        stand_by(&cluster, 2, &[1]).await;
        assert_eq!(claim(&cluster, 2, 0, &[2]).await, [2]);
        stand_by(&cluster, 1, &[2]).await;
        end(&cluster, 1).await;
        join(&cluster, &[1]).await;
        assert_eq!(assignment(&cluster, 0).await, (None, None, false, 2));
        assert_eq!(assignment(&cluster, 1).await, (Some(2), None, false, 2));
        assert_eq!(assignment(&cluster, 2).await, (Some(2), None, false, 1), "it is no standby either");
        assert!(set_connected(&cluster, 1, true).await.is_some());
    }

    async fn later_run_of_a_name_ends_the_earlier_one(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0]).await, [0]);
        let mut restarted = cluster_node(3);
        restarted.name = cluster_node(1).name;
        cluster.join(&restarted, HOUR).await.unwrap();
        assert_eq!(set_connected(&cluster, 1, true).await, None);
        assert_eq!(claim(&cluster, 1, 0, &[9]).await, [0; 0]);
        assert_eq!(cluster.state().await.unwrap().nodes, [restarted, cluster_node(2)]);
        assert_eq!(claim(&cluster, 3, 1, &[0]).await, [0], "its shards are free");
    }

    async fn join_deletes_nodes_that_have_ended(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        end(&cluster, 2).await;
        join(&cluster, &[3]).await;
        let pool = sqlx::PgPool::connect(database.url()).await.unwrap();
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM nodes").fetch_one(&pool).await.unwrap();
        pool.close().await;
        assert_eq!(count, 2);
    }

    async fn node_that_leaves_is_followed_by_its_ready_standbys(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1, 2, 3]).await, [0, 1, 2, 3]);
        assert_eq!(claim(&cluster, 2, 0, &[4]).await, [4]);
        stand_by(&cluster, 2, &[0]).await;
        let standby = cluster.take_standby(node(2), &[(Shard(1), None)]).await.unwrap();
        assert_eq!(standby, [Shard(1)]);
        stand_by(&cluster, 3, &[2]).await;
        stand_by(&cluster, 1, &[4]).await;
        end(&cluster, 3).await;
        cluster.leave(node(1)).await.unwrap();
        assert_eq!(assignment(&cluster, 0).await, (Some(2), None, false, 2));
        assert_eq!(assignment(&cluster, 1).await, (None, Some(2), false, 2), "the standby is not ready");
        assert_eq!(assignment(&cluster, 2).await, (None, Some(3), false, 2), "the standby has ended");
        assert_eq!(assignment(&cluster, 3).await, (None, None, false, 2));
        assert_eq!(assignment(&cluster, 4).await, (Some(2), None, false, 1));
        assert_eq!(assignment(&cluster, 5).await, (None, None, false, 0));
        assert_eq!(set_connected(&cluster, 1, true).await, None);
        cluster.leave(node(1)).await.unwrap();
        assert_eq!(assignment(&cluster, 3).await, (None, None, false, 2), "it leaves once");
    }

    async fn owner_and_standby_that_leave_at_once_leave_no_owner(database) {
        let Some(cluster) = cluster(database).await else { return };
        for round in 0..20 {
            let (owner, standby) = (100 + round, 200 + round);
            join(&cluster, &[owner, standby]).await;
            let owned: Vec<u8> = (0..32).collect();
            let before = cluster.state().await.unwrap().shards[0].epoch.0;
            for shard in &owned {
                let epoch = cluster.state().await.unwrap().shards[usize::from(*shard)].epoch;
                cluster.claim(node(owner), &in_epoch(epoch.0, &[*shard])).await.unwrap();
            }
            stand_by(&cluster, standby, &owned).await;
            let (first, second) = tokio::join!(cluster.leave(node(owner)), cluster.leave(node(standby)));
            first.and(second).unwrap();
            for shard in owned {
                let (owner, standby, _, epoch) = assignment(&cluster, shard).await;
                assert_eq!((owner, standby), (None, None));
                assert!(epoch > before);
            }
        }
    }
}

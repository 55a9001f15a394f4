//! Claims of shards.

use store::model::{Epoch, Shard};
use testkit::{eventually, on_both_databases};

use super::{SHORT_LEASE, assignment, claim, cluster, end, in_epoch, join, node, set_connected, shards, stand_by};

const NONE: [u8; 0] = [];

on_both_databases! {
    async fn free_shards_are_claimed_in_their_epochs(database) {
        let Some(cluster) = cluster(database).await else { return };
        assert_eq!(claim(&cluster, 1, 0, &[0]).await, NONE, "it has not joined");
        join(&cluster, &[1]).await;
        assert_eq!(claim(&cluster, 1, 1, &[0]).await, NONE, "the epoch is another one");
        assert_eq!(claim(&cluster, 1, 0, &[255, 7, 0]).await, [0, 7, 255]);
        assert_eq!(assignment(&cluster, 7).await, (Some(1), None, false, 1));
        assert_eq!(assignment(&cluster, 8).await, (None, None, false, 0));
        end(&cluster, 1).await;
        assert_eq!(claim(&cluster, 1, 0, &[8]).await, NONE, "its lease has ended");
        assert_eq!(cluster.claim(node(1), &[]).await.unwrap(), []);
    }

    async fn shards_of_living_nodes_stay_theirs(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1]).await, [0, 1]);
        assert_eq!(claim(&cluster, 2, 1, &[0, 1]).await, NONE);
        end(&cluster, 1).await;
        assert_eq!(claim(&cluster, 2, 0, &[0]).await, NONE, "the epoch is another one");
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, [0]);
        assert_eq!(claim(&cluster, 3, 1, &[0, 1]).await, [1], "the other was claimed before");
        assert_eq!(assignment(&cluster, 0).await, (Some(2), None, false, 2));
    }

    async fn lease_ends_by_the_clock_of_the_database(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0]).await, [0]);
        cluster.renew(node(1), true, SHORT_LEASE).await.unwrap().unwrap();
        eventually("the shard is free", async || claim(&cluster, 2, 1, &[0]).await == [0]).await;
        assert_eq!(set_connected(&cluster, 1, true).await, None);
    }

    async fn connected_node_claims_shards_of_a_node_that_is_not(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0]).await, [0]);
        set_connected(&cluster, 1, false).await.unwrap();
        set_connected(&cluster, 2, false).await.unwrap();
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, NONE, "neither is connected");
        assert_eq!(claim(&cluster, 2, 0, &[1]).await, [1], "a free shard needs no connection");
        set_connected(&cluster, 1, true).await.unwrap();
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, NONE, "the owner is connected");
        set_connected(&cluster, 1, false).await.unwrap();
        set_connected(&cluster, 2, true).await.unwrap();
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, [0]);
    }

    async fn shard_with_a_ready_standby_is_claimed_by_it_only(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2, 3]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0, 1, 2]).await, [0, 1, 2]);
        stand_by(&cluster, 2, &[0, 1]).await;
        let standby = cluster.take_standby(node(2), &[(Shard(2), None)]).await.unwrap();
        assert_eq!(standby, [Shard(2)]);
        end(&cluster, 1).await;
        assert_eq!(claim(&cluster, 3, 1, &[0, 1, 2]).await, [2], "the standby is not ready");
        assert_eq!(assignment(&cluster, 2).await, (Some(3), Some(2), false, 2), "it stays the standby");
        assert_eq!(claim(&cluster, 2, 1, &[0]).await, [0]);
        assert_eq!(assignment(&cluster, 0).await, (Some(2), None, false, 2));
        end(&cluster, 2).await;
        assert_eq!(claim(&cluster, 3, 1, &[1]).await, [1], "the standby has ended");
        assert_eq!(assignment(&cluster, 1).await, (Some(3), None, false, 2));
    }

    async fn owner_may_claim_again_if_it_did_not_get_the_answer(database) {
        let Some(cluster) = cluster(database).await else { return };
        join(&cluster, &[1, 2]).await;
        assert_eq!(claim(&cluster, 1, 0, &[0]).await, [0]);
        stand_by(&cluster, 2, &[0]).await;
        assert_eq!(claim(&cluster, 1, 1, &[0]).await, [0]);
        assert_eq!(assignment(&cluster, 0).await, (Some(1), Some(2), true, 2), "the standby stays ready");
    }

    async fn concurrent_claimers_get_different_shards(database) {
        let (Some(first), Some(second)) = (cluster(database).await, cluster(database).await) else { return };
        join(&first, &[1, 2]).await;
        let all: Vec<u8> = (0..=255).collect();
        let reversed: Vec<u8> = all.iter().rev().copied().collect();
        let mut claims = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (cluster, claimer, order) = match number % 2 {
                0 => (first.clone(), 1, all.clone()),
                _ => (second.clone(), 2, reversed.clone()),
            };
            let some: Vec<u8> = order.into_iter().filter(|shard| u32::from(*shard) % 4 != number / 2).collect();
            claims.spawn(async move { (claimer, claim(&cluster, claimer, 0, &some).await) });
        }
        let gained = claims.join_all().await;
        let mut numbers: Vec<u8> = gained.iter().flat_map(|(_, gained)| gained).copied().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, all, "each once");
        for (claimer, gained) in gained {
            for shard in gained {
                assert_eq!(assignment(&first, shard).await, (Some(claimer), None, false, 1));
            }
        }
    }

    async fn shard_that_is_handed_over_and_claimed_at_once_changes_once(database) {
        let (Some(cluster), Some(other)) = (cluster(database).await, cluster(database).await) else { return };
        join(&cluster, &[1, 2]).await;
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(claim(&cluster, 1, 0, &all).await, all);
        stand_by(&other, 2, &all).await;
        set_connected(&cluster, 1, false).await.unwrap();
        let (even, odd): (Vec<u8>, Vec<u8>) = all.iter().partition(|shard| *shard % 2 == 0);
        let (mut handed, mut gained) = (Vec::new(), Vec::new());
        for some in [even, odd] {
            let owned = in_epoch(1, &some);
            let (handing, claiming) = tokio::join!(cluster.hand_over(node(1), &owned), other.claim(node(2), &owned));
            handed.extend(handing.unwrap());
            gained.extend(claiming.unwrap().into_iter().map(|(shard, _)| shard));
        }
        let mut changed: Vec<Shard> = handed.iter().chain(&gained).copied().collect();
        changed.sort_unstable();
        assert_eq!(changed, shards(&all));
        for state in cluster.state().await.unwrap().shards {
            assert_eq!((state.owner, state.epoch), (Some(node(2)), Epoch(2)));
            let former = if handed.contains(&state.shard) { Some(node(1)) } else { None };
            assert_eq!((state.standby, state.is_standby_ready), (former, former.is_some()));
        }
    }
}

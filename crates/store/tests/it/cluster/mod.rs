//! Nodes and shards of a cluster.

mod claims;
mod fence;
mod nodes;
mod progress;
mod standbys;

use jiff::SignedDuration;
use store::ClusterTables;
use store::model::{ClusterNode, ClusterState, Epoch, NodeId, Shard};
use testkit::{Database, eventually};

use crate::support::{open, uuid};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// The lease of a node that ends during a test.
const SHORT_LEASE: SignedDuration = SignedDuration::from_millis(50);

/// Returns the cluster of a new process, unless the database has one process.
async fn cluster(database: &Database) -> Option<ClusterTables> {
    open(database).await.cluster()
}

fn node(number: u128) -> NodeId {
    NodeId(uuid(number))
}

fn cluster_node(number: u128) -> ClusterNode {
    ClusterNode {
        id: node(number),
        name: format!("node-{number}"),
        roles: 0b101,
        is_connected: true,
    }
}

async fn join(cluster: &ClusterTables, numbers: &[u128]) {
    for number in numbers {
        cluster.join(&cluster_node(*number), HOUR).await.unwrap();
    }
}

async fn set_connected(cluster: &ClusterTables, number: u128, is_connected: bool) -> Option<ClusterState> {
    cluster.renew(node(number), is_connected, HOUR).await.unwrap()
}

/// Ends the lease of a node, as if it had stopped.
async fn end(cluster: &ClusterTables, number: u128) {
    cluster.renew(node(number), true, SHORT_LEASE).await.unwrap().unwrap();
    let has_ended = async || {
        let nodes = cluster.state().await.unwrap().nodes;
        nodes.iter().all(|live| live.id != node(number))
    };
    eventually("the lease has ended", has_ended).await;
}

/// Shards in an epoch.
fn in_epoch(epoch: i64, shards: &[u8]) -> Vec<(Shard, Epoch)> {
    shards.iter().map(|shard| (Shard(*shard), Epoch(epoch))).collect()
}

fn shards(numbers: &[u8]) -> Vec<Shard> {
    numbers.iter().copied().map(Shard).collect()
}

/// Claims shards in an epoch, and returns those that were gained.
async fn claim(cluster: &ClusterTables, claimer: u128, epoch: i64, shards: &[u8]) -> Vec<u8> {
    let gained = cluster.claim(node(claimer), &in_epoch(epoch, shards)).await.unwrap();
    assert!(gained.iter().all(|(_, new)| *new == Epoch(epoch + 1)), "{gained:?}");
    gained.into_iter().map(|(shard, _)| shard.0).collect()
}

/// Makes a node the ready standby of shards.
async fn stand_by(cluster: &ClusterTables, number: u128, numbers: &[u8]) {
    let wanted: Vec<_> = numbers.iter().map(|shard| (Shard(*shard), None)).collect();
    assert_eq!(
        cluster.take_standby(node(number), &wanted).await.unwrap(),
        shards(numbers)
    );
    let ready = cluster.standby_ready(node(number), &shards(numbers)).await.unwrap();
    assert_eq!(ready, shards(numbers));
}

/// The owner, the standby, whether it is ready, and the epoch of a shard.
type Assignment = (Option<u128>, Option<u128>, bool, i64);

async fn assignment(cluster: &ClusterTables, shard: u8) -> Assignment {
    let state = cluster.state().await.unwrap().shards[usize::from(shard)];
    assert_eq!(state.shard, Shard(shard));
    let number = |node: NodeId| node.0.as_u128();
    (
        state.owner.map(number),
        state.standby.map(number),
        state.is_standby_ready,
        state.epoch.0,
    )
}

//! Hints to the other nodes that alerts have changed, so that they are judged at once. A lost hint costs a second.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Cluster;
use super::message::{ALERTS, encode};

/// Sends a hint for each change here, until `stop`.
pub(super) async fn run(cluster: Arc<Cluster>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = cluster.sharded.has_changed.notified() => {}
        }
        let changed = cluster.sharded.take_changed();
        let sent = match encode(&changed) {
            Ok(payload) => cluster.config.bus.publish(ALERTS, payload.into()).await.is_ok(),
            Err(_) => false,
        };
        if !sent {
            cluster.changed_here.notify_one();
        }
    }
}

//! Reads the alerts of shards that this node has got, one request after the other, so that the renewal of its lease does not wait.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use store::StoreError;
use store::model::{Shard, ShardState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Cluster;
use super::held_shards::ShardRole;
use crate::evaluator::Evaluator;

/// The delay after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Shards to read.
#[derive(Debug)]
pub(super) enum LoadRequest {
    /// This node is their standby.
    StandBy(Vec<ShardState>),
    /// This node owns them, and has not judged their alerts before.
    Own(Vec<ShardState>),
}

/// Reads the alerts of shards.
pub(super) struct Loader {
    pub(super) cluster: Arc<Cluster>,
    pub(super) evaluator: Arc<Evaluator>,
    pub(super) time: Arc<dyn Clock>,
}

impl Loader {
    /// Takes requests until `stop`.
    pub(super) async fn run(self, mut requests: mpsc::UnboundedReceiver<LoadRequest>, stop: CancellationToken) {
        loop {
            let request = tokio::select! {
                () = stop.cancelled() => return,
                request = requests.recv() => request,
            };
            let Some(request) = request else { return };
            while let Err(error) = self.load(&request).await {
                tracing::warn!(%error, "the alerts of shards could not be read; they are read again");
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.time.sleep(RETRY_DELAY) => {}
                }
            }
        }
    }

    async fn load(&self, request: &LoadRequest) -> Result<(), StoreError> {
        match request {
            LoadRequest::StandBy(states) => {
                let states = self.still_loading(states);
                self.evaluator.load_shards(&states).await?;
                let loaded: Vec<Shard> = self.still_loading(&states).iter().map(|state| state.shard).collect();
                for &shard in &loaded {
                    self.cluster.sharded.held.set(shard, ShardRole::Standby);
                }
                self.cluster.tables.standby_ready(self.cluster.id, &loaded).await?;
                Ok(())
            }
            LoadRequest::Own(states) => {
                let states = self.still_loading(states);
                self.evaluator.load_shards(&states).await?;
                let states = self.still_loading(&states);
                for state in &states {
                    self.cluster.sharded.held.set(state.shard, ShardRole::Standby);
                }
                self.cluster.takeovers.add(&states);
                Ok(())
            }
        }
    }

    /// Returns the shards that were not lost in the meantime.
    fn still_loading(&self, states: &[ShardState]) -> Vec<ShardState> {
        let held = &self.cluster.sharded.held;
        let loading = states
            .iter()
            .filter(|state| held.role(state.shard) == ShardRole::Loading);
        loading.copied().collect()
    }
}

//! Reads the alerts of shards that this node has got, one request after the other, so that the renewal of its lease does not wait.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use store::StoreError;
use store::model::ShardState;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Cluster;
use super::held_shards::LoadNumber;
use crate::evaluator::Evaluator;

/// The delay after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The reason for a read of alerts.
#[derive(Clone, Copy, Debug)]
pub(super) enum LoadPurpose {
    /// This node is the standby of their shards.
    StandBy,
    /// This node owns their shards, and has not judged their alerts before.
    Own,
}

/// Shards to read.
#[derive(Debug)]
pub(super) struct LoadRequest {
    pub(super) load: LoadNumber,
    pub(super) purpose: LoadPurpose,
    pub(super) states: Vec<ShardState>,
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
        self.evaluator.load_shards(&request.states, request.load).await?;
        let held = &self.cluster.sharded.held;
        let mut states = request.states.clone();
        states.retain(|state| held.end_load(state.shard, request.load));
        match request.purpose {
            // The membership reports it with its next step, as it may have lost the shards again.
            LoadPurpose::StandBy => {}
            LoadPurpose::Own => self.cluster.takeovers.add(&states),
        }
        Ok(())
    }
}

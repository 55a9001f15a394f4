//! Taking over shards, between two messages: the node continues from what is stored, and judges the messages whose results are not.

use std::sync::Arc;
use std::time::Duration;

use ::market::records::Batch;
use store::StoreError;
use store::model::{Shard, ShardState};
use tokio_util::sync::CancellationToken;

use super::MarketTask;
use super::judgement::rejected_quotes;
use crate::cluster::shard_set::ShardSet;
use crate::evaluator::sharded::JudgedMessage;

/// The delay after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// The number of shards that are taken over at once. Nothing else is judged meanwhile.
const MAX_SHARDS: usize = 32;

impl MarketTask {
    /// Takes over some of the shards that this node owns by now. While the database fails, it waits: nothing may be judged in between.
    pub(super) async fn take_over(&mut self, stop: &CancellationToken) -> Result<(), StoreError> {
        self.cluster.sharded.note_progress(self.clock.uptime());
        loop {
            let wanted = self.cluster.takeovers.first(MAX_SHARDS);
            let sharded = Arc::clone(&self.cluster.sharded);
            let held = &sharded.held;
            let may_own = |state: &&ShardState| held.role(state.shard).may_own(state.epoch);
            let states: Vec<ShardState> = wanted.iter().filter(may_own).copied().collect();
            let error = match self.take_over_some(&states).await {
                Ok(()) => {
                    self.cluster.takeovers.remove(&wanted);
                    break;
                }
                Err(error) => error,
            };
            // Some may be owned already, without the messages that are not stored.
            for state in &states {
                held.stand_by_for(state.shard);
            }
            tracing::error!(%error, "shards could not be taken over; it is tried again");
            // Otherwise no progress is noted, and another node takes them after a while.
            if error.is_unavailable() {
                self.cluster.sharded.note_progress(self.clock.uptime());
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.time.sleep(RETRY_DELAY) => {}
            }
        }
        // Changes in the meantime may have been left to the former owners.
        self.request_evaluation().await
    }

    async fn take_over_some(&mut self, states: &[ShardState]) -> Result<(), StoreError> {
        if states.is_empty() {
            return Ok(());
        }
        // Before the progress is read, which it changes. No former owner can write any more.
        self.evaluator.flush().await?;
        let shards: Vec<Shard> = states.iter().map(|state| state.shard).collect();
        let progress = self.cluster.tables.progress(&shards).await?;
        let shards: ShardSet = shards.into_iter().collect();
        self.stored.retain(|(shard, _), _| !shards.contains(*shard));
        let stored = progress
            .into_iter()
            .map(|progress| ((progress.shard, progress.origin), progress.sequence));
        self.stored.extend(stored);
        let quotes = self.evaluator.become_owner(states).await?;
        self.intake.continue_from(&shards, &quotes).await;
        let judged = self.judge_not_stored(&shards).await?;
        tracing::info!(
            shards = states.len(),
            messages = judged,
            "this node has taken over shards, and judged the messages whose results were not stored"
        );
        Ok(())
    }

    /// Judges the recent messages about shards whose results are not stored. Returns their number.
    async fn judge_not_stored(&mut self, shards: &ShardSet) -> Result<usize, StoreError> {
        let mut count = 0;
        for received in self.recent.about(shards, self.clock.uptime()) {
            let taken = received.shards.within(shards);
            let missing = taken.without(&self.left_out(received.id, received.position, &taken));
            if missing.is_empty() {
                continue;
            }
            count += 1;
            let quotes = received.quotes.iter().enumerate();
            let quotes = quotes.filter(|(_, quote)| missing.contains(Shard::of(quote.symbol)));
            let (places, quotes): (Vec<usize>, Vec<_>) = quotes.unzip();
            // The engine has the other records already.
            let batch = Batch {
                quotes: quotes.into_iter().copied().collect(),
                ..Batch::default()
            };
            let (origin, sequence) = received.id;
            let message = JudgedMessage {
                origin,
                sequence,
                position: received.position,
                symbols: batch.symbols().collect(),
                shards: missing,
                is_repeated: true,
            };
            let (judged, result) = self.judge_quotes(&message, &batch).await?;
            let mut rejected = rejected_quotes(&result, &batch.quotes);
            for (_, quote) in &mut rejected {
                quote.index = places[quote.index];
            }
            self.intake.note_arrival(&batch, received.arrived_at).await;
            self.acknowledge(received.id, self.still_owned(&judged), &rejected)
                .await;
            self.recent.add_judged(received.id, &judged, rejected);
        }
        Ok(count)
    }
}

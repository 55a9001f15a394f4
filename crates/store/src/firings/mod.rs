//! Firings: persists the results of an evaluation, each firing once.
//!
//! # Exactly once
//!
//! A firing was evaluated against one revision of an alert. It is accepted by compare-and-set: the update requires
//! status `active` and that revision, and increments the revision. So if two engines, or an engine and a user who
//! pauses the alert, act at the same moment, one succeeds and the other finds another revision. The history entry
//! and the event are written in the same transaction, and only for alerts that the update has changed. A rejected
//! firing is returned with the current alert ([`FiringResult::Stale`]).
//!
//! # Large evaluations
//!
//! Firings are split into chunks ([`FIRING_CHUNK_SIZE`]). Each chunk is a transaction in the write queue like any
//! other, so that many firings do not block users. Chunks follow the order of creation of the alerts, which is the
//! order of their rows on disk, so each page is written once. A chunk is read and composed *outside* its
//! transaction, while the previous chunk is being written; the compare-and-set detects changes in between. Only a
//! few statements of many rows each remain within the transaction.
//!
//! Observations (quotes and the clock) are written with the last chunk. So after a crash in between, missing firings
//! are evaluated again.
//!
//! # Fence
//!
//! In a cluster, what the owner of a shard has decided and observed is written only while it owns the shard (`fence.rs`). A former owner
//! may have missed a price, and would fire an alert that was activated since by an earlier one. The firings of a standby have no fence:
//! each is caused by a message from after the activation, and is accepted once.
//!
//! With the observations, the owner writes which messages they come from, so that its successor judges the others and no message twice.

mod acknowledge;
mod commit;
mod delays;
mod fence;
mod lifecycles;
mod prepare;
mod read;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{EvaluationCommit, EvaluationOutcome, FiringComposer, FiringResult, StoredAlert};
use crate::{Store, StoreError};
use commit::{ChunkOutcome, FiringChunk, Observations};
use prepare::PreparedChunk;

/// Maximum number of firings per transaction.
const FIRING_CHUNK_SIZE: usize = 2048;

impl Store {
    /// Commits the results of an evaluation. `composer` is also called for firings that are rejected later.
    ///
    /// If the caller is cancelled, some chunks may be written and others not, as after a crash.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if the database fails; some chunks may have been written by then.
    pub async fn commit_evaluation(
        &self,
        commit: EvaluationCommit,
        composer: Arc<dyn FiringComposer>,
    ) -> Result<EvaluationOutcome, StoreError> {
        let EvaluationCommit {
            firings,
            mut sides,
            lifecycles,
            quotes,
            superseded,
            extended_prices,
            clock,
            progress,
            fence,
        } = commit;
        let fence = fence.map(Arc::new);
        let mut lost_shards = BTreeSet::new();
        let of_observations = |observations| FiringChunk {
            rows: Vec::new(),
            stale: Vec::new(),
            observations,
            uses_compare_and_set: true,
            fence: fence.clone(),
            checks_fence: self.checks_fence,
            composer: None,
        };
        let mut results: Vec<Option<FiringResult>> = Vec::new();
        results.resize_with(firings.len(), || None);

        while sides.len() > FIRING_CHUNK_SIZE {
            let some = sides.split_off(sides.len() - FIRING_CHUNK_SIZE);
            let observations = Observations {
                sides: some,
                ..Observations::default()
            };
            let outcome = self.commit_chunk(of_observations(observations)).await?;
            lost_shards.extend(outcome.lost_shards);
        }
        let mut observations = Some(Observations {
            sides,
            lifecycles,
            quotes,
            superseded,
            extended_prices,
            clock,
            progress,
        });

        let order = self.in_order_of_creation(&firings).await?;
        let mut chunks = order.chunks(FIRING_CHUNK_SIZE);
        let mut next = match chunks.next() {
            Some(positions) => Some(self.prepare(&firings, positions, &*composer).await?),
            None => None,
        };
        while let Some(prepared) = next.take() {
            let following = chunks.next();
            let PreparedChunk { fired, rows, stale } = prepared;
            let stale_places: Vec<usize> = stale.iter().map(|(index, _)| *index).collect();
            let chunk = FiringChunk {
                rows,
                stale,
                uses_compare_and_set: self.uses_compare_and_set,
                composer: Some(Arc::clone(&composer)),
                ..of_observations(if following.is_none() { observations.take() } else { None }.unwrap_or_default())
            };
            let preparing = async {
                match following {
                    Some(positions) => self.prepare(&firings, positions, &*composer).await.map(Some),
                    None => Ok(None),
                }
            };
            let (outcome, prepared) = tokio::join!(self.commit_chunk(chunk), preparing);
            let mut outcome = outcome?;
            next = prepared?;
            let is_lost = !outcome.lost_shards.is_empty();
            lost_shards.extend(std::mem::take(&mut outcome.lost_shards));
            if is_lost {
                let lost = fired.iter().map(|(index, _)| *index).chain(stale_places);
                lost.for_each(|index| results[index] = Some(FiringResult::ShardLost));
                continue;
            }
            for (index, alert) in fired {
                results[index] = Some(if outcome.is_accepted(index) {
                    FiringResult::Fired(Box::new(alert))
                } else {
                    stale_result(outcome.current(&alert.alert.id))
                });
            }
            for (index, id) in outcome.take_stale() {
                results[index] = Some(stale_result(outcome.current(&id)));
            }
        }
        if let Some(observations) = observations.filter(|observations| !observations.is_empty()) {
            let outcome = self.commit_chunk(of_observations(observations)).await?;
            lost_shards.extend(outcome.lost_shards);
        }
        let firings = results
            .into_iter()
            .map(|result| result.unwrap_or(FiringResult::Stale(None)));
        Ok(EvaluationOutcome {
            firings: firings.collect(),
            lost_shards: lost_shards.into_iter().collect(),
        })
    }

    async fn commit_chunk(&self, chunk: FiringChunk) -> Result<ChunkOutcome, StoreError> {
        self.commit(chunk, |chunk, unit| Box::pin(chunk.run(unit))).await
    }
}

fn stale_result(current: Option<&StoredAlert>) -> FiringResult {
    FiringResult::Stale(current.map(|alert| Box::new(alert.clone())))
}

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
//! other, so that many firings do not block users. Chunks follow the order of creation of the alerts, which is the order of
//! their rows on disk, so each page is written once. A chunk is read and composed *outside* its transaction, while the
//! previous chunk is being written; the compare-and-set detects changes in between. Only a few statements of many rows
//! each remain within the transaction. On PostgreSQL a second connection writes the firings of one half of the accounts at the
//! same time: each transaction changes the rows of its accounts, so two with the same accounts would wait for each other. It is
//! opened for the evaluation, so that no idle one breaks unnoticed.
//!
//! Observations (quotes and the clock) are written with the only chunk, or after all others. So after a crash in between,
//! missing firings are evaluated again.
//!
//! # Fence
//!
//! In a cluster, what the owner of a shard has decided and observed is written only while it owns the shard (`fence.rs`). A former owner
//! may have missed a price, and would fire an alert that was activated since by an earlier one. The firings of a standby have no fence:
//! each is caused by a message from after the activation, and is accepted once.
//!
//! With the observations, the owner writes which messages they come from, so that its successor judges the others and no message twice.

/// Whether an alert, whose revision is compared besides, still is what was evaluated.
///
/// A `CASE`, because PostgreSQL would otherwise expect hardly any such alert in a table without statistics (after a restore, or while
/// many are created), and would read the whole table once for each firing instead of finding each alert by its key.
macro_rules! is_unchanged {
    () => {
        "CASE alerts.status WHEN 'active' THEN alerts.deleted_at IS NULL ELSE FALSE END"
    };
}

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

use futures_util::future::join_all;

use crate::model::{
    EvaluationCommit, EvaluationOutcome, Fence, Firing, FiringComposer, FiringResult, Shard, StoredAlert,
};
use crate::{BoxFuture, Store, StoreError};
use commit::{FiringChunk, Observations};
use prepare::{FiringPosition, PreparedChunk, divided_by_account};

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
        let writer = ChunkWriter {
            firings: &firings,
            composer,
            fence: fence.map(Arc::new),
        };
        let mut results: Vec<Option<FiringResult>> = Vec::new();
        results.resize_with(firings.len(), || None);
        let mut lost_shards = BTreeSet::new();
        let mut note = |written: WrittenChunk| {
            for (place, result) in written.results {
                results[place] = Some(result);
            }
            lost_shards.extend(written.lost_shards);
        };

        while sides.len() > FIRING_CHUNK_SIZE {
            let some = sides.split_off(sides.len() - FIRING_CHUNK_SIZE);
            let observations = Observations {
                sides: some,
                ..Observations::default()
            };
            note(writer.write(self, &[], observations).await?);
        }
        let mut observations = Observations {
            sides,
            lifecycles,
            quotes,
            superseded,
            extended_prices,
            clock,
            progress,
        };
        let order = self.in_order_of_creation(&firings).await?;
        if order.len() <= FIRING_CHUNK_SIZE {
            if !order.is_empty() {
                let observations = std::mem::take(&mut observations);
                note(writer.write(self, &order, observations).await?);
            }
        } else {
            let second = self.with_second_writer().await;
            let stores: Vec<&Store> = [self].into_iter().chain(&second).collect();
            let written = writer
                .write_in_rounds(&stores, &divided_by_account(order, stores.len()))
                .await;
            if let Some(second) = &second {
                second.write_queue.close().await;
            }
            written?.into_iter().for_each(&mut note);
        }
        if !observations.is_empty() {
            note(writer.write(self, &[], observations).await?);
        }
        let firings = results
            .into_iter()
            .map(|result| result.unwrap_or(FiringResult::Stale(None)));
        Ok(EvaluationOutcome {
            firings: firings.collect(),
            lost_shards: lost_shards.into_iter().collect(),
        })
    }
}

/// Writes chunks of the firings of an evaluation.
struct ChunkWriter<'a> {
    firings: &'a [Firing],
    composer: Arc<dyn FiringComposer>,
    fence: Option<Arc<Fence>>,
}

/// The results of a chunk.
struct WrittenChunk {
    /// The result of each firing, with its place in the evaluation.
    results: Vec<(usize, FiringResult)>,
    lost_shards: Vec<Shard>,
}

impl ChunkWriter<'_> {
    /// Writes the firings at some positions, and observations, in one transaction.
    async fn write(
        &self,
        store: &Store,
        positions: &[FiringPosition],
        observations: Observations,
    ) -> Result<WrittenChunk, StoreError> {
        let prepared = store.prepare(self.firings, positions, &*self.composer).await?;
        self.commit(store, prepared, observations).await
    }

    /// Writes the firings of each part with its store. Each round is one chunk of each part, and ends with its transactions: in
    /// between, other nodes can change the shards that the fence locks. Meanwhile the next round is read and composed.
    async fn write_in_rounds(
        &self,
        stores: &[&Store],
        parts: &[Vec<FiringPosition>],
    ) -> Result<Vec<WrittenChunk>, StoreError> {
        let rounds = parts.iter().map(|part| part.len().div_ceil(FIRING_CHUNK_SIZE)).max();
        let mut written = Vec::new();
        let mut prepared = self.prepare_round(stores, parts, 0).await?;
        for round in 1..=rounds.unwrap_or_default() {
            let mut committing: Vec<BoxFuture<'_, _>> = Vec::with_capacity(prepared.len());
            for (store, prepared) in prepared {
                committing.push(Box::pin(self.commit(store, prepared, Observations::default())));
            }
            let next = self.prepare_round(stores, parts, round);
            let (committed, next) = tokio::join!(join_all(committing), next);
            for chunk in committed {
                written.push(chunk?);
            }
            prepared = next?;
        }
        Ok(written)
    }

    /// Reads and composes a chunk of each part that has one.
    async fn prepare_round<'s>(
        &self,
        stores: &[&'s Store],
        parts: &[Vec<FiringPosition>],
        round: usize,
    ) -> Result<Vec<(&'s Store, PreparedChunk)>, StoreError> {
        let mut prepared = Vec::with_capacity(parts.len());
        for (store, part) in stores.iter().zip(parts) {
            if let Some(chunk) = part.chunks(FIRING_CHUNK_SIZE).nth(round) {
                let chunk = store.prepare(self.firings, chunk, &*self.composer).await?;
                prepared.push((*store, chunk));
            }
        }
        Ok(prepared)
    }

    async fn commit(
        &self,
        store: &Store,
        prepared: PreparedChunk,
        observations: Observations,
    ) -> Result<WrittenChunk, StoreError> {
        let PreparedChunk { fired, rows, stale } = prepared;
        let stale_places: Vec<usize> = stale.iter().map(|(index, _)| *index).collect();
        let chunk = FiringChunk {
            rows,
            stale,
            observations,
            uses_compare_and_set: store.uses_compare_and_set,
            fence: self.fence.clone(),
            checks_fence: store.checks_fence,
            composer: Arc::clone(&self.composer),
        };
        let transaction = store.commit(chunk, |chunk, unit| Box::pin(chunk.run(unit)));
        let mut outcome = transaction.await?;
        let lost_shards = std::mem::take(&mut outcome.lost_shards);
        if !lost_shards.is_empty() {
            let lost = fired.iter().map(|(index, _)| *index).chain(stale_places);
            return Ok(WrittenChunk {
                results: lost.map(|index| (index, FiringResult::ShardLost)).collect(),
                lost_shards,
            });
        }
        let settled = fired.into_iter().map(|(index, alert)| {
            let result = if outcome.is_accepted(index) {
                FiringResult::Fired(Box::new(alert))
            } else {
                stale_result(outcome.current(&alert.alert.id))
            };
            (index, result)
        });
        let mut results: Vec<(usize, FiringResult)> = settled.collect();
        let stale = outcome.take_stale().into_iter();
        results.extend(stale.map(|(index, id)| (index, stale_result(outcome.current(&id)))));
        Ok(WrittenChunk { results, lost_shards })
    }
}

fn stale_result(current: Option<&StoredAlert>) -> FiringResult {
    FiringResult::Stale(current.map(|alert| Box::new(alert.clone())))
}

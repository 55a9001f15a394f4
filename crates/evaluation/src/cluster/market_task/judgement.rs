//! The judgement of messages, and their acknowledgement.

use std::time::Duration;

use ::market::records::{Batch, QuoteRow};
use store::StoreError;
use store::model::{Epoch, Shard};
use tokio_util::sync::CancellationToken;

use super::MarketTask;
use crate::cluster::held_shards::ShardRole;
use crate::cluster::message::{
    Acknowledgement, Content, MarketMessage, ReceivedBatch, ReceivedPeriod, RejectedQuote, acknowledgements_to, encode,
};
use crate::cluster::origin::OwnResult;
use crate::cluster::recent_messages::{MessageId, ReceivedQuotes};
use crate::cluster::shard_set::ShardSet;
use crate::evaluator::sharded::JudgedMessage;

/// The delay before a message is processed again after the database has failed.
const RETRY_DELAY: Duration = Duration::from_millis(200);

impl MarketTask {
    /// Processes a message. While the database fails, it waits: the messages after it need its records.
    pub(super) async fn process(&mut self, message: MarketMessage, stop: &CancellationToken) {
        let MarketMessage {
            origin,
            sequence,
            content,
            ..
        } = message;
        let id = (origin, sequence);
        let mut is_first = true;
        loop {
            self.cluster.sharded.note_progress(self.clock.uptime());
            let processed = match &content {
                Content::Batch(received) => self.judge_batch(id, received).await,
                Content::Missed(received) => self.judge_missed(received).await,
                Content::Beat(_) => return,
            };
            let error = match processed {
                Ok((judged, result)) => {
                    // After a failure it is not known what the first try has decided, so the sender sends the data again.
                    let judged = if is_first { judged } else { Vec::new() };
                    let rejected = match &content {
                        Content::Batch(received) => rejected_quotes(&result, &received.batch.quotes),
                        Content::Missed(_) | Content::Beat(_) => Vec::new(),
                    };
                    self.acknowledge(id, self.still_owned(&judged), &rejected).await;
                    if let Content::Batch(received) = &content {
                        let quotes = ReceivedQuotes::of(id, received, self.clock.now());
                        self.recent.push(quotes, judged, rejected, self.clock.uptime());
                    }
                    if origin == self.cluster.id.0 {
                        self.cluster.origin.report(sequence, result);
                    }
                    return;
                }
                Err(error) => error,
            };
            metrics::gauge!("bellwether_evaluation_behind").set(1.0);
            tracing::error!(%error, "market data could not be evaluated; it is evaluated again");
            if !error.is_unavailable() {
                // It would fail again, and the messages behind it would wait for ever.
                return;
            }
            is_first = false;
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.time.sleep(RETRY_DELAY) => {}
            }
        }
    }

    async fn judge_batch(
        &mut self,
        id: MessageId,
        received: &ReceivedBatch,
    ) -> Result<(Vec<(Shard, Epoch)>, OwnResult), StoreError> {
        let shards: ShardSet = received.batch.symbols().map(Shard::of).collect();
        let left_out = self.left_out(id, received.position, &shards);
        let symbols = received.batch.symbols();
        let message = JudgedMessage {
            origin: id.0,
            sequence: id.1,
            position: received.position,
            symbols: symbols
                .filter(|symbol| !left_out.contains(Shard::of(*symbol)))
                .collect(),
            shards: shards.without(&left_out),
            is_repeated: false,
        };
        if left_out.is_empty() {
            return self.judge_quotes(&message, &received.batch).await;
        }
        let mut batch = received.batch.clone();
        let is_new = |quote: &QuoteRow| !left_out.contains(Shard::of(quote.symbol));
        let places = batch.quotes.iter().enumerate().filter(|(_, quote)| is_new(quote));
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        batch.quotes.retain(is_new);
        let (judged, mut result) = self.judge_quotes(&message, &batch).await?;
        if let OwnResult::Batch(_, rejected) = &mut result {
            for row in rejected.iter_mut().filter(|row| row.kind == "quotes") {
                row.index = places.get(row.index).copied().unwrap_or(row.index);
            }
        }
        Ok((judged, result))
    }

    /// Judges a batch, or its quotes of some shards.
    pub(super) async fn judge_quotes(
        &mut self,
        message: &JudgedMessage,
        batch: &Batch,
    ) -> Result<(Vec<(Shard, Epoch)>, OwnResult), StoreError> {
        self.evaluator.follow_committed(message.position).await?;
        let judged = self.intake.judge_received(batch, message).await?;
        let result = OwnResult::Batch(Box::new(judged.batch), judged.rejected);
        Ok((judged.owned, result))
    }

    /// Returns the shards for which a message is not judged: those that were taken over with its results, and those whose alerts were read
    /// after it was received. The node does not acknowledge it for them, so its sender sends the data again, unless the former owner has
    /// acknowledged it.
    pub(super) fn left_out(&self, (origin, sequence): MessageId, position: i64, shards: &ShardSet) -> ShardSet {
        let is_stored = |shard: &Shard| self.stored.get(&(*shard, origin)).is_some_and(|&last| sequence <= last);
        let stored = shards.iter().filter(is_stored);
        stored
            .chain(self.cluster.sharded.loaded_after(position, shards).iter())
            .collect()
    }

    /// Judges a missed period. Its decisions cannot wait, so it waits for the lease.
    async fn judge_missed(
        &mut self,
        received: &ReceivedPeriod,
    ) -> Result<(Vec<(Shard, Epoch)>, OwnResult), StoreError> {
        self.require_lease()?;
        // Not later: what is taken over meanwhile is not judged.
        let mut owned = self.cluster.sharded.held.owned();
        self.evaluator.follow_committed(received.position).await?;
        let symbols = received.missed.quotes.iter().map(|quote| quote.symbol);
        let shards: ShardSet = symbols.map(Shard::of).collect();
        let outcome = self.intake.judge_missed(received.missed.clone()).await?;
        self.require_lease()?;
        owned.retain(|(shard, _)| shards.contains(*shard));
        Ok((owned, OwnResult::Missed(outcome)))
    }

    fn require_lease(&self) -> Result<(), StoreError> {
        if self.cluster.sharded.has_lease(self.clock.uptime()) {
            return Ok(());
        }
        Err(StoreError::Unavailable("the node's lease has ended".to_owned()))
    }

    /// Returns those of some shards that this node still owns in the same epochs.
    pub(super) fn still_owned(&self, judged: &[(Shard, Epoch)]) -> ShardSet {
        let held = &self.cluster.sharded.held;
        let owned = judged
            .iter()
            .filter(|(shard, epoch)| held.role(*shard) == ShardRole::Owner(*epoch));
        owned.map(|(shard, _)| *shard).collect()
    }

    /// Acknowledges a message again that was processed before, once everything about it is on disk.
    pub(super) async fn acknowledge_again(&mut self, id: MessageId) -> Result<(), StoreError> {
        if self.still_owned(self.recent.judged(id)).is_empty() {
            return Ok(());
        }
        self.evaluator.flush().await?;
        let shards = self.still_owned(self.recent.judged(id));
        self.acknowledge(id, shards, self.recent.rejected(id)).await;
        Ok(())
    }

    /// Acknowledges a message for some shards, with those of the rejected quotes that are theirs.
    pub(super) async fn acknowledge(
        &self,
        (origin, sequence): MessageId,
        shards: ShardSet,
        rejected: &[(Shard, RejectedQuote)],
    ) {
        if shards.is_empty() {
            return;
        }
        let rejected = rejected.iter().filter(|(shard, _)| shards.contains(*shard));
        let rejected = rejected.map(|(_, quote)| quote.clone()).collect();
        if origin == self.cluster.id.0 {
            self.cluster.origin.acknowledge(sequence, &shards, rejected);
            return;
        }
        let mut acknowledgement = Acknowledgement {
            sequence,
            shards,
            rejected: Some(rejected),
        };
        let bus = self.cluster.bus();
        let mut payload = encode(&acknowledgement);
        if payload.as_ref().is_ok_and(|payload| payload.len() > bus.max_payload()) {
            acknowledgement.rejected = None;
            payload = encode(&acknowledgement);
        }
        if let Ok(payload) = payload {
            // If it is lost, the origin repeats the message.
            let _ = bus.publish(&acknowledgements_to(origin), payload.into()).await;
        }
    }
}

/// Returns the rejected quotes of a batch with their shards.
pub(super) fn rejected_quotes(result: &OwnResult, quotes: &[QuoteRow]) -> Vec<(Shard, RejectedQuote)> {
    let OwnResult::Batch(_, rejected) = result else {
        return Vec::new();
    };
    let rejected = rejected.iter().filter(|row| row.kind == "quotes").filter_map(|row| {
        let quote = quotes.get(row.index)?;
        let rejected = RejectedQuote {
            index: row.index,
            reason: row.reason.clone(),
        };
        Some((Shard::of(quote.symbol), rejected))
    });
    rejected.collect()
}

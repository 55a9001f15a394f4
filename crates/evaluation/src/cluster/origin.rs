//! The sending side of market data: a node that has received data from a source or a client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::market::records::Batch;
use bus::{Bus, BusError, BusSubscription};
use clock::Clock;
use foundation::{Ports, ServiceError};
use serde::Serialize;
use sources::MissedQuotes;
use sources::ingest::RowRejection;
use store::Store;
use store::model::{NodeId, Shard};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::message::{
    Acknowledgement, Content, MarketMessage, MissedMessages, ReceivedBatch, ReceivedPeriod, RejectedQuote,
};
use super::message::{MARKET, decode, encode};
use super::sent_messages::{AwaitedMessage, OwnersRejections, SentMessages};
use super::shard_set::ShardSet;
use crate::market::missed_outcome::MissedPeriodOutcome;

/// How long a message is repeated. A client gets its answer within five seconds.
const MAX_WAIT: Duration = Duration::from_millis(3_500);
/// How long a missed period is repeated. Its evaluation may take long, and its source waits.
const MAX_MISSED_WAIT: Duration = Duration::from_secs(60);
/// How long the database may take before that.
const MAX_POSITION_WAIT: Duration = Duration::from_secs(1);
/// The interval of repetitions.
const REPEAT_INTERVAL: Duration = Duration::from_millis(250);
/// The room in a message for everything but its records, in bytes.
const ENVELOPE_BYTES: usize = 1_024;

/// The result of a message on the node that has sent it.
#[derive(Debug)]
pub(crate) enum OwnResult {
    /// Of a batch: the records to store, and those that were rejected.
    Batch(Box<Batch>, Vec<RowRejection>),
    /// Of a missed period.
    Missed(MissedPeriodOutcome),
}

/// The sending side of a node.
#[derive(Debug)]
pub(crate) struct Origin {
    id: NodeId,
    bus: Bus,
    store: Store,
    time: Arc<dyn Clock>,
    sent: SentMessages,
    own_results: Mutex<HashMap<u64, oneshot::Sender<OwnResult>>>,
}

impl Origin {
    pub(super) fn new(id: NodeId, bus: Bus, ports: &Ports) -> Self {
        Self {
            id,
            bus,
            store: ports.store.clone(),
            time: Arc::clone(&ports.network.time),
            sent: SentMessages::default(),
            own_results: Mutex::default(),
        }
    }

    /// Sends a batch to all nodes. Returns once each of its shards has judged it, with the firings on disk: the records to store,
    /// and the rejected ones.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] if that does not happen in time; it is safe to send the batch again.
    /// [`ServiceError::StorageUnavailable`] or [`ServiceError::Internal`] if the database fails.
    pub(crate) async fn send_batch(&self, batch: Batch) -> Result<(Batch, Vec<RowRejection>), ServiceError> {
        let shards = batch.symbols().map(Shard::of).collect();
        let quoted: Vec<Shard> = batch.quotes.iter().map(|quote| Shard::of(quote.symbol)).collect();
        let position = self.position().await?;
        let content = Content::Batch(Box::new(ReceivedBatch { position, batch }));
        let (result, owners) = self.send(&content, shards, MAX_WAIT).await?;
        match result {
            OwnResult::Batch(batch, rejected) => Ok((*batch, with_rejections_of_owners(rejected, owners, &quoted))),
            OwnResult::Missed(_) => Err(ServiceError::internal(
                "the result of a batch is that of a missed period",
            )),
        }
    }

    /// Sends a missed period to all nodes, as [`send_batch`](Self::send_batch).
    ///
    /// # Errors
    /// As [`send_batch`](Self::send_batch).
    pub(crate) async fn send_missed(&self, missed: MissedQuotes) -> Result<MissedPeriodOutcome, ServiceError> {
        let shards = missed.quotes.iter().map(|quote| Shard::of(quote.symbol)).collect();
        let position = self.position().await?;
        let content = Content::Missed(ReceivedPeriod { position, missed });
        match self.send(&content, shards, MAX_MISSED_WAIT).await?.0 {
            OwnResult::Missed(outcome) => Ok(outcome),
            OwnResult::Batch(..) => Err(ServiceError::internal(
                "the result of a missed period is that of a batch",
            )),
        }
    }

    /// Returns the last position of the change feed that is assigned.
    async fn position(&self) -> Result<i64, ServiceError> {
        tokio::select! {
            position = self.store.history_last() => Ok(position?),
            () = self.time.sleep(MAX_POSITION_WAIT) => {
                Err(ServiceError::Unavailable("the database does not answer; send the data again".to_owned()))
            }
        }
    }

    /// Whether records fit into a message.
    pub(crate) fn fits(&self, records: &impl Serialize) -> bool {
        encode(records).is_ok_and(|json| json.len() + ENVELOPE_BYTES <= self.bus.max_payload())
    }

    /// Sends a message. Returns its result on this node, and the quotes that the owners of their shards have rejected.
    async fn send(
        &self,
        content: &Content,
        shards: ShardSet,
        max_wait: Duration,
    ) -> Result<(OwnResult, OwnersRejections), ServiceError> {
        let (sender, own_result) = oneshot::channel();
        let awaited = self.sent.add(shards, |sequence, settled| {
            let message = MarketMessage {
                origin: self.id.0,
                sequence,
                settled,
                content: content.clone(),
            };
            let payload = encode(&message).map_err(ServiceError::internal)?;
            // Before it has a number: the others would wait for a message that cannot be sent.
            if payload.len() > self.bus.max_payload() {
                let message =
                    "a record is too large for a message between nodes; raise max_payload of the NATS servers";
                return Err(ServiceError::Unavailable(message.to_owned()));
            }
            Ok(payload)
        })?;
        self.own_results().insert(awaited.sequence, sender);
        let judged = async {
            awaited.acknowledged().await;
            own_result.await
        };
        let result = tokio::select! {
            result = judged => result.ok(),
            () = self.repeat(&awaited) => None,
            () = self.time.sleep(max_wait) => None,
        };
        self.own_results().remove(&awaited.sequence);
        let result = result.map(|result| (result, awaited.rejected_by_owners()));
        result.ok_or_else(|| {
            let missing = awaited.missing().iter().count();
            tracing::warn!(missing, "market data was not judged in time by all of its shards");
            ServiceError::Unavailable("the data has not been evaluated in time; send it again".to_owned())
        })
    }

    /// Sends a message, and again until the caller stops.
    async fn repeat(&self, awaited: &AwaitedMessage<'_>) {
        loop {
            if let Err(error) = self.publish(&awaited.payload).await {
                tracing::debug!(%error, "market data could not be sent; it is sent again");
            }
            self.time.sleep(REPEAT_INTERVAL).await;
        }
    }

    async fn publish(&self, payload: &Arc<[u8]>) -> Result<(), BusError> {
        self.bus.publish(MARKET, payload.to_vec().into()).await
    }

    /// Sends a beat. If it is lost, the next one does its work.
    pub(super) async fn beat(&self, number: u64) {
        let (sequence, settled) = self.sent.last();
        let beat = MarketMessage {
            origin: self.id.0,
            sequence,
            settled,
            content: Content::Beat(number),
        };
        if let Ok(payload) = encode(&beat) {
            let _ = self.bus.publish(MARKET, payload.into()).await;
        }
    }

    /// Records that shards of this node have judged one of its messages, and which quotes were rejected.
    pub(super) fn acknowledge(&self, sequence: u64, shards: &ShardSet, rejected: Vec<RejectedQuote>) {
        self.sent.acknowledge(sequence, shards, Some(rejected));
    }

    /// Reports the result of one of this node's messages on this node.
    pub(super) fn report(&self, sequence: u64, result: OwnResult) {
        if let Some(waiting) = self.own_results().remove(&sequence) {
            // Dropped if the caller does not wait any more.
            let _ = waiting.send(result);
        }
    }

    /// Takes acknowledgements, and sends missed messages again, until `stop`.
    pub(super) async fn run(
        self: Arc<Self>,
        mut acknowledgements: BusSubscription,
        mut requests: BusSubscription,
        stop: CancellationToken,
    ) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(message) = acknowledgements.next() => {
                    if let Some(Acknowledgement { sequence, shards, rejected }) = decode(&message.payload) {
                        self.sent.acknowledge(sequence, &shards, rejected);
                    }
                }
                Some(message) = requests.next() => {
                    if let Some(missed) = decode::<MissedMessages>(&message.payload) {
                        self.send_again(missed).await;
                    }
                }
                else => return,
            }
        }
    }

    async fn send_again(&self, missed: MissedMessages) {
        for payload in self.sent.again(missed) {
            if self.publish(&payload).await.is_err() {
                // It is requested again.
                return;
            }
        }
    }

    fn own_results(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<OwnResult>>> {
        self.own_results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the rejected records of a batch. The owner of a shard decides which of its quotes are rejected, not this node. `quoted` are the
/// shards of the quotes.
fn with_rejections_of_owners(
    mut own: Vec<RowRejection>,
    owners: OwnersRejections,
    quoted: &[Shard],
) -> Vec<RowRejection> {
    let is_reported = |index: usize| {
        quoted
            .get(index)
            .is_some_and(|shard| owners.reported_by.contains(*shard))
    };
    own.retain(|row| row.kind != "quotes" || !is_reported(row.index));
    own.extend(owners.quotes.into_iter().map(|quote| RowRejection {
        kind: "quotes",
        index: quote.index,
        reason: quote.reason,
    }));
    own
}

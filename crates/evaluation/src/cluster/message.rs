//! The messages between the nodes of a cluster. They are JSON, so that nodes of two versions understand each other during an
//! upgrade.

use ::market::records::Batch;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sources::MissedQuotes;
use uuid::Uuid;

use super::shard_set::ShardSet;

/// The subject of market data and of beats, which every node receives. One subject, so that each node receives them in one order.
pub(crate) const MARKET: &str = "market";
/// The subject of hints that alerts have changed.
pub(crate) const ALERTS: &str = "alerts";

/// The subject of acknowledgements to a node.
pub(crate) fn acknowledgements_to(node: Uuid) -> String {
    format!("acknowledged.{node}")
}

/// The subject of requests to a node to send market data again.
pub(crate) fn requests_to(node: Uuid) -> String {
    format!("again.{node}")
}

/// A message with market data, or a beat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct MarketMessage {
    /// The run of the node that has received the data from a source or a client.
    pub(crate) origin: Uuid,
    /// The number of the message among those of its origin, which count from 1. A beat has the number of the last one before it.
    pub(crate) sequence: u64,
    /// All messages up to this number were acknowledged, or their origin does not wait for them any more.
    #[serde(default)]
    pub(crate) settled: u64,
    #[serde(flatten)]
    pub(crate) content: Content,
}

/// The content of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    /// Market data.
    Batch(Box<ReceivedBatch>),
    /// Data of a missed period.
    Missed(ReceivedPeriod),
    /// Shows that the connection works, and the number of the last message. The number of the beat among those of its origin.
    Beat(u64),
}

/// A batch of market data, as a node has received it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ReceivedBatch {
    /// The last position of the change feed that was assigned when the data was received. The data may fire alerts that were
    /// activated at or before this position, and no later activation.
    pub(crate) position: i64,
    pub(crate) batch: Batch,
}

/// A missed period, as a node has received it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ReceivedPeriod {
    /// As in [`ReceivedBatch`].
    pub(crate) position: i64,
    pub(crate) missed: MissedQuotes,
}

/// Tells the origin of a message which shards have judged it, with their firings on disk.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Acknowledgement {
    pub(crate) sequence: u64,
    pub(crate) shards: ShardSet,
    /// The quotes of these shards that their owner has rejected. `None` from an earlier version, and if they do not fit into a message.
    #[serde(default)]
    pub(crate) rejected: Option<Vec<RejectedQuote>>,
}

/// A quote of a message that the owner of its shard has rejected, by its clock and its last quotes. Those of the origin may differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RejectedQuote {
    /// The index among the quotes of the message.
    pub(crate) index: usize,
    pub(crate) reason: String,
}

/// Asks the origin for messages that were missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MissedMessages {
    /// The first one.
    pub(crate) from: u64,
    /// The last one.
    pub(crate) until: u64,
}

/// Returns the JSON form of a message.
///
/// # Errors
/// Never for the messages of this module; the error is passed on instead of a panic.
pub(crate) fn encode(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(message)
}

/// Reads a message. A message that cannot be read is left out with a warning: it is of another version, or of another program.
pub(crate) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    serde_json::from_slice(payload)
        .inspect_err(|error| tracing::warn!(%error, "a message on the bus cannot be read and is left out"))
        .ok()
}

#[cfg(test)]
mod tests;

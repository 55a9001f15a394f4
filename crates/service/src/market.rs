//! The market: what becomes known about it comes in here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::records::Batch;
use serde_json::Value;

use crate::{Actor, Service, ServiceError};

/// Whether the market is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarketStatus {
    /// Whether the regular session is going on.
    pub is_open: bool,
    /// When it opens next.
    pub next_open: Option<Timestamp>,
    /// When it closes next.
    pub next_close: Option<Timestamp>,
    /// The instant this was asked.
    pub now: Timestamp,
}

/// A row that could not be taken in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotIngested {
    /// Which part of the batch: `quotes`, `bars`, ...
    pub kind: &'static str,
    /// Its place in it, from 0.
    pub index: usize,
    /// Why not, and what would help.
    pub reason: String,
}

/// What became of the body of an ingest request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IngestAnswer {
    /// How many elements of each kind that the body has were taken in.
    pub accepted: BTreeMap<&'static str, usize>,
    /// The others, with their places in the body.
    pub rejected: Vec<NotIngested>,
}

impl Service {
    /// Whether the market is open.
    #[must_use]
    pub fn market_status(&self) -> MarketStatus {
        todo!()
    }

    /// Takes in what a source delivered. When it returns, what the observations fired is on disk. What could not be taken
    /// (a bar of a session that has not ended, ...) comes back with its place in the batch.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was decided is kept and committed as soon as it answers.
    pub async fn ingest(&self, _batch: Batch) -> Result<Vec<NotIngested>, ServiceError> {
        todo!()
    }

    /// Takes in what somebody pushed: the body of an ingest request (decisions 8). Bad elements come back with their
    /// places and cost no other.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] unless the actor operates this service, [`ServiceError::Malformed`] and
    /// [`ServiceError::Invalid`] for a body that is no object of arrays; as [`Service::ingest`].
    pub async fn ingest_json(&self, _actor: &Actor, _body: &Value) -> Result<IngestAnswer, ServiceError> {
        todo!()
    }
}

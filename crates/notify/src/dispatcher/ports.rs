//! What the dispatcher needs of others: a place where deliveries wait, and a channel that carries them.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use crate::schedule::{Next, Report};

/// A lane in which something waits. A lane is one endpoint: what waits for a webhook, a mailbox's host, a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneDue {
    /// Which lane. Lanes are in an order, so that one can go through them.
    pub lane: i64,
    /// When the first delivery in it is due. What is claimed is due when the claim ends.
    pub first_due: Timestamp,
}

/// What is to be claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimOrder {
    /// Of these lanes, in this order.
    pub lanes: Vec<i64>,
    /// At most so many deliveries of each, those first that are due longest ...
    pub most_of_each: u32,
    /// ... and at most so many in all.
    pub most: u32,
    /// Only what was due by then.
    pub now: Timestamp,
    /// Nobody else may claim them until then; afterwards anybody may.
    pub until: Timestamp,
    /// A number drawn by chance that shows whose claim it is. Who settles shows it.
    pub lease: i64,
}

/// A delivery that was claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claimed<J> {
    /// Its place in the outbox, to settle it by.
    pub key: i64,
    /// Its id, the same on every attempt.
    pub id: Uuid,
    /// Its lane.
    pub lane: i64,
    /// Which host it goes to. Attempts at one host are bounded, however many lanes lead there.
    pub host: Arc<str>,
    /// Whose it is. Attempts for one account are bounded.
    pub account: Uuid,
    /// How many attempts were made before, since it was queued.
    pub tries: u32,
    /// What the channel needs to carry it.
    pub job: J,
}

/// What became of a claimed delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled<R> {
    /// Its place in the outbox.
    pub key: i64,
    /// Its lane.
    pub lane: i64,
    /// The number of the claim. If somebody else has claimed it meanwhile, only a success still counts.
    pub lease: i64,
    /// The attempt; `None`, if none was made.
    pub report: Option<R>,
    /// What happens next.
    pub next: Next,
}

/// Where deliveries wait until they are done.
///
/// A delivery that was claimed and not settled may be claimed again when its claim ends, under the same id: that is what
/// makes a crash harmless. All of this is asked by one dispatcher at a time, but several processes may share an outbox.
pub trait Outbox: Send + Sync + 'static {
    /// What a channel needs to carry a delivery.
    type Job: Send + Sync + 'static;
    /// What a channel tells of an attempt.
    type Report: Report;
    /// What can go wrong. It is logged, and tried again.
    type Error: fmt::Display + Send + 'static;

    /// The lanes after one in their order in which something waits, whether it is due yet or not, at most `limit`. It must
    /// be cheap: it is asked whenever something was committed.
    fn lanes(&self, after: i64, limit: u32) -> impl Future<Output = Result<Vec<LaneDue>, Self::Error>> + Send;

    /// Claims deliveries. What cannot be read is better given up by the outbox itself than claimed for ever.
    fn claim(&self, order: &ClaimOrder) -> impl Future<Output = Result<Vec<Claimed<Self::Job>>, Self::Error>> + Send;

    /// Writes down what became of deliveries, all or nothing.
    fn settle(&self, settled: &[Settled<Self::Report>]) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// A channel: what carries a delivery to where it goes, once.
pub trait Transport: Send + Sync + 'static {
    /// What it needs.
    type Job: Send + Sync + 'static;
    /// What it tells of an attempt.
    type Report: Report;

    /// One attempt. It must end by itself within [`Limits::longest_attempt`](super::Limits::longest_attempt).
    fn attempt(&self, id: Uuid, job: &Self::Job) -> impl Future<Output = Self::Report> + Send;
}

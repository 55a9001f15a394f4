//! The interfaces of the dispatcher: an [`Outbox`] that stores deliveries, and a [`Transport`] that sends them.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

use super::EndpointShare;
use crate::schedule::{AttemptReport, NextStep};

/// An endpoint with pending deliveries: a webhook, a mailbox host or a phone number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DueEndpoint {
    /// The id of the endpoint. Ids are ordered, for pagination.
    pub endpoint: i64,
    /// When its first delivery is due. A claimed delivery is due when its claim ends.
    pub first_due: Timestamp,
}

/// The parameters of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimParams {
    /// The endpoints, in this order.
    pub endpoints: Vec<i64>,
    /// Maximum number of deliveries per endpoint. Those that are due longest come first.
    pub max_per_endpoint: u32,
    /// Maximum number of deliveries in total.
    pub max_total: u32,
    /// Only deliveries that are due at this time are claimed.
    pub now: Timestamp,
    /// The end of the claim. Other dispatchers may claim the deliveries afterwards.
    pub until: Timestamp,
    /// A random number that identifies the claim. It is needed to settle the deliveries.
    pub lease: i64,
}

/// A claimed delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedJob<J> {
    /// Its key in the outbox, to settle it by.
    pub key: i64,
    /// The id of the delivery, the same on every attempt.
    pub id: Uuid,
    /// Its endpoint.
    pub endpoint: i64,
    /// The host that it goes to. Attempts at one host are bounded, for all of its endpoints together.
    pub host: Arc<str>,
    /// The account that it belongs to. Attempts for one account are bounded.
    pub account: Uuid,
    /// Number of attempts so far.
    pub previous_attempts: u32,
    /// When the event happened that it is about, if it is about one. It is returned with the result, to measure the delay.
    pub caused_at: Option<Timestamp>,
    /// The data that the transport needs.
    pub job: J,
}

/// The result of a claimed delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettledJob<R> {
    /// Its key in the outbox.
    pub key: i64,
    /// Its endpoint.
    pub endpoint: i64,
    /// The id of the claim. If another dispatcher has claimed the delivery since, only a success still counts.
    pub lease: i64,
    /// [`ClaimedJob::caused_at`].
    pub caused_at: Option<Timestamp>,
    /// The report of the attempt; `None` if no attempt was made.
    pub report: Option<R>,
    /// The next step.
    pub next: NextStep,
}

/// The store of pending deliveries.
///
/// A delivery that was claimed and not settled can be claimed again when its claim ends, with the same id. So a crash loses
/// nothing. One dispatcher makes one call of each kind at a time, but several processes may share an outbox.
pub trait Outbox: Send + Sync + 'static {
    /// The data that a transport needs for an attempt.
    type Job: Send + Sync + 'static;
    /// The report of an attempt.
    type Report: AttemptReport;
    /// The error of a call. It is logged, and the call is repeated.
    type Error: fmt::Display + Send + 'static;

    /// Returns up to `limit` endpoints with ids above `after` that have pending deliveries, due or not, in ascending order. It must
    /// be cheap, because it is called after every commit.
    fn due_endpoints(
        &self,
        after: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<DueEndpoint>, Self::Error>> + Send;

    /// Claims deliveries. The outbox should give up deliveries that it cannot read, or they are claimed forever.
    fn claim(
        &self,
        params: &ClaimParams,
    ) -> impl Future<Output = Result<Vec<ClaimedJob<Self::Job>>, Self::Error>> + Send;

    /// Stores the results of deliveries, all or none.
    fn settle(&self, settled: &[SettledJob<Self::Report>]) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns the endpoints that this dispatcher serves now. It must be cheap. [Wake](super::WakeHandle::wake) the dispatcher when they
    /// change.
    fn share(&self) -> EndpointShare {
        EndpointShare::ALL
    }
}

/// A channel that sends deliveries.
pub trait Transport: Send + Sync + 'static {
    /// The data for an attempt.
    type Job: Send + Sync + 'static;
    /// The report of an attempt.
    type Report: AttemptReport;

    /// Makes one attempt. It must end within [`DispatcherLimits::max_attempt_duration`](super::DispatcherLimits::max_attempt_duration).
    fn attempt(&self, id: Uuid, job: &Self::Job) -> impl Future<Output = Self::Report> + Send;
}

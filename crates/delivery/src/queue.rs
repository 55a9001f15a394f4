//! Queues in the database as outboxes of dispatchers.
//!
//! A [`ChannelQueue`] is the part that each channel implements: what it loads with a claim, and what it records with
//! a settlement. The queue, its dispatcher and its limits are the same for all channels.

use std::future::Future;
use std::sync::Arc;

use clock::Clock;
use foundation::network::Runtime;
use foundation::{DispatchShare, Ports};
use jiff::{SignedDuration, Timestamp};
use notify::dispatcher::{
    ClaimParams, ClaimedJob, Dispatcher, DispatcherLimits, DueEndpoint, EndpointShare, Outbox, SettledJob, Transport,
    WakeHandle,
};
use notify::schedule::{AttemptReport, NextStep, RetrySchedule};
use store::model::{ClaimQuery, Queue, Settlement, SettlementDecision};
use store::{Store, StoreError};

/// Interval of polls for rows on a database that other processes write to: their wake-ups do not reach this one.
const SHARED_POLL_INTERVAL: SignedDuration = SignedDuration::from_secs(5);
/// Delay before content that was sealed with another key is tried again.
const UNREADABLE_RETRY_DELAY: SignedDuration = SignedDuration::from_mins(10);

/// The queue of a channel.
pub(crate) trait ChannelQueue: Send + Sync + 'static {
    /// The data that the transport needs for an attempt.
    type Job: Send + Sync + 'static;
    /// The report of an attempt.
    type Report: AttemptReport + Clone;

    /// The queue in the database.
    fn queue(&self) -> Queue;

    /// Claims jobs. Rows that cannot be sent are settled at once.
    fn claim(&self, query: ClaimQuery) -> impl Future<Output = Result<Vec<ClaimedJob<Self::Job>>, StoreError>> + Send;

    /// Stores the results of jobs.
    fn settle(&self, settled: &[SettledJob<Self::Report>]) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The queue of a channel as the outbox of a dispatcher. It accesses the database on the runtime of the service.
pub(crate) struct QueueOutbox<C> {
    channel: Arc<C>,
    store: Store,
    database_runtime: Runtime,
    share: DispatchShare,
    /// The clock by whose uptime the lease of the share ends.
    clock: Arc<dyn Clock>,
}

impl<C: ChannelQueue> Outbox for QueueOutbox<C> {
    type Job = C::Job;
    type Report = C::Report;
    type Error = StoreError;

    async fn due_endpoints(&self, after: i64, limit: u32) -> Result<Vec<DueEndpoint>, StoreError> {
        let (store, queue) = (self.store.clone(), self.channel.queue());
        let pending = async move { store.pending_endpoints(queue, after, limit).await };
        let pending = self.database_runtime.run(pending).await?.into_iter();
        let due = pending.map(|pending| DueEndpoint {
            endpoint: pending.endpoint,
            first_due: pending.first_due,
        });
        Ok(due.collect())
    }

    async fn claim(&self, params: &ClaimParams) -> Result<Vec<ClaimedJob<C::Job>>, StoreError> {
        let query = ClaimQuery {
            endpoints: params.endpoints.clone(),
            max_per_endpoint: params.max_per_endpoint,
            max_total: params.max_total,
            now: params.now,
            until: params.until,
            lease: params.lease,
        };
        let channel = Arc::clone(&self.channel);
        self.database_runtime
            .run(async move { channel.claim(query).await })
            .await
    }

    async fn settle(&self, settled: &[SettledJob<C::Report>]) -> Result<(), StoreError> {
        let (channel, settled) = (Arc::clone(&self.channel), settled.to_vec());
        self.database_runtime
            .run(async move { channel.settle(&settled).await })
            .await
    }

    fn share(&self) -> EndpointShare {
        self.share
            .endpoints_of(self.channel.queue().name(), self.clock.uptime())
    }
}

/// Records the time from the event that a message is about until a receiver accepted it. `accepted_at` is when it did.
pub(crate) fn record_delay<R>(channel: &'static str, settled: &SettledJob<R>, accepted_at: Timestamp) {
    if let (NextStep::Delivered, Some(caused_at)) = (settled.next, settled.caused_at) {
        let delay = accepted_at.duration_since(caused_at).as_secs_f64().max(0.0);
        metrics::histogram!("bellwether_notification_seconds", "channel" => channel).record(delay);
    }
}

/// Returns when an attempt ended.
pub(crate) fn attempt_end(at: Timestamp, duration_ms: u64) -> Timestamp {
    let duration = SignedDuration::from_millis(i64::try_from(duration_ms).unwrap_or(i64::MAX));
    at.saturating_add(duration).unwrap_or(at)
}

/// Returns the settlement of a job, with what its channel records.
pub(crate) fn settlement<P, R>(settled: &SettledJob<P>, result: R) -> Settlement<R> {
    Settlement {
        seq: settled.key,
        lease: settled.lease,
        decision: match settled.next {
            NextStep::Delivered => SettlementDecision::Delivered,
            NextStep::RetryAt(at) => SettlementDecision::Retry { at },
            NextStep::GivenUp => SettlementDecision::Failed,
            NextStep::DisableEndpoint => SettlementDecision::Gone,
            NextStep::Released => SettlementDecision::Released,
        },
        result,
    }
}

/// Postpones a row whose content was sealed with another key, which the operator may restore.
pub(crate) fn postpone_unreadable(now: Timestamp) -> SettlementDecision {
    SettlementDecision::Postponed {
        until: now.saturating_add(UNREADABLE_RETRY_DELAY).unwrap_or(now),
    }
}

/// Returns the maximum duration of an attempt with a timeout. Its other work takes little time.
pub(crate) fn max_attempt_duration(timeout: SignedDuration) -> SignedDuration {
    timeout.saturating_add(SignedDuration::from_secs(5))
}

/// Creates the dispatcher of a channel, whose attempts take up to `timeout`.
pub(crate) fn dispatcher<C, T>(
    ports: &Ports,
    share: &DispatchShare,
    channel: C,
    transport: T,
    timeout: SignedDuration,
    retry_schedule: RetrySchedule,
    limits: DispatcherLimits,
) -> Dispatcher<QueueOutbox<C>, T>
where
    C: ChannelQueue,
    T: Transport<Job = C::Job, Report = C::Report>,
{
    let random = Arc::clone(&ports.random);
    let max_attempt_duration = max_attempt_duration(timeout);
    let poll_interval = match ports.store.is_shared() {
        true => limits.poll_interval.min(SHARED_POLL_INTERVAL),
        false => limits.poll_interval,
    };
    let wake_handle = WakeHandle::from(ports.store.wake_handle(channel.queue()));
    share.wake_at_changes(&wake_handle);
    Dispatcher {
        wake_handle,
        outbox: Arc::new(QueueOutbox {
            channel: Arc::new(channel),
            store: ports.store.clone(),
            database_runtime: ports.network.database_runtime(),
            share: share.clone(),
            clock: Arc::clone(&ports.clock),
        }),
        transport: Arc::new(transport),
        time: Arc::clone(&ports.network.time),
        limits: DispatcherLimits {
            max_attempt_duration,
            poll_interval,
            // Claims of a process that died expire after this time.
            lease_duration: max_attempt_duration.saturating_mul(3),
            drain_timeout: limits.drain_timeout.max(max_attempt_duration),
            ..limits
        },
        retry_schedule,
        random: Box::new(move || u64::from_le_bytes(random.bytes())),
    }
}

//! The dispatcher sends deliveries from an outbox until each has arrived or is given up.
//!
//! It does not depend on a channel or a database. Deliveries come from an [`Outbox`], and a [`Transport`] sends them. Each channel
//! has one dispatcher.
//!
//! # Life of a delivery
//!
//! After a commit of new deliveries, the caller [wakes](WakeHandle::wake) the dispatcher. The dispatcher polls the outbox for
//! endpoints with due deliveries, claims a few for each, attempts them, and settles the results in batches. Deliveries to retry stay
//! in the outbox until they are due. The dispatcher also polls regularly, to find deliveries that other processes left.
//!
//! A claim is a lease. If the process dies, its deliveries can be claimed again when the lease expires, with the same id. So
//! delivery is *at least once*, and a receiver can recognise duplicates by the id.
//!
//! # Fairness
//!
//! Everything is bounded ([`DispatcherLimits`]): attempts in total, per endpoint, per host and per account, and deliveries in memory.
//! Endpoints take turns. Endpoints that fail or are slow share a separate limit, so that a thousand dead endpoints do not delay a
//! healthy one. See `scheduler.rs`.
//!
//! # Several dispatchers
//!
//! Dispatchers that share an outbox each serve a part of its endpoints ([`EndpointShare`]), and each has an equal part of the bounds of
//! hosts and accounts. A share may change at any time. Attempts in progress then end where they began, so for the length of an attempt
//! an endpoint may have more of them.
//!
//! # Not guaranteed
//!
//! * Order: two events for one endpoint may arrive in either order.
//! * Exactly-once delivery: see above.

mod claims;
mod concurrency;
mod endpoint_queue;
mod event_loop;
mod limits;
mod outbox_call;
mod ports;
mod scheduler;
mod share;
mod share_change;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

pub use limits::DispatcherLimits;
pub use ports::{ClaimParams, ClaimedJob, DueEndpoint, Outbox, SettledJob, Transport};
pub use share::{DispatchShard, EndpointShare};
use tokio::sync::Notify;

use crate::schedule::RetrySchedule;
use clock::Clock;

/// A handle that wakes a dispatcher after a commit. It never blocks, and may be used as often as needed.
#[derive(Clone, Debug, Default)]
pub struct WakeHandle(Arc<Notify>);

impl From<Arc<Notify>> for WakeHandle {
    fn from(notify: Arc<Notify>) -> Self {
        Self(notify)
    }
}

impl WakeHandle {
    /// Wakes the dispatcher.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}

/// A dispatcher, ready to run.
pub struct Dispatcher<O, T> {
    /// The store of pending deliveries.
    pub outbox: Arc<O>,
    /// The channel that sends them.
    pub transport: Arc<T>,
    /// The clock.
    pub time: Arc<dyn Clock>,
    /// The limits.
    pub limits: DispatcherLimits,
    /// The delays before retries.
    pub retry_schedule: RetrySchedule,
    /// Uniformly distributed random numbers, for jitter and claim ids.
    pub random: Box<dyn FnMut() -> u64 + Send>,
    /// The handle that wakes it after a commit.
    pub wake_handle: WakeHandle,
}

impl<O, T> fmt::Debug for Dispatcher<O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<O, T> Dispatcher<O, T>
where
    O: Outbox,
    T: Transport<Job = O::Job, Report = O::Report>,
{
    /// Runs until `stop`. Then no new attempt starts and waiting deliveries are released. Attempts in progress may continue for
    /// [`DispatcherLimits::drain_timeout`], and their results are settled.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        event_loop::EventLoop::new(self).run(stop).await;
    }
}

//! The dispatcher: gets deliveries out of the outbox and to where they go, until each has arrived or is given up.
//!
//! It knows no channel and no database. Deliveries come from an [`Outbox`] and are carried by a [`Transport`]; there is one
//! dispatcher for each channel.
//!
//! # A delivery's way
//!
//! Somebody commits deliveries and [rings](Bell::ring). The dispatcher looks which *lanes* (endpoints) have something due, claims a few of each,
//! tries them, and settles what came of it, many at a time. What is to be tried again lies in the outbox until it is due.
//! Nobody rang? It looks every few seconds anyway, for what other processes left behind.
//!
//! A claim is a lease. Should the process die, whatever was claimed becomes claimable when the lease runs out, and is tried again
//! under the same id: *at least once*, and a receiver can tell.
//!
//! # One endpoint and the others
//!
//! Everything is bounded ([`Limits`]): attempts in all, at each endpoint, at each host, for each account, and what waits in
//! memory. Endpoints take turns. Above all, those that fail or dawdle share places of their own, so that a thousand dead
//! ones keep no place from one that lives. `lanes.rs` tells how.
//!
//! # What is not promised
//!
//! Order: two events for one endpoint may arrive either way round. That it arrives once only: see above.

mod claims;
mod gates;
mod lane;
mod lanes;
mod limits;
mod ports;
mod run;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

pub use limits::Limits;
pub use ports::{ClaimOrder, Claimed, LaneDue, Outbox, Settled, Transport};
use tokio::sync::Notify;

use crate::schedule::RetryDelays;
use crate::time::Time;

/// Tells a dispatcher that something was committed. It never waits and may be rung at will.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<Notify>);

/// Whatever else rings is heard as well.
impl From<Arc<Notify>> for Bell {
    fn from(notify: Arc<Notify>) -> Self {
        Self(notify)
    }
}

impl Bell {
    /// Rings.
    pub fn ring(&self) {
        self.0.notify_one();
    }
}

/// What a dispatcher is made of.
pub struct Dispatcher<O, T> {
    /// Where deliveries wait.
    pub outbox: Arc<O>,
    /// What carries them.
    pub transport: Arc<T>,
    /// The time.
    pub time: Arc<dyn Time>,
    /// How much at once.
    pub limits: Limits,
    /// When they are tried again.
    pub delays: RetryDelays,
    /// Evenly drawn numbers.
    pub chance: Box<dyn FnMut() -> u64 + Send>,
    /// What tells it that something was committed.
    pub bell: Bell,
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
    /// Works until `stop`. Then nothing new is begun, what was claimed and not begun goes back, attempts may go on for
    /// [`Limits::drain`], and what came of them is settled.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        run::Run::new(self).run(stop).await;
    }
}

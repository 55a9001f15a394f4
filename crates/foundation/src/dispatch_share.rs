//! The dispatch shards of this process: its part of the deliveries of all queues.
//!
//! The membership of a cluster publishes them at each renewal of the node's lease, and the dispatchers read them. When the lease has ended,
//! the process has none, even if it was stopped and its membership has not noticed it yet.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::SignedDuration;
use notify::dispatcher::{DispatchShard, EndpointShare, WakeHandle};

/// The dispatch shards of this process. A clone is another handle.
#[derive(Clone, Debug)]
pub struct DispatchShare(Option<Arc<Mutex<Inner>>>);

#[derive(Debug)]
struct Inner {
    shards: Arc<BTreeSet<DispatchShard>>,
    dispatchers: usize,
    /// The end of the lease, by the uptime.
    until: SignedDuration,
    wake_handles: Vec<WakeHandle>,
}

impl DispatchShare {
    /// The share of a process without a cluster: everything.
    pub const ALL: Self = Self(None);

    /// Creates the share of a node that has not joined its cluster: no shards.
    #[must_use]
    pub fn of_cluster() -> Self {
        Self(Some(Arc::new(Mutex::new(Inner {
            shards: Arc::default(),
            dispatchers: 1,
            until: SignedDuration::MIN,
            wake_handles: Vec::new(),
        }))))
    }

    /// Publishes the shards of this process and the number of live dispatchers, at the uptime `now` and for a lease until the uptime
    /// `until`. Wakes the dispatchers if they have to serve other endpoints than before.
    pub fn publish(
        &self,
        shards: BTreeSet<DispatchShard>,
        dispatchers: usize,
        now: SignedDuration,
        until: SignedDuration,
    ) {
        let Some(mut inner) = self.lock() else { return };
        let had_ended = inner.until <= now;
        inner.until = until;
        if had_ended || *inner.shards != shards || inner.dispatchers != dispatchers {
            inner.shards = Arc::new(shards);
            inner.dispatchers = dispatchers;
            inner.wake_handles.iter().for_each(WakeHandle::wake);
        }
    }

    /// Takes all shards from this process: its lease has ended.
    pub fn end(&self) {
        let Some(mut inner) = self.lock() else { return };
        if std::mem::replace(&mut inner.until, SignedDuration::MIN) != SignedDuration::MIN {
            inner.wake_handles.iter().for_each(WakeHandle::wake);
        }
    }

    /// Wakes a dispatcher at each change of the shards.
    pub fn wake_at_changes(&self, wake_handle: &WakeHandle) {
        if let Some(mut inner) = self.lock() {
            inner.wake_handles.push(wake_handle.clone());
        }
    }

    /// Returns the number of shards that this process has at an uptime.
    #[must_use]
    pub fn count(&self, uptime: SignedDuration) -> usize {
        match self.lock() {
            None => DispatchShard::COUNT,
            Some(inner) if uptime < inner.until => inner.shards.len(),
            Some(_) => 0,
        }
    }

    /// Returns the endpoints of a queue that this process serves at an uptime.
    #[must_use]
    pub fn endpoints_of(&self, queue: &'static str, uptime: SignedDuration) -> EndpointShare {
        let Some(inner) = self.lock() else {
            return EndpointShare::ALL;
        };
        let shards = (uptime < inner.until).then(|| Arc::clone(&inner.shards));
        EndpointShare::new(queue, shards.unwrap_or_default(), inner.dispatchers)
    }

    fn lock(&self) -> Option<MutexGuard<'_, Inner>> {
        let inner = self.0.as_ref()?;
        Some(inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::Notify;
    use tokio::time::timeout;

    use super::*;

    const QUEUE: &str = "webhooks";
    const ENDPOINT: i64 = 7;

    fn seconds(seconds: i64) -> SignedDuration {
        SignedDuration::from_secs(seconds)
    }

    fn has_at(share: &DispatchShare, uptime: i64) -> bool {
        share.endpoints_of(QUEUE, seconds(uptime)).has(ENDPOINT)
    }

    fn all() -> BTreeSet<DispatchShard> {
        DispatchShard::all().collect()
    }

    fn share_with_dispatcher() -> (DispatchShare, Arc<Notify>) {
        let (share, notify) = (DispatchShare::of_cluster(), Arc::new(Notify::new()));
        share.wake_at_changes(&WakeHandle::from(Arc::clone(&notify)));
        (share, notify)
    }

    async fn is_woken(notify: &Notify) -> bool {
        timeout(Duration::ZERO, notify.notified()).await.is_ok()
    }

    #[test]
    fn node_has_no_endpoints_before_it_joins_and_after_its_lease() {
        let share = DispatchShare::of_cluster();
        assert!(!has_at(&share, 0));
        share.publish(all(), 2, seconds(10), seconds(13));
        assert!(has_at(&share, 12));
        assert!(!has_at(&share, 13));
        assert_eq!((share.count(seconds(12)), share.count(seconds(13))), (256, 0));
    }

    #[test]
    fn node_whose_lease_was_ended_has_no_endpoints_until_it_joins_again() {
        let share = DispatchShare::of_cluster();
        share.publish(all(), 1, seconds(10), seconds(13));
        share.end();
        assert!(!has_at(&share, 10));
        share.publish(all(), 1, seconds(11), seconds(14));
        assert!(has_at(&share, 11));
    }

    #[test]
    fn process_without_a_cluster_has_all_endpoints() {
        DispatchShare::ALL.end();
        assert!(has_at(&DispatchShare::ALL, i64::MAX / 2));
        assert_eq!(DispatchShare::ALL.count(SignedDuration::MAX), 256);
    }

    #[tokio::test]
    async fn dispatcher_is_woken_when_its_share_changes_and_not_at_each_renewal() {
        let (share, notify) = share_with_dispatcher();
        share.publish(all(), 1, seconds(0), seconds(3));
        assert!(is_woken(&notify).await);
        share.publish(all(), 1, seconds(1), seconds(4));
        assert!(!is_woken(&notify).await, "nothing has changed");
        share.publish(all(), 2, seconds(2), seconds(5));
        assert!(is_woken(&notify).await, "another dispatcher is there");
        share.publish(BTreeSet::new(), 2, seconds(3), seconds(6));
        assert!(is_woken(&notify).await, "the shards have changed");
        share.end();
        assert!(is_woken(&notify).await, "the lease was ended");
        share.end();
        assert!(!is_woken(&notify).await, "it had ended before");
    }

    #[tokio::test]
    async fn dispatcher_is_woken_by_a_renewal_after_the_end_of_the_lease() {
        let (share, notify) = share_with_dispatcher();
        share.publish(all(), 1, seconds(0), seconds(3));
        assert!(is_woken(&notify).await);
        share.publish(all(), 1, seconds(3), seconds(6));
        assert!(is_woken(&notify).await);
    }
}

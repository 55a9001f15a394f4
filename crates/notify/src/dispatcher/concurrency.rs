//! Concurrency limits per host and per account.
//!
//! A limit bounds the running attempts, and the claimed deliveries that wait in memory. Endpoints that exceed it are parked.
//!
//! There is one queue of parked endpoints for each health, so that unhealthy or new endpoints do not block healthy ones of the
//! same host. A queue is ordered by ticket. An endpoint that is unparked but finds no free slot is parked again with the same
//! ticket, and so keeps its turn.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::endpoint_queue::EndpointHealth;

/// Endpoints by ticket.
type Queue = BTreeMap<u64, i64>;

#[derive(Debug, Default)]
struct ConcurrencyLimit {
    /// Attempts in progress.
    running: usize,
    /// Endpoints that wait for a free slot for an attempt.
    parked: [Queue; 3],
    /// Claimed deliveries that wait in memory.
    waiting: usize,
    /// Endpoints that wait to claim until fewer deliveries wait in memory.
    parked_claims: [Queue; 3],
}

impl ConcurrencyLimit {
    fn is_unused(&self) -> bool {
        self.running == 0 && self.waiting == 0 && self.parked.iter().chain(&self.parked_claims).all(BTreeMap::is_empty)
    }
}

/// The concurrency limits of all hosts, or of all accounts. Unused entries are removed.
#[derive(Debug)]
pub(super) struct ConcurrencyLimits<K> {
    by_key: HashMap<K, ConcurrencyLimit>,
    /// Maximum of concurrent attempts per key. Twice as many claimed deliveries may wait in memory.
    max: usize,
}

impl<K: Hash + Eq + Clone> ConcurrencyLimits<K> {
    pub(super) fn new(max: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            max,
        }
    }

    /// Changes the maximum. If it is lower, attempts in progress end, and waiting deliveries stay. If it is higher, the caller unparks
    /// endpoints.
    pub(super) const fn set_max(&mut self, max: usize) {
        self.max = max;
    }

    /// Returns the keys in use.
    pub(super) fn keys(&self) -> Vec<K> {
        self.by_key.keys().cloned().collect()
    }

    fn entry(&mut self, key: &K) -> &mut ConcurrencyLimit {
        self.by_key.entry(key.clone()).or_default()
    }

    /// Changes an entry, and removes it if it is unused afterwards.
    fn change<T>(&mut self, key: &K, change: impl FnOnce(&mut ConcurrencyLimit) -> Option<T>) -> Option<T> {
        let limit = self.by_key.get_mut(key)?;
        let changed = change(limit);
        if limit.is_unused() {
            self.by_key.remove(key);
        }
        changed
    }

    /// Returns the number of further attempts that may start.
    pub(super) fn free_slots(&self, key: &K) -> usize {
        let running = self.by_key.get(key).map_or(0, |limit| limit.running);
        self.max.saturating_sub(running)
    }

    pub(super) fn acquire(&mut self, key: &K) {
        self.entry(key).running += 1;
    }

    pub(super) fn release(&mut self, key: &K) {
        self.change(key, |limit| {
            limit.running = limit.running.saturating_sub(1);
            None::<()>
        });
    }

    /// Parks an endpoint until a slot for an attempt is free.
    pub(super) fn park(&mut self, key: &K, health: EndpointHealth, ticket: u64, endpoint: i64) {
        self.entry(key).parked[health as usize].insert(ticket, endpoint);
    }

    /// Takes the next endpoint that waits for an attempt.
    pub(super) fn unpark_next(&mut self, key: &K, health: EndpointHealth) -> Option<i64> {
        self.change(key, |limit| limit.parked[health as usize].pop_first())
            .map(|(_, endpoint)| endpoint)
    }

    /// Returns the number of further deliveries that may be claimed and wait in memory.
    pub(super) fn free_waiting_slots(&self, key: &K) -> usize {
        let waiting = self.by_key.get(key).map_or(0, |limit| limit.waiting);
        self.max_waiting().saturating_sub(waiting)
    }

    /// Returns the number of claimed deliveries per key that may wait in memory.
    pub(super) const fn max_waiting(&self) -> usize {
        2 * self.max
    }

    /// Returns the number of parked endpoints that may claim now: the free slots until half of the permitted deliveries wait.
    pub(super) fn free_claim_slots(&self, key: &K) -> usize {
        self.free_waiting_slots(key).saturating_sub(self.max)
    }

    pub(super) fn add_waiting(&mut self, key: &K) {
        self.entry(key).waiting += 1;
    }

    /// Removes a delivery that no longer waits.
    pub(super) fn remove_waiting(&mut self, key: &K) {
        self.change(key, |limit| {
            limit.waiting = limit.waiting.saturating_sub(1);
            None::<()>
        });
    }

    /// Parks an endpoint until it may claim.
    pub(super) fn park_claim(&mut self, key: &K, health: EndpointHealth, ticket: u64, endpoint: i64) {
        self.entry(key).parked_claims[health as usize].insert(ticket, endpoint);
    }

    /// Returns whether endpoints are parked before a claim.
    pub(super) fn has_parked_claims(&self, key: &K, health: EndpointHealth) -> bool {
        let limit = self.by_key.get(key);
        limit.is_some_and(|limit| !limit.parked_claims[health as usize].is_empty())
    }

    /// Takes the next endpoint that waits to claim.
    pub(super) fn unpark_next_claim(&mut self, key: &K, health: EndpointHealth) -> Option<i64> {
        self.change(key, |limit| limit.parked_claims[health as usize].pop_first())
            .map(|(_, endpoint)| endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEALTHY: EndpointHealth = EndpointHealth::Healthy;

    #[test]
    fn free_slots_are_bounded_and_the_lowest_ticket_is_next() {
        let mut limits = ConcurrencyLimits::new(2);
        limits.acquire(&"a");
        assert_eq!(limits.free_slots(&"a"), 1);
        limits.acquire(&"a");
        assert_eq!((limits.free_slots(&"a"), limits.free_slots(&"b")), (0, 2));
        limits.park(&"a", HEALTHY, 8, 1);
        limits.park(&"a", HEALTHY, 7, 2);
        limits.park(&"a", EndpointHealth::Unhealthy, 1, 3);
        limits.release(&"a");
        limits.release(&"a");
        assert_eq!(limits.free_slots(&"a"), 2);
        let next = [0; 3].map(|_| limits.unpark_next(&"a", HEALTHY));
        assert_eq!(next, [Some(2), Some(1), None]);
        assert_eq!(limits.unpark_next(&"a", EndpointHealth::Unhealthy), Some(3));
        assert!(limits.by_key.is_empty());
    }

    #[test]
    fn lower_maximum_lets_running_attempts_end_and_a_higher_one_frees_slots() {
        let mut limits = ConcurrencyLimits::new(4);
        for _ in 0..3 {
            limits.acquire(&"a");
            limits.add_waiting(&"a");
        }
        limits.set_max(1);
        assert_eq!((limits.free_slots(&"a"), limits.free_waiting_slots(&"a")), (0, 0));
        limits.release(&"a");
        limits.release(&"a");
        assert_eq!((limits.free_slots(&"a"), limits.free_slots(&"b")), (0, 1));
        limits.release(&"a");
        assert_eq!(limits.free_slots(&"a"), 1);
        limits.set_max(3);
        assert_eq!((limits.free_slots(&"a"), limits.free_waiting_slots(&"a")), (3, 3));
        assert_eq!(limits.keys(), ["a"]);
    }

    #[test]
    fn twice_the_maximum_may_wait_and_claims_resume_below_half_of_that() {
        let mut limits = ConcurrencyLimits::new(2);
        for waiting in 0..4 {
            assert_eq!(limits.free_waiting_slots(&"a"), 4 - waiting);
            assert_eq!(limits.free_claim_slots(&"a"), 2_usize.saturating_sub(waiting));
            limits.add_waiting(&"a");
        }
        assert_eq!((limits.free_waiting_slots(&"a"), limits.free_claim_slots(&"a")), (0, 0));
        limits.park_claim(&"a", HEALTHY, 1, 5);
        assert!(limits.has_parked_claims(&"a", HEALTHY) && !limits.has_parked_claims(&"a", EndpointHealth::New));
        for _ in 0..4 {
            limits.remove_waiting(&"a");
        }
        assert_eq!(limits.unpark_next_claim(&"a", HEALTHY), Some(5));
        assert!(!limits.has_parked_claims(&"a", HEALTHY) && limits.by_key.is_empty());
    }
}

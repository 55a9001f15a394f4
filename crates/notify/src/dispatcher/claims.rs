//! The claiming half of the scheduler: it decides which endpoints claim deliveries next. They take turns, as for attempts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::endpoint_queue::{EndpointHealth, EndpointQueue, HEALTH_LEVELS, HeldJob, QueuePosition};
use super::scheduler::Scheduler;
use super::{ClaimParams, ClaimedJob};
use clock::later;

/// Maximum number of endpoints in one claim.
const MAX_ENDPOINTS_PER_CLAIM: usize = 512;
/// Idle endpoints above this number are removed. Only their health is lost.
const MAX_REMEMBERED_ENDPOINTS: usize = 65_536;

impl<J> Scheduler<J> {
    /// Records that an endpoint has due deliveries in the outbox.
    pub(super) fn mark_due(&mut self, endpoint: i64) {
        if self.queues.len() > self.forget_above.max(MAX_REMEMBERED_ENDPOINTS) && !self.queues.contains_key(&endpoint) {
            self.queues.retain(|_, queue| !queue.is_idle());
            // If most endpoints are busy, this avoids a scan of all of them for each new one.
            self.forget_above = self.queues.len().saturating_mul(2);
        }
        let found = self.queues.entry(endpoint).or_insert_with(EndpointQueue::new);
        found.has_due = true;
        found.due_again |= found.is_claiming;
        self.enqueue_claim(endpoint);
    }

    /// Puts an endpoint into the line for claims if it has due deliveries and room for them in memory.
    pub(super) fn enqueue_claim(&mut self, id: i64) {
        self.enqueue_claim_unless_full(id, false);
    }

    fn enqueue_claim_unless_full(&mut self, id: i64, was_parked: bool) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let health = queue.health;
        let has_capacity = match health {
            EndpointHealth::Unhealthy => {
                queue.waiting.is_empty()
                    && queue.running < self.limits.max_attempts_per_endpoint(EndpointHealth::Unhealthy)
            }
            health => queue.waiting.len() <= self.limits.max_waiting_for_endpoint(health) / 2,
        };
        if !has_capacity || !queue.has_due || queue.claim_position != QueuePosition::NotQueued || queue.is_claiming {
            return;
        }
        // Endpoints that are already parked for this host come first. Otherwise they could wait forever.
        let full_host = queue.host.clone().filter(|host| {
            self.hosts.free_waiting_slots(host) == 0 || (!was_parked && self.hosts.has_parked_claims(host, health))
        });
        if let Some(host) = full_host {
            self.park_claim(id, &host);
            return;
        }
        queue.claim_position = QueuePosition::Queued(health);
        self.claim_lines[health as usize].push_back(id);
    }

    /// Parks an endpoint until fewer deliveries to its host wait.
    fn park_claim(&mut self, id: i64, host: &Arc<str>) {
        let next = self.ticket();
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let ticket = *queue.claim_ticket.get_or_insert(next);
        queue.claim_position = QueuePosition::Parked;
        self.hosts.park_claim(host, queue.health, ticket, id);
    }

    /// Lets parked endpoints of a host claim if few enough of its deliveries wait. Call it whenever fewer deliveries wait, and
    /// after the claim of an unparked endpoint, which may have returned no delivery.
    pub(super) fn unpark_claims(&mut self, host: &Arc<str>) {
        for health in HEALTH_LEVELS {
            let mut free = self.hosts.free_claim_slots(host);
            while free > 0
                && let Some(id) = self.hosts.unpark_next_claim(host, health)
            {
                let Some(queue) = self
                    .queues
                    .get_mut(&id)
                    .filter(|queue| queue.claim_position == QueuePosition::Parked)
                else {
                    continue;
                };
                queue.claim_position = QueuePosition::NotQueued;
                self.enqueue_claim_unless_full(id, true);
                let queue = self.queues.get(&id).filter(|queue| queue.host.as_ref() == Some(host));
                free -= usize::from(queue.is_some_and(|queue| queue.claim_position == QueuePosition::Queued(health)));
            }
        }
    }

    /// Returns the next claim for endpoints with this health, or `None` if no endpoint waits or memory is full. `lease` draws the
    /// id of the claim.
    pub(super) fn next_claim(
        &mut self,
        health: EndpointHealth,
        now: Timestamp,
        lease: impl FnOnce() -> i64,
    ) -> Option<ClaimParams> {
        let max = self.limits.max_waiting_of(health);
        let free = max.saturating_sub(self.waiting_by_health[health]);
        if free == 0 || free < max / 8 {
            return None;
        }
        let endpoints = self.endpoints_to_claim(health, free.min(MAX_ENDPOINTS_PER_CLAIM));
        if endpoints.is_empty() {
            return None;
        }
        let per_endpoint = (free / endpoints.len()).clamp(1, self.max_claimed_per_endpoint(health).max(1));
        Some(ClaimParams {
            max_per_endpoint: u32::try_from(per_endpoint).unwrap_or(u32::MAX),
            max_total: u32::try_from(free).unwrap_or(u32::MAX),
            endpoints,
            now,
            until: later(now, self.limits.lease_duration),
            lease: lease(),
        })
    }

    /// Returns the number of deliveries that one claim takes for an endpoint. More would be released at once.
    fn max_claimed_per_endpoint(&self, health: EndpointHealth) -> usize {
        self.limits
            .max_waiting_for_endpoint(health)
            .min(self.hosts.max_waiting())
    }

    fn endpoints_to_claim(&mut self, health: EndpointHealth, max: usize) -> Vec<i64> {
        let per_endpoint = self.max_claimed_per_endpoint(health);
        let mut expected: HashMap<Arc<str>, usize> = HashMap::new();
        let mut endpoints = Vec::new();
        while endpoints.len() < max
            && let Some(id) = self.claim_lines[health as usize].pop_front()
        {
            // Its health may have changed since it was put into this line.
            let queue = self.queues.get_mut(&id);
            let Some(queue) = queue.filter(|queue| queue.claim_position == QueuePosition::Queued(health)) else {
                continue;
            };
            if let Some(host) = queue.host.clone() {
                let expected = expected.entry(Arc::clone(&host)).or_default();
                let free = self.hosts.free_waiting_slots(&host).saturating_sub(*expected);
                // Deliveries beyond the free slots would be released at once. One endpoint may always claim, or none would.
                if free == 0 || (free < per_endpoint && *expected > 0) {
                    self.park_claim(id, &host);
                    continue;
                }
                *expected += per_endpoint;
            }
            queue.claim_position = QueuePosition::NotQueued;
            queue.claim_ticket = None;
            queue.is_claiming = true;
            queue.due_again = false;
            endpoints.push(id);
        }
        endpoints
    }

    /// Records the deliveries that a claim has returned.
    pub(super) fn claim_succeeded(&mut self, params: &ClaimParams, claimed: Vec<ClaimedJob<J>>) {
        let is_total_reached = claimed.len() >= usize::try_from(params.max_total).unwrap_or(usize::MAX);
        let mut returned: HashMap<i64, u32> = HashMap::new();
        let hosts = self.hosts_of(params);
        for claimed in claimed {
            *returned.entry(claimed.endpoint).or_default() += 1;
            self.accept(HeldJob {
                claimed,
                lease: params.lease,
                until: params.until,
            });
        }
        for id in &params.endpoints {
            let Some(queue) = self.queues.get_mut(id) else { continue };
            let is_full = returned
                .get(id)
                .is_some_and(|returned| *returned >= params.max_per_endpoint);
            queue.is_claiming = false;
            queue.has_due = (queue.due_again || is_full || is_total_reached) && self.share.has(*id);
            self.enqueue_claim(*id);
        }
        for host in hosts {
            self.unpark_claims(&host);
        }
    }

    /// Returns the known hosts of the endpoints in a claim.
    fn hosts_of(&self, params: &ClaimParams) -> HashSet<Arc<str>> {
        let queues = params.endpoints.iter().filter_map(|id| self.queues.get(id));
        queues.filter_map(|queue| queue.host.clone()).collect()
    }

    fn accept(&mut self, held: HeldJob<J>) {
        // A delivery that is still held was claimed before, and that claim has ended. Its running attempt will be settled.
        if !self.held_keys.insert(held.claimed.key) {
            return;
        }
        let (id, host) = (held.claimed.endpoint, Arc::clone(&held.claimed.host));
        let queue = self.queues.entry(id).or_insert_with(EndpointQueue::new);
        queue.host = Some(Arc::clone(&host));
        // Too many deliveries to this host wait already, so it is released. The host of the endpoint is known from now on. Or the
        // endpoint has gone to another dispatcher during the claim.
        if self.hosts.free_waiting_slots(&host) == 0 || !self.share.has(id) {
            queue.due_again = true;
            self.release(held);
            return;
        }
        queue.waiting.push_back(held);
        self.waiting_by_health[queue.health] += 1;
        self.hosts.add_waiting(&host);
        self.enqueue(id);
    }

    /// Records that a claim has failed.
    pub(super) fn claim_failed(&mut self, params: &ClaimParams) {
        for id in &params.endpoints {
            if let Some(queue) = self.queues.get_mut(id) {
                queue.is_claiming = false;
            }
            self.enqueue_claim(*id);
        }
        for host in self.hosts_of(params) {
            self.unpark_claims(&host);
        }
    }
}

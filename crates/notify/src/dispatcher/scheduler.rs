//! The fair scheduler of the dispatcher: it decides which delivery is attempted next, and performs no I/O.
//!
//! Claimed deliveries wait in one queue per endpoint. Endpoints take turns: after an attempt, an endpoint goes to the end of the
//! line. There are three lines, for *healthy*, *new* and *unhealthy* endpoints. Each line has separate limits for concurrent
//! attempts and for deliveries in memory. A slow attempt makes its endpoint unhealthy while the attempt is still in progress. So
//! even if many healthy endpoints become slow at once, they occupy the slots of healthy ones for at most
//! [`slow_after`](DispatcherLimits::slow_after).
//!
//! Hosts and accounts have concurrency limits. An endpoint that exceeds one is parked, so that it does not block the line. When it
//! is unparked, it goes to the front of the line, because it has waited there before.
//!
//! No endpoint may stay parked without a reason. So other endpoints are unparked whenever an attempt ends, and whenever an
//! unparked endpoint does not use its slot.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::concurrency::ConcurrencyLimits;
use super::endpoint_queue::{EndpointHealth, EndpointQueue, HEALTH_LEVELS, HeldJob, PerHealth, QueuePosition};
use super::{ClaimedJob, DispatcherLimits, EndpointShare};
use clock::later;

/// An attempt in progress.
#[derive(Debug)]
struct RunningAttempt {
    endpoint: i64,
    host: Arc<str>,
    account: Uuid,
}

/// The queues of all endpoints.
#[derive(Debug)]
pub(super) struct Scheduler<J> {
    pub(super) limits: DispatcherLimits,
    /// The endpoints that this dispatcher serves.
    pub(super) share: EndpointShare,
    pub(super) queues: HashMap<i64, EndpointQueue<J>>,
    /// Endpoints that wait for an attempt, one line for each health.
    ready: [VecDeque<i64>; 3],
    /// Endpoints that were unparked. They come before those in `ready`.
    ready_first: [VecDeque<i64>; 3],
    /// Endpoints that wait to claim, one line for each health.
    pub(super) claim_lines: [VecDeque<i64>; 3],
    pub(super) hosts: ConcurrencyLimits<Arc<str>>,
    pub(super) accounts: ConcurrencyLimits<Uuid>,
    running: HashMap<i64, RunningAttempt>,
    /// The times at which attempts count as slow, in the order in which the attempts started.
    slow_at: VecDeque<(Timestamp, i64)>,
    /// Keys of all deliveries that wait or are attempted, so that no delivery is attempted twice at once.
    pub(super) held_keys: HashSet<i64>,
    running_by_health: PerHealth,
    pub(super) waiting_by_health: PerHealth,
    next_line: usize,
    released: Vec<HeldJob<J>>,
    last_ticket: u64,
    /// Idle endpoints are removed above this number of endpoints.
    pub(super) forget_above: usize,
}

impl<J> Scheduler<J> {
    pub(super) fn new(limits: DispatcherLimits) -> Self {
        Self {
            hosts: ConcurrencyLimits::new(limits.max_attempts_per_host),
            accounts: ConcurrencyLimits::new(limits.max_attempts_per_account),
            limits,
            share: EndpointShare::ALL,
            queues: HashMap::new(),
            ready: Default::default(),
            ready_first: Default::default(),
            claim_lines: Default::default(),
            running: HashMap::new(),
            slow_at: VecDeque::new(),
            held_keys: HashSet::new(),
            running_by_health: PerHealth::default(),
            waiting_by_health: PerHealth::default(),
            next_line: 0,
            released: Vec::new(),
            last_ticket: 0,
            forget_above: 0,
        }
    }

    /// Returns the next ticket.
    pub(super) fn ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// Puts an endpoint into its line if it has deliveries and may start another attempt.
    pub(super) fn enqueue(&mut self, id: i64) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let may_start =
            queue.running < self.limits.max_attempts_per_endpoint(queue.health) && !queue.waiting.is_empty();
        if may_start && queue.position == QueuePosition::NotQueued {
            queue.position = QueuePosition::Queued(queue.health);
            self.ready[queue.health as usize].push_back(id);
        }
    }

    /// Returns the next delivery to attempt, if the limits permit one.
    pub(super) fn next_attempt(&mut self, now: Timestamp) -> Option<HeldJob<J>> {
        for step in 0..HEALTH_LEVELS.len() {
            let line = (self.next_line + step) % HEALTH_LEVELS.len();
            while self.has_capacity(HEALTH_LEVELS[line])
                && let Some(id) = self.ready_first[line]
                    .pop_front()
                    .or_else(|| self.ready[line].pop_front())
            {
                if let Some(held) = self.try_start(id, HEALTH_LEVELS[line], now) {
                    self.next_line = line + 1;
                    return Some(held);
                }
            }
        }
        None
    }

    fn has_capacity(&self, health: EndpointHealth) -> bool {
        let unproven = self.running_by_health[EndpointHealth::New] + self.running_by_health[EndpointHealth::Unhealthy];
        self.running.len() < self.limits.max_attempts
            && self.running_by_health[health] < self.limits.max_attempts_of(health)
            && (health == EndpointHealth::Healthy || unproven < self.limits.max_unproven_attempts)
    }

    fn try_start(&mut self, id: i64, health: EndpointHealth, now: Timestamp) -> Option<HeldJob<J>> {
        let queue = self.queues.get_mut(&id)?;
        // Its health has changed since it was put into this line.
        if queue.position != QueuePosition::Queued(health) {
            return None;
        }
        queue.position = QueuePosition::NotQueued;
        let first = queue.waiting.front()?;
        let (host, account) = (Arc::clone(&first.claimed.host), first.claimed.account);
        let (is_host_full, is_account_full) = (
            self.hosts.free_slots(&host) == 0,
            self.accounts.free_slots(&account) == 0,
        );
        if is_host_full || is_account_full {
            queue.position = QueuePosition::Parked;
            let previous = queue.ticket;
            let ticket = previous.unwrap_or_else(|| self.ticket());
            if let Some(queue) = self.queues.get_mut(&id) {
                queue.ticket = Some(ticket);
            }
            if is_host_full {
                self.hosts.park(&host, health, ticket, id);
            } else {
                self.accounts.park(&account, health, ticket, id);
            }
            // The other limit may have unparked it for a slot that it does not use now.
            self.unpark(&host, account);
            return None;
        }
        let held = queue.waiting.pop_front()?;
        self.waiting_by_health[health] -= 1;
        let key = held.claimed.key;
        let in_time = later(now, self.limits.max_attempt_duration) <= held.until;
        if in_time {
            queue.running += 1;
            queue.ticket = None;
            self.running_by_health[health] += 1;
            self.hosts.acquire(&host);
            self.accounts.acquire(&account);
            self.slow_at.push_back((later(now, self.limits.slow_after), key));
            let (endpoint, host) = (id, Arc::clone(&host));
            self.running.insert(
                key,
                RunningAttempt {
                    endpoint,
                    host,
                    account,
                },
            );
        }
        self.remove_waiting(&host);
        self.unpark(&host, account);
        self.enqueue(id);
        self.enqueue_claim(id);
        if in_time {
            return Some(held);
        }
        self.release(held);
        None
    }

    /// Unparks endpoints of a host and of an account that have free slots.
    fn unpark(&mut self, host: &Arc<str>, account: Uuid) {
        self.unpark_host(host);
        self.unpark_account(account);
    }

    pub(super) fn unpark_host(&mut self, host: &Arc<str>) {
        for health in HEALTH_LEVELS {
            let mut free = self.hosts.free_slots(host);
            while free > 0
                && let Some(id) = self.hosts.unpark_next(host, health)
            {
                free -= usize::from(self.unpark_endpoint(id, health, |to| to.host == *host));
            }
        }
    }

    pub(super) fn unpark_account(&mut self, account: Uuid) {
        for health in HEALTH_LEVELS {
            let mut free = self.accounts.free_slots(&account);
            while free > 0
                && let Some(id) = self.accounts.unpark_next(&account, health)
            {
                free -= usize::from(self.unpark_endpoint(id, health, |to| to.account == account));
            }
        }
    }

    /// Puts a parked endpoint to the front of its line. Returns whether it will use the slot that it was unparked for; if not, the
    /// slot goes to another endpoint. `uses_slot` tells whether a delivery counts against the same limit.
    fn unpark_endpoint(&mut self, id: i64, health: EndpointHealth, uses_slot: impl Fn(&ClaimedJob<J>) -> bool) -> bool {
        let max_running = self.limits.max_attempts_per_endpoint(health);
        let Some(queue) = self.queues.get_mut(&id) else {
            return false;
        };
        if queue.position != QueuePosition::Parked {
            return false;
        }
        queue.position = QueuePosition::NotQueued;
        if queue.health != health || queue.running >= max_running || queue.waiting.is_empty() {
            self.enqueue(id);
            return false;
        }
        queue.position = QueuePosition::Queued(health);
        self.ready_first[health as usize].push_back(id);
        queue.waiting.front().is_some_and(|first| uses_slot(&first.claimed))
    }

    /// Records that a delivery to a host no longer waits.
    fn remove_waiting(&mut self, host: &Arc<str>) {
        self.hosts.remove_waiting(host);
        self.unpark_claims(host);
    }

    /// Records the end of an attempt.
    pub(super) fn attempt_finished(&mut self, key: i64, took: SignedDuration, succeeded: bool) {
        let Some(attempt) = self.running.remove(&key) else {
            return;
        };
        self.held_keys.remove(&key);
        self.hosts.release(&attempt.host);
        self.accounts.release(&attempt.account);
        // Parked endpoints come before the endpoint that has just had an attempt.
        if let Some(queue) = self.queues.get_mut(&attempt.endpoint) {
            queue.running -= 1;
            self.running_by_health[queue.health] -= 1;
        }
        self.unpark(&attempt.host, attempt.account);
        let is_healthy = succeeded && took < self.limits.slow_after;
        self.set_health(
            attempt.endpoint,
            if is_healthy {
                EndpointHealth::Healthy
            } else {
                EndpointHealth::Unhealthy
            },
        );
        self.enqueue(attempt.endpoint);
        self.enqueue_claim(attempt.endpoint);
        self.unpark_claims(&attempt.host);
    }

    /// Marks the endpoints of attempts that have become slow as unhealthy.
    pub(super) fn mark_slow(&mut self, now: Timestamp) {
        while self.next_slow_at().is_some_and(|at| at <= now)
            && let Some((_, key)) = self.slow_at.pop_front()
        {
            if let Some(attempt) = self.running.get(&key) {
                self.set_health(attempt.endpoint, EndpointHealth::Unhealthy);
            }
        }
    }

    /// Returns when the next attempt becomes slow.
    pub(super) fn next_slow_at(&mut self) -> Option<Timestamp> {
        while let Some((at, key)) = self.slow_at.front() {
            if self.running.contains_key(key) {
                return Some(*at);
            }
            self.slow_at.pop_front();
        }
        None
    }

    /// Changes the health of an endpoint, and moves its counts to the new health.
    fn set_health(&mut self, id: i64, health: EndpointHealth) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let before = std::mem::replace(&mut queue.health, health);
        if before == health {
            return;
        }
        for (count, of_endpoint) in [
            (&mut self.running_by_health, queue.running),
            (&mut self.waiting_by_health, queue.waiting.len()),
        ] {
            count[before] -= of_endpoint;
            count[health] += of_endpoint;
        }
        let first = queue.waiting.front().map(|first| &first.claimed);
        let first = first.map(|first| (Arc::clone(&first.host), first.account));
        let first = first.filter(|_| matches!(queue.position, QueuePosition::Queued(_)));
        let host = queue
            .host
            .clone()
            .filter(|_| matches!(queue.claim_position, QueuePosition::Queued(_)));
        for position in [&mut queue.position, &mut queue.claim_position] {
            if matches!(position, QueuePosition::Queued(_)) {
                *position = QueuePosition::NotQueued;
            }
        }
        // Deliveries beyond the limit of the new health are released to the outbox.
        while self.waiting_by_health[health] > self.limits.max_waiting_of(health)
            && let Some(queue) = self.queues.get_mut(&id)
            && let Some(held) = queue.waiting.pop_back()
        {
            self.waiting_by_health[health] -= 1;
            self.remove_waiting(&held.claimed.host);
            self.release(held);
        }
        self.enqueue(id);
        self.enqueue_claim(id);
        // If the endpoint has left a line, parked endpoints of the same host and account may use its slot.
        let Some(queue) = self.queues.get(&id) else { return };
        let (is_queued, is_claim_queued) = (
            queue.position != QueuePosition::NotQueued,
            queue.claim_position != QueuePosition::NotQueued,
        );
        if let Some((host, account)) = first.filter(|_| !is_queued) {
            self.unpark(&host, account);
        }
        if let Some(host) = host.filter(|_| !is_claim_queued) {
            self.unpark_claims(&host);
        }
    }

    /// Releases a delivery that was not attempted.
    pub(super) fn release(&mut self, held: HeldJob<J>) {
        self.held_keys.remove(&held.claimed.key);
        self.released.push(held);
    }

    /// Releases waiting deliveries whose claim would end before an attempt could.
    pub(super) fn release_stale(&mut self, now: Timestamp) {
        let limit = later(now, self.limits.max_attempt_duration);
        self.release_if(|held| held.until < limit);
    }

    /// Releases all waiting deliveries.
    pub(super) fn release_all(&mut self) {
        self.release_if(|_| true);
    }

    pub(super) fn release_if(&mut self, is_released: impl Fn(&HeldJob<J>) -> bool) {
        let mut released = Vec::new();
        for queue in self.queues.values_mut() {
            let (released_now, kept): (VecDeque<_>, VecDeque<_>) =
                std::mem::take(&mut queue.waiting).into_iter().partition(&is_released);
            self.waiting_by_health[queue.health] -= released_now.len();
            queue.waiting = kept;
            released.extend(released_now);
        }
        for held in released {
            self.remove_waiting(&held.claimed.host);
            let (host, account) = (Arc::clone(&held.claimed.host), held.claimed.account);
            self.release(held);
            self.unpark(&host, account);
        }
    }

    /// Takes the released deliveries, to be settled.
    pub(super) fn take_released(&mut self) -> Vec<HeldJob<J>> {
        std::mem::take(&mut self.released)
    }

    /// Returns the number of claimed deliveries that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting_by_health.0.iter().sum()
    }
}

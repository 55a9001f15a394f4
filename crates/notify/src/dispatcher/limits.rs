//! The limits of a dispatcher.

use jiff::SignedDuration;

use super::endpoint_queue::EndpointHealth;

/// The limits of a dispatcher. They bound the share of one endpoint, one host, one account, and of all unhealthy endpoints
/// together. Zero counts as one, because zero would stop all deliveries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatcherLimits {
    /// Maximum number of concurrent attempts at healthy endpoints: those that succeed quickly.
    pub max_healthy_attempts: usize,
    /// Maximum number of concurrent attempts at endpoints without an attempt so far.
    pub max_new_attempts: usize,
    /// Maximum number of concurrent attempts at endpoints that fail or are slow.
    pub max_unhealthy_attempts: usize,
    /// Maximum number of concurrent attempts at new and unhealthy endpoints together, including attempts that became slow.
    pub max_unproven_attempts: usize,
    /// Maximum number of concurrent attempts in total. Each one uses a file descriptor.
    pub max_attempts: usize,
    /// Maximum number of concurrent attempts at one healthy endpoint.
    pub max_attempts_per_healthy_endpoint: usize,
    /// Maximum number of concurrent attempts at one new or unhealthy endpoint.
    pub max_attempts_per_unproven_endpoint: usize,
    /// Maximum number of concurrent attempts at one host.
    pub max_attempts_per_host: usize,
    /// Maximum number of concurrent attempts for one account.
    pub max_attempts_per_account: usize,
    /// Maximum number of claimed deliveries that wait in memory for healthy endpoints. New and unhealthy endpoints have half as
    /// many each.
    pub max_waiting: usize,
    /// Maximum number of claimed deliveries that wait for one healthy endpoint.
    pub max_waiting_per_endpoint: usize,
    /// Maximum number of results that are settled in one call.
    pub settle_batch_size: usize,
    /// An attempt that takes longer makes its endpoint unhealthy.
    pub slow_after: SignedDuration,
    /// Duration of a claim; at least twice [`max_attempt_duration`](Self::max_attempt_duration).
    pub lease_duration: SignedDuration,
    /// Maximum duration of an attempt. No attempt starts if its claim would end sooner.
    pub max_attempt_duration: SignedDuration,
    /// Interval of polls for deliveries without a wake-up: those of other processes, and expired claims.
    pub poll_interval: SignedDuration,
    /// Minimum interval between two claims for unhealthy endpoints. Fewer and larger transactions delay those of other deliveries
    /// less.
    pub unhealthy_claim_interval: SignedDuration,
    /// Pause after a failure of the outbox.
    pub outbox_retry_delay: SignedDuration,
    /// Maximum time that attempts may continue after the dispatcher is stopped.
    pub drain_timeout: SignedDuration,
}

impl Default for DispatcherLimits {
    fn default() -> Self {
        Self {
            max_healthy_attempts: 256,
            max_new_attempts: 256,
            max_unhealthy_attempts: 256,
            max_unproven_attempts: 512,
            max_attempts: 768,
            max_attempts_per_healthy_endpoint: 8,
            max_attempts_per_unproven_endpoint: 2,
            max_attempts_per_host: 32,
            max_attempts_per_account: 32,
            max_waiting: 1_024,
            max_waiting_per_endpoint: 16,
            settle_batch_size: 512,
            slow_after: SignedDuration::from_secs(1),
            lease_duration: SignedDuration::from_secs(60),
            max_attempt_duration: SignedDuration::from_secs(10),
            poll_interval: SignedDuration::from_secs(15),
            unhealthy_claim_interval: SignedDuration::from_millis(100),
            outbox_retry_delay: SignedDuration::from_secs(1),
            drain_timeout: SignedDuration::from_secs(10),
        }
    }
}

/// Minimum of the intervals and durations in [`DispatcherLimits`].
const MIN_INTERVAL: SignedDuration = SignedDuration::from_millis(100);

impl DispatcherLimits {
    /// Returns the same limits, with values that are too small raised to the minimum that works. Without attempts, nothing is
    /// delivered; with a lease shorter than an attempt, every claimed delivery is released at once.
    pub(super) fn with_minimums(mut self) -> Self {
        for count in [
            &mut self.max_healthy_attempts,
            &mut self.max_new_attempts,
            &mut self.max_unhealthy_attempts,
            &mut self.max_unproven_attempts,
            &mut self.max_attempts,
            &mut self.max_attempts_per_healthy_endpoint,
            &mut self.max_attempts_per_unproven_endpoint,
            &mut self.max_attempts_per_host,
            &mut self.max_attempts_per_account,
            &mut self.max_waiting_per_endpoint,
            &mut self.settle_batch_size,
        ] {
            *count = (*count).max(1);
        }
        self.max_waiting = self.max_waiting.max(2);
        self.slow_after = self.slow_after.max(SignedDuration::from_millis(1));
        self.max_attempt_duration = self.max_attempt_duration.max(MIN_INTERVAL);
        self.lease_duration = self.lease_duration.max(self.max_attempt_duration.saturating_mul(2));
        self.poll_interval = self.poll_interval.max(MIN_INTERVAL);
        self.outbox_retry_delay = self.outbox_retry_delay.max(MIN_INTERVAL);
        self
    }

    pub(super) fn max_attempts_of(&self, health: EndpointHealth) -> usize {
        match health {
            EndpointHealth::Healthy => self.max_healthy_attempts,
            EndpointHealth::New => self.max_new_attempts,
            EndpointHealth::Unhealthy => self.max_unhealthy_attempts,
        }
    }

    pub(super) fn max_attempts_per_endpoint(&self, health: EndpointHealth) -> usize {
        match health {
            EndpointHealth::Healthy => self.max_attempts_per_healthy_endpoint,
            EndpointHealth::New | EndpointHealth::Unhealthy => self.max_attempts_per_unproven_endpoint,
        }
    }

    /// Returns the maximum number of claimed deliveries that wait in memory.
    pub(super) fn max_waiting_of(&self, health: EndpointHealth) -> usize {
        match health {
            EndpointHealth::Healthy => self.max_waiting,
            EndpointHealth::New | EndpointHealth::Unhealthy => self.max_waiting / 2,
        }
    }

    /// Returns the maximum number of claimed deliveries that wait for one endpoint.
    pub(super) fn max_waiting_for_endpoint(&self, health: EndpointHealth) -> usize {
        match health {
            EndpointHealth::Healthy => self.max_waiting_per_endpoint,
            EndpointHealth::New | EndpointHealth::Unhealthy => self.max_attempts_per_unproven_endpoint,
        }
    }
}

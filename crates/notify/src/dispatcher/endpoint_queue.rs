//! The queue of one endpoint, and the health of that endpoint.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use jiff::Timestamp;

use super::ClaimedJob;

/// The health of an endpoint, from its last attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndpointHealth {
    /// The last attempt succeeded, and was quick.
    Healthy,
    /// No attempt was made yet.
    New,
    /// The last attempt failed or was slow.
    Unhealthy,
}

pub(super) const HEALTH_LEVELS: [EndpointHealth; 3] =
    [EndpointHealth::Healthy, EndpointHealth::New, EndpointHealth::Unhealthy];

/// A delivery that this dispatcher has claimed.
#[derive(Debug)]
pub(super) struct HeldJob<J> {
    pub(super) claimed: ClaimedJob<J>,
    pub(super) lease: i64,
    pub(super) until: Timestamp,
}

/// The position of an endpoint: in the queue for attempts, or in the queue for claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueuePosition {
    NotQueued,
    Queued(EndpointHealth),
    /// Waits for the concurrency limit of a host or an account.
    Parked,
}

/// The claimed deliveries of one endpoint.
#[derive(Debug)]
pub(super) struct EndpointQueue<J> {
    pub(super) health: EndpointHealth,
    /// The host of the endpoint; known after the first claim.
    pub(super) host: Option<Arc<str>>,
    pub(super) waiting: VecDeque<HeldJob<J>>,
    pub(super) running: usize,
    pub(super) position: QueuePosition,
    /// The ticket of an endpoint that was parked, until its next attempt starts.
    pub(super) ticket: Option<u64>,
    /// More deliveries may be due in the outbox.
    pub(super) has_due: bool,
    /// The position in the queue for claims.
    pub(super) claim_position: QueuePosition,
    /// The ticket of an endpoint that was parked before a claim, until it claims.
    pub(super) claim_ticket: Option<u64>,
    /// A claim for this endpoint is in progress.
    pub(super) is_claiming: bool,
    /// More deliveries became due during the claim in progress.
    pub(super) due_again: bool,
}

impl<J> EndpointQueue<J> {
    pub(super) fn new() -> Self {
        Self {
            health: EndpointHealth::New,
            host: None,
            waiting: VecDeque::new(),
            running: 0,
            position: QueuePosition::NotQueued,
            ticket: None,
            has_due: false,
            claim_position: QueuePosition::NotQueued,
            claim_ticket: None,
            is_claiming: false,
            due_again: false,
        }
    }

    /// Returns whether the endpoint has no deliveries, attempts or claims.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running == 0 && !self.has_due && !self.is_claiming
    }
}

/// One number for each [`EndpointHealth`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PerHealth(pub(super) [usize; 3]);

impl Index<EndpointHealth> for PerHealth {
    type Output = usize;

    fn index(&self, health: EndpointHealth) -> &usize {
        &self.0[health as usize]
    }
}

impl IndexMut<EndpointHealth> for PerHealth {
    fn index_mut(&mut self, health: EndpointHealth) -> &mut usize {
        &mut self.0[health as usize]
    }
}

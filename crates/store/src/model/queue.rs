//! Queues of notifications, and the results of claimed rows.

use jiff::Timestamp;

use super::MessageChannel;

/// A queue of notifications: one per channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Queue {
    /// Deliveries to webhooks.
    Webhooks,
    /// Messages on a channel.
    Messages(MessageChannel),
}

impl Queue {
    /// All queues.
    pub const ALL: [Self; 4] = [
        Self::Webhooks,
        Self::Messages(MessageChannel::Email),
        Self::Messages(MessageChannel::Sms),
        Self::Messages(MessageChannel::Service),
    ];

    /// Returns the name of the queue. All versions of the program must agree on it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
            Self::Messages(channel) => channel.name(),
        }
    }
}

/// An endpoint with pending deliveries or messages: a webhook, or all messages to one recipient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingEndpoint {
    /// Endpoint number: the webhook's `seq`, or a hash of the recipient.
    pub endpoint: i64,
    /// Time at which its first delivery or message is due.
    pub first_due: Timestamp,
}

/// Selects the deliveries or messages to claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimQuery {
    /// Endpoint numbers.
    pub endpoints: Vec<i64>,
    /// Maximum number per endpoint.
    pub max_per_endpoint: u32,
    /// Maximum number in total.
    pub max_total: u32,
    /// Rows due by this time are claimed.
    pub now: Timestamp,
    /// End of the lease.
    pub until: Timestamp,
    /// Lease: a number that nothing else uses.
    pub lease: i64,
}

/// The next step for a claimed delivery or message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettlementDecision {
    /// The receiver or provider has accepted it.
    Delivered,
    /// Try again.
    Retry {
        /// Time of the next attempt.
        at: Timestamp,
    },
    /// Give up.
    Failed,
    /// Give up and disable the webhook, whose receiver responded that it is gone.
    Gone,
    /// Return it unchanged: it was not tried.
    Released,
    /// Postpone it: it cannot be tried at present.
    Postponed {
        /// End of the postponement.
        until: Timestamp,
    },
}

/// The result of a claimed delivery or message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement<R> {
    /// Position among all rows.
    pub seq: i64,
    /// Lease of the claim.
    pub lease: i64,
    /// Next step.
    pub decision: SettlementDecision,
    /// The facts that the channel records.
    pub result: R,
}

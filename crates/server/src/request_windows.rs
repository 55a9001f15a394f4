//! The windows of requests: in memory, or shared with the other processes on the database.

use foundation::{LimitKey, ServiceError, SharedDecision, SharedLimit, SharedLimiter};
use jiff::Timestamp;

use crate::fixed_window::{FixedWindows, Principal, RateLimitDecision, WindowLimit, retry_after_s};
use crate::rate_limiter::RateLimitGroup;
use crate::response::RateLimit;

/// Counts requests of each principal and group.
#[derive(Debug)]
pub(crate) struct RequestWindows {
    in_memory: FixedWindows,
    /// `None` if this is the only process on the database.
    shared: Option<SharedLimiter>,
}

impl RequestWindows {
    /// Creates empty windows. `shared` is `None` if this is the only process on the database.
    pub(crate) fn new(max_tracked: usize, shared: Option<SharedLimiter>) -> Self {
        let in_memory = FixedWindows::new(max_tracked);
        Self { in_memory, shared }
    }

    /// Counts a request at `now`, unless the limit is reached.
    ///
    /// # Errors
    /// [`ServiceError::StorageUnavailable`] if only the database could say whether the request is within the limit, and it fails.
    pub(crate) async fn count(
        &self,
        principal: Principal,
        group: RateLimitGroup,
        limit: WindowLimit,
        now: Timestamp,
    ) -> Result<RateLimitDecision, ServiceError> {
        let Some(shared) = &self.shared else {
            return Ok(self.in_memory.count(principal, group, limit, now));
        };
        let key = limit_key(group.name(), principal);
        Ok(match shared.count(key, shared_limit(group, limit), now).await? {
            Some(decision) => rate_limit_decision(limit, decision),
            // Too many principals to share them all. These are counted by each process.
            None => self.in_memory.count(principal, group, limit, now),
        })
    }

    /// Returns the window of unlimited requests. They are not counted, so no other process matters.
    pub(crate) fn unlimited(
        &self,
        principal: Principal,
        group: RateLimitGroup,
        limit: WindowLimit,
        now: Timestamp,
    ) -> RateLimitDecision {
        self.in_memory.peek(principal, group, limit, now)
    }

    /// Allows a request without counting it, because its authentication failed by an internal error.
    pub(crate) fn uncounted(
        &self,
        principal: Principal,
        group: RateLimitGroup,
        limit: WindowLimit,
        now: Timestamp,
    ) -> RateLimitDecision {
        let mut decision = self.in_memory.peek(principal, group, limit, now);
        decision.is_allowed = true;
        if self.shared.is_some() {
            // The database has failed, so the requests that are left are unknown. None is promised.
            decision.rate_limit.remaining = 0;
        }
        decision
    }
}

/// Returns the chunks of a group's limit. Small limits against abuse leave nothing unused.
const fn shared_limit(group: RateLimitGroup, limit: WindowLimit) -> SharedLimit {
    match group {
        RateLimitGroup::Login
        | RateLimitGroup::Register
        | RateLimitGroup::GuestAlerts
        | RateLimitGroup::WebhookTest => SharedLimit::one_by_one(limit.requests, limit.window),
        _ => SharedLimit::in_chunks(limit.requests, limit.window),
    }
}

/// Returns the key of a principal's limit.
fn limit_key(kind: &str, principal: Principal) -> LimitKey {
    match principal {
        Principal::Account(account) => LimitKey::new(kind, account.0.as_bytes()),
        Principal::Address(std::net::IpAddr::V4(address)) => LimitKey::new(kind, &address.octets()),
        // 16 bytes, as an account has: the prefix keeps them apart.
        Principal::Address(std::net::IpAddr::V6(address)) => {
            LimitKey::new(kind, &[b"v6".as_slice(), &address.octets()].concat())
        }
        Principal::Shared(number) => LimitKey::new(kind, &number.to_be_bytes()),
    }
}

/// Converts the decision about a shared limit.
fn rate_limit_decision(limit: WindowLimit, decision: SharedDecision) -> RateLimitDecision {
    RateLimitDecision {
        is_allowed: decision.is_allowed,
        rate_limit: RateLimit {
            limit: limit.requests,
            remaining: decision.remaining,
            reset: decision.ends.as_millisecond(),
        },
        retry_after_s: retry_after_s(decision.ends_in),
    }
}

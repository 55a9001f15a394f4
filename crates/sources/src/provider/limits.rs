//! Provider plans: offered capabilities and request limits.

use std::time::Duration;

use super::Capability;

/// The number of symbols that one request covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestScope {
    /// All symbols of the market.
    Market,
    /// At most this many symbols.
    Symbols(u32),
    /// Not a request: symbols are subscribed on a stream, at most this many if limited.
    Subscription(Option<u32>),
}

/// One capability of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapabilityOffer {
    /// The offered capability.
    pub capability: Capability,
    /// The number of symbols that one request covers.
    pub scope: RequestScope,
    /// The age of the newest data when it is delivered.
    pub delay: Duration,
    /// Whether the provider documents that its prices include those of extended hours, with the times of their trades.
    pub has_extended_hours: bool,
}

impl CapabilityOffer {
    /// Returns an offer of prices that include those of extended hours.
    pub(super) const fn with_extended_hours(self) -> Self {
        Self {
            has_extended_hours: true,
            ..self
        }
    }
}

/// A provider's plan: its capabilities and request limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// The provider's name.
    pub provider: &'static str,
    /// The plan's name.
    pub plan: &'static str,
    /// The offered capabilities.
    pub offers: Vec<CapabilityOffer>,
    /// The request limits. All of them hold at the same time.
    pub request_limits: Vec<super::http::RequestLimit>,
}

impl Tier {
    /// Returns the offer of `capability`, if the plan includes it.
    #[must_use]
    pub fn offer(&self, capability: Capability) -> Option<CapabilityOffer> {
        self.offers.iter().copied().find(|offer| offer.capability == capability)
    }

    /// Iterates over the offered capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> {
        self.offers.iter().map(|offer| offer.capability)
    }

    /// Returns the maximum number of symbols in one request for `capability`; `usize::MAX` if unlimited.
    pub(super) fn max_symbols_per_request(&self, capability: Capability) -> usize {
        match self.offer(capability).map(|offer| offer.scope) {
            Some(RequestScope::Symbols(max)) => usize::try_from(max).unwrap_or(usize::MAX).max(1),
            _ => usize::MAX,
        }
    }
}

/// Creates an offer without delay.
pub(super) const fn offer(capability: Capability, scope: RequestScope) -> CapabilityOffer {
    delayed(capability, scope, Duration::ZERO)
}

/// Creates an offer of delayed data.
pub(super) const fn delayed(capability: Capability, scope: RequestScope, delay: Duration) -> CapabilityOffer {
    CapabilityOffer {
        capability,
        scope,
        delay,
        has_extended_hours: false,
    }
}

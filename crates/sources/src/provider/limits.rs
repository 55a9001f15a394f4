//! What a plan of a provider's allows.

use std::time::Duration;

use super::{Capability, CapabilitySet};

/// How far one request reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The whole market.
    Market,
    /// So many symbols.
    Symbols(u32),
    /// It is no request: symbols are subscribed, at most so many, if that is limited.
    Subscription(Option<u32>),
}

/// One capability on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// What is offered.
    pub capability: Capability,
    /// How far one request reaches.
    pub reach: Reach,
    /// How old the newest is when it is answered.
    pub delay: Duration,
}

/// A plan of a provider's: what it offers, and how often it may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// Who.
    pub provider: &'static str,
    /// The plan's name.
    pub plan: &'static str,
    /// What it offers.
    pub offers: Vec<Offer>,
    /// So many requests within so long, each of these at once.
    pub quotas: Vec<super::http::Quota>,
}

impl Tier {
    /// What it offers of `capability`.
    #[must_use]
    pub fn offer(&self, capability: Capability) -> Option<Offer> {
        self.offers.iter().copied().find(|offer| offer.capability == capability)
    }

    /// Everything it offers.
    #[must_use]
    pub fn capabilities(&self) -> CapabilitySet {
        self.offers.iter().map(|offer| offer.capability).collect()
    }

    /// How many symbols a request for `capability` may name; as many as one likes where that is not limited.
    pub(super) fn symbols_a_request(&self, capability: Capability) -> usize {
        match self.offer(capability).map(|offer| offer.reach) {
            Some(Reach::Symbols(most)) => usize::try_from(most).unwrap_or(usize::MAX).max(1),
            _ => usize::MAX,
        }
    }
}

/// What is offered of `capability` without delay.
pub(super) const fn offer(capability: Capability, reach: Reach) -> Offer {
    delayed(capability, reach, Duration::ZERO)
}

/// What is offered of `capability` some time later.
pub(super) const fn delayed(capability: Capability, reach: Reach, delay: Duration) -> Offer {
    Offer {
        capability,
        reach,
        delay,
    }
}

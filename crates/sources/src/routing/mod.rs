//! # Routing requests to providers
//!
//! For each capability there is a *primary* provider and there may be *fallbacks*. [`ProviderRouter::fetch`] sends a
//! request to the first provider that is not backing off. A provider that fails backs off, longer after each failure, and
//! is then used again ([`ProviderStatus`]). Symbols that the primary does not know are requested from the next provider.
//!
//! [`estimate_capacity()`] estimates what a provider's plan allows: the requests in a round over all symbols, how often a
//! round can be made, and the resulting age of a quote. [`check()`] sends one request for each capability to each provider.

mod capacity;
mod check;
mod report;
mod router;
mod status;
mod table;

pub use capacity::{CapabilityEstimate, CapacityEstimate, PollingConfig, estimate_capacity};
pub use check::{CheckOutcome, NewestTime, ProviderCheck, check, check_table};
pub use report::{ProviderAnswers, ProviderReport};
pub use router::{FailedAttempt, FetchedData, ProviderRouter, RoutingError};
pub use status::ProviderStatus;

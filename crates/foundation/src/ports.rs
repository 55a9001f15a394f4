//! External dependencies of the use cases.

use std::sync::Arc;

use store::Store;

use crate::Network;
use crate::Random;
use crate::vault::Vault;
use clock::Clock;

/// External dependencies of the service.
#[derive(Clone)]
pub struct Ports {
    /// Database.
    pub store: Store,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of ids and secrets.
    pub random: Arc<Random>,
    /// Seals secrets.
    pub vault: Arc<Vault>,
    /// Network access.
    pub network: Network,
}

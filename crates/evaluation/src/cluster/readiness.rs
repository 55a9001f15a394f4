//! Whether a node can do what its roles are for.

use foundation::{Role, ServiceError};
use jiff::SignedDuration;

use super::Cluster;

/// How long the evaluation may make no progress: longer than a missed period of many stocks takes. After that others take over.
pub(super) const MAX_STANDSTILL: SignedDuration = SignedDuration::from_secs(60);

impl Cluster {
    /// Checks that the node receives market data and, if it evaluates or sends deliveries, that its lease lasts at `uptime`.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] with the reason.
    pub fn ready(&self, uptime: SignedDuration) -> Result<(), ServiceError> {
        if !self.is_connected() {
            let message = "no NATS server answers, so this node receives no market data";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if !self.sharded.has_progress_since(uptime - MAX_STANDSTILL) {
            let message = "the evaluation makes no progress; see the log";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if !self.sharded.has_lease(uptime) {
            let message = if self.roles().has(Role::Evaluator) {
                "the node's lease has ended, so other nodes evaluate its alerts"
            } else if self.roles().has(Role::Dispatcher) {
                "the node's lease has ended, so it sends no deliveries"
            } else {
                return Ok(());
            };
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        Ok(())
    }
}

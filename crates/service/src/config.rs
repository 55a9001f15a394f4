//! Configuration of the service.

use accounts::identity::IdentityConfig;
use delivery::DeliveryConfig;
use evaluation::EvaluationConfig;
use evaluation::cluster::ClusterConfig;
use watchlist::analyst::AnalystConfig;

/// Configuration of the service.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// Evaluation of alerts.
    pub evaluation: EvaluationConfig,
    /// Webhooks and messages.
    pub delivery: DeliveryConfig,
    /// Registration and sign-in.
    pub identity: IdentityConfig,
    /// Stock analysis.
    pub analyst: AnalystConfig,
    /// The node of a cluster that this process is. `None` if it is the only process that evaluates.
    pub cluster: Option<ClusterConfig>,
}

//! Configuration of the service.

use jiff::SignedDuration;
use market::{Calendar, Symbol};

use crate::analyst::AnalystConfig;
use crate::identity::IdentityConfig;
use crate::messages::MessagesConfig;
use crate::webhooks::WebhooksConfig;

/// Configuration of the service.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// Trading calendar.
    pub calendar: Calendar,
    /// Configuration of the alert engine.
    pub engine: alerts::engine::EngineConfig,
    /// Benchmark for performance.
    pub benchmark: Symbol,
    /// Kinds of data that no source delivers. Alerts that need them cannot be evaluated.
    pub missing_feeds: Vec<alerts::engine::Feed>,
    /// Interval of the check for changes by other processes.
    pub follow_every: SignedDuration,
    /// Interval of the comparison between the engine's alerts and the database.
    pub compare_every: SignedDuration,
    /// Webhooks.
    pub webhooks: WebhooksConfig,
    /// Public URL of this service, for links in messages.
    pub public_url: String,
    /// Registration and sign-in.
    pub identity: IdentityConfig,
    /// Messages.
    pub messages: MessagesConfig,
    /// Stock analysis.
    pub analyst: AnalystConfig,
}

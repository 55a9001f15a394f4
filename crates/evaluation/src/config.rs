//! Configuration of the evaluation.

use jiff::SignedDuration;
use market::{Calendar, Symbol};

/// Configuration of the evaluation.
#[derive(Clone, Debug)]
pub struct EvaluationConfig {
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
}

//! Summaries of alerts in emails.

use alerts::{Alert, Condition};
use notify::templates::AlertSummary;

/// The number of alerts that an email names; further ones are counted.
pub const MAX_NAMED_ALERTS: usize = 50;

/// Returns an alert's description in emails.
pub fn named_alert(alert: &Alert) -> AlertSummary {
    AlertSummary {
        symbol: alert.symbol.to_string(),
        condition: match &alert.condition {
            Condition::Expression(condition) => condition.expression.to_string(),
            named => named.kind().to_string(),
        },
        threshold: alert.condition.threshold().map(|threshold| threshold.to_string()),
    }
}

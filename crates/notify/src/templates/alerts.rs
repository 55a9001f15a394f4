//! Data of alerts and splits in account emails, with the names of the API.

use serde::{Deserialize, Serialize};

/// An alert that is listed in an email.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AlertSummary {
    /// The symbol of the stock.
    pub symbol: String,
    /// The name of the condition, `price_above`, or the text of an expression.
    pub condition: String,
    /// The threshold as a decimal number, if the condition has one.
    pub threshold: Option<String>,
}

/// An alert that cannot be evaluated because there are no current quotes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StaleAlert {
    /// The alert.
    pub alert: AlertSummary,
    /// The start of the period without quotes (RFC 3339).
    pub since: String,
}

/// An alert that was adjusted for a split.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AdjustedAlert {
    /// The alert after the adjustment.
    pub alert: AlertSummary,
    /// The threshold before the adjustment.
    pub previous_threshold: Option<String>,
    /// The initial price after the adjustment, if the alert has one.
    pub initial_price: Option<String>,
    /// The initial price before the adjustment.
    pub previous_initial_price: Option<String>,
}

/// A stock split.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SplitSummary {
    /// The symbol of the stock.
    pub symbol: String,
    /// The first session with new shares (ISO 8601).
    pub date: String,
    /// Number of new shares for each old one, as a decimal number.
    pub ratio: String,
}

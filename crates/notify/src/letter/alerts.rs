//! Alerts as letters name them: as data, in the words of the API.

use serde::{Deserialize, Serialize};

/// An alert in a letter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedAlert {
    /// The stock.
    pub symbol: String,
    /// The condition's name: `price_above`.
    pub condition: String,
    /// Its threshold as a decimal number, if the condition has one.
    pub threshold: Option<String>,
}

/// An alert that cannot be judged for want of fresh quotes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlindAlert {
    /// The alert.
    pub alert: NamedAlert,
    /// Since when, in the form of RFC 3339.
    pub since: String,
}

/// An alert that a split has moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MovedAlert {
    /// The alert as it is now.
    pub alert: NamedAlert,
    /// What its threshold was before.
    pub previous_threshold: Option<String>,
    /// The price that it counts from now, if it has one.
    pub initial_price: Option<String>,
    /// The price that it counted from before.
    pub previous_initial_price: Option<String>,
}

/// A split.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SplitNews {
    /// The stock.
    pub symbol: String,
    /// The first session in new shares, in the form of ISO 8601.
    pub date: String,
    /// New shares for each old one, as a decimal number.
    pub ratio: String,
}

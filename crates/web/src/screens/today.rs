//! The start page: the alerts nearest to firing, and the last firings.

use askama::Template;
use jiff::Timestamp;
use serde_json::Value;
use service::HistoryRow;
use service::alerts::NearAlert;

use crate::figures;
use crate::filters;
use crate::layout::Shell;

/// An alert near to firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearLine {
    /// The id.
    pub id: String,
    /// The stock and the condition as a sentence.
    pub sentence: String,
    /// The distance in percent.
    pub distance: String,
    /// How near it is, from 0 to 100.
    pub nearness: u8,
}

impl NearLine {
    /// Formats an alert.
    #[must_use]
    pub fn of(near: &NearAlert) -> Self {
        Self {
            id: near.id.to_string(),
            sentence: near.explained.sentence.clone(),
            distance: figures::percent(near.distance_pct),
            nearness: figures::nearness(near.distance_pct),
        }
    }
}

/// A firing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiredLine {
    /// The id of the alert.
    pub id: String,
    /// The symbol.
    pub symbol: String,
    /// The time.
    pub at: Timestamp,
    /// The price.
    pub price: Option<String>,
    /// The reason.
    pub reason: String,
    /// Whether it came late, because the data did.
    pub is_late: bool,
}

impl FiredLine {
    /// Formats a firing.
    #[must_use]
    pub fn of(row: &HistoryRow) -> Self {
        let detail = |name: &str| row.details.as_ref().and_then(|details| details.get(name));
        Self {
            id: row.alert.to_string(),
            symbol: row.symbol.to_string(),
            at: row.at,
            price: row.price.map(|price| figures::usd(price.decimal())),
            reason: detail("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
            is_late: detail("late").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// The start page.
#[derive(Template, Debug)]
#[template(path = "today.html")]
pub struct TodayPage {
    /// The frame.
    pub shell: Shell,
    /// The alerts nearest to firing.
    pub near: Vec<NearLine>,
    /// The last firings, newest first.
    pub fired: Vec<FiredLine>,
}

//! The start page: the alerts nearest to firing, and the last firings.

use askama::Template;
use jiff::Timestamp;
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
    /// The symbol.
    pub symbol: String,
    /// The condition as a sentence.
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
            symbol: near.symbol.to_string(),
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
}

impl FiredLine {
    /// Formats a firing.
    #[must_use]
    pub fn of(row: &HistoryRow) -> Self {
        let reason = row.details.as_ref().and_then(|details| details.get("reason"));
        Self {
            id: row.alert.to_string(),
            symbol: row.symbol.to_string(),
            at: row.at,
            price: row.price.map(|price| figures::usd(price.decimal())),
            reason: reason.and_then(|reason| reason.as_str()).unwrap_or_default().to_owned(),
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

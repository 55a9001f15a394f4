//! The stored form of the state: JSON with a version.

use std::cmp::Ordering;

use jiff::Timestamp;
use market::Price;
use serde::{Deserialize, Serialize};

use super::extremes::ArmedExtremes;
use super::state::{ArmedFigures, Lifecycle, Phase};
use crate::condition::Side;
use crate::expression::{Crossings, Within};

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

/// An error: the stored text is not a life cycle of this version.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoredLifecycleError {
    /// A later program wrote it.
    #[error("the stored life cycle has version {version}; this program reads version {VERSION}")]
    UnknownVersion {
        /// The version.
        version: u64,
    },
    /// A member is unknown, missing or invalid, or the text is not JSON.
    #[error("the stored life cycle is invalid: {reason}")]
    Invalid {
        /// The reason, with the place in the text.
        reason: String,
    },
}

#[derive(Deserialize)]
struct StoredVersion {
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredLifecycle {
    version: u64,
    armed_at: Timestamp,
    phase: StoredPhase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    true_since: Option<Timestamp>,
    was_true: bool,
    firings: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_fired_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extremes: Option<StoredExtremes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    crossings: Option<StoredCrossings>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    fires_on_change: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rsi_side: Option<StoredSide>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    figures: Option<StoredFigures>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredPhase {
    Armed,
    Cooling { until: Timestamp, was_left: bool },
    WaitingToRearm,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFigures {
    AtArming,
    Judged,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredSide {
    Above,
    Below,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredExtremes {
    high_micros: i64,
    low_micros: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCrossings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    until: Vec<Option<Timestamp>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    orders: Vec<Option<StoredOrder>>,
}

/// The order of the sides of a `crosses`: where the left one is.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOrder {
    Below,
    Equal,
    Above,
}

impl Lifecycle {
    /// Returns the stored form: `{"version":1,…}`.
    ///
    /// # Errors
    /// Never, because every part can be represented as JSON.
    pub fn to_stored(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&StoredLifecycle {
            version: VERSION,
            armed_at: self.armed_at,
            phase: match self.phase {
                Phase::Armed => StoredPhase::Armed,
                Phase::Cooling { until, was_left } => StoredPhase::Cooling { until, was_left },
                Phase::WaitingToRearm => StoredPhase::WaitingToRearm,
            },
            true_since: self.true_since,
            was_true: self.was_true,
            firings: self.firings,
            last_fired_at: self.last_fired_at,
            extremes: self.extremes.map(|extremes| StoredExtremes {
                high_micros: extremes.high().micros(),
                low_micros: extremes.low().micros(),
            }),
            crossings: StoredCrossings::new(&self.crossings),
            fires_on_change: self.fires_on_change,
            rsi_side: self
                .rsi_side
                .map(|side| side.pick(StoredSide::Above, StoredSide::Below)),
            figures: match self.figures {
                ArmedFigures::NotFound => None,
                ArmedFigures::AtArming => Some(StoredFigures::AtArming),
                ArmedFigures::Judged => Some(StoredFigures::Judged),
            },
        })
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`StoredLifecycleError`] if the version or a member is unknown, or a member is invalid.
    pub fn from_stored(text: &str) -> Result<Self, StoredLifecycleError> {
        let StoredVersion { version } = serde_json::from_str(text).map_err(invalid)?;
        if version != VERSION {
            return Err(StoredLifecycleError::UnknownVersion { version });
        }
        let stored: StoredLifecycle = serde_json::from_str(text).map_err(invalid)?;
        Ok(Self {
            armed_at: stored.armed_at,
            phase: match stored.phase {
                StoredPhase::Armed => Phase::Armed,
                StoredPhase::Cooling { until, was_left } => Phase::Cooling { until, was_left },
                StoredPhase::WaitingToRearm => Phase::WaitingToRearm,
            },
            true_since: stored.true_since,
            was_true: stored.was_true,
            firings: stored.firings,
            last_fired_at: stored.last_fired_at,
            extremes: stored.extremes.map(StoredExtremes::read).transpose()?,
            crossings: stored
                .crossings
                .map_or(Ok(Crossings::default()), StoredCrossings::read)?,
            fires_on_change: stored.fires_on_change,
            rsi_side: stored.rsi_side.map(|side| match side {
                StoredSide::Above => Side::Above,
                StoredSide::Below => Side::Below,
            }),
            figures: match stored.figures {
                None => ArmedFigures::NotFound,
                Some(StoredFigures::AtArming) => ArmedFigures::AtArming,
                Some(StoredFigures::Judged) => ArmedFigures::Judged,
            },
        })
    }
}

impl StoredExtremes {
    fn read(self) -> Result<ArmedExtremes, StoredLifecycleError> {
        let price = |micros| Price::from_micros(micros).map_err(invalid);
        let extremes = ArmedExtremes::restored(price(self.high_micros)?, price(self.low_micros)?);
        extremes.ok_or_else(|| invalid("`high_micros` is below `low_micros`"))
    }
}

impl StoredCrossings {
    fn new(crossings: &Crossings) -> Option<Self> {
        let order = |order: Ordering| match order {
            Ordering::Less => StoredOrder::Below,
            Ordering::Equal => StoredOrder::Equal,
            Ordering::Greater => StoredOrder::Above,
        };
        (*crossings != Crossings::default()).then(|| Self {
            within: crossings.within().map(|within| within.to_string()),
            until: crossings.until().to_vec(),
            orders: crossings.orders().iter().map(|known| known.map(order)).collect(),
        })
    }

    fn read(self) -> Result<Crossings, StoredLifecycleError> {
        let order = |order| match order {
            StoredOrder::Below => Ordering::Less,
            StoredOrder::Equal => Ordering::Equal,
            StoredOrder::Above => Ordering::Greater,
        };
        let within: Option<Within> = self.within.as_deref().map(str::parse).transpose().map_err(invalid)?;
        let orders = self.orders.into_iter().map(|known| known.map(order)).collect();
        Ok(Crossings::restored(within, self.until, orders))
    }
}

fn invalid(reason: impl ToString) -> StoredLifecycleError {
    StoredLifecycleError::Invalid {
        reason: reason.to_string(),
    }
}

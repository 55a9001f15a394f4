//! The parts of an alert that the engine evaluates.

use jiff::Timestamp;
use market::{Price, Symbol};

use crate::alert::{Alert, AlertId, Revision};
use crate::condition::{Condition, Side};
use crate::lifecycle::Lifecycle;
use crate::options::AlertOptions;

/// The parts of an active alert that the engine evaluates, without those that only its owner sees. At a start, millions of them
/// are read.
#[derive(Clone, PartialEq, Debug)]
pub struct EvaluatedAlert {
    /// The identifier.
    pub id: AlertId,
    /// The number of changes so far.
    pub revision: Revision,
    /// The stock.
    pub symbol: Symbol,
    /// The condition.
    pub condition: Condition,
    /// See [`Alert::initial_price`].
    pub initial_price: Option<Price>,
    /// See [`Alert::rsi_side`].
    pub rsi_side: Option<Side>,
    /// See [`Alert::armed_at`].
    pub armed_at: Timestamp,
    /// See [`Alert::threshold_set_at`].
    pub threshold_set_at: Timestamp,
    /// See [`Alert::triggered_at`].
    pub triggered_at: Option<Timestamp>,
    /// The options.
    pub options: AlertOptions,
    /// See [`Alert::lifecycle`].
    pub lifecycle: Option<Box<Lifecycle>>,
}

impl EvaluatedAlert {
    /// Returns the parts of an alert.
    #[must_use]
    pub fn of(alert: &Alert) -> Self {
        Self {
            id: alert.id,
            revision: alert.revision,
            symbol: alert.symbol,
            condition: alert.condition.clone(),
            initial_price: alert.initial_price,
            rsi_side: alert.rsi_side,
            armed_at: alert.armed_at,
            threshold_set_at: alert.threshold_set_at,
            triggered_at: alert.triggered_at,
            options: alert.options.clone(),
            lifecycle: alert.lifecycle.clone(),
        }
    }
}

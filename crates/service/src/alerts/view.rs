//! Alerts as they are displayed.

use alerts::engine::Evaluation;
use alerts::sentence::sentence_with_options;
use alerts::{Alert, Condition};
use jiff::Timestamp;
use market::Decimal;
use store::model::StoredAlert;

use evaluation::stocks::StockView;

/// A single alert with its stock.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertDetail {
    /// The alert.
    pub stored: StoredAlert,
    /// Its stock.
    pub stock: StockView,
    /// The evaluation state; `None` if the alert is not active.
    pub evaluation: Option<Evaluation>,
    /// Its condition with the figures of today's shares, if it was set before a split.
    pub condition_today: Option<Condition>,
}

impl AlertDetail {
    /// Returns the condition as a sentence, with the figures of today's shares.
    #[must_use]
    pub fn sentence(&self) -> String {
        sentence(&self.stored.alert, self.condition_today.as_ref())
    }
}

/// An alert of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertItem {
    /// The alert.
    pub stored: StoredAlert,
    /// The company's name.
    pub stock_name: String,
    /// The stock's last price.
    pub last_price: Option<market::Price>,
    /// The distance from firing, if requested.
    pub extended: Option<AlertProximity>,
}

impl AlertItem {
    /// Returns the condition as a sentence; that of an alert with its distance has the figures of today's shares.
    #[must_use]
    pub fn sentence(&self) -> String {
        let extended = self.extended.as_ref();
        sentence(
            &self.stored.alert,
            extended.and_then(|extended| extended.condition_today.as_ref()),
        )
    }
}

fn sentence(alert: &Alert, today: Option<&Condition>) -> String {
    sentence_with_options(today.unwrap_or(&alert.condition), &alert.options, alert.initial_price)
}

/// An alert's distance from firing.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertProximity {
    /// The stock.
    pub stock: StockView,
    /// The evaluation state; `None` if the alert is not active.
    pub evaluation: Option<Evaluation>,
    /// Its condition with the figures of today's shares, if it was set before a split.
    pub condition_today: Option<Condition>,
    /// When its stock was last observed.
    pub last_evaluated_at: Option<Timestamp>,
    /// The present metric of its condition; see [`alerts::engine::Reason::metric`].
    pub metric: Option<Decimal>,
    /// The necessary change of the metric in percent; 0 if the threshold is reached. For changes in percent it is the
    /// necessary change of the price or the volume. `None` where a distance makes no sense (conditions on a date or on
    /// a change of state) or is unknown.
    pub distance_pct: Option<Decimal>,
}

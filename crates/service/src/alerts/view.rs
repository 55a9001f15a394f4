//! Alerts as they are displayed.

use alerts::engine::Evaluation;
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
    /// Its condition as a sentence, with the figures of today's shares.
    pub sentence: String,
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

/// An alert's distance from firing.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertProximity {
    /// The stock.
    pub stock: StockView,
    /// The evaluation state; `None` if the alert is not active.
    pub evaluation: Option<Evaluation>,
    /// Its condition as a sentence, with the figures of today's shares.
    pub sentence: String,
    /// When its stock was last observed.
    pub last_evaluated_at: Option<Timestamp>,
    /// The present metric of its condition; see [`alerts::engine::Reason::metric`].
    pub metric: Option<Decimal>,
    /// The necessary change of the metric in percent; 0 if the threshold is reached. For changes in percent it is the
    /// necessary change of the price or the volume. `None` where a distance makes no sense (conditions on a date or on
    /// a change of state) or is unknown.
    pub distance_pct: Option<Decimal>,
}

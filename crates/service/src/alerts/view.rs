//! Alerts as they are shown.

use alerts::engine::Evaluation;
use jiff::Timestamp;
use market::Decimal;
use store::model::StoredAlert;

use crate::stocks::StockView;

/// A single alert with its stock.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertDetail {
    /// The alert.
    pub stored: StoredAlert,
    /// Its stock.
    pub stock: StockView,
    /// Whether it is judged; `None` for one that is not active.
    pub evaluation: Option<Evaluation>,
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
    /// More of it, if that was asked for.
    pub extended: Option<Judged>,
}

/// How near an alert is to firing.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The stock.
    pub stock: StockView,
    /// Whether it is judged; `None` for one that is not active.
    pub evaluation: Option<Evaluation>,
    /// When its stock was observed last.
    pub last_evaluated_at: Option<Timestamp>,
    /// What its condition measures, as it is now; see [`alerts::engine::Reason::metric`].
    pub metric: Option<Decimal>,
    /// By how many percent the metric has to move to reach the threshold; 0 once it is there. Of changes in percent it is
    /// the price or the volume that has to move. `None` where a distance makes no sense (what waits for a date, or for
    /// a change into a state) or cannot be told.
    pub distance_pct: Option<Decimal>,
}

//! # Metrics: their values at one instant
//!
//! * [`StockInputs`]: everything that is known of one stock at one instant; [`AlertBasis`]: the prices that belong to an alert.
//! * [`metric_value`]: the value of a metric. It is exact wherever the definition is rational.
//! * [`required_sessions`]: the completed sessions that a metric needs.
//! * [`dependencies()`]: the data that a metric depends on, so that an expression is evaluated again only if these change.

mod dependencies;
mod indicators;
mod percent;
mod sessions;
mod value;
mod view;

pub use dependencies::{MetricDependency, dependencies, is_of_newest_price};
pub(crate) use indicators::track;
pub use sessions::required_sessions;
pub use value::metric_value;
pub use view::{AlertBasis, FundamentalFigures, MentionCounts, SessionSoFar, StockInputs};

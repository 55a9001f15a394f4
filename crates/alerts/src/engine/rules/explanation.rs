//! The explanation of an alert.

use jiff::Timestamp;
use market::Decimal;

use crate::expression::Truth;
use crate::lifecycle::WaitReason;

/// The present state of an armed alert.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The condition as a sentence, beginning with the stock.
    pub sentence: String,
    /// The truth of the condition.
    pub truth: Truth,
    /// One term for each comparison, in the order of the text.
    pub terms: Vec<ExplainedTerm>,
    /// The reason to wait; `None` if the alert would fire now.
    pub wait: Option<WaitReason>,
    /// The next instant at which the alert is judged without an observation.
    pub next_check: Option<Timestamp>,
}

/// The present state of one comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedTerm {
    /// The text.
    pub text: String,
    /// The left number; `None` without a value.
    pub left: Option<Decimal>,
    /// The right number; for `between`, the maximum if the left number is above it, otherwise the minimum.
    pub right: Option<Decimal>,
    /// Whether the comparison is true; `None` if it is unknown.
    pub holds: Option<bool>,
    /// The absolute distance between the numbers in percent of the left one.
    pub distance_pct: Option<Decimal>,
    /// The time of the oldest observation of its stocks.
    pub as_of: Option<Timestamp>,
}

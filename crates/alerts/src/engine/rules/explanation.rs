//! The explanation of an alert.

use jiff::Timestamp;
use market::Decimal;

use crate::expression::Truth;
use crate::expression::ast::Comparison;
use crate::lifecycle::WaitReason;
use crate::metrics::{MetricDependency, dependencies};

/// The present state of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// An expression as a sentence, beginning with the stock, with the figures of today's shares; `None` for other conditions.
    pub sentence: Option<String>,
    /// The truth of the condition.
    pub truth: Truth,
    /// One term for each comparison, in the order of the text.
    pub terms: Vec<ExplainedTerm>,
    /// The distance from being true in percent: 0 if the condition is true; of alternatives the smallest, of conditions that must all
    /// be true the largest. `None` if it is unknown.
    pub distance_pct: Option<Decimal>,
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
    /// The kinds of data that its metrics are calculated from, without repetitions.
    pub sources: Vec<TermSource>,
}

/// A kind of data from which metrics are calculated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TermSource {
    /// The quotes of the running session.
    Quotes,
    /// The bars of completed sessions.
    DailyBars,
    /// The bars of parts of a past session.
    IntradayBars,
    /// The earnings per share and other fundamentals.
    Fundamentals,
    /// The counts of mentions.
    Mentions,
    /// The insider trades.
    InsiderTrades,
    /// The dates of earnings.
    EarningsDates,
    /// The dates of dividends.
    DividendDates,
}

impl TermSource {
    /// Returns the name in responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::DailyBars => "daily bars",
            Self::IntradayBars => "intraday bars",
            Self::Fundamentals => "fundamentals",
            Self::Mentions => "mentions",
            Self::InsiderTrades => "insider trades",
            Self::EarningsDates => "earnings dates",
            Self::DividendDates => "dividend dates",
        }
    }

    /// Returns the kinds of data of a comparison, in the order of this type.
    #[must_use]
    pub(super) fn of(comparison: &Comparison) -> Vec<Self> {
        let mut sources = Vec::new();
        for operand in comparison.operands() {
            operand.for_each_metric(&mut |metric| {
                sources.extend(
                    dependencies(metric.metric)
                        .iter()
                        .copied()
                        .filter_map(Self::of_dependency),
                );
            });
        }
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Returns the source of a dependency; `None` for the calendar.
    const fn of_dependency(dependency: MetricDependency) -> Option<Self> {
        Some(match dependency {
            MetricDependency::Price
            | MetricDependency::Volume
            | MetricDependency::BidAsk
            | MetricDependency::Vwap
            | MetricDependency::AlertBasis => Self::Quotes,
            MetricDependency::History => Self::DailyBars,
            MetricDependency::Fundamentals => Self::Fundamentals,
            MetricDependency::Mentions => Self::Mentions,
            MetricDependency::InsiderTrades => Self::InsiderTrades,
            MetricDependency::EarningsDates => Self::EarningsDates,
            MetricDependency::DividendDates => Self::DividendDates,
            MetricDependency::Date => return None,
        })
    }
}

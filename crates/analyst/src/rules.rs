//! The rules: an analysis of a stock's own history and the alerts that follow from it, without a network.

use crate::proposal::Proposal;
use crate::propose::proposals;
use crate::{Analysis, AnalysisSubject, rationale};

/// The result of an analysis.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The figures.
    pub analysis: Analysis,
    /// The figures in a few sentences.
    pub summary: String,
    /// The alerts, most useful first: two to five, or fewer if the plan allows no more.
    pub proposals: Vec<Proposal>,
}

/// Analyses a stock. The same subject always gets the same advice.
#[must_use]
pub fn advise(subject: &AnalysisSubject<'_>) -> Advice {
    let analysis = Analysis::of(subject);
    Advice {
        summary: rationale::summary(subject, &analysis),
        proposals: proposals(subject, &analysis),
        analysis,
    }
}

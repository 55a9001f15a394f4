//! The rules: an analysis of a stock's own history and the alerts that follow from it, without any network.

use crate::gate::Proposal;
use crate::propose::proposals;
use crate::{Analysis, Subject, rationale};

/// What the analyst has to say about a stock.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// The figures.
    pub analysis: Analysis,
    /// The figures in a few sentences.
    pub summary: String,
    /// The alerts, the most useful first: two to five, or as many as the plan has room for.
    pub proposals: Vec<Proposal>,
}

/// Looks at a stock. The same subject gets the same advice.
#[must_use]
pub fn advise(subject: &Subject<'_>) -> Advice {
    let analysis = Analysis::of(subject);
    Advice {
        summary: rationale::summary(subject, &analysis),
        proposals: proposals(subject, &analysis),
        analysis,
    }
}

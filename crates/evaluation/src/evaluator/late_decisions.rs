//! The order of the decisions of a late evaluation.

use std::collections::HashSet;

use ::alerts::engine::{AlertAction, Decision};

/// The decisions of a late evaluation, in the order in which they are committed.
#[derive(Debug, Default)]
pub(crate) struct LateDecisions {
    /// Decisions of the live engine at the merge.
    pub(crate) in_time: Vec<Decision>,
    /// Firings and all other decisions, except states.
    pub(crate) firings: Vec<Decision>,
    /// The final states of rules after all their firings. A firing contains its own state.
    pub(crate) states: Vec<Decision>,
}

impl LateDecisions {
    pub(crate) fn of(decisions: Vec<Decision>) -> Self {
        let mut ordered = Self::default();
        let mut has_later_state = HashSet::new();
        for decision in decisions.into_iter().rev() {
            match &decision.action {
                AlertAction::SetLifecycle { .. } => {
                    if has_later_state.insert(decision.alert) {
                        ordered.states.push(decision);
                    }
                }
                AlertAction::FireRule { .. } => {
                    has_later_state.insert(decision.alert);
                    ordered.firings.push(decision);
                }
                _ => ordered.firings.push(decision),
            }
        }
        ordered.firings.reverse();
        ordered.states.reverse();
        ordered
    }

    /// Returns the late decisions in the order of their commits.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Decision> {
        self.firings.iter().chain(&self.states)
    }
}

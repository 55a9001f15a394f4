//! The evaluations that are not on disk yet.

use std::collections::{HashMap, HashSet, VecDeque};

use ::alerts::AlertId;
use ::alerts::engine::{AlertAction, Decision};
use jiff::Timestamp;
use store::model::{
    Epoch, EvaluationCommit, FiringResult, LatestExtendedPrice, LatestQuote, Shard, ShardProgress, SupersededQuote,
};

use super::expiry::Expiration;

/// Evaluations that are not on disk yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog(pub(super) VecDeque<PendingEvaluation>);

/// The part of an evaluation that is not on disk yet.
#[derive(Debug, Default)]
pub(super) struct PendingEvaluation {
    /// The decisions that are being committed.
    pub(super) commit: EvaluationCommit,
    /// The alerts that have expired, which are written after the commit.
    pub(super) expirations: Vec<Expiration>,
    /// The decisions that follow.
    pub(super) decisions: Vec<Decision>,
    /// When the decisions were made.
    pub(super) judged_at: Option<Timestamp>,
    /// The observations, which are committed with the last decisions.
    pub(super) quotes: Vec<LatestQuote>,
    /// The stored observations that they replace although these are dated later.
    pub(super) superseded: Vec<SupersededQuote>,
    /// The observations in extended hours, which are committed with the last decisions, too.
    pub(super) extended_prices: Vec<LatestExtendedPrice>,
    pub(super) clock: Option<Timestamp>,
    /// On one of several nodes, the message that caused the evaluation, for each owned shard.
    pub(super) progress: Vec<ShardProgress>,
    /// On one of several nodes, the shards that it must own for the evaluation to be written.
    pub(super) fence: HashMap<Shard, Epoch>,
    /// The shards of the alerts that it has decided about as their owner.
    pub(super) alert_shards: HashMap<AlertId, Shard>,
    /// The instant of the evaluation if it evaluated missed observations. Its firings are late.
    pub(super) missed_evaluated_at: Option<Timestamp>,
}

impl PendingEvaluation {
    /// Firings that a standby has decided.
    pub(super) fn of_firings(decisions: Vec<Decision>, judged_at: Timestamp) -> Self {
        Self {
            decisions,
            judged_at: Some(judged_at),
            ..Self::default()
        }
    }

    /// Returns whether the observations are not part of a commit yet.
    pub(super) const fn has_observations(&self) -> bool {
        !self.quotes.is_empty()
            || !self.superseded.is_empty()
            || !self.extended_prices.is_empty()
            || self.clock.is_some()
    }
}

impl Backlog {
    /// Drops all later decisions about alerts whose firing was rejected: they were made for a revision that is not the present one.
    pub(super) fn drop_decisions(&mut self, rejected: &HashSet<AlertId>) {
        for pending in &mut self.0 {
            pending.decisions.retain(|decision| !rejected.contains(&decision.alert));
        }
    }
}

/// Returns the number of decisions before the first one about an alert that has fired before it. That one depends on the firing,
/// so it is committed afterwards.
pub(super) fn before_repeated_alert(decisions: &[Decision]) -> usize {
    let mut fired = HashSet::new();
    let repeated = decisions.iter().position(|decision| {
        let has_fired = fired.contains(&decision.alert);
        if matches!(decision.action, AlertAction::FireRule { is_last: false, .. }) {
            fired.insert(decision.alert);
        }
        has_fired
    });
    repeated.unwrap_or(decisions.len())
}

/// Returns the alerts whose firing was not written, because the fence is lost.
pub(super) fn unwritten_alerts(commit: &EvaluationCommit, results: &[FiringResult]) -> HashSet<AlertId> {
    let results = commit.firings.iter().zip(results);
    let unwritten = results.filter(|(_, result)| matches!(result, FiringResult::ShardLost));
    unwritten.map(|(firing, _)| firing.alert).collect()
}

/// Returns the alerts whose firing was rejected.
pub(super) fn rejected_alerts(commit: &EvaluationCommit, results: &[FiringResult]) -> HashSet<AlertId> {
    let results = commit.firings.iter().zip(results);
    let rejected = results.filter(|(_, result)| matches!(result, FiringResult::Stale(_)));
    rejected.map(|(firing, _)| firing.alert).collect()
}

/// The numbers of alerts that a commit of the backlog has fired.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FiredAlerts {
    pub(super) all: u64,
    /// Those of missed observations.
    pub(super) late: u64,
}

//! The firings of a standby, which wait until their owner should have settled them.
//!
//! The owner of a shard commits its decisions at once. Its standby makes the same decisions and keeps the firings of alerts without a life
//! cycle that data about their stock has caused. After a while the change feed has shown which of them are settled, and the standby commits the others: each is a
//! compare-and-set, so a firing that was settled meanwhile is dropped.

use std::collections::HashMap;

use ::alerts::engine::Decision;
use ::alerts::{AlertId, Revision};
use jiff::{SignedDuration, Timestamp};
use store::model::Shard;

use super::shard_set::ShardSet;

/// The decisions of one evaluation.
#[derive(Debug)]
pub(crate) struct DelayedEvaluation {
    /// When they are committed, by the uptime. While the node has no lease, its decisions wait without an end.
    pub(crate) due: SignedDuration,
    /// When they were made.
    pub(crate) judged_at: Timestamp,
    pub(crate) decisions: Vec<(Shard, Decision)>,
}

/// The decisions that wait.
#[derive(Debug, Default)]
pub(crate) struct DelayedDecisions {
    evaluations: Vec<DelayedEvaluation>,
    /// The revisions of alerts that have changed while decisions wait.
    settled: HashMap<AlertId, Revision>,
}

impl DelayedDecisions {
    /// Adds decisions.
    pub(crate) fn add(&mut self, evaluation: DelayedEvaluation) {
        if !evaluation.decisions.is_empty() {
            self.evaluations.push(evaluation);
        }
    }

    /// Records that an alert has a revision by now, so that decisions about earlier ones are settled.
    pub(crate) fn note_change(&mut self, alert: AlertId, revision: Revision) {
        if self.evaluations.is_empty() {
            return;
        }
        let known = self.settled.entry(alert).or_insert(revision);
        *known = revision.max(*known);
    }

    /// Takes the evaluations that are due, without decisions that are settled.
    pub(crate) fn take_due(&mut self, now: SignedDuration) -> Vec<DelayedEvaluation> {
        let due = self.evaluations.extract_if(.., |evaluation| evaluation.due <= now);
        let mut taken: Vec<DelayedEvaluation> = due.collect();
        for evaluation in &mut taken {
            let settled = &self.settled;
            evaluation.decisions.retain(|(_, decision)| {
                let settled = settled.get(&decision.alert);
                settled.is_none_or(|&known| known <= decision.revision)
            });
        }
        taken.retain(|evaluation| !evaluation.decisions.is_empty());
        if self.evaluations.is_empty() {
            self.settled.clear();
        }
        taken
    }

    /// Takes everything about some shards.
    pub(crate) fn take_of(&mut self, shards: &ShardSet) -> Vec<DelayedEvaluation> {
        let mut taken = Vec::new();
        for evaluation in &mut self.evaluations {
            let of_shards = evaluation
                .decisions
                .extract_if(.., |(shard, _)| shards.contains(*shard));
            let decisions: Vec<(Shard, Decision)> = of_shards.collect();
            if !decisions.is_empty() {
                taken.push(DelayedEvaluation {
                    decisions,
                    ..*evaluation
                });
            }
        }
        self.evaluations.retain(|evaluation| !evaluation.decisions.is_empty());
        taken
    }

    /// Forgets everything about an alert that was edited.
    pub(crate) fn forget_alert(&mut self, alert: AlertId) {
        for evaluation in &mut self.evaluations {
            evaluation.decisions.retain(|(_, decision)| decision.alert != alert);
        }
    }

    /// Forgets everything about shards that belong to other nodes from now on.
    pub(crate) fn forget(&mut self, lost: &ShardSet) {
        self.take_of(lost);
    }

    /// Sets when evaluations without an end of their wait are due.
    pub(crate) fn release_kept(&mut self, due: SignedDuration) {
        for evaluation in &mut self.evaluations {
            evaluation.due = evaluation.due.min(due);
        }
    }
}

#[cfg(test)]
mod tests;

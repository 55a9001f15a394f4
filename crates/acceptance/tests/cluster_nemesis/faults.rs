//! Applies the planned faults while the load runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use acceptance::clock::now;
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::nodes::Cluster;
use crate::schedule::{Action, Fault, Part};

/// A fault that was applied.
#[derive(Clone, Debug)]
pub(crate) struct AppliedFault {
    pub(crate) part: Part,
    pub(crate) action: Action,
    pub(crate) name: &'static str,
    pub(crate) lasts: Duration,
    pub(crate) at: Timestamp,
    /// The shards that the node owned before it.
    pub(crate) owned: HashSet<u8>,
}

/// Applies faults at their times since `began`. Returns when the last one has been repaired.
pub(crate) async fn apply(cluster: Arc<Cluster>, plan: Vec<Fault>, began: Timestamp) -> Vec<AppliedFault> {
    let mut applied = Vec::new();
    let mut repairs = JoinSet::new();
    for fault in plan {
        let since = Duration::try_from(now().duration_since(began)).unwrap_or_default();
        // The times of the faults are the experiment.
        tokio::time::sleep(fault.at.saturating_sub(since)).await;
        let Some(name) = cluster.take_for_fault(fault.part, fault.index) else {
            continue;
        };
        let owned = match fault.part {
            Part::Evaluator => cluster.shards_of(name).await,
            _ => HashSet::new(),
        };
        let before = now();
        cluster.break_process(name, fault.action).await;
        // The primary goes on for a moment, so its time is a little too short; the others are a little too long.
        let at = if fault.part == Part::Database { now() } else { before };
        println!("  {at}: {} {name} for {:?}", fault.action, fault.lasts);
        applied.push(AppliedFault {
            part: fault.part,
            action: fault.action,
            name,
            lasts: fault.lasts,
            at,
            owned,
        });
        let cluster = Arc::clone(&cluster);
        repairs.spawn(async move {
            tokio::time::sleep(fault.lasts).await;
            cluster.repair(name, fault.action).await;
        });
    }
    while let Some(repaired) = repairs.join_next().await {
        repaired.unwrap();
    }
    applied
}

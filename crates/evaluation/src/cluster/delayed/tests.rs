use ::alerts::engine::{AlertAction, Engine, EngineConfig, Reason};
use ::market::Calendar;
use uuid::Uuid;

use super::*;

const ONE: Shard = Shard(1);
const OTHER: Shard = Shard(2);

fn at(millis: i64) -> SignedDuration {
    SignedDuration::from_millis(millis)
}

fn alert(number: u128) -> AlertId {
    AlertId(Uuid::from_u128(number))
}

fn firing(number: u128) -> Decision {
    let mut engine = Engine::new(Calendar::nyse(), EngineConfig::default());
    Decision {
        alert: alert(number),
        revision: Revision(5),
        stock: engine.stock("AAPL".parse().unwrap()),
        at: Timestamp::UNIX_EPOCH,
        action: AlertAction::Fire {
            price: None,
            reason: Reason::Reminder,
        },
    }
}

fn evaluation(due: i64, decisions: Vec<(Shard, Decision)>) -> DelayedEvaluation {
    DelayedEvaluation {
        due: at(due),
        judged_at: Timestamp::UNIX_EPOCH,
        decisions,
    }
}

/// The alerts of the decisions of evaluations.
fn alerts(evaluations: &[DelayedEvaluation]) -> Vec<AlertId> {
    let decisions = evaluations.iter().flat_map(|evaluation| &evaluation.decisions);
    decisions.map(|(_, decision)| decision.alert).collect()
}

#[test]
fn firings_wait_until_they_are_due() {
    let mut delayed = DelayedDecisions::default();
    delayed.add(evaluation(2_000, vec![(ONE, firing(1))]));
    assert!(delayed.take_due(at(1_999)).is_empty());
    let due = delayed.take_due(at(2_000));
    assert_eq!(alerts(&due), [alert(1)]);
    assert!(delayed.take_due(at(90_000)).is_empty());
}

#[test]
fn firing_that_is_settled_meanwhile_is_dropped() {
    let mut delayed = DelayedDecisions::default();
    delayed.add(evaluation(2_000, vec![(ONE, firing(1)), (ONE, firing(2))]));
    delayed.note_change(alert(1), Revision(6));
    delayed.note_change(alert(2), Revision(5));
    assert_eq!(alerts(&delayed.take_due(at(2_000))), [alert(2)]);
}

#[test]
fn new_owner_gets_the_firings_of_its_shards() {
    let mut delayed = DelayedDecisions::default();
    delayed.add(evaluation(2_000, vec![(ONE, firing(1)), (OTHER, firing(2))]));
    let taken = delayed.take_of(&[ONE].into_iter().collect());
    assert_eq!(alerts(&taken), [alert(1)]);
    assert_eq!(
        alerts(&delayed.take_due(at(2_000))),
        [alert(2)],
        "the other shard's firing still waits"
    );
}

#[test]
fn decisions_about_lost_shards_are_forgotten() {
    let mut delayed = DelayedDecisions::default();
    delayed.add(evaluation(2_000, vec![(ONE, firing(1)), (OTHER, firing(2))]));
    delayed.forget(&[ONE].into_iter().collect());
    assert_eq!(alerts(&delayed.take_due(at(2_000))), [alert(2)]);
}

#[test]
fn decisions_without_a_lease_wait_until_the_node_has_it_again() {
    let mut delayed = DelayedDecisions::default();
    let kept = DelayedEvaluation {
        due: SignedDuration::MAX,
        ..evaluation(0, vec![(ONE, firing(1))])
    };
    delayed.add(kept);
    assert!(delayed.take_due(at(1_000_000)).is_empty());
    delayed.release_kept(at(1_002_000));
    assert!(delayed.take_due(at(1_001_999)).is_empty());
    assert_eq!(alerts(&delayed.take_due(at(1_002_000))), [alert(1)]);
}

#[test]
fn decisions_about_an_edited_alert_are_forgotten() {
    let mut delayed = DelayedDecisions::default();
    delayed.add(evaluation(2_000, vec![(ONE, firing(1)), (ONE, firing(2))]));
    delayed.forget_alert(alert(1));
    assert_eq!(alerts(&delayed.take_due(at(2_000))), [alert(2)]);
}

//! The engine against the oracle: in generated scenarios both must make the same decisions at every step, and an engine that is
//! rebuilt from stored data must continue without a difference.
//!
//! If they disagree, the test reduces the script to the fewest lines that still fail. For a longer search:
//! `PROPTEST_CASES=100000 cargo test --release -p alerts --test it engine_oracle`.

use crate::common;
use crate::oracle;

use std::collections::BTreeMap;

use alerts::ConditionKind;
use jiff::Timestamp;
use market::Calendar;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use common::comparison::EngineComparison;
use common::scenario::{Scenario, scenarios};
use oracle::{Oracle, OutcomeKind, OwnedEvent};

/// A line of a script.
#[derive(Clone, Debug)]
enum Line {
    Event(Timestamp, OwnedEvent),
    Restart,
}

fn cases(default: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: wanted.unwrap_or(default),
        // `minimize` reduces a script better than proptest shrinks a scenario.
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    }
}

/// Runs a script. Returns an error if the engine and the oracle disagree.
fn replay(script: &[Line], calendar: &Calendar) -> Result<(), String> {
    let mut comparison = EngineComparison::new(calendar.clone());
    for line in script {
        match line {
            Line::Event(now, event) => drop(comparison.process(event, *now)?),
            Line::Restart => comparison.restart()?,
        }
    }
    Ok(())
}

/// Removes lines, first many at a time, as long as the rest still fails.
fn minimize(mut script: Vec<Line>, calendar: &Calendar) -> Vec<Line> {
    let mut chunk = script.len() / 2;
    while chunk > 0 {
        let (mut at, before) = (0, script.len());
        while at < script.len() {
            let end = (at + chunk).min(script.len());
            let shorter = [&script[..at], &script[end..]].concat();
            if replay(&shorter, calendar).is_err() {
                script = shorter;
            } else {
                at = end;
            }
        }
        if chunk > 1 || script.len() == before {
            chunk /= 2;
        }
    }
    script
}

fn assert_agreement(scenario: &Scenario, calendar: &Calendar) -> Result<(), TestCaseError> {
    let mut script: Vec<_> = scenario
        .script(calendar)
        .into_iter()
        .map(|(now, event)| Line::Event(now, event))
        .collect();
    for restart in &scenario.restarts {
        script.insert(restart.index(script.len()), Line::Restart);
    }
    if replay(&script, calendar).is_ok() {
        return Ok(());
    }
    let script = minimize(script, calendar);
    let lines: String = script.iter().map(|line| format!("{line:?}\n")).collect();
    let error = replay(&script, calendar).expect_err("it failed before");
    Err(TestCaseError::fail(format!(
        "the engine and the oracle disagree after\n{lines}{error}"
    )))
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn engine_matches_oracle(scenario in scenarios()) {
        assert_agreement(&Scenario { restarts: Vec::new(), ..scenario }, &Calendar::nyse())?;
    }

    #[test]
    fn restarted_engine_matches_oracle(scenario in scenarios()) {
        assert_agreement(&scenario, &Calendar::nyse())?;
    }

    #[test]
    fn engine_matches_oracle_on_an_always_open_market(scenario in scenarios()) {
        assert_agreement(&Scenario { restarts: Vec::new(), ..scenario }, &Calendar::nyse().always_open())?;
    }

    #[test]
    fn restarted_engine_matches_oracle_on_an_always_open_market(scenario in scenarios()) {
        assert_agreement(&scenario, &Calendar::nyse().always_open())?;
    }
}

/// Guards the tests above against scenarios in which nothing fires.
#[test]
fn every_condition_fires_in_generated_scenarios() {
    let (mut runner, calendar) = (TestRunner::deterministic(), Calendar::nyse());
    let mut fired: BTreeMap<ConditionKind, usize> = BTreeMap::new();
    for _ in 0..1000 {
        let scenario = scenarios()
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current();
        let mut oracle = Oracle::new(calendar.clone());
        let mut kinds = BTreeMap::new();
        for (now, event) in scenario.script(&calendar) {
            if let OwnedEvent::Armed(alert) = &event {
                kinds.insert(alert.id, alert.condition.kind());
            }
            let outcomes = oracle.process(&event, now);
            let firings = outcomes
                .iter()
                .filter(|outcome| matches!(outcome.kind, OutcomeKind::Fired { .. }));
            firings.for_each(|outcome| *fired.entry(kinds[&outcome.alert]).or_default() += 1);
        }
    }
    // Expressions are rules, which have their own worlds.
    for kind in ConditionKind::ALL
        .iter()
        .filter(|kind| **kind != ConditionKind::Expression)
    {
        assert!(
            fired.get(kind).is_some_and(|&times| times >= 20),
            "{kind} is rare in {fired:?}"
        );
    }
}

//! The engine against the oracle: in invented worlds both must decide the same, at every step, and an engine that was built
//! anew from what a service keeps must go on as if nothing had happened.
//!
//! Where they disagree, what was told is cut down to the fewest lines on which they still do. To look longer:
//! `PROPTEST_CASES=100000 cargo test --release -p alerts --test engine_oracle`.

#[allow(dead_code, reason = "each of the tests that share it uses a part of it")]
mod common;
#[allow(dead_code, reason = "as above")]
mod oracle;

use std::collections::BTreeMap;

use alerts::ConditionKind;
use jiff::Timestamp;
use market::Calendar;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use common::bench::Bench;
use common::world::{World, worlds};
use oracle::{Oracle, Told, What};

/// A line of a script.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a test's few lines need not be small")]
enum Line {
    Told(Timestamp, Told),
    Restart,
}

fn cases(default: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: wanted.unwrap_or(default),
        failure_persistence: None,
        // A script is cut down better than a world, see `fewest_lines`.
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    }
}

/// An error says where the engine and the oracle disagree.
fn follow(script: &[Line], calendar: &Calendar) -> Result<(), String> {
    let mut bench = Bench::new(calendar.clone());
    for line in script {
        match line {
            Line::Told(now, told) => drop(bench.tell(told, *now)?),
            Line::Restart => bench.restart()?,
        }
    }
    Ok(())
}

/// Takes lines away, first many at a time, as long as the rest still fails.
fn fewest_lines(mut script: Vec<Line>, calendar: &Calendar) -> Vec<Line> {
    let mut chunk = script.len() / 2;
    while chunk > 0 {
        let (mut at, before) = (0, script.len());
        while at < script.len() {
            let end = (at + chunk).min(script.len());
            let shorter = [&script[..at], &script[end..]].concat();
            if follow(&shorter, calendar).is_err() {
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

fn agree(world: &World, calendar: &Calendar) -> Result<(), TestCaseError> {
    let mut script: Vec<_> = world
        .script(calendar)
        .into_iter()
        .map(|(now, told)| Line::Told(now, told))
        .collect();
    for restart in &world.restarts {
        script.insert(restart.index(script.len()), Line::Restart);
    }
    if follow(&script, calendar).is_ok() {
        return Ok(());
    }
    let script = fewest_lines(script, calendar);
    let lines: String = script.iter().map(|line| format!("{line:?}\n")).collect();
    let why = follow(&script, calendar).expect_err("it failed before");
    Err(TestCaseError::fail(format!(
        "the engine and the oracle disagree after\n{lines}{why}"
    )))
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_engine_decides_what_the_oracle_decides(world in worlds()) {
        agree(&World { restarts: Vec::new(), ..world }, &Calendar::nyse())?;
    }

    #[test]
    fn a_restarted_engine_goes_on_where_the_old_one_stopped(world in worlds()) {
        agree(&world, &Calendar::nyse())?;
    }

    #[test]
    fn the_engine_decides_what_the_oracle_decides_on_a_market_that_never_closes(world in worlds()) {
        agree(&World { restarts: Vec::new(), ..world }, &Calendar::nyse().always_open())?;
    }

    #[test]
    fn a_restarted_engine_goes_on_on_a_market_that_never_closes(world in worlds()) {
        agree(&world, &Calendar::nyse().always_open())?;
    }
}

/// Without this the tests above might agree on nothing at all.
#[test]
fn every_condition_fires_in_the_invented_worlds() {
    let (mut runner, calendar) = (TestRunner::deterministic(), Calendar::nyse());
    let mut fired: BTreeMap<ConditionKind, usize> = BTreeMap::new();
    for _ in 0..1000 {
        let world = worlds().new_tree(&mut runner).expect("nothing is rejected").current();
        let mut oracle = Oracle::new(calendar.clone());
        let mut kinds = BTreeMap::new();
        for (now, told) in world.script(&calendar) {
            if let Told::Armed(alert) = &told {
                kinds.insert(alert.id, alert.condition.kind());
            }
            let outcomes = oracle.tell(&told, now);
            let firings = outcomes
                .iter()
                .filter(|outcome| matches!(outcome.what, What::Fired { .. }));
            firings.for_each(|outcome| *fired.entry(kinds[&outcome.alert]).or_default() += 1);
        }
    }
    for kind in ConditionKind::ALL {
        assert!(
            fired.get(kind).is_some_and(|&times| times >= 20),
            "{kind} is rare in {fired:?}"
        );
    }
}

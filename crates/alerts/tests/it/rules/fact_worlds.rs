//! Rules on facts, dates and splits in the engine, compared with a judgement at every event.
//!
//! For a longer search: `PROPTEST_CASES=60000 cargo test --release -p alerts --test it fact_worlds`.

use std::collections::BTreeMap;

use alerts::expression::metric::METRICS;
use alerts::expression::shape::metrics;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::fact_oracle;
use super::fact_world::fact_worlds;

fn cases(default: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig::with_cases(wanted.and_then(|cases| cases.parse().ok()).unwrap_or(default))
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn engine_fires_as_if_it_judged_every_fact_and_date(world in fact_worlds()) {
        let expected = fact_oracle::firings(&world);
        prop_assert_eq!(world.firings_of_engine(), expected, "{} with {:?}", world.expression(), world.alert.options);
    }

    #[test]
    fn restarts_before_every_fact_change_nothing(world in fact_worlds()) {
        let expected = fact_oracle::firings(&world);
        prop_assert_eq!(world.firings_of_restarted_engines(), expected, "{} with {:?}", world.expression(), world.alert.options);
    }
}

/// Guards the tests above against worlds in which nothing fires.
#[test]
fn every_metric_of_facts_fires_in_generated_worlds() {
    let mut runner = TestRunner::deterministic();
    let mut fired: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..2_000 {
        let world = fact_worlds().new_tree(&mut runner).unwrap().current();
        if fact_oracle::firings(&world).is_empty() {
            continue;
        }
        for used in metrics(world.expression()) {
            *fired.entry(used.metric.spec().name).or_default() += 1;
        }
    }
    let of_facts = METRICS
        .iter()
        .filter(|spec| spec.needs.iter().any(|need| !need.is_market_data()));
    for name in of_facts.map(|spec| spec.name).chain(["high_since_armed", "change_pct"]) {
        assert!(
            fired.get(name).is_some_and(|&worlds| worlds >= 5),
            "{name} is rare in {fired:?}"
        );
    }
}

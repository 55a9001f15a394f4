//! Rules in the engine, compared with a judgement at every observation.

mod oracle;
mod world;

use proptest::prelude::*;

use world::{World, worlds};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn engine_fires_as_if_it_judged_every_observation(world in worlds()) {
        let World { rule, days } = &world;
        let expected = oracle::firings(rule, days);
        let found = world.firings_of_engine();
        prop_assert_eq!(found, expected, "{} with {:?}", rule.expression, rule.options);
    }

    #[test]
    fn restarts_before_every_observation_change_nothing(world in worlds()) {
        // The range before the last observation is not stored.
        if world.rule.expression.to_string().contains("52w") {
            return Ok(());
        }
        prop_assert_eq!(
            world.firings_of_restarted_engines(),
            world.firings_of_engine(),
            "{} with {:?}",
            world.rule.expression,
            world.rule.options
        );
    }
}

//! Rules in the engine, compared with a judgement at every observation.

mod armed_extremes;
mod change_base;
mod direct;
mod earlier_state;
mod explain;
mod extended_hours;
mod extended_session;
mod fact_judgements;
mod fact_oracle;
mod fact_world;
mod fact_worlds;
mod facts;
mod market;
mod oracle;
mod questions;
mod splits;
mod two_prices;
mod world;

use proptest::prelude::*;

use world::{World, expression_of, worlds};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn engine_fires_as_if_it_judged_every_observation(world in worlds()) {
        let World { alert, days } = &world;
        let expected = oracle::firings(alert, days);
        let found = world.firings_of_engine();
        prop_assert_eq!(found, expected, "{} with {:?}", expression_of(alert), alert.options);
    }

    #[test]
    fn restarts_before_every_observation_change_nothing(world in worlds()) {
        // The range before the last observation is not stored.
        if expression_of(&world.alert).to_string().contains("52w") {
            return Ok(());
        }
        prop_assert_eq!(
            world.firings_of_restarted_engines(),
            world.firings_of_engine(),
            "{} with {:?}",
            expression_of(&world.alert),
            world.alert.options
        );
    }
}

//! Random walks of any price, volatility, volume and length.

use alerts::Plan;
use analyst::{Intention, advise};
use proptest::prelude::*;

use crate::support::{Fixture, assert_sound, bars, fires_at_once};

/// Prices from a hundredth of a cent to a million dollars, logarithmically.
fn any_start() -> impl Strategy<Value = i64> {
    (2_u32..12, 100_i64..1000).prop_map(|(exponent, digits)| digits * 10_i64.pow(exponent) / 100)
}

/// Daily moves in millionths, of some volatility, with occasional jumps.
fn any_moves() -> impl Strategy<Value = Vec<i64>> {
    let quiet = prop_oneof![Just(0_i64), Just(500), Just(10_000), Just(40_000)];
    (quiet, 0_usize..320).prop_flat_map(|(size, count)| {
        let step = prop_oneof![
            60 => -size..=size,
            1 => Just(-400_000_i64),
            1 => Just(900_000_i64),
        ];
        prop::collection::vec(step, count)
    })
}

fn walk(start: i64, moves: &[i64]) -> Vec<i64> {
    let mut price = start;
    let each = moves.iter().map(|&step| {
        let next = i128::from(price) * i128::from(1_000_000 + step) / 1_000_000;
        price = i64::try_from(next).unwrap().clamp(1, market::price::MAX_PRICE_MICROS);
        price
    });
    each.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn advice_on_any_random_walk_is_sound(
        start in any_start(),
        moves in any_moves(),
        reach in prop::collection::vec(0_i64..3_000, 1..9),
        volumes in prop::collection::vec(prop_oneof![Just(0_i64), 1_i64..100_000_000], 1..30),
        now in prop_oneof![3 => Just(1000), 1 => 700_i64..1400, 1 => 1_i64..1_000_000],
        target in prop::option::of(500_i64..2000),
        is_basic in any::<bool>(),
    ) {
        let closes = walk(start, &moves);
        let reach: Vec<i64> = reach.iter().map(|part| start / 100_000 * part).collect();
        let mut fixture = Fixture::of(bars(&closes, &reach, &volumes));
        let times = |thousandths: i64| {
            let micros = i128::from(fixture.price.micros()) * i128::from(thousandths) / 1000;
            let highest = market::price::MAX_PRICE_MICROS;
            market::Price::from_micros(i64::try_from(micros).unwrap().clamp(1, highest)).unwrap()
        };
        (fixture.price, fixture.target_price) = (times(now), target.map(times));
        fixture.plan = if is_basic { Plan::Basic } else { Plan::Premium };
        for &intention in Intention::ALL {
            let subject = fixture.subject(intention);
            let advice = advise(&subject);
            assert_sound(&subject, &advice);
            prop_assert_eq!(fires_at_once(&fixture, &subject, &advice.proposals), []);
        }
    }
}

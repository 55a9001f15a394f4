//! The smallest and the largest permitted numbers combined: nothing overflows, and the engine still makes the same decisions as
//! the oracle.

use crate::common;
use crate::oracle;

use alerts::condition::{Condition, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline};
use alerts::engine::InsiderTrade;
use alerts::{Alert, Revision};
use jiff::ToSpan;
use market::price::{MAX_PRICE_MICROS, MAX_VOLUME};
use market::{Bar, Calendar, Decimal, Price, Symbol};
use proptest::prelude::*;
use proptest::sample::select;

use common::alert;
use common::comparison::EngineComparison;
use oracle::{OwnedEvent, TestQuote};

/// The largest decimal in the tests: nine trillion, in millionths.
const MAX_DECIMAL_MICROS: i64 = 9_000_000_000_000_000_000;

/// Generates numbers at either end of `1..=most`, and some between.
fn ends(most: i64) -> impl Strategy<Value = i64> {
    prop_oneof![
        1_i64..=3,
        (most - 3)..=most,
        select(vec![most / 2, most / 3, 1000, 1_000_000]),
        1_i64..=most
    ]
}

fn prices() -> impl Strategy<Value = Price> {
    ends(MAX_PRICE_MICROS).prop_map(|micros| Price::from_micros(micros).expect("a price"))
}

fn amounts() -> impl Strategy<Value = Decimal> {
    ends(MAX_DECIMAL_MICROS).prop_map(Decimal::from_micros)
}

fn conditions() -> impl Strategy<Value = Condition> {
    let side = || select(&[Side::Above, Side::Below][..]);
    // A fall is at most 100 percent.
    let percent = |side: Side| {
        if side == Side::Above {
            ends(MAX_DECIMAL_MICROS).boxed()
        } else {
            ends(100_000_000).boxed()
        }
    };
    let change = side().prop_flat_map(move |side| (Just(side), percent(side)));
    let direction = select(&[RsiDirection::Above, RsiDirection::Below, RsiDirection::Both][..]);
    let points = prop_oneof![Just(0_i64), ends(100_000_000)];
    let baseline = select(&[VolumeBaseline::Ma20, VolumeBaseline::Ma50][..]);
    let earnings = select(&[EpsBasis::Trailing, EpsBasis::Forward][..]);
    prop_oneof![
        (side(), prices()).prop_map(|(side, threshold)| Condition::Price { side, threshold }),
        change.prop_map(|(side, micros)| Condition::PriceChange {
            side,
            percent: Decimal::from_micros(micros)
        }),
        side().prop_map(|side| Condition::NewExtreme { side }),
        side().prop_map(|side| Condition::MaCrossover { side }),
        (side(), 2_u16..=30).prop_map(|(side, period)| Condition::MaTouch { side, period }),
        (direction, points).prop_map(|(direction, micros)| {
            let threshold = Decimal::from_micros(micros);
            Condition::Rsi { direction, threshold }
        }),
        (baseline, amounts()).prop_map(|(baseline, percent)| Condition::VolumeChange { baseline, percent }),
        (side(), earnings, amounts()).prop_map(|(side, earnings, threshold)| Condition::PeRatio {
            side,
            earnings,
            threshold
        }),
        (amounts(), 1_u16..=400).prop_map(|(threshold_usd, window_days)| {
            Condition::InsiderTransactions(InsiderCriteria {
                threshold_usd,
                direction: InsiderDirection::Both,
                min_executives: 1,
                window_days,
                open_market_only: false,
            })
        }),
    ]
}

#[derive(Clone, Debug)]
struct Day {
    seen: Vec<(Price, Option<i64>)>,
    eps: [Option<Decimal>; 2],
    trade: Decimal,
    alert: (u32, Condition, Price),
}

fn days() -> impl Strategy<Value = Vec<Day>> {
    let seen = (prices(), prop::option::of(prop_oneof![Just(0), ends(MAX_VOLUME)]));
    let eps = || prop::option::of((amounts(), any::<bool>()));
    let signed = |eps: Option<(Decimal, bool)>| {
        eps.map(|(eps, is_loss)| {
            if is_loss {
                Decimal::from_micros(-eps.micros())
            } else {
                eps
            }
        })
    };
    let parts = (
        prop::collection::vec(seen, 1..5),
        eps(),
        eps(),
        amounts(),
        (0_u32..30, conditions(), prices()),
    );
    let day = parts.prop_map(move |(seen, trailing, forward, trade, alert)| Day {
        seen,
        eps: [signed(trailing), signed(forward)],
        trade,
        alert,
    });
    let day = day.boxed();
    prop_oneof![
        9 => prop::collection::vec(day.clone(), 15..40),
        1 => prop::collection::vec(day, 200..230),
    ]
}

fn run(days: &[Day]) -> Result<(), String> {
    let calendar = Calendar::nyse();
    let symbol: Symbol = "EDGE".parse().expect("a symbol");
    let mut comparison = EngineComparison::new(calendar.clone());
    let sessions: Vec<_> = calendar
        .sessions(jiff::civil::date(2023, 1, 1), jiff::civil::date(2024, 1, 1))
        .take(days.len())
        .collect();
    for (number, (session, day)) in (1..).zip(sessions.iter().zip(days)) {
        let early = session.open - 1.hour();
        let trade = InsiderTrade {
            filed_on: session.date,
            insider: format!("insider {}", number % 3),
            bought: true,
            open_market: true,
            value_usd: day.trade,
        };
        comparison.process(&OwnedEvent::Fundamentals(symbol, day.eps), early)?;
        let (id, condition, initial) = day.alert.clone();
        let (revision, initial_price) = (Revision(number * 10), Some(initial));
        let alert = Alert {
            revision,
            initial_price,
            ..alert(id, symbol, condition, early)
        };
        comparison.process(&OwnedEvent::Armed(Box::new(alert)), early)?;
        comparison.process(&OwnedEvent::Insiders(symbol, vec![trade]), early)?;
        for (minute, &(price, volume)) in (0_i64..).zip(&day.seen) {
            let now = session.open + minute.minutes();
            comparison.process(&OwnedEvent::Snapshot(vec![TestQuote { symbol, price, volume }]), now)?;
            comparison.process(&OwnedEvent::Evaluate, now)?;
        }
        // Every other session is completed by a bar, the rest by their observations.
        if number % 2 == 0 {
            let prices = || day.seen.iter().map(|seen| seen.0);
            let (open, close) = (day.seen[0].0, day.seen[day.seen.len() - 1].0);
            let (high, low) = (prices().max().expect("some"), prices().min().expect("some"));
            let volume = day.seen[0].1.unwrap_or(MAX_VOLUME);
            let bar = Bar {
                date: session.date,
                open,
                high,
                low,
                close,
                volume,
            };
            comparison.process(&OwnedEvent::Bar(symbol, bar), session.close)?;
        }
        if number % 7 == 0 {
            comparison.restart()?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 5000, ..ProptestConfig::default() })]

    #[test]
    fn engine_matches_oracle_at_the_limits_of_every_range(days in days()) {
        run(&days).map_err(TestCaseError::fail)?;
    }
}

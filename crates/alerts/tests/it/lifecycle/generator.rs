//! Generated options and judgements: irregular instants across sessions and nights, unknowns, crossings and snoozes.

use alerts::expression::Truth;
use alerts::lifecycle::{Judgement, Observation};
use alerts::options::{AlertOptions, Expiry, Hold, Rearm, Repeat, SessionScope, TriggerPrice};
use jiff::{SignedDuration, Timestamp};
use market::{Decimal, Price};
use proptest::prelude::*;
use proptest::sample::select;

/// An alert and what happens to it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) options: AlertOptions,
    /// Whether a condition that is true when the alert is armed must be left first.
    pub(crate) fires_on_change: bool,
    pub(crate) armed_at: Timestamp,
    pub(crate) first_price: Option<Price>,
    /// The index of the judgement before which the alert is snoozed, and the end of the snooze.
    pub(crate) snooze: Option<(usize, Timestamp)>,
    pub(crate) judgements: Vec<Judgement>,
}

impl Scenario {
    /// Returns the options at a judgement.
    pub(crate) fn options_at(&self, index: usize) -> AlertOptions {
        let snooze = self.snooze.filter(|(first, _)| *first <= index);
        AlertOptions {
            snoozed_until: snooze.map(|(_, until)| until),
            ..self.options.clone()
        }
    }
}

fn options() -> impl Strategy<Value = AlertOptions> {
    let repeat = select(vec![
        Repeat::Once,
        Repeat::EachTime,
        Repeat::EachTime,
        Repeat::OncePerDay,
    ]);
    let cooldown = prop::option::of(select(vec!["1m", "5m", "3h", "1d", "4d"]));
    let hold = prop::option::weighted(0.4, select(vec!["1m", "7m", "1h", "1d", "2d"]));
    let rearm = prop::option::weighted(0.3, Just(Rearm::At(Decimal::ZERO)));
    let trigger = select(vec![TriggerPrice::Last, TriggerPrice::TwoLasts]);
    let session = select(vec![SessionScope::Regular, SessionScope::Extended]);
    let max_firings = prop::option::weighted(0.3, 1_u16..4);
    (
        repeat,
        cooldown,
        hold,
        rearm,
        trigger,
        session,
        max_firings,
        any::<bool>(),
    )
        .prop_map(
            |(repeat, cooldown, hold, rearm, trigger, session, max_firings, cooldown_refire)| AlertOptions {
                repeat,
                cooldown: cooldown.and_then(|text| alerts::options::Cooldown::new(text.parse().unwrap())),
                cooldown_refire,
                rearm,
                hold: hold.and_then(|text| Hold::new(text.parse().unwrap())),
                session,
                trigger,
                max_firings,
                ..AlertOptions::default()
            },
        )
}

/// Returns the seconds to the next judgement: within a minute, within the session, or over a night or a weekend.
fn pause() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0_i64..=70,
        2 => select(vec![60_i64, 300, 420, 3_600]),
        3 => 60_i64..7_200,
        2 => 3_600_i64..90_000,
        1 => 200_000_i64..400_000,
    ]
}

fn truth() -> impl Strategy<Value = Truth> {
    prop_oneof![5 => Just(Truth::True), 3 => Just(Truth::False), 1 => Just(Truth::Unknown)]
}

fn price() -> impl Strategy<Value = Option<Price>> {
    prop::option::weighted(
        0.9,
        (90_i64..110).prop_map(|dollars| Price::from_micros(dollars * 1_000_000).unwrap()),
    )
}

fn judgement() -> impl Strategy<Value = (i64, Judgement)> {
    let after = prop::option::weighted(0.2, truth());
    let level = prop::bool::weighted(0.2);
    let is_new = prop::bool::weighted(0.85);
    (pause(), truth(), after, level, is_new, price(), price()).prop_map(
        |(pause, truth, truth_after, is_rearm_level_reached, is_new, price, previous_price)| {
            let observation = Observation {
                at: Timestamp::UNIX_EPOCH,
                is_new,
                price,
                previous_price,
            };
            let judgement = Judgement {
                observation,
                truth,
                truth_after: truth_after.unwrap_or(truth),
                is_rearm_level_reached,
            };
            (pause, judgement)
        },
    )
}

pub(crate) fn scenario() -> impl Strategy<Value = Scenario> {
    // From Tuesday evening over an early close and a holiday to the next week.
    let start = "2024-07-02T19:00:00Z".parse::<Timestamp>().unwrap();
    let judgements = prop::collection::vec(judgement(), 1..40);
    let expiry = prop::option::weighted(0.3, 0_i64..600_000);
    let snooze = prop::option::weighted(0.3, (0_usize..20, 0_i64..200_000));
    let fires_on_change = prop::bool::weighted(0.3);
    (
        options(),
        fires_on_change,
        0_i64..200_000,
        price(),
        judgements,
        expiry,
        snooze,
    )
        .prop_map(
            move |(options, fires_on_change, offset, first_price, pauses, expiry, snooze)| {
                let after = |from: Timestamp, seconds| from + SignedDuration::from_secs(seconds);
                let armed_at = after(start, offset);
                let mut at = armed_at;
                let judgements: Vec<Judgement> = pauses
                    .into_iter()
                    .map(|(pause, mut judgement)| {
                        at = after(at, pause);
                        judgement.observation.at = at;
                        judgement
                    })
                    .collect();
                let snooze = snooze.and_then(|(first, seconds)| {
                    let from = judgements.get(first)?.observation.at;
                    Some((first, after(from, seconds)))
                });
                let options = AlertOptions {
                    expires_at: expiry.map(|seconds| Expiry::Instant(after(armed_at, seconds))),
                    rearm: options.rearm.filter(|_| !fires_on_change),
                    ..options
                };
                Scenario {
                    options,
                    fires_on_change,
                    armed_at,
                    first_price,
                    snooze,
                    judgements,
                }
            },
        )
}

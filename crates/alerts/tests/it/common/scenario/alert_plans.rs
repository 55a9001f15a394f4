//! The alerts of generated scenarios: all 23 conditions, with thresholds that are often met exactly. Those that are no expression
//! have options, too.

use super::option_plans::{OptionPlan, option_plans};
use alerts::Condition;
use alerts::condition::{
    BuzzDirection, DeliveryTime, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline,
};
use jiff::{Timestamp, ToSpan};
use market::{Decimal, Price};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// An alert to create, or its update if the number exists.
#[derive(Clone, Debug)]
pub(crate) struct AlertPlan {
    pub(crate) number: u8,
    pub(crate) stock: u8,
    pub(crate) condition: ConditionPlan,
    /// Whether it has an initial price.
    pub(crate) has_initial: bool,
    pub(crate) is_active: bool,
    pub(crate) options: OptionPlan,
}

/// A condition. A price is in quarters of a dollar per today's share; a reminder is in minutes ahead.
#[derive(Clone, Debug)]
pub(crate) enum ConditionPlan {
    Plain(Condition),
    Price(Side, i64),
    Reminder(i64),
}

impl ConditionPlan {
    /// Builds the condition at `now`. `quarter` converts quarters of a dollar to a price.
    pub(crate) fn build(&self, now: Timestamp, quarter: impl Fn(i64) -> Price) -> Condition {
        match *self {
            Self::Plain(ref condition) => condition.clone(),
            Self::Price(side, quarters) => Condition::Price {
                side,
                threshold: quarter(quarters),
            },
            Self::Reminder(minutes) => Condition::Reminder {
                at: now + minutes.minutes(),
            },
        }
    }
}

type ConditionPlans = BoxedStrategy<ConditionPlan>;

/// Generates alerts with the given conditions. A stock with few kinds of alerts has a wide quiet band.
pub(crate) fn alert_plans(conditions: ConditionPlans) -> BoxedStrategy<AlertPlan> {
    let parts = (
        0_u8..40,
        0_u8..4,
        conditions,
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.93),
        option_plans(),
    );
    let plan = |(number, stock, condition, has_initial, is_active, options)| AlertPlan {
        number,
        stock,
        condition,
        has_initial,
        is_active,
        options,
    };
    parts.prop_map(plan).boxed()
}

/// Generates conditions of all kinds, or of one or two.
pub(crate) fn condition_plans() -> impl Strategy<Value = ConditionPlans> {
    let of_kinds = |kinds: &[fn() -> ConditionPlans]| Union::new(kinds.iter().map(|kind| kind())).boxed();
    let of_all = move |()| of_kinds(&KINDS);
    prop_oneof![
        Just(()).prop_map(of_all),
        prop::sample::subsequence(&KINDS[..], 1..=2).prop_map(move |kinds| of_kinds(&kinds)),
    ]
}

const KINDS: [fn() -> ConditionPlans; 18] = [
    prices, changes, extremes, extremes, crosses, crosses, touches, touches, rsi_limits, rsi_limits, volumes, ratios,
    buzz, insiders, insiders, reminders, dates, dates,
];

fn plain(conditions: impl Strategy<Value = Condition> + 'static) -> ConditionPlans {
    conditions.prop_map(ConditionPlan::Plain).boxed()
}

fn sides() -> impl Strategy<Value = Side> {
    select(&[Side::Above, Side::Below][..])
}

fn whole(units: i64) -> Decimal {
    Decimal::from_units(units).expect("small")
}

fn prices() -> ConditionPlans {
    (sides(), 28_i64..=52)
        .prop_map(|(side, quarters)| ConditionPlan::Price(side, quarters))
        .boxed()
}

fn changes() -> ConditionPlans {
    let percent = prop_oneof![select(&[5_i64, 10, 20, 25, 50, 100][..]), 1_i64..=30].prop_map(whole);
    plain((sides(), percent).prop_map(|(side, percent)| Condition::PriceChange { side, percent }))
}

fn extremes() -> ConditionPlans {
    plain(sides().prop_map(|side| Condition::NewExtreme { side }))
}

fn crosses() -> ConditionPlans {
    plain(sides().prop_map(|side| Condition::MaCrossover { side }))
}

fn touches() -> ConditionPlans {
    let period = prop_oneof![
        6 => 2_u16..=6,
        2 => select(&[14_u16, 15, 20, 21, 50, 100, 200, 201, 399, 400][..]),
        1 => 2_u16..=400,
    ];
    plain((sides(), period).prop_map(|(side, period)| Condition::MaTouch { side, period }))
}

fn rsi_limits() -> ConditionPlans {
    let points = prop_oneof![select(&[0_i64, 30, 40, 50, 60, 70, 100][..]), 30_i64..=70].prop_map(whole);
    let direction = select(
        &[
            RsiDirection::Above,
            RsiDirection::Below,
            RsiDirection::Both,
            RsiDirection::Both,
        ][..],
    );
    plain((direction, points).prop_map(|(direction, threshold)| Condition::Rsi { direction, threshold }))
}

fn volumes() -> ConditionPlans {
    let baseline = select(&[VolumeBaseline::Ma20, VolumeBaseline::Ma50, VolumeBaseline::Ma100][..]);
    let percent = select(&[1_i64, 10, 25, 50, 100][..]).prop_map(whole);
    plain((baseline, percent).prop_map(|(baseline, percent)| Condition::VolumeChange { baseline, percent }))
}

fn ratios() -> ConditionPlans {
    let earnings = select(&[EpsBasis::Trailing, EpsBasis::Forward][..]);
    let parts = (sides(), earnings, (4_i64..=50).prop_map(whole));
    plain(parts.prop_map(|(side, earnings, threshold)| Condition::PeRatio {
        side,
        earnings,
        threshold,
    }))
}

fn buzz() -> ConditionPlans {
    plain(select(&[BuzzDirection::Rising, BuzzDirection::Falling][..]).prop_map(Condition::SocialBuzz))
}

fn insiders() -> ConditionPlans {
    plain(insider_watches().prop_map(Condition::InsiderTransactions))
}

fn reminders() -> ConditionPlans {
    let daily = select(&[DeliveryTime::MarketOpen, DeliveryTime::AfterMarketClose][..]);
    prop_oneof![
        plain(daily.prop_map(Condition::DailyReminder)),
        (1_i64..20_000).prop_map(ConditionPlan::Reminder)
    ]
    .boxed()
}

fn dates() -> ConditionPlans {
    plain((0_u8..6, 0_u16..8).prop_map(|(which, days_ahead)| match which {
        0 => Condition::EarningsAnnouncement { days_ahead },
        1 => Condition::DividendExDate { days_ahead },
        _ => Condition::DividendPayment { shares: None },
    }))
}

fn insider_watches() -> impl Strategy<Value = InsiderCriteria> {
    let direction = select(&[InsiderDirection::Buy, InsiderDirection::Sell, InsiderDirection::Both][..]);
    (1_i64..20, direction, 1_u16..=3, 1_u16..=10, any::<bool>()).prop_map(
        |(ten_thousands, direction, min_executives, window_days, open_market_only)| InsiderCriteria {
            threshold_usd: whole(ten_thousands * 10_000),
            direction,
            min_executives,
            window_days,
            open_market_only,
        },
    )
}

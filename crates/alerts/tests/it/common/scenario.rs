//! Generated scenarios: a few stocks with coarse prices, so that ties are common, and the events of several weeks.

mod alert_plans;
mod option_plans;
mod script;

pub(crate) use alert_plans::AlertPlan;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A scenario, with the positions at which engines are restarted.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// The start, in days after 2019-03-01.
    pub(crate) start: i32,
    pub(crate) stocks: Vec<StockPlan>,
    pub(crate) alerts: Vec<AlertPlan>,
    pub(crate) days: Vec<Vec<Action>>,
    pub(crate) restarts: Vec<Index>,
}

/// A stock before the first day.
#[derive(Clone, Debug)]
pub(crate) struct StockPlan {
    /// Whether the closes are a random walk; otherwise they stay around one price.
    pub(crate) walks: bool,
    pub(crate) bars: Vec<BarShape>,
    /// The hours of mentions before the first day, and the count of each.
    pub(crate) mentions: (u16, u32),
    /// The day, the minute and the ratio of each split.
    pub(crate) splits: Vec<(u8, i64, &'static str)>,
    pub(crate) eps: [Option<i64>; 2],
}

/// A daily bar: the steps of the close and the open from the last close, the distances of high and low, thousands of shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BarShape {
    pub(crate) close: i64,
    pub(crate) open: i64,
    pub(crate) high: i64,
    pub(crate) low: i64,
    pub(crate) volume: i64,
}

/// The usual time of splits, in minutes after 09:30: 01:30. A later split happens during a session.
pub(crate) const SPLIT_AT_NIGHT: i64 = -480;

/// An action, with its time in minutes after 09:30 in New York.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) minute: i64,
    pub(crate) kind: ActionKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ActionKind {
    /// A split of the stock's plan. Prices are per new share from now on.
    Split {
        stock: u8,
        ratio: &'static str,
    },
    /// The steps of the price and the thousands of shares for each observed stock.
    Snapshot(Vec<Option<(i64, Option<i64>)>>),
    /// The bar of a session, `back` sessions before the last completed one. With `agrees`, it has the observed close.
    Bar {
        stock: u8,
        back: u8,
        agrees: bool,
        shape: BarShape,
    },
    /// The bars of today's session for all stocks, made of the observations.
    Bars,
    /// A bar of today, whether or not its session has ended.
    TodaysBar {
        stock: u8,
        shape: BarShape,
    },
    Fundamentals {
        stock: u8,
        eps: [Option<i64>; 2],
    },
    /// Earnings dates in days from today.
    Earnings {
        stock: u8,
        days: Vec<i16>,
    },
    /// Ex-dates in days from today, and payment dates in days from the ex-date.
    Dividends {
        stock: u8,
        days: Vec<(i16, Option<u8>)>,
    },
    Insiders {
        stock: u8,
        /// Whether they replace all known trades.
        replaces: bool,
        trades: Vec<TradePlan>,
    },
    /// `silent` hours without counts, then `hours` counts, and one correction of an earlier hour.
    Mentions {
        stock: u8,
        silent: u8,
        hours: u8,
        count: u32,
        correction: Option<(u8, u32)>,
    },
    Arm(AlertPlan),
    Disarm(u8),
    Clock,
    Evaluate,
}

#[derive(Clone, Debug)]
pub(crate) struct TradePlan {
    pub(crate) filed_days_ago: u8,
    pub(crate) insider: u8,
    pub(crate) bought: bool,
    pub(crate) open_market: bool,
    pub(crate) ten_thousands: i64,
}

pub(crate) fn scenarios() -> impl Strategy<Value = Scenario> {
    let len = prop_oneof![3 => 7_usize..20, 1 => 20_usize..56];
    (alert_plans::condition_plans(), len).prop_flat_map(|(conditions, len)| {
        let alerts = alert_plans::alert_plans(conditions);
        let days = prop::collection::vec(prop::collection::vec(actions(alerts.clone()), 0..12), len);
        let stocks = prop::collection::vec(stock_plans(), 2..=4);
        let restarts = prop::collection::vec(any::<Index>(), 0..3);
        let parts = (
            0_i32..1800,
            stocks,
            prop::collection::vec(alerts, 1..30),
            days,
            restarts,
        );
        parts.prop_map(|(start, stocks, alerts, days, restarts)| Scenario {
            start,
            stocks,
            alerts,
            days,
            restarts,
        })
    })
}

fn stock_plans() -> impl Strategy<Value = StockPlan> {
    let len =
        prop_oneof![1 => 1_usize..18, 1 => 18_usize..25, 1 => 95_usize..105, 2 => 190_usize..215, 2 => 240_usize..450];
    let bars = (len, prop_oneof![Just(0_i64), Just(1), Just(3)])
        .prop_flat_map(|(len, wild)| prop::collection::vec(bar_shapes(wild), len));
    let minute = select(&[SPLIT_AT_NIGHT, SPLIT_AT_NIGHT, 100][..]);
    let splits = prop::collection::vec((0_u8..30, minute, select(&["2", "4", "0.5", "3"][..])), 0..=2);
    (
        any::<bool>(),
        bars,
        (0_u16..250, 0_u32..4),
        splits,
        [earnings(), earnings()],
    )
        .prop_map(|(walks, bars, mentions, splits, eps)| StockPlan {
            walks,
            bars,
            mentions,
            splits,
            eps,
        })
}

fn bar_shapes(wild: i64) -> impl Strategy<Value = BarShape> {
    (
        -wild..=wild,
        -1_i64..=1,
        0_i64..=1,
        0_i64..=1,
        prop_oneof![1 => Just(0_i64), 9 => 8_i64..=12],
    )
        .prop_map(|(close, open, high, low, volume)| BarShape {
            close,
            open,
            high,
            low,
            volume,
        })
}

/// Generates earnings per share in quarters of a dollar.
fn earnings() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![1 => Just(None), 1 => (-2_i64..=0).prop_map(Some), 6 => (1_i64..=8).prop_map(Some)]
}

fn minutes() -> impl Strategy<Value = i64> {
    // 210 and 390 are the closes; 225 and 405 are the reminders after them.
    prop_oneof![
        2 => select(&[-1_i64, 0, 0, 1, 209, 210, 211, 225, 389, 390, 391, 405, 406][..]),
        6 => 0_i64..=391,
        1 => -560_i64..=860,
    ]
}

fn actions(alerts: BoxedStrategy<AlertPlan>) -> impl Strategy<Value = Action> {
    let stock = || 0_u8..4;
    let seen = (-2_i64..=2, prop::option::weighted(0.7, 0_i64..=24));
    let snapshot = prop::collection::vec(prop::option::weighted(0.8, seen), 4).prop_map(ActionKind::Snapshot);
    let bar = (
        stock(),
        prop_oneof![6 => Just(0_u8), 1 => 1_u8..4],
        any::<bool>(),
        bar_shapes(2),
    );
    let trade = (0_u8..12, 0_u8..4, any::<bool>(), prop::bool::weighted(0.8), 1_i64..12).prop_map(
        |(filed_days_ago, insider, bought, open_market, ten_thousands)| TradePlan {
            filed_days_ago,
            insider,
            bought,
            open_market,
            ten_thousands,
        },
    );
    let mentions = (
        stock(),
        // Gaps of up to six hours are tolerated, and of 23 hours if they end at midnight.
        prop_oneof![24 => Just(0_u8), 2 => 5_u8..=8, 1 => 22_u8..=24],
        1_u8..40,
        0_u32..6,
        prop::option::weighted(0.3, (0_u8..30, 0_u32..60)),
    );
    let payments = prop::collection::vec((-3_i16..12, prop::option::of(0_u8..6)), 0..3);
    let free = prop_oneof![
        50 => snapshot,
        12 => bar.prop_map(|(stock, back, agrees, shape)| ActionKind::Bar { stock, back, agrees, shape }),
        1 => (stock(), bar_shapes(2)).prop_map(|(stock, shape)| ActionKind::TodaysBar { stock, shape }),
        3 => (stock(), [earnings(), earnings()]).prop_map(|(stock, eps)| ActionKind::Fundamentals { stock, eps }),
        8 => (stock(), prop::collection::vec(-3_i16..12, 0..3)).prop_map(|(stock, days)| ActionKind::Earnings { stock, days }),
        6 => (stock(), payments).prop_map(|(stock, days)| ActionKind::Dividends { stock, days }),
        8 => (stock(), prop::bool::weighted(0.2), prop::collection::vec(trade, 1..3)).prop_map(|(stock, replaces, trades)| {
            ActionKind::Insiders { stock, replaces, trades }
        }),
        8 => mentions.prop_map(|(stock, silent, hours, count, correction)| {
            ActionKind::Mentions { stock, silent, hours, count, correction }
        }),
        20 => alerts.prop_map(ActionKind::Arm),
        3 => (0_u8..40).prop_map(ActionKind::Disarm),
        2 => Just(ActionKind::Clock),
        8 => Just(ActionKind::Evaluate),
    ];
    let anywhen = (minutes(), free).prop_map(|(minute, kind)| Action { minute, kind });
    let evening = (391_i64..500).prop_map(|minute| Action {
        minute,
        kind: ActionKind::Bars,
    });
    prop_oneof![12 => anywhen, 1 => evening]
}

//! The steps of an invented market.

use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp, ToSpan};
use market::calendar::{new_york, new_york_date};
use market::{Calendar, SplitRatio};
use proptest::prelude::*;
use proptest::sample::select;

use super::{FactEvent, MICROS, SeenPrice, Trade};

/// The hours between two counts of mentions, few enough for the number to be known.
const HOURS_BETWEEN_COUNTS: i64 = 5;

/// The state of a market before its first step.
#[derive(Clone, Debug)]
pub(crate) struct MarketStart {
    start: Date,
    /// Whether mentions of each stock are counted, and known from the beginning.
    counted: [bool; 2],
}

/// A passage of time, and the event at its end.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    passage: Passage,
    event: StepEvent,
}

#[derive(Clone, Copy, Debug)]
enum Passage {
    Minutes(i64),
    Hours(i64),
    /// To minutes after the next midnight in New York.
    Midnight(i64),
    /// To minutes after the next open.
    Open(i64),
}

#[derive(Clone, Debug)]
enum StepEvent {
    /// The stock, the change in dollars and the traded volume in hundreds.
    Prices(Vec<(usize, i64, i64)>),
    Evaluate,
    Clock,
    Fundamentals(usize, [Option<i64>; 4]),
    /// Days ahead.
    Earnings(usize, Vec<i64>),
    Dividends(usize, Vec<(i64, Option<i64>)>),
    /// The age of the filing in days, whether it is a purchase on the open market, and its value.
    Trades(usize, Vec<(i64, bool, bool, i64)>),
    TradesReplaced(usize, Vec<(i64, bool, bool, i64)>),
    Mentions(usize, u32),
    Split(usize, SplitRatio),
    OtherArmed,
}

pub(crate) fn beginnings() -> impl Strategy<Value = MarketStart> {
    // A change of daylight saving time, a closed Friday, and an early close before a holiday follow.
    let start = select(vec![date(2024, 3, 7), date(2024, 3, 27), date(2024, 7, 2)]);
    (start, any::<[bool; 2]>()).prop_map(|(start, counted)| MarketStart { start, counted })
}

pub(crate) fn steps() -> impl Strategy<Value = Step> {
    let passage = prop_oneof![
        6 => (0..40_i64).prop_map(Passage::Minutes),
        2 => (1..10_i64).prop_map(Passage::Hours),
        2 => (0..3_i64).prop_map(Passage::Midnight),
        3 => (0..10_i64).prop_map(Passage::Open),
    ];
    let stock = || select(vec![0_usize, 0, 1]);
    let prices = prop::collection::vec((0..2_usize, -3..=3_i64, 0..4_i64), 1..=2);
    let dollars = |values: &[i64]| {
        let micros: Vec<_> = values.iter().map(|value| value * MICROS).collect();
        prop::option::weighted(0.8, select(micros))
    };
    let figures = (
        prop::option::weighted(
            0.8,
            select(vec![-MICROS, 0, 2 * MICROS, 5 * MICROS / 2, 4 * MICROS, 5 * MICROS]),
        ),
        prop::option::weighted(0.8, select(vec![2 * MICROS, 4 * MICROS, 5 * MICROS])),
        dollars(&[999_999, 1_000_000, 3_000_000]),
        dollars(&[0, 1, 2, 3]),
    );
    let trades = || prop::collection::vec((0..4_i64, any::<bool>(), any::<bool>(), 100..900_i64), 1..3);
    let days = || -1..7_i64;
    let dividends = prop::collection::vec((days(), prop::option::of(days())), 0..3);
    let ratio = select(vec!["2", "4", "0.5", "5"]).prop_map(|text| text.parse().unwrap());
    let event = prop_oneof![
        8 => prices.prop_map(StepEvent::Prices),
        2 => Just(StepEvent::Evaluate),
        2 => Just(StepEvent::Clock),
        2 => (stock(), figures).prop_map(|(stock, (one, two, three, four))| {
            StepEvent::Fundamentals(stock, [one, two, three, four])
        }),
        1 => (stock(), prop::collection::vec(days(), 0..3)).prop_map(|(stock, days)| StepEvent::Earnings(stock, days)),
        1 => (stock(), dividends).prop_map(|(stock, dates)| StepEvent::Dividends(stock, dates)),
        2 => (stock(), trades()).prop_map(|(stock, trades)| StepEvent::Trades(stock, trades)),
        1 => (stock(), trades()).prop_map(|(stock, trades)| StepEvent::TradesReplaced(stock, trades)),
        2 => (stock(), 0..12_u32).prop_map(|(stock, count)| StepEvent::Mentions(stock, count)),
        1 => (stock(), ratio).prop_map(|(stock, ratio)| StepEvent::Split(stock, ratio)),
        1 => Just(StepEvent::OtherArmed),
    ];
    (passage, event).prop_map(|(passage, event)| Step { passage, event })
}

/// A market so far.
pub(crate) struct Market {
    pub(crate) now: Timestamp,
    pub(crate) record: Vec<(Timestamp, FactEvent)>,
    calendar: Calendar,
    counted: [bool; 2],
    next_count: Timestamp,
    /// Per share of the first day.
    prices: [i64; 2],
    /// The session's volume so far.
    volumes: [(Date, i64); 2],
    /// Today's shares for one of the first day, in millionths.
    shares: [i64; 2],
}

impl Market {
    pub(crate) fn new(beginning: &MarketStart) -> Self {
        let calendar = Calendar::nyse();
        let open = calendar.session(beginning.start).unwrap().open;
        let mut market = Self {
            now: open - SignedDuration::from_hours(1),
            record: Vec::new(),
            calendar,
            counted: beginning.counted,
            next_count: new_york(beginning.start, 0, 0) - SignedDuration::from_hours(24 * 9),
            prices: [100, 99],
            volumes: [(Date::MIN, 0); 2],
            shares: [MICROS; 2],
        };
        market.count_mentions(market.now, 3);
        market
    }

    /// Adds the counts of mentions up to an instant.
    fn count_mentions(&mut self, until: Timestamp, count: u32) {
        while self.next_count <= until {
            for stock in [0, 1] {
                if self.counted[stock] {
                    let event = FactEvent::Mentions(stock, self.next_count, count);
                    self.record.push((self.next_count, event));
                }
            }
            self.next_count += SignedDuration::from_hours(HOURS_BETWEEN_COUNTS);
        }
    }

    /// Returns the newest price of the rule's stock, in millionths.
    pub(crate) fn newest_price(&self) -> Option<i64> {
        let price = self.actual(0, self.prices[0] * MICROS);
        let is_priced =
            |event: &FactEvent| matches!(event, FactEvent::Prices(seen) if seen.iter().any(|seen| seen.stock == 0));
        self.record.iter().any(|(_, event)| is_priced(event)).then_some(price)
    }

    /// Returns an amount per share of the first day per share of today.
    fn actual(&self, stock: usize, micros: i64) -> i64 {
        let exact = micros * MICROS / self.shares[stock];
        assert_eq!(exact * self.shares[stock], micros * MICROS, "an amount is rounded");
        exact
    }

    pub(crate) fn take(&mut self, step: &Step) {
        let after = self.after(step.passage);
        self.count_mentions(after, 3);
        self.now = after;
        let today = new_york_date(self.now);
        if let Some(event) = self.event(&step.event, today) {
            self.record.push((self.now, event));
        }
    }

    fn after(&self, passage: Passage) -> Timestamp {
        let minutes = SignedDuration::from_mins;
        match passage {
            Passage::Minutes(number) => self.now + minutes(number),
            Passage::Hours(number) => self.now + SignedDuration::from_hours(number),
            Passage::Midnight(late) => new_york(new_york_date(self.now).tomorrow().unwrap(), 0, 0) + minutes(late),
            Passage::Open(late) => self.calendar.next_open(self.now).unwrap() + minutes(late),
        }
    }

    fn event(&mut self, event: &StepEvent, today: Date) -> Option<FactEvent> {
        let day = |ahead: i64| today + ahead.days();
        let trades = |trades: &[(i64, bool, bool, i64)]| {
            let trade = |&(age, bought, open_market, usd): &(i64, bool, bool, i64)| Trade {
                filed_on: day(-age),
                bought,
                open_market,
                usd,
            };
            trades.iter().map(trade).collect()
        };
        Some(match event {
            StepEvent::Prices(moves) => {
                self.calendar.session_at(self.now)?;
                FactEvent::Prices(self.seen(moves, today))
            }
            StepEvent::Evaluate => FactEvent::Evaluate,
            StepEvent::Clock => FactEvent::Clock,
            &StepEvent::Fundamentals(stock, [trailing, forward, cap, dividend_yield]) => {
                let actual = |eps: Option<i64>| eps.map(|eps| self.actual(stock, eps));
                FactEvent::Fundamentals(stock, [actual(trailing), actual(forward), cap, dividend_yield])
            }
            StepEvent::Earnings(stock, days) => {
                FactEvent::Earnings(*stock, days.iter().map(|&ahead| day(ahead)).collect())
            }
            StepEvent::Dividends(stock, dates) => {
                let dividends = dates.iter().map(|&(ex, payment)| (day(ex), payment.map(day)));
                FactEvent::Dividends(*stock, dividends.collect())
            }
            StepEvent::Trades(stock, filed) => FactEvent::Trades(*stock, trades(filed)),
            StepEvent::TradesReplaced(stock, filed) => {
                // Only known trades are withdrawn.
                let is_known = |event: &FactEvent| matches!(event, FactEvent::Trades(of, _) if of == stock);
                if !self.record.iter().any(|(_, event)| is_known(event)) {
                    return None;
                }
                FactEvent::TradesReplaced(*stock, trades(filed))
            }
            &StepEvent::Mentions(stock, count) => {
                let hour = Timestamp::from_second(self.now.as_second().div_euclid(3600) * 3600).unwrap();
                FactEvent::Mentions(stock, hour, count)
            }
            &StepEvent::Split(stock, ratio) => {
                // A split is in force before the open of its day.
                let session = self.calendar.session(today);
                let is_split = |event: &FactEvent| matches!(event, FactEvent::Split(of, _) if *of == stock);
                let splits = self.record.iter().filter(|(_, event)| is_split(event)).count();
                if session.is_some_and(|session| self.now >= session.open) || splits == 2 {
                    return None;
                }
                self.shares[stock] = ratio.multiply(self.shares[stock]);
                FactEvent::Split(stock, ratio)
            }
            StepEvent::OtherArmed => FactEvent::OtherArmed,
        })
    }

    fn seen(&mut self, moves: &[(usize, i64, i64)], today: Date) -> Vec<SeenPrice> {
        let mut seen = Vec::<SeenPrice>::new();
        for &(stock, change, traded) in moves {
            if seen.iter().any(|seen| seen.stock == stock) {
                continue;
            }
            self.prices[stock] = (self.prices[stock] + change).clamp(92, 108);
            let so_far = self.volumes[stock].1;
            let so_far = if self.volumes[stock].0 == today { so_far } else { 0 };
            self.volumes[stock] = (today, so_far + traded * 100);
            let volume = self.volumes[stock].1 * self.shares[stock] / MICROS;
            seen.push(SeenPrice {
                stock,
                price: self.actual(stock, self.prices[stock] * MICROS),
                // Some quotes have no volume.
                volume: if traded == 0 { -1 } else { volume },
            });
        }
        seen
    }
}

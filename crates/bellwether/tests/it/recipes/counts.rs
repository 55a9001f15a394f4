//! Independent counts of firings: short loops over the bars, without the engine.

use serde_json::Value;
use testdata::TestMarketData;

use super::ReplayableRecipe;

/// The price of 1 US dollar.
const DOLLAR: i64 = 1_000_000;
const MINUTES_PER_DAY: i64 = 1440;

/// A daily bar with prices in millionths of US dollars.
#[derive(Clone, Copy)]
struct DayBar {
    open: i64,
    high: i64,
    low: i64,
    close: i64,
    /// The number of days before it.
    index: i64,
    /// The day as days since 1970-01-01.
    day: i64,
    /// The length of the session in minutes.
    minutes: i64,
}

/// One of the four prices of a daily bar.
struct Moment {
    price: i64,
    /// The lowest price of the day so far.
    low_so_far: i64,
    /// The minutes since the open.
    minute: i64,
}

impl DayBar {
    fn moments(&self) -> [Moment; 4] {
        let low_first = self.open - self.low <= self.high - self.open;
        let (second, third) = if low_first {
            (self.low, self.high)
        } else {
            (self.high, self.low)
        };
        let prices = [self.open, second, third, self.close];
        let mut low_so_far = i64::MAX;
        [0, 1, 2, 3].map(|nth: usize| {
            low_so_far = low_so_far.min(prices[nth]);
            Moment {
                price: prices[nth],
                low_so_far,
                minute: self.minutes * [0, 1, 2, 3][nth] / 3,
            }
        })
    }
}

/// Returns the bars of a stock.
fn bars(source: &TestMarketData, symbol: &str) -> Vec<DayBar> {
    let early = source.text("reference/nyse_early_closes_2000_2030.csv");
    let csv = source.text("us500/bars/us500_2019_2024.csv.gz");
    let of_stock = csv.lines().filter(|line| line.split(',').next() == Some(symbol));
    of_stock
        .zip(0..)
        .map(|(line, index)| {
            let cells: Vec<_> = line.split(',').collect();
            let micros = |cell: &str| cell.parse::<market::Price>().unwrap().micros();
            let date: jiff::civil::Date = cells[1].parse().unwrap();
            let closes_early = early.lines().any(|line| line.starts_with(cells[1]));
            DayBar {
                open: micros(cells[2]),
                high: micros(cells[3]),
                low: micros(cells[4]),
                close: micros(cells[5]),
                index,
                day: i64::from((date - jiff::civil::Date::new(1970, 1, 1).unwrap()).get_days()),
                minutes: if closes_early { 210 } else { 390 },
            }
        })
        .collect()
}

/// Compares the number of firings of a recipe with that of a loop over the bars of its stock.
fn check_count(title: &str, count: impl FnOnce(&[DayBar], &TestMarketData) -> usize) {
    let recipe = ReplayableRecipe::find(title);
    let alert: Value = serde_json::from_str(&recipe.alert).unwrap();
    let bars = bars(&recipe.source, alert["symbol"].as_str().unwrap());
    let expected = count(&bars, &recipe.source);
    assert!(expected > 0);
    assert_eq!(recipe.firings().len(), expected, "{title}");
}

#[test]
fn gap_down_fires_on_each_day_with_a_gap() {
    check_count("Gap down", |bars, source| {
        let percent = source.pick(-3, -1);
        let is_gap = |pair: &&[DayBar]| (pair[1].open - pair[0].close) * 100 <= percent * pair[0].close;
        bars.windows(2).filter(is_gap).count()
    });
}

#[test]
fn fall_since_yesterdays_close_fires_on_each_day_with_a_low_enough_price() {
    check_count("Fall since yesterday's close", |bars, _| {
        let has_fallen = |pair: &&[DayBar]| pair[1].low * 100 <= 95 * pair[0].close;
        bars.windows(2).filter(has_fallen).count()
    });
}

#[test]
fn range_fires_at_each_price_inside_after_one_outside() {
    check_count("Range between two prices", |bars, source| {
        let (low, high) = source.pick((120, 130), (25, 30));
        let prices = bars.iter().flat_map(DayBar::moments).map(|moment| moment.price);
        let inside: Vec<_> = prices
            .map(|price| (low * DOLLAR..=high * DOLLAR).contains(&price))
            .collect();
        usize::from(inside[0]) + inside.windows(2).filter(|pair| !pair[0] && pair[1]).count()
    });
}

#[test]
fn level_fires_a_day_after_the_last_firing_if_the_price_was_back() {
    check_count("Level with re-arming and cooldown", |bars, source| {
        let (level, back) = source.pick((150, 145), (30, 28));
        let (mut count, mut was_back, mut next) = (0, true, 0);
        for (bar, moment) in bars.iter().flat_map(|bar| bar.moments().map(|moment| (bar, moment))) {
            let now = bar.day * MINUTES_PER_DAY + moment.minute;
            if moment.price >= level * DOLLAR && was_back && now >= next {
                (count, was_back, next) = (count + 1, false, now + MINUTES_PER_DAY);
            }
            was_back |= moment.price <= back * DOLLAR;
        }
        count
    });
}

#[test]
fn overnight_gap_fires_once_it_has_held_for_six_hours() {
    check_count("Overnight gap that holds", |bars, source| {
        let percent = source.pick(2, 1);
        let holds_all_day = |pair: &&[DayBar]| {
            let (close, today) = (pair[0].close, pair[1]);
            let moments = today.moments();
            let is_gap = (today.open - close) * 100 >= percent * close;
            is_gap && moments[3].minute >= 360 && moments[3].low_so_far > close
        };
        let days: Vec<_> = bars
            .windows(2)
            .filter(holds_all_day)
            .map(|pair| pair[1].index)
            .collect();
        // On the second of two such days in a row, the condition was not left since the first.
        let is_first = |&day: &i64| !days.contains(&(day - 1));
        days.iter().copied().filter(is_first).count()
    });
}

#[test]
fn trailing_stop_fires_eight_percent_below_the_highest_price() {
    check_count("Trailing stop", |bars, _| {
        let (mut count, mut highest, mut is_armed) = (0, 0, true);
        for moment in bars.iter().flat_map(DayBar::moments) {
            highest = highest.max(moment.price);
            let is_below = moment.price * 100 <= 92 * highest;
            match (is_armed, is_below) {
                (true, true) => (count, is_armed) = (count + 1, false),
                (false, false) => (highest, is_armed) = (moment.price, true),
                _ => {}
            }
        }
        count
    });
}

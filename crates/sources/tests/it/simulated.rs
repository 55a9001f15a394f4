//! The simulated market: valid data, determinism, continuity from history to the present, and the lively mode.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clock::{Clock, ManualClock};
use jiff::civil::date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use market::records::{Batch, TransactionSide};
use market::{Bar, Calendar, Symbol};
use sources::simulated::{self, SavedMarket, SavedStock, SimulatedMarket, SimulationConfig};
use sources::{FeedSet, MarketUpdate};
use tokio::sync::mpsc;

/// Twenty companies and four index funds.
const STOCKS: usize = 24;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// A Friday, 11:00 in New York.
fn friday() -> Timestamp {
    at("2024-03-08T16:00:00Z")
}

fn calm() -> SimulationConfig {
    SimulationConfig::default()
}

fn lively() -> SimulationConfig {
    SimulationConfig { lively: true, ..calm() }
}

fn begin(config: SimulationConfig, calendar: &Calendar, now: Timestamp) -> (SimulatedMarket, Batch) {
    let (market, past) = SimulatedMarket::begin(config, calendar, None, now);
    (market, all(past))
}

/// The records of all updates.
fn all(updates: impl IntoIterator<Item = MarketUpdate>) -> Batch {
    updates.into_iter().fold(Batch::default(), |mut batch, update| {
        batch.append(update.batch);
        batch
    })
}

/// The data of `steps` steps of `pace`.
fn watch(market: &mut SimulatedMarket, from: Timestamp, pace: SignedDuration, steps: i32) -> Batch {
    let mut batch = Batch::default();
    for step in 1..=steps {
        batch.append(market.step(from + pace * step));
    }
    batch
}

fn bars_of(batch: &Batch, symbol: Symbol) -> Vec<Bar> {
    let rows = batch.bars.iter().filter(|row| row.symbol == symbol);
    rows.map(|row| row.bar).collect()
}

fn symbols(batch: &Batch) -> Vec<Symbol> {
    batch.stocks.iter().map(|stock| stock.symbol).collect()
}

#[test]
fn new_market_has_two_years_of_valid_history() {
    for calendar in [Calendar::nyse(), Calendar::nyse().always_open()] {
        let (_, past) = begin(calm(), &calendar, friday());
        assert_eq!(past.stocks.len(), STOCKS);
        for symbol in symbols(&past) {
            let bars = bars_of(&past, symbol);
            let sessions: Vec<_> = calendar.sessions(bars[0].date, date(2024, 3, 7)).collect();
            assert!(
                bars.iter()
                    .map(|bar| bar.date)
                    .eq(sessions.iter().map(|session| session.date))
            );
            assert!(bars.len() > 500, "{}", bars.len());
            assert!(bars.iter().all(|bar| bar.checked() == Ok(*bar) && bar.volume > 0));
        }
        assert_eq!(FeedSet::of(&past), FeedSet::ALL);
        assert_eq!(past.quotes.len(), STOCKS);
        assert!(past.quotes.iter().all(|quote| quote.time == Some(friday())));
        assert!(past.earnings.iter().any(|row| row.date > date(2024, 3, 8)));
        assert!(past.fundamentals.iter().all(|row| row.as_of <= date(2024, 3, 8)));
        assert!(
            past.insider_transactions
                .iter()
                .any(|row| row.side == TransactionSide::Buy)
        );
        assert!(
            past.stocks
                .iter()
                .all(|stock| stock.sector.is_some() && stock.exchange.is_some())
        );
    }
}

#[test]
fn funds_and_the_next_report_are_always_known() {
    let (mut market, mut known) = begin(calm(), &Calendar::nyse(), friday());
    let funds = ["SPY", "QQQ", "DIA", "IWM"];
    assert!(
        funds
            .iter()
            .all(|fund| symbols(&known).contains(&fund.parse().unwrap()))
    );
    for day in 1..=365 {
        let now = friday() + SignedDuration::from_hours(24 * day);
        known.append(market.step(now));
        let today = new_york_date(now);
        assert!(known.earnings.iter().any(|row| row.date > today), "{today}");
    }
}

#[test]
fn history_is_ordered_and_marked_as_backfill() {
    let (_, past) = SimulatedMarket::begin(calm(), &Calendar::nyse(), None, friday());
    assert!(past.is_sorted_by_key(|update| update.at));
    assert!(past.iter().all(|update| update.backfill && update.at <= friday()));
    for update in &past {
        let latest = update.batch.bars.iter().map(|row| row.bar.date).max();
        assert!(latest.is_none_or(|date| date < new_york_date(update.at)));
    }
}

#[test]
fn market_is_deterministic_by_seed() {
    let run = |seed: u64| {
        let config = SimulationConfig { seed, ..lively() };
        let (mut market, mut batch) = begin(config, &Calendar::nyse(), friday());
        batch.append(watch(&mut market, friday(), seconds(1), 120));
        batch
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).quotes, run(8).quotes);
}

#[test]
fn step_quotes_every_stock_once_with_growing_volume() {
    let (mut market, _) = begin(calm(), &Calendar::nyse(), friday());
    let mut before: BTreeMap<Symbol, i64> = BTreeMap::new();
    let mut traded_range = BTreeMap::new();
    for step in 1..=200 {
        let now = friday() + seconds(step);
        let batch = market.step(now);
        assert_eq!(batch.quotes.len(), STOCKS);
        for quote in batch.quotes {
            assert_eq!(quote.time, Some(now));
            assert!(quote.bid.unwrap() <= quote.price && quote.price <= quote.ask.unwrap());
            let volume = quote.volume.unwrap();
            let vwap = quote.vwap.unwrap();
            let (lowest, highest) = traded_range.entry(quote.symbol).or_insert((vwap, vwap));
            (*lowest, *highest) = (quote.price.min(*lowest), quote.price.max(*highest));
            assert!(*lowest <= vwap && vwap <= *highest);
            assert!(before.insert(quote.symbol, volume).unwrap_or(0) <= volume);
        }
    }
    assert!(
        market.step(friday()).is_empty(),
        "time that has passed holds nothing new"
    );
}

#[test]
fn prices_continue_from_history_without_a_jump() {
    let (mut market, past) = begin(calm(), &Calendar::nyse(), at("2024-03-08T14:00:00Z"));
    assert!(past.quotes.is_empty(), "before the open nothing is seen");
    let opened = market.step(at("2024-03-08T14:30:01Z"));
    for quote in &opened.quotes {
        let close = bars_of(&past, quote.symbol).last().unwrap().close.as_f64();
        let leap = (quote.price.as_f64() / close).ln().abs();
        assert!(leap < 0.25, "{} {leap}", quote.symbol);
    }
    let typical = opened.quotes.iter().filter(|quote| {
        let close = bars_of(&past, quote.symbol).last().unwrap().close.as_f64();
        (quote.price.as_f64() / close).ln().abs() < 0.04
    });
    assert!(typical.count() >= 18);
}

#[test]
fn session_ends_with_bars_that_contain_its_quotes() {
    let (mut market, _) = begin(calm(), &Calendar::nyse(), at("2024-03-08T14:00:00Z"));
    let seen = watch(&mut market, at("2024-03-08T14:00:00Z"), seconds(60), 8 * 60);
    assert_eq!(seen.bars.len(), STOCKS);
    for row in &seen.bars {
        assert_eq!(row.bar.date, date(2024, 3, 8));
        let quotes: Vec<_> = seen.quotes.iter().filter(|quote| quote.symbol == row.symbol).collect();
        let prices = quotes.iter().map(|quote| quote.price);
        assert_eq!(row.bar.high, prices.clone().max().unwrap());
        assert_eq!(row.bar.low, prices.min().unwrap());
        let last = quotes.last().unwrap();
        assert_eq!(last.time, Some(at("2024-03-08T21:00:00Z")), "the close is seen");
        assert_eq!((row.bar.close, Some(row.bar.volume)), (last.price, last.volume));
    }
    let after = market.step(at("2024-03-08T22:00:01Z"));
    assert!(after.quotes.is_empty() && after.bars.is_empty());
}

#[test]
fn always_open_market_changes_sessions_at_midnight() {
    let calendar = Calendar::nyse().always_open();
    // A Saturday evening.
    let evening = at("2024-03-10T04:59:00Z");
    let (mut market, _) = begin(lively(), &calendar, evening);
    let night = watch(&mut market, evening, seconds(1), 120);
    assert_eq!(night.quotes.len(), 120 * STOCKS);
    assert_eq!(night.bars.len(), STOCKS);
    assert!(night.bars.iter().all(|row| row.bar.date == date(2024, 3, 9)));
    let symbol = night.bars[0].symbol;
    let volumes = |today: bool| {
        let quotes = night.quotes.iter().filter(move |quote| quote.symbol == symbol);
        let sunday = |time: Timestamp| new_york_date(time) == date(2024, 3, 10);
        quotes
            .filter(move |quote| sunday(quote.time.unwrap()) == today)
            .map(|quote| quote.volume.unwrap())
    };
    assert!(
        volumes(true).max() < volumes(false).min(),
        "the day's volume begins at nothing"
    );
}

#[test]
fn lively_market_moves_enough_within_a_minute() {
    let calendar = Calendar::nyse().always_open();
    let (mut market, past) = begin(lively(), &calendar, friday());
    let mut prices: BTreeMap<Symbol, f64> = past.quotes.iter().map(|row| (row.symbol, row.price.as_f64())).collect();
    let (mut up, mut down, mut either, mut all) = (0, 0, 0, 0);
    for minute in 0..20 {
        let minute = friday() + seconds(60 * minute);
        let seen = watch(&mut market, minute, seconds(1), 60);
        for (symbol, first) in &mut prices {
            let path: Vec<f64> = seen
                .quotes
                .iter()
                .filter(|quote| quote.symbol == *symbol)
                .map(|quote| quote.price.as_f64() / *first)
                .collect();
            let rose = path.iter().any(|ratio| *ratio >= 1.01);
            let fell = path.iter().any(|ratio| *ratio <= 0.99);
            (up, down, all) = (up + i32::from(rose), down + i32::from(fell), all + 1);
            either += i32::from(rose || fell);
            *first *= path.last().unwrap();
        }
    }
    assert!(either * 100 >= all * 95, "{either} of {all}");
    assert!(
        up * 100 >= all * 60 && down * 100 >= all * 60,
        "{up} and {down} of {all}"
    );
    for (symbol, price) in prices {
        let bar = *bars_of(&past, symbol).last().unwrap();
        assert!((price / bar.close.as_f64()).ln().abs() < 0.35, "{symbol} ran away");
    }
}

#[test]
fn calm_market_moves_little_within_a_minute() {
    let (mut market, past) = begin(calm(), &Calendar::nyse(), friday());
    let seen = watch(&mut market, friday(), seconds(1), 60);
    let moved = past.quotes.iter().filter(|first| {
        let last = seen.quotes.iter().rfind(|quote| quote.symbol == first.symbol).unwrap();
        (last.price.as_f64() / first.price.as_f64()).ln().abs() > 0.01
    });
    assert!(moved.count() <= 2);
}

#[test]
fn lively_market_publishes_other_events_within_ten_minutes() {
    let calendar = Calendar::nyse().always_open();
    let (mut market, _) = begin(lively(), &calendar, friday());
    let seen = watch(&mut market, friday(), seconds(1), 600);
    assert!(!seen.mentions.is_empty() && !seen.fundamentals.is_empty());
    let buyers: BTreeSet<_> = seen.insider_transactions.iter().map(|row| &row.insider).collect();
    assert!(buyers.len() >= 3 && buyers.len().is_multiple_of(3));
}

#[test]
fn prices_continue_after_a_restart() {
    let calendar = Calendar::nyse().always_open();
    let (mut market, past) = begin(calm(), &calendar, friday());
    let seen = watch(&mut market, friday(), seconds(1), 60);
    let stopped = friday() + seconds(60);
    let last: Vec<_> = seen.quotes.iter().rev().take(STOCKS).collect();
    let stocks = last.iter().map(|quote| {
        let today = Bar {
            date: date(2024, 3, 8),
            open: quote.price,
            high: quote.price,
            low: quote.price,
            close: quote.price,
            volume: quote.volume.unwrap(),
        };
        (
            quote.symbol,
            SavedStock {
                price: quote.price,
                today: Some(today),
            },
        )
    });
    let mut known = SavedMarket {
        at: stopped,
        stocks: stocks.collect(),
    };
    let again = stopped + seconds(20);
    let (mut market, caught_up) = SimulatedMarket::begin(calm(), &calendar, Some(&known), again);
    let caught_up = all(caught_up);
    assert_eq!(caught_up.bars, [], "nothing is delivered again");
    assert_eq!(
        caught_up.fundamentals.len() + caught_up.earnings.len() + caught_up.mentions.len(),
        0
    );
    let first = market.step(again + seconds(1));
    for quote in &first.quotes {
        let before = known.stocks[&quote.symbol];
        assert!(
            (quote.price.as_f64() / before.price.as_f64()).ln().abs() < 0.15,
            "{}",
            quote.symbol
        );
        assert!(quote.volume.unwrap() >= before.today.unwrap().volume);
    }

    // A week later the missed sessions are simulated, and a stock without saved state has its whole history.
    let unknown = *known.stocks.keys().next().unwrap();
    known.stocks.remove(&unknown);
    let later = stopped + SignedDuration::from_hours(7 * 24);
    let caught_up = all(SimulatedMarket::begin(calm(), &calendar, Some(&known), later).1);
    for symbol in symbols(&past) {
        let bars = bars_of(&caught_up, symbol);
        if symbol == unknown {
            assert!(bars.len() > 700);
        } else {
            let dates: Vec<_> = bars.iter().map(|bar| bar.date.day()).collect();
            assert_eq!(dates, [8, 9, 10, 11, 12, 13, 14]);
            assert_eq!(bars[0].open, known.stocks[&symbol].price);
        }
    }
}

#[tokio::test]
async fn task_sends_history_then_quotes_and_ends_with_its_receiver() {
    let clock = Arc::new(ManualClock::new(friday()));
    let (sender, mut receiver) = mpsc::channel(4);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let task = tokio::spawn(simulated::run(lively(), Calendar::nyse(), None, dyn_clock, sender));
    let mut past = Batch::default();
    let mut last = None;
    while past.quotes.is_empty() {
        let update = receiver.recv().await.unwrap();
        assert!(update.backfill && last <= Some(update.at));
        last = Some(update.at);
        past.append(update.batch);
    }
    assert_eq!(last, Some(friday()));
    for second in 1..=3 {
        clock.advance(seconds(1));
        let update = receiver.recv().await.unwrap();
        assert_eq!((update.backfill, update.at), (false, friday() + seconds(second)));
        assert_eq!(update.batch.quotes.len(), STOCKS);
    }
    drop(receiver);
    task.await.unwrap();
}

//! The simulated market: sound, repeatable, going over from history into the present, and lively if wanted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use market::records::{Batch, Side};
use market::{Bar, Calendar, Symbol};
use sources::simulated::{self, Known, KnownStock, Market, Options};
use sources::{Clock, Delivery, FeedSet, ManualClock};
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

fn calm() -> Options {
    Options::default()
}

fn lively() -> Options {
    Options { lively: true, ..calm() }
}

fn begin(options: Options, calendar: &Calendar, now: Timestamp) -> (Market, Batch) {
    let (market, past) = Market::begin(options, calendar, None, now);
    (market, all(past))
}

/// Everything that was delivered.
fn all(deliveries: impl IntoIterator<Item = Delivery>) -> Batch {
    deliveries.into_iter().fold(Batch::default(), |mut batch, delivery| {
        batch.append(delivery.batch);
        batch
    })
}

/// So many steps of `pace`, together.
fn watch(market: &mut Market, from: Timestamp, pace: SignedDuration, steps: i32) -> Batch {
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
fn a_new_market_has_two_years_of_sound_bars_before_today_and_everything_else_of_a_market() {
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
        assert!(past.insider_transactions.iter().any(|row| row.side == Side::Buy));
        assert!(
            past.stocks
                .iter()
                .all(|stock| stock.sector.is_some() && stock.exchange.is_some())
        );
    }
}

#[test]
fn on_each_day_of_a_year_four_index_funds_and_a_report_to_come_are_known() {
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
fn the_past_comes_in_the_order_of_time_and_is_marked_as_past() {
    let (_, past) = Market::begin(calm(), &Calendar::nyse(), None, friday());
    assert!(past.is_sorted_by_key(|delivery| delivery.at));
    assert!(past.iter().all(|delivery| delivery.backfill && delivery.at <= friday()));
    for delivery in &past {
        let latest = delivery.batch.bars.iter().map(|row| row.bar.date).max();
        assert!(latest.is_none_or(|date| date < new_york_date(delivery.at)));
    }
}

#[test]
fn the_same_seed_and_instants_make_the_same_market_and_another_seed_another() {
    let run = |seed: u64| {
        let options = Options { seed, ..lively() };
        let (mut market, mut batch) = begin(options, &Calendar::nyse(), friday());
        batch.append(watch(&mut market, friday(), seconds(1), 120));
        batch
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).quotes, run(8).quotes);
}

#[test]
fn a_step_shows_every_stock_once_and_volumes_only_grow() {
    let (mut market, _) = begin(calm(), &Calendar::nyse(), friday());
    let mut before: BTreeMap<Symbol, i64> = BTreeMap::new();
    for step in 1..=200 {
        let now = friday() + seconds(step);
        let batch = market.step(now);
        assert_eq!(batch.quotes.len(), STOCKS);
        for quote in batch.quotes {
            assert_eq!(quote.time, Some(now));
            assert!(quote.bid.unwrap() <= quote.price && quote.price <= quote.ask.unwrap());
            let volume = quote.volume.unwrap();
            assert!(before.insert(quote.symbol, volume).unwrap_or(0) <= volume);
        }
    }
    assert!(
        market.step(friday()).is_empty(),
        "time that has passed holds nothing new"
    );
}

#[test]
fn prices_go_over_from_history_into_the_present_without_a_leap() {
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
fn a_session_ends_with_bars_that_hold_what_was_seen() {
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
fn a_market_that_never_closes_changes_sessions_at_midnight_in_new_york() {
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
fn in_a_lively_market_ordinary_alerts_fire_within_a_minute_on_either_side() {
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
fn a_calm_market_moves_less_in_a_minute_than_an_alert_is_away() {
    let (mut market, past) = begin(calm(), &Calendar::nyse(), friday());
    let seen = watch(&mut market, friday(), seconds(1), 60);
    let moved = past.quotes.iter().filter(|first| {
        let last = seen.quotes.iter().rfind(|quote| quote.symbol == first.symbol).unwrap();
        (last.price.as_f64() / first.price.as_f64()).ln().abs() > 0.01
    });
    assert!(moved.count() <= 2);
}

#[test]
fn within_ten_minutes_of_a_lively_market_more_happens_than_prices() {
    let calendar = Calendar::nyse().always_open();
    let (mut market, _) = begin(lively(), &calendar, friday());
    let seen = watch(&mut market, friday(), seconds(1), 600);
    assert!(!seen.mentions.is_empty() && !seen.fundamentals.is_empty());
    let buyers: BTreeSet<_> = seen.insider_transactions.iter().map(|row| &row.insider).collect();
    assert!(buyers.len() >= 3 && buyers.len().is_multiple_of(3));
}

#[test]
fn after_a_restart_prices_go_on_from_where_they_were() {
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
            KnownStock {
                price: quote.price,
                today: Some(today),
            },
        )
    });
    let mut known = Known {
        at: stopped,
        stocks: stocks.collect(),
    };
    let again = stopped + seconds(20);
    let (mut market, caught_up) = Market::begin(calm(), &calendar, Some(&known), again);
    let caught_up = all(caught_up);
    assert_eq!(caught_up.bars, [], "nothing is told again");
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

    // A week later the sessions between are made up, and a stock that nobody knew has all its history.
    let unknown = *known.stocks.keys().next().unwrap();
    known.stocks.remove(&unknown);
    let later = stopped + SignedDuration::from_hours(7 * 24);
    let caught_up = all(Market::begin(calm(), &calendar, Some(&known), later).1);
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

#[test]
fn years_of_steps_keep_every_price_and_volume_within_reason() {
    let calendar = Calendar::nyse();
    for seed in 0..5 {
        let data = simulated::record(seed, &calendar, date(2015, 1, 2), date(2024, 12, 31));
        assert_eq!(data.bars.len(), 20);
        assert!(!data.splits.is_empty());
        for (symbol, bars) in &data.bars {
            assert_eq!(
                bars.daily.len(),
                calendar.sessions(date(2015, 1, 2), date(2024, 12, 31)).count()
            );
            for bar in &bars.daily {
                assert_eq!(bar.checked(), Ok(*bar));
            }
            let split = |date| data.splits.iter().any(|row| row.symbol == *symbol && row.date == date);
            for pair in bars.daily.windows(2) {
                let change = (pair[1].close.as_f64() / pair[0].close.as_f64()).ln().abs();
                assert!(
                    change < 0.8 || split(pair[1].date),
                    "{symbol} {} {change}",
                    pair[1].date
                );
            }
        }
    }
}

#[test]
fn volatility_comes_in_clusters() {
    let data = simulated::record(3, &Calendar::nyse(), date(2005, 1, 3), date(2024, 12, 31));
    let fund = &data.bars[&"MRDN".parse().unwrap()].daily;
    let moves: Vec<f64> = fund
        .windows(2)
        .map(|pair| (pair[1].close.as_f64() / pair[0].close.as_f64()).ln().abs())
        .collect();
    let mean = moves.iter().sum::<f64>() / moves.len() as f64;
    let variance: f64 = moves.iter().map(|size| (size - mean).powi(2)).sum();
    let after_one: f64 = moves.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = after_one / variance;
    assert!(correlation > 0.05, "{correlation}");
}

#[tokio::test]
async fn the_task_sends_the_past_then_the_present_at_its_pace_and_ends_with_its_listener() {
    let clock = Arc::new(ManualClock::new(friday()));
    let (sender, mut receiver) = mpsc::channel(4);
    let dyn_clock: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let task = tokio::spawn(simulated::run(lively(), Calendar::nyse(), None, dyn_clock, sender));
    let mut past = Batch::default();
    let mut last = None;
    while past.quotes.is_empty() {
        let delivery = receiver.recv().await.unwrap();
        assert!(delivery.backfill && last <= Some(delivery.at));
        last = Some(delivery.at);
        past.append(delivery.batch);
    }
    assert_eq!(last, Some(friday()));
    for second in 1..=3 {
        clock.advance(seconds(1));
        let delivery = receiver.recv().await.unwrap();
        assert_eq!((delivery.backfill, delivery.at), (false, friday() + seconds(second)));
        assert_eq!(delivery.batch.quotes.len(), STOCKS);
    }
    drop(receiver);
    task.await.unwrap();
}

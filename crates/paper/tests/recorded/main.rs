//! Paper trades over years of recorded prices, against the same figures by other ways: a naive one in Rust, and NumPy.
//!
//! The data lies beside the project; where it does not, each test says that it was skipped.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod data;
mod naive;
mod numpy;
mod trades;

use jiff::civil::Date;
use market::{MICROS_PER_UNIT, Symbol};
use paper::{Benchmark, Closes, DayReturn, Direction, Events, Fill, Performance, Range, Tracker, Trade};
use uuid::Uuid;

use data::Market;

fn events(market: &Market) -> Events {
    Events::new(&market.calendar, &market.splits, &market.dividends)
}

/// The returns from the first trade to the last session; `between` may do something to the tracker after each session.
fn follow(market: &Market, trades: &[Trade], between: impl Fn(usize, Tracker) -> Tracker) -> Vec<DayReturn> {
    let events = events(market);
    let first = Tracker::first_session(&market.calendar, trades).unwrap();
    let sessions = market.sessions.iter().filter(|session| session.date >= first);
    let mut tracker = Tracker::default();
    let mut returns = Vec::new();
    for (number, session) in sessions.enumerate() {
        let close_of = |symbol| market.close(symbol, session.date);
        let day = tracker.take(&market.calendar, session.date, trades, close_of, &events);
        returns.push(day.unwrap());
        tracker = between(number, tracker);
    }
    returns
}

fn performance(market: &Market, range: Range, returns: &[DayReturn], benchmark: Symbol) -> Performance {
    let days = market.days[&benchmark].iter();
    let closes: Closes = days.map(|day| (day.date, day.close)).collect();
    let benchmark = Benchmark {
        symbol: benchmark,
        closes: &closes,
        events: &events(market),
    };
    paper::performance(range, market.sessions.last().unwrap().date, returns, benchmark)
}

/// The largest difference of two series.
#[track_caller]
fn alike(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (day, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!((ours - theirs).abs() < 1e-9, "{what}, day {day}: {ours}, but {theirs}");
    }
}

fn values(series: &[paper::Point]) -> Vec<f64> {
    series.iter().map(|point| point.value).collect()
}

fn place(market: &Market, date: Date) -> usize {
    market.sessions.iter().position(|session| session.date == date).unwrap()
}

/// All ranges of both series are what the naive way makes of them.
fn check(market: &Market, trades: &[Trade], benchmark: &str) -> Vec<f64> {
    let benchmark: Symbol = benchmark.parse().unwrap();
    let returns = follow(market, trades, |_, tracker| tracker);
    let naive = naive::returns(market, trades);
    let held = naive::buy_and_hold(market, benchmark);
    let mut longest = Vec::new();
    for range in Range::ALL {
        let performance = performance(market, range, &returns, benchmark);
        let base = place(market, performance.base_date.unwrap());
        let watchlist = values(&performance.watchlist);
        alike(range.as_str(), &watchlist, &naive::chained(&naive, base));
        alike(
            range.as_str(),
            &values(&performance.benchmark),
            &naive::chained(&held, base),
        );
        let summary = performance.summary;
        let theirs = summary.benchmark_return_pct.unwrap();
        assert!((summary.watchlist_return_pct - (watchlist.last().unwrap() - 100.0)).abs() < 1e-9);
        assert!((summary.alpha_pct.unwrap() - (summary.watchlist_return_pct - theirs)).abs() < 1e-9);
        println!("{range}: {} days, {summary:?}", watchlist.len());
        longest = watchlist;
    }
    longest
}

#[test]
fn the_performance_of_two_hundred_trades_of_five_hundred_stocks_is_the_naive_one() {
    let Some(market) = Market::us500() else { return };
    for seed in [1, 2, 3] {
        let series = check(&market, &trades::random(&market, 200, seed), "AAPL");
        assert!(series.len() > 1000 && series.iter().any(|value| (value - 100.0).abs() > 5.0));
    }
}

#[test]
fn the_performance_over_splits_is_the_naive_one_in_prices_adjusted_for_splits() {
    let Some(market) = Market::unadjusted() else { return };
    let trades = trades::random(&market, 200, 4);
    check(&market, &trades, "NVDA");
    let through_a_split = trades.iter().filter(|trade| {
        let mut settled = **trade;
        settled.settle(&events(&market), market.sessions.last().unwrap().close);
        settled.settlement.shares != trade.settlement.shares
    });
    assert!(through_a_split.count() > 20);
}

#[test]
fn the_performance_is_the_one_that_numpy_computes() {
    for market in [Market::us500(), Market::unadjusted()].into_iter().flatten() {
        let trades = trades::random(&market, 200, 5);
        let Some(theirs) = numpy::returns(&market, &trades) else {
            return;
        };
        let returns = follow(&market, &trades, |_, tracker| tracker);
        let any: Symbol = "AAPL".parse().unwrap();
        let ours = values(&performance(&market, Range::Max, &returns, any).watchlist);
        let base = place(&market, returns[0].date);
        alike(
            "NumPy",
            &ours,
            &theirs[base..]
                .iter()
                .map(|level| level / theirs[base] * 100.0)
                .collect::<Vec<_>>(),
        );
    }
}

#[test]
fn a_tracker_that_is_stored_after_every_session_goes_on_as_if_it_had_not_been() {
    let Some(market) = Market::unadjusted() else { return };
    let trades = trades::random(&market, 60, 6);
    let straight = follow(&market, &trades, |_, tracker| tracker);
    let stored = follow(&market, &trades, |_, tracker| {
        let text = serde_json::to_string(&tracker).unwrap();
        serde_json::from_str(&text).unwrap()
    });
    assert_eq!(straight, stored);
    assert!(straight.len() > 1000);
}

/// For every recorded split: a trade from the close before to the close of its day.
#[test]
fn no_recorded_split_changes_a_value() {
    let Some(market) = Market::unadjusted() else { return };
    let events = events(&market);
    let mut seen = 0;
    for split in &market.splits {
        let days = &market.days[&split.symbol];
        let Ok(at) = days.binary_search_by_key(&split.date, |day| day.date) else {
            continue; // Announced for after the last bar.
        };
        let (before, day) = (days[at - 1], days[at]);
        let session = |date| market.calendar.session(date).unwrap();
        let entry = Fill {
            at: session(before.date).close,
            price: before.close,
        };
        for direction in [Direction::Long, Direction::Short] {
            let mut trade = Trade::open(Uuid::from_u128(1), split.symbol, direction, entry);
            let (shares, paid) = (trade.settlement.shares, trade.entry_price());
            trade.settle(&events, session(day.date).close);
            // Worth a thousand dollars at the price of the evening before, in whichever shares.
            assert_eq!(shares.value(paid).micros(), 1_000 * MICROS_PER_UNIT);
            assert_eq!(trade.settlement.shares, shares.after_split(split.ratio));
            assert_eq!(trade.entry_price(), before.close.after_split(split.ratio));

            // The profit is that of the move in the shares of after, to the millionth, and no fall by the ratio.
            let (from, to) = (before.close.micros(), day.close.micros());
            let worth = i128::from(to) * i128::from(split.ratio.micros()) * 1_000 * 1_000_000;
            let under = i128::from(from) * i128::from(MICROS_PER_UNIT);
            let gain = (worth * 2 + under) / (under * 2) - 1_000_000_000;
            let sign = if direction == Direction::Long { 1 } else { -1 };
            assert_eq!(i128::from(trade.profit_at(day.close).micros()), sign * gain);
            assert!(gain.abs() < 200_000_000, "{} moved by {gain}", split.symbol);
        }
        seen += 1;
    }
    assert_eq!(seen, 34);
}

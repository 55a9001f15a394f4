//! Paper trades over years of prices, compared with a naive computation in Rust and with NumPy.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

mod data;
mod naive;
mod numpy;
mod trades;

use jiff::civil::Date;
use market::{MICROS_PER_UNIT, Symbol};
use paper::{
    CorporateActions, DailyCloses, DayReturn, Direction, Fill, Performance, PerformanceRange, PriceHistory,
    ReturnTracker, Trade,
};
use uuid::Uuid;

use data::RecordedMarket;

fn actions(market: &RecordedMarket) -> CorporateActions {
    CorporateActions::new(&market.calendar, &market.splits, &market.dividends)
}

/// Returns the daily returns from the first trade to the last session; `between` may change the tracker after each
/// session.
fn follow(
    market: &RecordedMarket,
    trades: &[Trade],
    between: impl Fn(usize, ReturnTracker) -> ReturnTracker,
) -> Vec<DayReturn> {
    let actions = actions(market);
    let first = ReturnTracker::first_session(&market.calendar, trades).unwrap();
    let sessions = market.sessions.iter().filter(|session| session.date >= first);
    let mut tracker = ReturnTracker::default();
    let mut returns = Vec::new();
    for (number, session) in sessions.enumerate() {
        let close_of = |symbol| market.close(symbol, session.date);
        let day = tracker.record_session(&market.calendar, session.date, trades, close_of, &actions);
        returns.push(day.unwrap());
        tracker = between(number, tracker);
    }
    returns
}

fn performance(
    market: &RecordedMarket,
    range: PerformanceRange,
    returns: &[DayReturn],
    benchmark: Symbol,
) -> Performance {
    let days = market.days[&benchmark].iter();
    let closes: DailyCloses = days.map(|day| (day.date, day.close)).collect();
    let benchmark = PriceHistory {
        symbol: benchmark,
        closes: &closes,
        actions: &actions(market),
    };
    paper::performance(range, market.sessions.last().unwrap().date, returns, benchmark)
}

/// Asserts that two series agree.
#[track_caller]
fn alike(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (day, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!((ours - theirs).abs() < 1e-9, "{what}, day {day}: {ours}, but {theirs}");
    }
}

fn values(series: &[paper::SeriesPoint]) -> Vec<f64> {
    series.iter().map(|point| point.value).collect()
}

fn place(market: &RecordedMarket, date: Date) -> usize {
    market.sessions.iter().position(|session| session.date == date).unwrap()
}

/// Checks that all ranges of both series equal the naive computation.
fn check(market: &RecordedMarket, trades: &[Trade]) -> Vec<f64> {
    let benchmark = *market.days.keys().next().unwrap();
    let returns = follow(market, trades, |_, tracker| tracker);
    let naive = naive::returns(market, trades);
    let held = naive::buy_and_hold(market, benchmark);
    let mut longest = Vec::new();
    for range in PerformanceRange::ALL {
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
fn performance_matches_the_naive_computation() {
    let market = RecordedMarket::us500();
    for seed in [1, 2, 3] {
        let series = check(&market, &trades::random(&market, 200, seed));
        assert!(series.len() > 1000 && series.iter().any(|value| (value - 100.0).abs() > 5.0));
    }
}

#[test]
fn performance_over_splits_matches_the_naive_computation() {
    let market = RecordedMarket::unadjusted();
    let trades = trades::random(&market, 200, 4);
    check(&market, &trades);
    let through_a_split = trades.iter().filter(|trade| {
        let mut settled = **trade;
        settled.apply_actions(&actions(&market), market.sessions.last().unwrap().close);
        settled.adjustments.shares != trade.adjustments.shares
    });
    assert!(through_a_split.count() > 20);
}

#[test]
fn performance_matches_numpy() {
    for market in [RecordedMarket::us500(), RecordedMarket::unadjusted()] {
        let trades = trades::random(&market, 200, 5);
        let Some(theirs) = numpy::returns(&market, &trades) else {
            return;
        };
        let returns = follow(&market, &trades, |_, tracker| tracker);
        let any = *market.days.keys().next().unwrap();
        let ours = values(&performance(&market, PerformanceRange::Max, &returns, any).watchlist);
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
fn stored_tracker_continues_exactly() {
    let market = RecordedMarket::unadjusted();
    let trades = trades::random(&market, 60, 6);
    let straight = follow(&market, &trades, |_, tracker| tracker);
    let stored = follow(&market, &trades, |_, tracker| {
        let text = serde_json::to_string(&tracker).unwrap();
        serde_json::from_str(&text).unwrap()
    });
    assert_eq!(straight, stored);
    assert!(straight.len() > 1000);
}

/// For every recorded split: a trade from the previous close to the close of its day.
#[test]
fn recorded_splits_do_not_change_values() {
    let market = RecordedMarket::unadjusted();
    let actions = actions(&market);
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
            let (shares, paid) = (trade.adjustments.shares, trade.entry_price());
            trade.apply_actions(&actions, session(day.date).close);
            // Worth a thousand dollars at the previous close, before and after the split.
            assert_eq!(shares.value(paid).micros(), 1_000 * MICROS_PER_UNIT);
            assert_eq!(trade.adjustments.shares, shares.after_split(split.ratio));
            assert_eq!(trade.entry_price(), before.close.after_split(split.ratio));

            // The profit is the move per new share, to the millionth, without the drop by the ratio.
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
    assert_eq!(seen, if market.is_recorded { 34 } else { 3 });
}

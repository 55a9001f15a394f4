//! A naive computation of the returns: trade by trade, with a value at every close, in prices adjusted for splits
//! beforehand, chained by sums of logarithms.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Price, Symbol};
use paper::{Direction, Trade};

use crate::recorded::data::RecordedMarket;

/// The divisor that converts a price of a day to the shares of the last day.
fn splits_after(market: &RecordedMarket, symbol: Symbol, date: Date) -> f64 {
    let later = market
        .splits
        .iter()
        .filter(|row| row.symbol == symbol && row.date > date);
    later.map(|row| row.ratio.as_f64()).product()
}

fn adjusted(market: &RecordedMarket, symbol: Symbol, date: Date, price: Price) -> f64 {
    price.as_f64() / splits_after(market, symbol, date)
}

fn at(market: &RecordedMarket, symbol: Symbol, at: Timestamp, price: Price) -> f64 {
    adjusted(market, symbol, new_york_date(at), price)
}

/// For each session, the dividends of a stock per share of the last day.
fn dividends(market: &RecordedMarket, symbol: Symbol) -> Vec<f64> {
    let mut column = vec![0.0; market.sessions.len()];
    for row in market.dividends.iter().filter(|row| row.symbol == symbol) {
        let session = market.sessions.iter().position(|session| session.date >= row.ex_date);
        if let (Some(session), Some(amount)) = (session, row.amount) {
            column[session] += amount.as_f64() / splits_after(market, symbol, row.ex_date);
        }
    }
    column
}

/// The return of each session on all trades.
pub(crate) fn returns(market: &RecordedMarket, trades: &[Trade]) -> Vec<f64> {
    let days = market.sessions.len();
    let (mut profits, mut bases) = (vec![0.0; days], vec![0.0; days]);
    for trade in trades {
        let symbol = trade.symbol;
        let shares = trade.notional.as_f64() / at(market, symbol, trade.entry.at, trade.entry.price);
        let sign = if trade.direction == Direction::Long { 1.0 } else { -1.0 };
        let paid = dividends(market, symbol);
        let session_of = |instant: Timestamp| market.sessions.iter().position(|session| instant <= session.close);
        let Some(first) = session_of(trade.entry.at) else {
            continue;
        };
        let last = trade.exit.and_then(|exit| session_of(exit.at));
        let mut worth = trade.notional.as_f64();
        for day in first..=last.unwrap_or(days - 1) {
            let session = &market.sessions[day];
            let before = worth;
            if let Some(exit) = trade.exit.filter(|_| last == Some(day)) {
                worth = shares * at(market, symbol, exit.at, exit.price);
            } else if let Some(close) = market.close(symbol, session.date) {
                worth = shares * adjusted(market, symbol, session.date, close);
            }
            let holds_at_open = trade.entry.at < session.open && trade.exit.is_none_or(|exit| session.open <= exit.at);
            let paid = if holds_at_open { shares * paid[day] } else { 0.0 };
            profits[day] += sign * (worth - before + paid);
            bases[day] += before;
        }
    }
    let both = profits.iter().zip(&bases);
    both.map(|(profit, base)| if *base == 0.0 { 0.0 } else { profit / base })
        .collect()
}

/// The daily returns of a stock that is held all the time.
pub(crate) fn buy_and_hold(market: &RecordedMarket, symbol: Symbol) -> Vec<f64> {
    let paid = dividends(market, symbol);
    let mut last: Option<f64> = None;
    let sessions = market.sessions.iter().zip(paid);
    sessions
        .map(|(session, paid)| {
            let before = last;
            let close = market.close(symbol, session.date);
            last = close
                .map(|close| adjusted(market, symbol, session.date, close))
                .or(last);
            before
                .zip(last)
                .map_or(0.0, |(before, now)| (now + paid) / before - 1.0)
        })
        .collect()
}

/// The value of 100 at the session `base`, at each session from there on.
pub(crate) fn chained(returns: &[f64], base: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let later = returns[base + 1..].iter().map(|value| {
        sum += value.ln_1p();
        100.0 * f64::exp(sum)
    });
    std::iter::once(100.0).chain(later).collect()
}

//! What an alert's condition measures at present, and how far that is from what it waits for.
//!
//! The measures are those of a firing's [`Reason::metric`](alerts::engine::Reason::metric). A distance is what has to
//! move, in percent of what it is now: the price for every condition that a price decides, the RSI, the volume, the
//! 50-day average for its crossing, the money that insiders traded. It says nothing about dates, which come by
//! themselves, and about what only fires by changing into a state.

use std::cmp::Ordering;

use alerts::Alert;
use alerts::condition::{Condition, EpsBasis, InsiderCriteria, RsiDirection, Side, VolumeBaseline};
use alerts::engine::Engine;
use jiff::civil::Date;
use market::day::day_number;
use market::{Decimal, MICROS_PER_UNIT, Price, PriceChange, Symbol};

use crate::stocks::figures::{distance_pct, ratio};

/// 100 % in millionths of a percent.
const HUNDRED_PERCENT: i128 = 100 * MICROS_PER_UNIT as i128;

/// What a condition measures, and how far that is from where it fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Measured {
    pub(super) metric: Option<Decimal>,
    pub(super) distance_pct: Option<Decimal>,
}

/// What the alert's condition measures at the stock's last price, `today` in New York.
pub(super) fn measure(engine: &Engine, alert: &Alert, price: Option<Price>, today: Date) -> Measured {
    let symbol = alert.symbol;
    match alert.condition {
        Condition::Price { side, threshold } => at_price(side, price, Some(threshold)),
        Condition::PriceChange { side, percent } => change(side, percent, alert.initial_price, price),
        Condition::NewExtreme { side } => {
            let extremes = engine.extremes_52_weeks(symbol, today);
            at_price(side, price, extremes.map(|(high, low)| side.pick(high, low)))
        }
        Condition::MaCrossover { side } => crossing(engine, symbol, side),
        Condition::MaTouch { side, period } => touch(engine, symbol, side, period, price),
        Condition::Rsi { direction, threshold } => {
            let side = match direction {
                RsiDirection::Above => Some(Side::Above),
                RsiDirection::Below => Some(Side::Below),
                RsiDirection::Both => alert.rsi_side,
            };
            let rsi = engine.current_rsi(symbol);
            Measured {
                metric: rsi,
                distance_pct: rsi.zip(side).and_then(|(rsi, side)| way(side, rsi, threshold)),
            }
        }
        Condition::VolumeChange { baseline, percent } => volume(engine, symbol, baseline, percent).unwrap_or_default(),
        Condition::PeRatio {
            side,
            earnings,
            threshold,
        } => pe(engine, symbol, (side, earnings, threshold), price).unwrap_or_default(),
        Condition::SocialBuzz(_) => only(engine.mentions_in_24_hours(symbol).and_then(Decimal::from_units)),
        Condition::InsiderTransactions(watch) => insiders(engine, symbol, &watch, today),
        Condition::EarningsAnnouncement { .. } | Condition::DividendExDate { .. } => {
            let next = engine.next_date(symbol, &alert.condition, today);
            only(next.and_then(|(date, _)| Decimal::from_units(i64::from(day_number(date) - day_number(today)))))
        }
        Condition::DividendPayment { .. } => only(
            engine
                .next_date(symbol, &alert.condition, today)
                .and_then(|(_, amount)| amount),
        ),
        Condition::Reminder { .. } | Condition::DailyReminder(_) => Measured::default(),
    }
}

/// A measure without a distance.
fn only(metric: Option<Decimal>) -> Measured {
    Measured {
        metric,
        distance_pct: None,
    }
}

fn at_price(side: Side, price: Option<Price>, level: Option<Price>) -> Measured {
    Measured {
        metric: price.map(Price::decimal),
        distance_pct: price
            .zip(level)
            .and_then(|(price, level)| way(side, price.decimal(), level.decimal())),
    }
}

fn change(side: Side, percent: Decimal, initial: Option<Price>, price: Option<Price>) -> Measured {
    let Some((initial, price)) = initial.zip(price) else {
        return Measured::default();
    };
    let percent = i128::from(percent.micros());
    let level = i128::from(initial.micros()) * (HUNDRED_PERCENT + side.pick(percent, -percent));
    Measured {
        metric: Some(PriceChange::between(initial, price).percent),
        distance_pct: way_between(side, i128::from(price.micros()) * HUNDRED_PERCENT, level),
    }
}

fn crossing(engine: &Engine, symbol: Symbol, side: Side) -> Measured {
    let averages = engine
        .current_average(symbol, 50)
        .zip(engine.current_average(symbol, 200));
    let before = engine.history(symbol).and_then(|history| {
        let (last_50, last_200) = (history.sum_of_closes(50)?, history.sum_of_closes(200)?);
        Some((4 * last_50).cmp(&last_200))
    });
    // Once they stand that way they have to part before they can cross again.
    let can_cross = before.is_some_and(|before| before != side.pick(Ordering::Greater, Ordering::Less));
    Measured {
        metric: averages.map(|(sma_50, _)| sma_50),
        distance_pct: averages
            .filter(|_| can_cross)
            .and_then(|(sma_50, sma_200)| way(side, sma_50, sma_200)),
    }
}

fn touch(engine: &Engine, symbol: Symbol, side: Side, period: u16, price: Option<Price>) -> Measured {
    let rest = period.saturating_sub(1);
    let sum = engine
        .history(symbol)
        .and_then(|history| history.sum_of_closes(usize::from(rest)));
    // The price stands in for today's close, so it meets its average where it equals that of the sessions before.
    let way = price.zip(sum).and_then(|(price, sum)| {
        let (from, to) = (i128::from(price.micros()) * i128::from(rest), i128::from(sum));
        // On the other side it has to come back first.
        let comes = from.cmp(&to) == side.pick(Ordering::Less, Ordering::Greater);
        comes.then(|| way_between(side, from, to)).flatten()
    });
    Measured {
        metric: engine.current_average(symbol, period),
        distance_pct: way,
    }
}

fn volume(engine: &Engine, symbol: Symbol, baseline: VolumeBaseline, percent: Decimal) -> Option<Measured> {
    let is_running = engine.is_session_running(symbol);
    let volume = engine.observed_session(symbol).filter(|_| is_running)?.volume?;
    let sum = engine
        .history(symbol)?
        .sum_of_volumes(usize::from(baseline.sessions()))?;
    let scaled = i128::from(volume) * i128::from(baseline.sessions()) * HUNDRED_PERCENT;
    let above = scaled.checked_div_euclid(i128::from(sum))? - HUNDRED_PERCENT;
    let needed = i128::from(sum) * (HUNDRED_PERCENT + i128::from(percent.micros()));
    Some(Measured {
        metric: i64::try_from(above).ok().map(Decimal::from_micros),
        distance_pct: way_between(Side::Above, scaled, needed),
    })
}

fn pe(
    engine: &Engine,
    symbol: Symbol,
    (side, earnings, threshold): (Side, EpsBasis, Decimal),
    price: Option<Price>,
) -> Option<Measured> {
    let (price, eps) = (price?, engine.earnings_per_share(symbol, earnings)?);
    let metric = ratio(price, eps)?;
    let scaled = i128::from(price.micros()) * i128::from(MICROS_PER_UNIT);
    let needed = i128::from(threshold.micros()) * i128::from(eps.micros());
    Some(Measured {
        metric: Some(metric),
        distance_pct: way_between(side, scaled, needed),
    })
}

fn insiders(engine: &Engine, symbol: Symbol, watch: &InsiderCriteria, today: Date) -> Measured {
    let (value, insiders) = engine.insider_totals(symbol, watch, today);
    // Money enough, but by too few: no sum of money would do.
    let by_enough = value < watch.threshold_usd || insiders >= u32::from(watch.min_executives);
    Measured {
        metric: Some(value),
        distance_pct: by_enough
            .then(|| way(Side::Above, value, watch.threshold_usd))
            .flatten(),
    }
}

/// How far it is to a level, in percent of where one stands; 0 at the level and beyond it.
fn way(side: Side, from: Decimal, to: Decimal) -> Option<Decimal> {
    way_between(side, i128::from(from.micros()), i128::from(to.micros()))
}

fn way_between(side: Side, from: i128, to: i128) -> Option<Decimal> {
    let is_there = match side {
        Side::Above => from >= to,
        Side::Below => from <= to,
    };
    if is_there {
        Some(Decimal::ZERO)
    } else {
        distance_pct(from, to)
    }
}

#[cfg(test)]
#[path = "metric_tests.rs"]
mod tests;

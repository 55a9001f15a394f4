//! The present value of an alert's metric, and its distance from firing.
//!
//! The metrics are those of a firing's [`Reason::metric`](alerts::engine::Reason::metric). The distance is the
//! necessary change in percent of the present value: of the price for every price condition, of the RSI, of the
//! volume, of the 50-day average for its crossing, of the value that insiders traded. There is no distance for
//! dates and for conditions that only fire by a change of state.

use std::cmp::Ordering;

use alerts::Alert;
use alerts::condition::{Condition, EpsBasis, InsiderCriteria, RsiDirection, Side, VolumeBaseline};
use alerts::engine::Engine;
use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::day::day_number;
use market::{Decimal, MICROS_PER_UNIT, Price, PriceChange, Symbol};

use evaluation::stocks::figures::{distance_pct, ratio};

/// 100 % in millionths of a percent.
const HUNDRED_PERCENT: i128 = 100 * MICROS_PER_UNIT as i128;

/// The present metric of a condition, and its distance from firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct AlertMetric {
    pub(super) metric: Option<Decimal>,
    pub(super) distance_pct: Option<Decimal>,
}

/// Returns the metric of the alert's condition at the stock's last price.
pub(super) fn measure(engine: &Engine, alert: &Alert, price: Option<Price>, now: Timestamp) -> AlertMetric {
    let (symbol, today) = (alert.symbol, new_york_date(now));
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
                RsiDirection::Both => awaited_rsi_side(alert),
            };
            let rsi = engine.current_rsi(symbol);
            AlertMetric {
                metric: rsi,
                distance_pct: rsi.zip(side).and_then(|(rsi, side)| distance_to(side, rsi, threshold)),
            }
        }
        Condition::VolumeChange { baseline, percent } => volume(engine, symbol, baseline, percent).unwrap_or_default(),
        Condition::PeRatio {
            side,
            earnings,
            threshold,
        } => pe(engine, symbol, (side, earnings, threshold), price).unwrap_or_default(),
        Condition::SocialBuzz(_) => metric_only(engine.mentions_in_24_hours(symbol).and_then(Decimal::from_units)),
        Condition::InsiderTransactions(watch) => insiders(engine, symbol, &watch, today),
        Condition::EarningsAnnouncement { .. } | Condition::DividendExDate { .. } => {
            let next = engine.next_date(symbol, &alert.condition, today);
            metric_only(next.and_then(|(date, _)| Decimal::from_units(i64::from(day_number(date) - day_number(today)))))
        }
        Condition::DividendPayment { .. } => metric_only(
            engine
                .next_date(symbol, &alert.condition, today)
                .and_then(|(_, amount)| amount),
        ),
        Condition::Expression(_) => AlertMetric {
            metric: None,
            distance_pct: engine
                .explain(alert.id, now)
                .and_then(|explained| explained.distance_pct),
        },
        Condition::Reminder { .. } | Condition::DailyReminder(_) => AlertMetric::default(),
    }
}

/// Returns the side that an RSI alert for both directions waits for. With options, its state has the side on which the RSI was last.
fn awaited_rsi_side(alert: &Alert) -> Option<Side> {
    let from_state = alert.lifecycle.as_deref().and_then(|state| state.rsi_side);
    let awaited = from_state.map(|side| side.pick(Side::Below, Side::Above));
    awaited.or(alert.rsi_side)
}

/// Returns a metric without a distance.
fn metric_only(metric: Option<Decimal>) -> AlertMetric {
    AlertMetric {
        metric,
        distance_pct: None,
    }
}

fn at_price(side: Side, price: Option<Price>, level: Option<Price>) -> AlertMetric {
    AlertMetric {
        metric: price.map(Price::decimal),
        distance_pct: price
            .zip(level)
            .and_then(|(price, level)| distance_to(side, price.decimal(), level.decimal())),
    }
}

fn change(side: Side, percent: Decimal, initial: Option<Price>, price: Option<Price>) -> AlertMetric {
    let Some((initial, price)) = initial.zip(price) else {
        return AlertMetric::default();
    };
    let percent = i128::from(percent.micros());
    let level = i128::from(initial.micros()) * (HUNDRED_PERCENT + side.pick(percent, -percent));
    AlertMetric {
        metric: Some(PriceChange::between(initial, price).percent),
        distance_pct: distance_between(side, i128::from(price.micros()) * HUNDRED_PERCENT, level),
    }
}

fn crossing(engine: &Engine, symbol: Symbol, side: Side) -> AlertMetric {
    let averages = engine
        .current_average(symbol, 50)
        .zip(engine.current_average(symbol, 200));
    let before = engine.history(symbol).and_then(|history| {
        let (last_50, last_200) = (history.sum_of_closes(50)?, history.sum_of_closes(200)?);
        Some((4 * last_50).cmp(&last_200))
    });
    // If the averages are on the alert's side already, they have to cross back first.
    let can_cross = before.is_some_and(|before| before != side.pick(Ordering::Greater, Ordering::Less));
    AlertMetric {
        metric: averages.map(|(sma_50, _)| sma_50),
        distance_pct: averages
            .filter(|_| can_cross)
            .and_then(|(sma_50, sma_200)| distance_to(side, sma_50, sma_200)),
    }
}

fn touch(engine: &Engine, symbol: Symbol, side: Side, period: u16, price: Option<Price>) -> AlertMetric {
    let rest = period.saturating_sub(1);
    let sum = engine
        .history(symbol)
        .and_then(|history| history.sum_of_closes(usize::from(rest)));
    // The price counts as today's close, so it meets its average where it equals the average of the sessions before.
    let way = price.zip(sum).and_then(|(price, sum)| {
        let (from, to) = (i128::from(price.micros()) * i128::from(rest), i128::from(sum));
        // On the other side it has to come back first.
        let comes = from.cmp(&to) == side.pick(Ordering::Less, Ordering::Greater);
        comes.then(|| distance_between(side, from, to)).flatten()
    });
    AlertMetric {
        metric: engine.current_average(symbol, period),
        distance_pct: way,
    }
}

fn volume(engine: &Engine, symbol: Symbol, baseline: VolumeBaseline, percent: Decimal) -> Option<AlertMetric> {
    let is_running = engine.is_session_running(symbol);
    let volume = engine.observed_session(symbol).filter(|_| is_running)?.volume?;
    let sum = engine
        .history(symbol)?
        .sum_of_volumes(usize::from(baseline.sessions()))?;
    let scaled = i128::from(volume) * i128::from(baseline.sessions()) * HUNDRED_PERCENT;
    let above = scaled.checked_div_euclid(i128::from(sum))? - HUNDRED_PERCENT;
    let needed = i128::from(sum) * (HUNDRED_PERCENT + i128::from(percent.micros()));
    Some(AlertMetric {
        metric: i64::try_from(above).ok().map(Decimal::from_micros),
        distance_pct: distance_between(Side::Above, scaled, needed),
    })
}

fn pe(
    engine: &Engine,
    symbol: Symbol,
    (side, earnings, threshold): (Side, EpsBasis, Decimal),
    price: Option<Price>,
) -> Option<AlertMetric> {
    let (price, eps) = (price?, engine.earnings_per_share(symbol, earnings)?);
    let metric = ratio(price, eps)?;
    let scaled = i128::from(price.micros()) * i128::from(MICROS_PER_UNIT);
    let needed = i128::from(threshold.micros()) * i128::from(eps.micros());
    Some(AlertMetric {
        metric: Some(metric),
        distance_pct: distance_between(side, scaled, needed),
    })
}

fn insiders(engine: &Engine, symbol: Symbol, watch: &InsiderCriteria, today: Date) -> AlertMetric {
    let (value, insiders) = engine.insider_totals(symbol, watch, today);
    // Enough value, but too few insiders: no additional value would fire the alert.
    let by_enough = value < watch.threshold_usd || insiders >= u32::from(watch.min_executives);
    AlertMetric {
        metric: Some(value),
        distance_pct: by_enough
            .then(|| distance_to(Side::Above, value, watch.threshold_usd))
            .flatten(),
    }
}

/// Returns the distance to a level, in percent of the present value; 0 at the level and beyond it.
fn distance_to(side: Side, from: Decimal, to: Decimal) -> Option<Decimal> {
    distance_between(side, i128::from(from.micros()), i128::from(to.micros()))
}

fn distance_between(side: Side, from: i128, to: i128) -> Option<Decimal> {
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

//! For somebody who means to buy: a good price below, a better one, and the sign that the price leaves without them.

use alerts::ConditionKind;
use alerts::condition::Side;

use super::desk::{Aim, BEYOND_RANGES, Desk};
use crate::gate::Draft;
use crate::rationale::{distance, level, money, percent};
use crate::trend::{FAST, SLOW};
use crate::{Direction, Role, rationale};

/// How far a high may be for its break to be waited for, in standard deviations of the horizon.
const FARTHEST_BREAKOUT: f64 = 1.5;
/// How far a breakout is when there is nothing to break.
const BREAKOUT_SIGMAS: f64 = 0.75;
/// With fewer sessions a high is not one of 52 weeks.
const SESSIONS_OF_52_WEEKS: usize = 200;
/// How near the averages are to a cross: 3 %.
const NEAR_CROSS: f64 = 0.03;
/// From such an RSI the way down to 30 is long.
const HIGH: f64 = 65.0;

/// The drafts, the most useful first.
pub(super) fn drafts(desk: &Desk<'_>) -> Vec<Draft> {
    let entry = desk.first(Side::Below);
    let deeper = entry.as_ref().and_then(|first| desk.second(Side::Below, first.price));
    let entry = entry.map(|aim| {
        let use_of_it = if aim.is_turning_point {
            "For a buyer that is a first price to look at: what stopped a fall before may do so again."
        } else {
            "For a buyer that is a first price to look at."
        };
        desk.on_price(Role::Entry, Side::Below, &aim, use_of_it)
    });
    let deeper = deeper.map(|aim| {
        let use_of_it = "For a buyer it is the better price, should the nearer one not hold.";
        desk.on_price(Role::DeeperEntry, Side::Below, &aim, use_of_it)
    });
    let own = desk.on_own_target(Side::Below, "You said you would buy there.");
    let (mut signs, mut events) = (signs(desk).into_iter(), super::event::drafts(desk).into_iter());
    let drafts = [own, entry, breakout(desk), signs.next(), events.next(), deeper];
    drafts.into_iter().flatten().chain(events).chain(signs).collect()
}

/// The sign that the price has left its range upwards.
fn breakout(desk: &Desk<'_>) -> Option<Draft> {
    let (subject, analysis) = (desk.subject, desk.analysis);
    let farthest = FARTHEST_BREAKOUT * analysis.volatility.sigma_horizon();
    let chosen = desk.level(Side::Above, BEYOND_RANGES * desk.range(), farthest);
    let high = analysis.high_52_weeks.filter(|&high| {
        let is_the_next_thing = chosen.is_none_or(|level| level.price >= high);
        let away = subject.distance(high);
        analysis.sessions >= SESSIONS_OF_52_WEEKS && is_the_next_thing && away >= 0.0 && away <= farthest
    });
    if let Some(high) = high {
        let text = format!(
            "{} is the highest price of the last 52 weeks. {} Above it nobody who bought within the year is at a loss and waits to \
             get out; for a buyer it confirms that the price has got going.",
            money(high),
            distance(subject, analysis, high)
        );
        return Some(desk.plain(Role::Breakout, ConditionKind::NewHigh, text));
    }
    let use_of_it = "For a buyer a rise beyond it confirms that the price has got going.";
    let aim = match chosen {
        Some(chosen) => Aim {
            price: desk.away(chosen.price, Side::Above, BEYOND_RANGES * desk.range())?,
            because: format!(
                "{} A quarter of an average day's range is added, so that a mere touch does not count.",
                level(subject, chosen)
            ),
            is_turning_point: true,
        },
        None => desk.by_volatility(Side::Above, BREAKOUT_SIGMAS * analysis.volatility.sigma_horizon())?,
    };
    Some(desk.on_price(Role::Breakout, Side::Above, &aim, use_of_it))
}

/// What averages and the RSI are to say, the most useful first.
fn signs(desk: &Desk<'_>) -> Vec<Draft> {
    let trend = &desk.analysis.trend;
    let pullback = (trend.direction == Direction::Up)
        .then(|| {
            let use_of_it =
                "The average rises; for a buyer a fall back to it is a chance to join the trend at a better price.";
            desk.on_fall_to_average(FAST, use_of_it)
        })
        .flatten();
    [pullback, golden_cross(desk), rsi(desk)]
        .into_iter()
        .flatten()
        .collect()
}

fn golden_cross(desk: &Desk<'_>) -> Option<Draft> {
    let gap = desk.analysis.trend.gap()?;
    let is_near = (-NEAR_CROSS..0.0).contains(&gap) && desk.subject.price.as_f64() > desk.analysis.trend.sma_slow?;
    is_near.then(|| {
        let text = format!(
            "The {FAST}-day average of {} is {} below the {SLOW}-day average, and the price is above both. When the shorter one \
             rises above the longer one, that counts as the beginning of an upward trend; it comes late by nature.",
            desk.subject.symbol,
            percent(-gap)
        );
        desk.plain(Role::TrendSign, ConditionKind::MaCrossoverGolden, text)
    })
}

/// Source of the thresholds: Wilder (1978) has 30 for oversold; that in an upward trend the RSI turns at about 40:
/// Constance Brown, *Technical Analysis for the Trading Professional* (1999). It is taken as well when the RSI stands so
/// high that 30 is hardly reached within the horizon.
fn rsi(desk: &Desk<'_>) -> Option<Draft> {
    let (symbol, rsi) = (desk.subject.symbol, desk.analysis.rsi?);
    let is_high = desk.analysis.trend.direction == Direction::Up || rsi > HIGH;
    let oversold: u8 = if is_high { 40 } else { 30 };
    if rsi > f64::from(oversold) + 5.0 {
        let trend = rationale::trend(desk.subject, desk.analysis);
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}. At {oversold} or below the price has fallen far in a short time; for a buyer that \
             is a moment to look. {trend}"
        );
        return Some(desk.on_rsi(Side::Below, oversold, text));
    }
    (rsi < 45.0).then(|| {
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}, so the price has fallen far already. Back at 50 gains and losses are in balance; for a \
             buyer that is the sign that the fall has ended."
        );
        desk.on_rsi(Side::Above, 50, text)
    })
}

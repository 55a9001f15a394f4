//! For somebody who means to sell: a good price above, a better one, and the price below at which to wait no longer.

use alerts::ConditionKind;
use alerts::condition::Side;

use super::desk::{Aim, BEYOND_RANGES, Desk};
use crate::gate::Draft;
use crate::rationale::{level, percent};
use crate::trend::{FAST, SLOW};
use crate::{Direction, Role, rationale};

/// How far below the price a support may be for a stop below it, in standard deviations of the horizon.
const FARTHEST_STOP: f64 = 1.25;
/// How near a support may be for a stop below it, in average true ranges: a nearer one goes with a usual day.
const NEAREST_STOP: f64 = 1.0;
/// The stop when there is no support: in average true ranges.
///
/// Source: three average true ranges, the "chandelier exit" of Charles Le Beau, in Alexander Elder, *Come Into My
/// Trading Room* (2002); here from the current price rather than from the highest high.
const STOP_RANGES: f64 = 3.0;
/// How near the averages are to a cross: 3 %.
const NEAR_CROSS: f64 = 0.03;
/// From such an RSI the way up to 70 is long.
const LOW: f64 = 35.0;

/// The drafts, the most useful first.
pub(super) fn drafts(desk: &Desk<'_>) -> Vec<Draft> {
    let target = desk.first(Side::Above);
    let farther = target.as_ref().and_then(|first| desk.second(Side::Above, first.price));
    let target = target.map(|aim| {
        let use_of_it = if aim.is_turning_point {
            "For a seller that is a first price to sell at: what stopped a rise before may do so again."
        } else {
            "For a seller that is a first price to sell at."
        };
        desk.on_price(Role::Target, Side::Above, &aim, use_of_it)
    });
    let farther = farther.map(|aim| {
        let use_of_it = "For a seller it is the better price, should the rise go on beyond the nearer one.";
        desk.on_price(Role::FartherTarget, Side::Above, &aim, use_of_it)
    });
    let own = desk.on_own_target(Side::Above, "You said you would sell there.");
    let (mut signs, mut events) = (signs(desk).into_iter(), super::event::drafts(desk).into_iter());
    let drafts = [own, target, stop(desk), signs.next(), events.next(), farther];
    drafts.into_iter().flatten().chain(events).chain(signs).collect()
}

/// Where waiting for a better price has failed.
fn stop(desk: &Desk<'_>) -> Option<Draft> {
    let farthest = FARTHEST_STOP * desk.analysis.volatility.sigma_horizon();
    let aim = match desk.level(Side::Below, NEAREST_STOP * desk.range(), farthest) {
        Some(chosen) => Aim {
            price: desk.away(chosen.price, Side::Below, BEYOND_RANGES * desk.range())?,
            because: format!(
                "{} A quarter of an average day's range is taken off, so that a mere touch does not count.",
                level(desk.subject, chosen)
            ),
            is_turning_point: true,
        },
        None => Aim {
            price: desk.away(desk.subject.price, Side::Below, STOP_RANGES * desk.range())?,
            because: format!(
                "{} has no known turning point near below the price, so this level is three average days' ranges away.",
                desk.subject.symbol
            ),
            is_turning_point: false,
        },
    };
    let use_of_it = "For a seller a fall beyond it is the sign to wait no longer for a better price.";
    Some(desk.on_price(Role::Stop, Side::Below, &aim, use_of_it))
}

/// What averages and the RSI are to say, the most useful first.
fn signs(desk: &Desk<'_>) -> Vec<Draft> {
    // Only an upward trend can be broken by a fall.
    let unbroken = match desk.analysis.trend.direction {
        Direction::Up => "While it stays above, the trend is not broken. ",
        Direction::Down | Direction::Mixed | Direction::Unknown => "",
    };
    let use_of_it = |period: u16| format!("{unbroken}For a seller a fall to the {period}-day average is a warning.");
    let fall = desk
        .on_fall_to_average(FAST, &use_of_it(FAST))
        .or_else(|| desk.on_fall_to_average(SLOW, &use_of_it(SLOW)));
    [rsi(desk), fall, death_cross(desk)].into_iter().flatten().collect()
}

fn death_cross(desk: &Desk<'_>) -> Option<Draft> {
    let gap = desk.analysis.trend.gap()?;
    let is_near = gap > 0.0 && gap <= NEAR_CROSS && desk.subject.price.as_f64() < desk.analysis.trend.sma_slow?;
    is_near.then(|| {
        let text = format!(
            "The {FAST}-day average of {} is {} above the {SLOW}-day average, and the price is below both. When the shorter one \
             falls below the longer one, that counts as the beginning of a downward trend; it comes late by nature.",
            desk.subject.symbol,
            percent(gap)
        );
        desk.plain(Role::TrendSign, ConditionKind::MaCrossoverDeath, text)
    })
}

/// Source of the thresholds: Wilder (1978) has 70 for overbought; that in a downward trend the RSI turns at about 60:
/// Constance Brown, *Technical Analysis for the Trading Professional* (1999). It is taken as well when the RSI stands so
/// low that 70 is hardly reached within the horizon.
fn rsi(desk: &Desk<'_>) -> Option<Draft> {
    let (symbol, rsi) = (desk.subject.symbol, desk.analysis.rsi?);
    let is_low = desk.analysis.trend.direction == Direction::Down || rsi < LOW;
    let overbought: u8 = if is_low { 60 } else { 70 };
    if rsi < f64::from(overbought) - 5.0 {
        let trend = rationale::trend(desk.subject, desk.analysis);
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}. At {overbought} or above the price has risen far in a short time; for a seller that \
             is a moment to sell into. {trend}"
        );
        return Some(desk.on_rsi(Side::Above, overbought, text));
    }
    (rsi > 55.0).then(|| {
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}, so the price has risen far already. Back at 50 gains and losses are in balance; for a \
             seller that is the sign that the rise has ended."
        );
        desk.on_rsi(Side::Below, 50, text)
    })
}

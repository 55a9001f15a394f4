//! Drafts for a seller: a target above the price, a farther target, and a stop below.

use alerts::condition::Side;

use super::builder::{BREAK_MARGIN_RANGES, PriceTarget, ProposalBuilder};
use crate::proposal::AlertDraft;
use crate::rationale::level;
use crate::trend::{FAST_SESSIONS, SLOW_SESSIONS};
use crate::{Role, TrendDirection, rationale};

/// The maximum distance of a support for a stop below it, in standard deviations of the horizon.
const MAX_STOP_SIGMAS: f64 = 1.25;
/// The minimum distance of a support for a stop below it, in average true ranges: a usual day reaches a nearer one.
const MIN_STOP_RANGES: f64 = 1.0;
/// The distance of the stop without a support, in average true ranges.
///
/// Source: three average true ranges, the "chandelier exit" of Charles Le Beau, in Alexander Elder, *Come Into My
/// Trading Room* (2002); here from the current price instead of the highest high.
const DEFAULT_STOP_RANGES: f64 = 3.0;
/// The RSI below which a rise to 70 is unlikely within the horizon.
const LOW_RSI: f64 = 35.0;

/// Returns the drafts, most useful first.
pub(super) fn drafts(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    let target = builder.first_target(Side::Above);
    let farther = target
        .as_ref()
        .and_then(|first| builder.second_target(Side::Above, first.price));
    let target = target.map(|price_target| {
        let purpose = if price_target.is_turning_point {
            "For a seller, this is a first price to sell at: what stopped a rise before may do so again."
        } else {
            "For a seller, this is a first price to sell at."
        };
        builder.on_price(Role::Target, Side::Above, &price_target, purpose)
    });
    let farther = farther.map(|price_target| {
        let purpose = "For a seller, this is the better price if the rise continues beyond the nearer one.";
        builder.on_price(Role::FartherTarget, Side::Above, &price_target, purpose)
    });
    let own = builder.on_own_target(Side::Above, "You said you would sell there.");
    let (mut signs, mut events) = (signs(builder).into_iter(), super::event::drafts(builder).into_iter());
    let drafts = [own, target, stop(builder), signs.next(), events.next(), farther];
    drafts.into_iter().flatten().chain(events).chain(signs).collect()
}

/// Drafts an alert on the price at which waiting for a better price has failed.
fn stop(builder: &ProposalBuilder<'_>) -> Option<AlertDraft> {
    let farthest = MAX_STOP_SIGMAS * builder.analysis.volatility.sigma_horizon();
    let price_target = match builder.strongest_level(Side::Below, MIN_STOP_RANGES * builder.range(), farthest) {
        Some(chosen) => PriceTarget {
            price: builder.price_at_distance(chosen.price, Side::Below, BREAK_MARGIN_RANGES * builder.range())?,
            reason: format!(
                "{} A quarter of an average day's range is taken off, so that a mere touch does not count.",
                level(builder.subject, chosen)
            ),
            is_turning_point: true,
        },
        None => PriceTarget {
            price: builder.price_at_distance(
                builder.subject.price,
                Side::Below,
                DEFAULT_STOP_RANGES * builder.range(),
            )?,
            reason: format!(
                "{} has no known turning point near below the price, so this level is three average days' ranges away.",
                builder.subject.symbol
            ),
            is_turning_point: false,
        },
    };
    let purpose = "For a seller, a fall below it is the sign to stop waiting for a better price.";
    Some(builder.on_price(Role::Stop, Side::Below, &price_target, purpose))
}

/// Drafts alerts on averages and the RSI, most useful first.
fn signs(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    // Only an upward trend can be broken by a fall.
    let unbroken = match builder.analysis.trend.direction {
        TrendDirection::Up => "While it stays above, the trend is not broken. ",
        TrendDirection::Down | TrendDirection::Mixed | TrendDirection::Unknown => "",
    };
    let purpose = |period: u16| format!("{unbroken}For a seller, a fall to the {period}-day average is a warning.");
    let fall = builder
        .on_fall_to_average(FAST_SESSIONS, &purpose(FAST_SESSIONS))
        .or_else(|| builder.on_fall_to_average(SLOW_SESSIONS, &purpose(SLOW_SESSIONS)));
    [rsi(builder), fall, builder.on_crossover(Side::Below)]
        .into_iter()
        .flatten()
        .collect()
}

/// Drafts an alert on the RSI. Source of the thresholds: Wilder (1978) has 70 for overbought. In a downward trend the
/// RSI turns at about 60: Constance Brown, *Technical Analysis for the Trading Professional* (1999). The threshold 60
/// also applies if the RSI is so low that 70 is unlikely within the horizon.
fn rsi(builder: &ProposalBuilder<'_>) -> Option<AlertDraft> {
    let (symbol, rsi) = (builder.subject.symbol, builder.analysis.rsi?);
    let is_low = builder.analysis.trend.direction == TrendDirection::Down || rsi < LOW_RSI;
    let overbought: u8 = if is_low { 60 } else { 70 };
    if rsi < f64::from(overbought) - 5.0 {
        let trend = rationale::trend(builder.subject, builder.analysis);
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}. At {overbought} or above the price has risen far in a short time; for a seller, \
             that is a moment to sell. {trend}"
        );
        return Some(builder.on_rsi(Side::Above, overbought, text));
    }
    (rsi > 55.0).then(|| {
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}, so the price has risen far already. Back at 50 gains and losses are in balance; for a \
             seller, that is a sign that the rise has ended."
        );
        builder.on_rsi(Side::Below, 50, text)
    })
}

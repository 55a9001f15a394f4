//! Drafts for a buyer: an entry below the price, a deeper entry, and a breakout above.

use alerts::ConditionKind;
use alerts::condition::Side;

use super::builder::{BREAK_MARGIN_RANGES, PriceTarget, ProposalBuilder};
use crate::proposal::AlertDraft;
use crate::rationale::{distance, format_price, level};
use crate::trend::FAST_SESSIONS;
use crate::{Role, TrendDirection, rationale};

/// The maximum distance of a high for a breakout, in standard deviations of the horizon.
const MAX_BREAKOUT_SIGMAS: f64 = 1.5;
/// The distance of a breakout without a level to break, in standard deviations of the horizon.
const DEFAULT_BREAKOUT_SIGMAS: f64 = 0.75;
/// The minimum number of sessions for a 52-week high.
const MIN_SESSIONS_FOR_52_WEEK_HIGH: usize = 200;
/// The RSI above which a fall to 30 is unlikely within the horizon.
const HIGH_RSI: f64 = 65.0;

/// Returns the drafts, most useful first.
pub(super) fn drafts(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    let entry = builder.first_target(Side::Below);
    let deeper = entry
        .as_ref()
        .and_then(|first| builder.second_target(Side::Below, first.price));
    let entry = entry.map(|price_target| {
        let purpose = if price_target.is_turning_point {
            "For a buyer, this is a first price to consider: what stopped a fall before may do so again."
        } else {
            "For a buyer, this is a first price to consider."
        };
        builder.on_price(Role::Entry, Side::Below, &price_target, purpose)
    });
    let deeper = deeper.map(|price_target| {
        let purpose = "For a buyer, this is the better price if the nearer one does not hold.";
        builder.on_price(Role::DeeperEntry, Side::Below, &price_target, purpose)
    });
    let own = builder.on_own_target(Side::Below, "You said you would buy there.");
    let (mut signs, mut events) = (signs(builder).into_iter(), super::event::drafts(builder).into_iter());
    let drafts = [own, entry, breakout(builder), signs.next(), events.next(), deeper];
    drafts.into_iter().flatten().chain(events).chain(signs).collect()
}

/// Drafts an alert on a breakout above the recent range.
fn breakout(builder: &ProposalBuilder<'_>) -> Option<AlertDraft> {
    let (subject, analysis) = (builder.subject, builder.analysis);
    let farthest = MAX_BREAKOUT_SIGMAS * analysis.volatility.sigma_horizon();
    let chosen = builder.strongest_level(Side::Above, BREAK_MARGIN_RANGES * builder.range(), farthest);
    let high = analysis.high_52_weeks.filter(|&high| {
        let is_nearest = chosen.is_none_or(|level| level.price >= high);
        let away = subject.distance(high);
        analysis.sessions >= MIN_SESSIONS_FOR_52_WEEK_HIGH && is_nearest && away >= 0.0 && away <= farthest
    });
    if let Some(high) = high {
        let text = format!(
            "{} is the highest price of the last 52 weeks. {} Above it, no buyer of the last year holds at a loss; for a buyer, a \
             rise above it confirms the upward move.",
            format_price(high),
            distance(subject, analysis, high)
        );
        return Some(AlertDraft::new(Role::Breakout, ConditionKind::NewHigh, None, text));
    }
    let purpose = "For a buyer, a rise above it confirms the upward move.";
    let price_target = match chosen {
        Some(chosen) => PriceTarget {
            price: builder.price_at_distance(chosen.price, Side::Above, BREAK_MARGIN_RANGES * builder.range())?,
            reason: format!(
                "{} A quarter of an average day's range is added, so that a mere touch does not count.",
                level(subject, chosen)
            ),
            is_turning_point: true,
        },
        None => builder.target_by_volatility(
            Side::Above,
            DEFAULT_BREAKOUT_SIGMAS * analysis.volatility.sigma_horizon(),
        )?,
    };
    Some(builder.on_price(Role::Breakout, Side::Above, &price_target, purpose))
}

/// Drafts alerts on averages and the RSI, most useful first.
fn signs(builder: &ProposalBuilder<'_>) -> Vec<AlertDraft> {
    let trend = &builder.analysis.trend;
    let pullback = (trend.direction == TrendDirection::Up)
        .then(|| {
            let purpose =
                "The average rises; for a buyer, a fall back to it is a chance to join the trend at a better price.";
            builder.on_fall_to_average(FAST_SESSIONS, purpose)
        })
        .flatten();
    [pullback, builder.on_crossover(Side::Above), rsi(builder)]
        .into_iter()
        .flatten()
        .collect()
}

/// Drafts an alert on the RSI. Source of the thresholds: Wilder (1978) has 30 for oversold. In an upward trend the
/// RSI turns at about 40: Constance Brown, *Technical Analysis for the Trading Professional* (1999). The threshold 40
/// also applies if the RSI is so high that 30 is unlikely within the horizon.
fn rsi(builder: &ProposalBuilder<'_>) -> Option<AlertDraft> {
    let (symbol, rsi) = (builder.subject.symbol, builder.analysis.rsi?);
    let is_high = builder.analysis.trend.direction == TrendDirection::Up || rsi > HIGH_RSI;
    let oversold: u8 = if is_high { 40 } else { 30 };
    if rsi > f64::from(oversold) + 5.0 {
        let trend = rationale::trend(builder.subject, builder.analysis);
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}. At {oversold} or below the price has fallen far in a short time; for a buyer, \
             that is a moment to look. {trend}"
        );
        return Some(builder.on_rsi(Side::Below, oversold, text));
    }
    (rsi < 45.0).then(|| {
        let text = format!(
            "The RSI of {symbol} is {rsi:.0}, so the price has fallen far already. Back at 50 gains and losses are in balance; for a \
             buyer, that is a sign that the fall has ended."
        );
        builder.on_rsi(Side::Above, 50, text)
    })
}

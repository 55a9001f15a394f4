//! Price targets and drafts, for both intentions.

use alerts::ConditionKind;
use alerts::condition::Side;
use market::Price;
use serde_json::{Map, Value, json};

use crate::levels::Level;
use crate::proposal::AlertDraft;
use crate::rationale::{self, distance, format_percent, format_price};
use crate::trend::{FAST_SESSIONS, SLOW_SESSIONS};
use crate::{Analysis, AnalysisSubject, Role, tick};

/// The minimum distance of a level, in average true ranges: nearer levels are daily noise.
const MIN_LEVEL_DISTANCE_RANGES: f64 = 0.5;
/// The maximum distance of a first level, in standard deviations of the horizon: reached in 13 of 100 cases.
const MAX_FIRST_SIGMAS: f64 = 1.5;
/// The maximum distance of a second level, in standard deviations of the horizon: reached in 3 of 100 cases.
const MAX_SECOND_SIGMAS: f64 = 2.2;
/// The distance of the first target without a level, in standard deviations: reached in 45 of 100 cases.
const DEFAULT_FIRST_SIGMAS: f64 = 0.75;
/// The distance of the second target without a level, in standard deviations: reached in 21 of 100 cases.
const DEFAULT_SECOND_SIGMAS: f64 = 1.25;
/// The minimum distance between the first and the second target, in average true ranges.
const MIN_TARGET_GAP_RANGES: f64 = 1.0;
/// The maximum relative distance of the averages from a crossing: 3 %.
const MAX_CROSS_GAP: f64 = 0.03;
/// The margin beyond a level at which it counts as broken, in average true ranges.
pub(super) const BREAK_MARGIN_RANGES: f64 = 0.25;

/// A subject and its figures, from which drafts are built.
#[derive(Clone, Copy)]
pub(super) struct ProposalBuilder<'a> {
    pub(super) subject: &'a AnalysisSubject<'a>,
    pub(super) analysis: &'a Analysis,
}

/// A price to wait for, with its reason.
pub(super) struct PriceTarget {
    pub(super) price: Price,
    /// The reason, as a sentence.
    pub(super) reason: String,
    /// Whether the price has turned there before.
    pub(super) is_turning_point: bool,
}

impl ProposalBuilder<'_> {
    /// The average true range as a logarithm.
    pub(super) fn range(&self) -> f64 {
        self.analysis.volatility.range_day
    }

    fn sigma(&self) -> f64 {
        self.analysis.volatility.sigma_horizon()
    }

    /// Returns the level on `side` between two distances with the highest product of strength and touch probability.
    pub(super) fn strongest_level(&self, side: Side, nearest: f64, farthest: f64) -> Option<&Level> {
        let levels = side.pick(&self.analysis.levels.resistances, &self.analysis.levels.supports);
        let away = |level: &Level| self.subject.distance(level.price).abs();
        let weight = |level: &Level| level.strength * self.analysis.touch_probability(away(level));
        levels
            .iter()
            .filter(|level| (nearest..=farthest).contains(&away(level)))
            .max_by(|a, b| weight(a).total_cmp(&weight(b)))
    }

    /// Returns the quoted price at the distance `log` from `from`, strictly on `side` of it.
    pub(super) fn price_at_distance(&self, from: Price, side: Side, log: f64) -> Option<Price> {
        let dollars = from.as_f64() * side.pick(log, -log).exp();
        tick::beyond(from, side, dollars)
    }

    /// Returns the first price to wait for on `side`: a level, or a distance by volatility.
    pub(super) fn first_target(&self, side: Side) -> Option<PriceTarget> {
        let nearest = MIN_LEVEL_DISTANCE_RANGES * self.range();
        match self.strongest_level(side, nearest, MAX_FIRST_SIGMAS * self.sigma()) {
            Some(level) => Some(self.target_at_level(level)),
            None => self.target_by_volatility(side, DEFAULT_FIRST_SIGMAS * self.sigma()),
        }
    }

    /// Returns a price to wait for beyond the first.
    pub(super) fn second_target(&self, side: Side, first: Price) -> Option<PriceTarget> {
        let nearest = self.subject.distance(first).abs() + MIN_TARGET_GAP_RANGES * self.range();
        match self.strongest_level(side, nearest, MAX_SECOND_SIGMAS * self.sigma()) {
            Some(level) => Some(self.target_at_level(level)),
            None => self
                .target_by_volatility(side, nearest.max(DEFAULT_SECOND_SIGMAS * self.sigma()))
                .filter(|price_target| side.pick(price_target.price > first, price_target.price < first)),
        }
    }

    fn target_at_level(&self, level: &Level) -> PriceTarget {
        PriceTarget {
            price: level.price,
            reason: rationale::level(self.subject, level),
            is_turning_point: true,
        }
    }

    pub(super) fn target_by_volatility(&self, side: Side, log: f64) -> Option<PriceTarget> {
        let price = self.price_at_distance(self.subject.price, side, log)?;
        let symbol = self.subject.symbol;
        Some(PriceTarget {
            price,
            reason: format!(
                "{symbol} has no known turning point at a suitable distance {side} the price, so this level comes from its \
                 volatility alone."
            ),
            is_turning_point: false,
        })
    }

    /// Drafts an alert on a price. `purpose` follows the reason.
    pub(super) fn on_price(&self, role: Role, side: Side, price_target: &PriceTarget, purpose: &str) -> AlertDraft {
        let kind = side.pick(ConditionKind::PriceAbove, ConditionKind::PriceBelow);
        let threshold = alerts::json::number(price_target.price.decimal()).map(Value::Number);
        let distance = distance(self.subject, self.analysis, price_target.price);
        let rationale = format!("{} {distance} {purpose}", price_target.reason);
        AlertDraft::new(role, kind, threshold, rationale)
    }

    /// Drafts an alert on a crossing of the averages to `side`, if they are near one and the price is on that side already.
    pub(super) fn on_crossover(&self, side: Side) -> Option<AlertDraft> {
        let (price, trend) = (self.subject.price.as_f64(), &self.analysis.trend);
        let gap = trend.gap()?;
        let (away, slow) = (side.pick(-gap, gap), trend.sma_slow?);
        let is_near = away > 0.0 && away <= MAX_CROSS_GAP && side.pick(price > slow, price < slow);
        let kind = side.pick(ConditionKind::MaCrossoverGolden, ConditionKind::MaCrossoverDeath);
        let opposite = side.pick(Side::Below, Side::Above);
        let (verb, direction) = side.pick(("rises", "an upward"), ("falls", "a downward"));
        is_near.then(|| {
            let rationale = format!(
                "The {FAST_SESSIONS}-day average of {} is {} {opposite} the {SLOW_SESSIONS}-day average, and the price is {side} \
                 both. When the shorter one {verb} {side} the longer one, that counts as the beginning of {direction} trend; the \
                 sign comes late by nature.",
                self.subject.symbol,
                format_percent(away)
            );
            AlertDraft::new(Role::TrendSign, kind, None, rationale)
        })
    }

    /// Drafts an alert on the RSI.
    pub(super) fn on_rsi(&self, side: Side, threshold: u8, rationale: String) -> AlertDraft {
        AlertDraft {
            parameters: Map::from_iter([("direction".to_owned(), json!(side.to_string()))]),
            ..AlertDraft::new(
                Role::Momentum,
                ConditionKind::RsiLimit,
                Some(threshold.into()),
                rationale,
            )
        }
    }

    /// Drafts an alert on a fall to the average of `period` sessions, if the price is farther above it than daily
    /// noise.
    pub(super) fn on_fall_to_average(&self, period: u16, purpose: &str) -> Option<AlertDraft> {
        let trend = &self.analysis.trend;
        let average = if period == FAST_SESSIONS {
            trend.sma_fast?
        } else {
            trend.sma_slow?
        };
        let above = (self.subject.price.as_f64() / average).ln();
        (above >= MIN_LEVEL_DISTANCE_RANGES * self.range()).then(|| {
            let rationale = format!("{}. {purpose}", rationale::average(self.subject, period, average));
            AlertDraft::new(
                Role::TrendSign,
                ConditionKind::MaTouchBelow,
                Some(period.into()),
                rationale,
            )
        })
    }

    /// Drafts an alert on the price that the owner named, if it is on `side`.
    pub(super) fn on_own_target(&self, side: Side, purpose: &str) -> Option<AlertDraft> {
        let target = self.subject.target_price?;
        let is_ahead = side.pick(target > self.subject.price, target < self.subject.price);
        let price_target = PriceTarget {
            price: target,
            reason: format!("{} is the price you named yourself.", format_price(target)),
            is_turning_point: false,
        };
        is_ahead.then(|| self.on_price(Role::OwnTarget, side, &price_target, purpose))
    }
}

//! Conditions of rules that no expression means exactly. The engine judges them directly, with the functions that judge alerts
//! without options.

use std::cmp::Ordering;

use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use market::{Decimal, History};

use super::rule::ArmedRule;
use super::values::{SeenAt, judged_price, view_of};
use crate::condition::{BuzzDirection, Condition, DeliveryTime, InsiderCriteria, RsiDirection, Side};
use crate::engine::Engine;
use crate::engine::event::StockIndex;
use crate::engine::facts::Facts;
use crate::engine::group::{Band, averages, has_crossed, tighten_to_cross};
use crate::engine::reason::Reason;
use crate::expression::conversion::from_condition_with_base;
use crate::expression::{EvaluatedTruth, Expression, Truth};
use crate::lifecycle::{Lifecycle, Phase};
use crate::metrics::{MetricDependency, StockInputs};
use crate::options::PercentBase;

/// The condition of a rule in the form in which it is judged.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum RuleCondition {
    /// An expression.
    Expression(Expression),
    /// A condition that no expression means exactly.
    Direct(DirectCondition),
}

/// A condition that is judged directly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DirectCondition {
    /// SMA(50) is strictly beyond SMA(200), and was not at the last completed session.
    AverageCross(Side),
    /// The RSI reaches the side of the threshold on which it was not.
    RsiBothSides {
        /// The threshold.
        threshold: Decimal,
    },
    /// Discussion has changed into a state.
    Buzz(BuzzDirection),
    /// The insider trades in a window meet criteria.
    Insiders(InsiderCriteria),
    /// An instant has come.
    Reminder {
        /// The instant.
        at: Timestamp,
    },
    /// A moment of each trading day.
    DailyReminder(DeliveryTime),
}

/// The data of a rule's own stock.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnStock<'a> {
    pub(super) index: StockIndex,
    pub(super) inputs: StockInputs<'a>,
    pub(super) facts: Option<&'a Facts>,
}

/// The truth of a condition that is judged directly.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum DirectTruth {
    /// It is true, for this reason.
    True(Reason),
    /// It is false.
    False,
    /// Its data is missing.
    Unknown,
}

impl RuleCondition {
    /// Returns the form in which a condition is judged, with the base of a price change.
    pub(super) fn of(condition: &Condition, base: PercentBase) -> Option<Self> {
        let direct = || DirectCondition::of(condition).map(Self::Direct);
        from_condition_with_base(condition, base)
            .map(Self::Expression)
            .or_else(direct)
    }

    /// Returns the expression, if it is one.
    pub(super) const fn expression(&self) -> Option<&Expression> {
        match self {
            Self::Expression(expression) => Some(expression),
            Self::Direct(_) => None,
        }
    }

    /// Returns the condition that is judged directly, if it is one.
    pub(super) const fn direct(&self) -> Option<DirectCondition> {
        match self {
            Self::Direct(direct) => Some(*direct),
            Self::Expression(_) => None,
        }
    }
}

impl DirectCondition {
    fn of(condition: &Condition) -> Option<Self> {
        Some(match *condition {
            Condition::MaCrossover { side } => Self::AverageCross(side),
            Condition::Rsi {
                direction: RsiDirection::Both,
                threshold,
            } => Self::RsiBothSides { threshold },
            Condition::SocialBuzz(direction) => Self::Buzz(direction),
            Condition::InsiderTransactions(criteria) => Self::Insiders(criteria),
            Condition::Reminder { at } => Self::Reminder { at },
            Condition::DailyReminder(delivery) => Self::DailyReminder(delivery),
            _ => return None,
        })
    }

    /// Returns whether the condition depends on prices. Otherwise no observation changes it.
    pub(super) const fn has_market_data(self) -> bool {
        matches!(self, Self::AverageCross(_) | Self::RsiBothSides { .. })
    }

    /// Returns whether the condition depends on the time alone.
    pub(super) const fn is_of_time(self) -> bool {
        matches!(self, Self::Reminder { .. } | Self::DailyReminder(_))
    }

    /// Returns whether the truth changes with the date in New York.
    pub(super) const fn has_dates(self) -> bool {
        matches!(self, Self::Insiders(_))
    }

    /// Returns whether the condition depends on a kind of facts.
    pub(super) fn uses(self, data: MetricDependency) -> bool {
        match self {
            Self::Buzz(_) => data == MetricDependency::Mentions,
            Self::Insiders(_) => data == MetricDependency::InsiderTrades,
            Self::AverageCross(_) | Self::RsiBothSides { .. } | Self::Reminder { .. } | Self::DailyReminder(_) => false,
        }
    }

    /// Lets a history keep the sums that the condition needs at every observation.
    pub(super) fn track(self, history: &mut History) {
        if let Self::AverageCross(_) = self {
            [49, 50, 199, 200].into_iter().for_each(|len| history.track_closes(len));
        }
    }

    /// Returns the truth now and afterwards: a daily reminder is true at its moment only.
    pub(super) const fn evaluated(self, truth: &DirectTruth) -> EvaluatedTruth {
        let now = match truth {
            DirectTruth::True(_) => Truth::True,
            DirectTruth::False => Truth::False,
            DirectTruth::Unknown => Truth::Unknown,
        };
        let afterwards = match self {
            Self::DailyReminder(_) => Truth::False,
            _ => now,
        };
        EvaluatedTruth { now, afterwards }
    }

    /// Returns the band of prices in which the next observation changes nothing.
    pub(super) fn quiet_band(self, inputs: &StockInputs<'_>, state: &Lifecycle) -> Band {
        let mut band = Band::WIDE;
        match (self, inputs.price) {
            (Self::AverageCross(side), Some(price)) => {
                tighten_to_cross(side, price.micros(), inputs.history, &mut band);
            }
            (Self::RsiBothSides { threshold }, Some(price)) => {
                let rsi = inputs.history.rsi();
                let threshold = threshold.micros();
                match (rsi.micros_at(price.micros()), state.rsi_side) {
                    (Some(now), Some(Side::Below)) if now < threshold => {
                        (band.lo, band.hi) = rsi.quiet_band(Some(threshold), None);
                    }
                    (Some(now), Some(Side::Above)) if now > threshold => {
                        (band.lo, band.hi) = rsi.quiet_band(None, Some(threshold));
                    }
                    _ if rsi.closes_missing() == 0 => band = Band::EMPTY,
                    _ => {}
                }
            }
            _ => {}
        }
        band
    }
}

impl From<Option<Option<Reason>>> for DirectTruth {
    /// Returns the truth of a condition that is unknown, or has a reason if it is true.
    fn from(known: Option<Option<Reason>>) -> Self {
        match known {
            Some(Some(reason)) => Self::True(reason),
            Some(None) => Self::False,
            None => Self::Unknown,
        }
    }
}

impl Engine {
    /// Returns the data of a rule's own stock, with the price that is judged.
    pub(super) fn own_stock(&self, armed: &ArmedRule, now: Timestamp, seen: SeenAt) -> OwnStock<'_> {
        let index = self.indices[&armed.rule.symbol];
        let stock = &self.stocks[index.0 as usize];
        let mut inputs = view_of(armed, stock, &self.hot.get(index.0 as usize), new_york_date(now), seen);
        inputs.price = judged_price(&inputs, armed.rule.options.trigger);
        OwnStock {
            index,
            inputs,
            facts: stock.facts.as_deref(),
        }
    }

    /// Returns the truth of a condition at an instant. The first RSI that is not exactly at the threshold determines its side.
    pub(super) fn direct_truth(
        &self,
        direct: DirectCondition,
        (own, at): (&OwnStock<'_>, Timestamp),
        state: &mut Lifecycle,
    ) -> DirectTruth {
        let OwnStock { inputs, facts, .. } = own;
        match direct {
            DirectCondition::AverageCross(side) => inputs.price.and_then(|price| {
                let crossed = has_crossed(side, price.micros(), inputs.history)?;
                let (sma_50, sma_200) = averages(price.micros(), inputs.history)?;
                Some(crossed.then_some(Reason::AveragesCrossed { side, sma_50, sma_200 }))
            }),
            DirectCondition::RsiBothSides { threshold } => {
                rsi_now(inputs).map(|rsi| rsi_reached(rsi, threshold, &mut state.rsi_side))
            }
            DirectCondition::Buzz(direction) => facts.and_then(|facts| facts.buzz.reason_of_state(direction)),
            DirectCondition::Insiders(criteria) => facts.map(|facts| facts.insider_reason(&criteria, inputs.today)),
            DirectCondition::Reminder { at: due } => Some((at >= due).then_some(Reason::Reminder)),
            DirectCondition::DailyReminder(delivery) => {
                let is_due = self.daily_moment_after(delivery, just_before(at)) == Some(at);
                Some(is_due.then_some(Reason::DailyReminder(delivery)))
            }
        }
        .into()
    }

    /// Records the state of the condition at the moment of arming: the side on which the RSI is, and whether the condition of a rule
    /// that fires on changes is false. A rule that was armed before a restart without a side had no RSI at that time, and waits
    /// for the first one. One that has fired since keeps its state.
    pub(super) fn note_condition_at_arming(
        &self,
        armed: &mut ArmedRule,
        direct: DirectCondition,
        now: Timestamp,
        seen: SeenAt,
    ) {
        let state = &armed.rule.lifecycle;
        let has_fired_since = state.last_fired_at.is_some_and(|fired_at| fired_at > state.armed_at);
        if self.clock > state.armed_at || has_fired_since {
            return;
        }
        let own = self.own_stock(armed, now, seen);
        let mut state = armed.rule.lifecycle.clone();
        let truth = self.direct_truth(direct, (&own, now), &mut state);
        if state.fires_on_change && truth == DirectTruth::False {
            state.phase = Phase::Armed;
        }
        armed.rule.lifecycle = state;
    }

    /// Returns the first moment at which a rule of time that is armed must be judged.
    pub(super) fn first_moment(&self, armed: &ArmedRule) -> Option<Timestamp> {
        let state = &armed.rule.lifecycle;
        match armed.rule.judged.direct()? {
            DirectCondition::Reminder { at } => Some(at),
            DirectCondition::DailyReminder(delivery) => {
                let after = state.armed_at.max(self.clock);
                self.daily_moment_after(
                    delivery,
                    state.last_fired_at.map_or(after, |fired_at| after.max(fired_at)),
                )
            }
            _ => None,
        }
    }

    /// Returns the next moment of a rule of time. After an outage a daily reminder is sent once, however many were missed.
    pub(super) fn next_moment_of(&self, armed: &ArmedRule, now: Timestamp) -> Option<Timestamp> {
        match armed.rule.judged.direct()? {
            DirectCondition::Reminder { at } => Some(at).filter(|&at| at > now),
            DirectCondition::DailyReminder(delivery) => self.daily_moment_after(delivery, now.max(self.clock)),
            _ => None,
        }
    }
}

/// Returns the side of the threshold on which an RSI is; `None` exactly at it.
pub(super) fn side_of(rsi: i64, threshold: Decimal) -> Option<Side> {
    match rsi.cmp(&threshold.micros()) {
        Ordering::Less => Some(Side::Below),
        Ordering::Equal => None,
        Ordering::Greater => Some(Side::Above),
    }
}

/// Returns the RSI in millionths of a point, with the judged price as today's close.
pub(super) fn rsi_now(inputs: &StockInputs<'_>) -> Option<i64> {
    if inputs.session.is_some() {
        return inputs.history.rsi().micros_at(inputs.price?.micros());
    }
    // The last close as provisional price would be counted twice.
    let completed = inputs.history.rsi().value()?;
    Decimal::from_f64(completed).ok().map(Decimal::micros)
}

/// Returns the reason if an RSI has reached the side of the threshold on which it was not. Determines the side if it is unknown.
fn rsi_reached(rsi: i64, threshold: Decimal, side: &mut Option<Side>) -> Option<Reason> {
    let Some(was) = *side else {
        *side = side_of(rsi, threshold);
        return None;
    };
    let awaited = was.pick(Side::Below, Side::Above);
    let is_reached = side_of(rsi, threshold) != Some(was);
    is_reached.then_some(Reason::RsiReached {
        side: awaited,
        rsi: Decimal::from_micros(rsi),
        threshold,
    })
}

fn just_before(at: Timestamp) -> Timestamp {
    at.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(at)
}

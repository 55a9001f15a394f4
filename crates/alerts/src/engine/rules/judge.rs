//! The judgement of one rule.

use std::collections::BTreeSet;

use jiff::Timestamp;
use market::Price;
use market::calendar::new_york_date;

use super::direct::{DirectCondition, DirectTruth, OwnStock, RuleCondition, rsi_now, side_of};
use super::reason::RuleReason;
use super::rule::ArmedRule;
use super::values::{RuleValues, SeenAt, judged_price, view_of};
use crate::engine::Engine;
use crate::engine::decision::{AlertAction, Decision};
use crate::engine::event::StockIndex;
use crate::engine::stock::Stock;
use crate::expression::{EvaluatedTruth, EvaluationTime, Expression, Truth, evaluate};
use crate::lifecycle::{ArmedFigures, Judgement, Lifecycle, Observation, Outcome, WaitReason, next_check, step};
use crate::metrics::AlertBasis;

/// The cause of a judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cause<'a> {
    /// The stocks with a new observation.
    pub(super) observed: &'a BTreeSet<StockIndex>,
    /// Whether an observation is new, or a fact for a rule of facts alone; otherwise the same prices are judged again.
    pub(super) is_new: bool,
}

/// The effect of a judgement on the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AfterJudgement {
    /// The rule stays armed.
    StayArmed,
    /// It was re-armed, and its condition may hold with the new extremes.
    Rearmed,
    /// It fired for the last time, or has expired.
    Disarm,
}

/// A condition with its truth.
enum Evaluated<'a> {
    Expression(&'a Expression, EvaluatedTruth),
    Direct(DirectCondition, DirectTruth, Box<OwnStock<'a>>),
}

impl Evaluated<'_> {
    fn truth(&self) -> EvaluatedTruth {
        match self {
            Self::Expression(_, truth) => *truth,
            Self::Direct(direct, truth, _) => direct.evaluated(truth),
        }
    }
}

impl Engine {
    /// Judges a rule, appends its decisions, and finds its next quiet bands.
    pub(super) fn judge(
        &mut self,
        armed: &mut ArmedRule,
        now: Timestamp,
        cause: Cause<'_>,
        out: &mut Vec<Decision>,
    ) -> AfterJudgement {
        let own = self.stock(armed.rule.symbol);
        let price = self.newest_price(armed, own);
        let judged = self.own_judged_price(armed, now, SeenAt::Observation);
        let observation = Observation {
            at: now,
            is_new: cause.is_new,
            price: judged.filter(|_| armed.has_armed_extremes),
            previous_price: armed.previous_price.filter(|_| armed.has_armed_extremes),
        };
        let options = &armed.rule.options;
        let mut prepared = armed.rule.lifecycle.prepared(options, &observation);
        let time = self.evaluation_time(armed, now);
        let values = self.values(armed, &prepared, now, cause.observed, SeenAt::Observation);
        let evaluated = match &armed.rule.judged {
            RuleCondition::Expression(expression) => {
                let truth = evaluate(expression, &values, time, &mut prepared.crossings);
                Evaluated::Expression(expression, truth)
            }
            RuleCondition::Direct(direct) => {
                let own = self.own_stock(armed, now, SeenAt::Observation);
                let truth = self.direct_truth(*direct, (&own, now), &mut prepared);
                Evaluated::Direct(*direct, truth, Box::new(own))
            }
        };
        let judgement = Self::judgement(armed, observation, evaluated.truth(), &values);
        let mut stepped = step(options, &self.calendar, &prepared, &judgement);
        if let (Outcome::Fire { .. }, Evaluated::Direct(DirectCondition::RsiBothSides { threshold }, _, own)) =
            (stepped.outcome, &evaluated)
        {
            // The firing ends the condition: from now on the other side counts.
            let left = Judgement {
                truth_after: Truth::False,
                ..judgement
            };
            stepped = step(options, &self.calendar, &prepared, &left);
            stepped.next.rsi_side = rsi_now(&own.inputs).and_then(|rsi| side_of(rsi, *threshold));
        }
        let has_new_extremes = stepped.next.extremes != prepared.extremes;
        if let Evaluated::Expression(expression, _) = evaluated
            && has_new_extremes
        {
            // The rule was re-armed. The next observation is compared with the new extremes.
            let values = self.values(armed, &stepped.next, now, cause.observed, SeenAt::Observation);
            let crossings = std::mem::take(&mut stepped.next.crossings);
            stepped.next.crossings = crossings.with_new_extremes(expression, &values);
        }
        if let Outcome::Wait(WaitReason::Snoozed { .. }) = stepped.outcome {
            // No observation of a snooze determines the side of an RSI.
            stepped.next.rsi_side = armed.rule.lifecycle.rsi_side;
        }
        if stepped.next.figures == ArmedFigures::AtArming {
            stepped.next.figures = ArmedFigures::Judged;
        }
        let own_stock = self.indices[&armed.rule.symbol];
        let decision = |action| Decision {
            alert: armed.rule.alert,
            revision: armed.rule.revision,
            stock: own_stock,
            at: now,
            action,
        };
        let effect = match stepped.outcome {
            Outcome::Fire { true_since, is_last } => {
                let held_since = options.hold.map(|_| true_since);
                let reason = match evaluated {
                    Evaluated::Expression(expression, _) => {
                        self.expression_reason((armed, expression), &prepared, cause.observed, now, held_since)
                    }
                    Evaluated::Direct(direct, DirectTruth::True(reason), own) => {
                        let terms = self.direct_terms(direct, &own, &prepared);
                        RuleReason::direct(reason, terms, held_since, options.trigger)
                    }
                    // Only a true condition fires.
                    Evaluated::Direct(..) => return AfterJudgement::StayArmed,
                };
                let reason = Box::new(reason);
                let state = Box::new(stepped.next.clone());
                out.push(decision(AlertAction::FireRule {
                    price,
                    reason,
                    is_last,
                    state,
                }));
                armed.rule.revision = armed.rule.revision.next();
                if is_last {
                    AfterJudgement::Disarm
                } else {
                    AfterJudgement::StayArmed
                }
            }
            Outcome::Expire { at } => {
                out.push(decision(AlertAction::Expire { at }));
                AfterJudgement::Disarm
            }
            Outcome::Wait(_) => {
                if stepped.next != armed.rule.lifecycle {
                    out.push(decision(AlertAction::SetLifecycle {
                        state: Box::new(stepped.next.clone()),
                    }));
                }
                AfterJudgement::StayArmed
            }
        };
        armed.rule.lifecycle = stepped.next;
        armed.previous_price = judged;
        match effect {
            AfterJudgement::StayArmed if has_new_extremes => AfterJudgement::Rearmed,
            effect => effect,
        }
    }

    /// Returns the price of a rule's own stock that is judged.
    pub(super) fn own_judged_price(&self, armed: &ArmedRule, now: Timestamp, seen: SeenAt) -> Option<Price> {
        let place = self.indices.get(&armed.rule.symbol)?.0 as usize;
        let inputs = view_of(
            armed,
            &self.stocks[place],
            &self.hot.get(place),
            new_york_date(now),
            seen,
        );
        judged_price(&inputs, armed.rule.options.trigger)
    }

    /// Returns the newest price of a stock that a rule knows.
    fn newest_price(&self, armed: &ArmedRule, stock: StockIndex) -> Option<Price> {
        let place = stock.0 as usize;
        let extended = self.stocks[place].extended.filter(|_| armed.judges_extended_hours());
        let extended = extended.map(|newest| newest.price);
        extended.or_else(|| Stock::last_price(&self.hot.get(place)))
    }

    /// Returns the time of a judgement. A price in extended hours belongs to the session that opens next.
    pub(super) fn evaluation_time(&self, armed: &ArmedRule, now: Timestamp) -> EvaluationTime {
        let next_session = || {
            let hours = self.calendar.extended_hours_at(now)?;
            armed.judges_extended_hours().then_some(hours.session)
        };
        let session = self.calendar.session_at(now).or_else(next_session);
        EvaluationTime {
            now,
            session_close: session.map_or(now, |session| session.close),
        }
    }

    /// Returns the next instant at which the rule is judged without an observation.
    pub(super) fn next_check_of(&self, armed: &ArmedRule, now: Timestamp) -> Option<Timestamp> {
        if armed.is_judged_at_close() {
            return armed.next_close.into_iter().chain(armed.rule.options.expires()).min();
        }
        let check = next_check(&armed.rule.options, &self.calendar, &armed.rule.lifecycle);
        let others = armed
            .next_date_change(now)
            .into_iter()
            .chain(self.next_moment_of(armed, now));
        check.into_iter().chain(others).min()
    }

    pub(super) fn judgement(
        armed: &ArmedRule,
        observation: Observation,
        truth: EvaluatedTruth,
        values: &RuleValues<'_>,
    ) -> Judgement {
        Judgement {
            observation,
            truth: truth.now,
            truth_after: truth.afterwards,
            is_rearm_level_reached: armed.rearm.as_ref().is_some_and(|level| level.is_reached(values)),
        }
    }

    /// Returns the values of a rule's metrics.
    pub(super) fn values<'a>(
        &'a self,
        armed: &ArmedRule,
        state: &Lifecycle,
        now: Timestamp,
        observed: &BTreeSet<StockIndex>,
        seen: SeenAt,
    ) -> RuleValues<'a> {
        let today = new_york_date(now);
        let stocks = armed.stocks.iter().map(|at| {
            let place = at.stock.0 as usize;
            let is_observed = observed.contains(&at.stock);
            let mut inputs = view_of(armed, &self.stocks[place], &self.hot.get(place), today, seen);
            if armed.is_judged_at_close() {
                (inputs.high_52_weeks, inputs.low_52_weeks) = self.stocks[place].extremes_before_session(today);
            }
            inputs.price = judged_price(&inputs, armed.rule.options.trigger);
            inputs.insider_trades = self.known_insider_trades(at.stock);
            (at.name, inputs, is_observed)
        });
        RuleValues {
            stocks: stocks.collect(),
            shares: armed
                .stocks
                .iter()
                .map(|at| self.shares_since(armed, at.stock))
                .collect(),
            basis: AlertBasis {
                initial_price: armed.rule.initial_price,
                high_since_armed: state.extremes.map(|extremes| extremes.high()),
                low_since_armed: state.extremes.map(|extremes| extremes.low()),
                change_base: armed.change_base(),
            },
        }
    }
}

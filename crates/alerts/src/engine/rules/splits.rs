//! Splits: an expression is judged in the shares of the day on which it was set.
//!
//! The prices of a stock are per new share. After 4:1, a rule of the day before multiplies them by four and divides the volumes,
//! so that the numbers of its text keep their meaning. Its bands are empty from then on: it is judged at every observation.

use jiff::Timestamp;
use market::calendar::new_york;
use market::{SplitRatio, Symbol};

use super::direct::RuleCondition;
use super::rearm_level::RearmLevel;
use super::rule::ArmedRule;
use crate::alert::Alert;
use crate::condition::Condition;
use crate::engine::Engine;
use crate::engine::arm::after_split;
use crate::engine::decision::{AlertAction, Decision};
use crate::engine::event::StockIndex;
use crate::expression::shape::symbols;
use crate::expression::{Expression, Fraction};

impl Engine {
    /// Returns the number of today's shares of a stock for one share of the day on which the rule's expression was set; `None` if
    /// they are the same.
    pub(super) fn shares_since(&self, armed: &ArmedRule, stock: StockIndex) -> Option<Fraction> {
        self.new_shares(stock, armed.rule.expression_set_at?)
    }

    /// Returns the number of today's shares of a stock for one share of an earlier time; `None` if they are the same.
    fn new_shares(&self, stock: StockIndex, since: Timestamp) -> Option<Fraction> {
        let splits = self.stocks[stock.0 as usize].splits.iter();
        let later = splits.filter(|(date, _)| since < new_york(*date, 0, 0));
        later
            .map(|(_, ratio)| Fraction::from_micros(ratio.micros()))
            .reduce(|product, ratio| product.multiply(&ratio))
    }

    /// Returns the condition of an alert with the figures of today's shares, for texts; `None` if they are those of the day on which it was
    /// set.
    #[must_use]
    pub fn condition_today(&self, alert: &Alert) -> Option<Condition> {
        let Condition::Expression(set) = &alert.condition else {
            return None;
        };
        let todays = self.expression_today(alert.symbol, &set.expression, alert.threshold_set_at)?;
        Some(Condition::expression(todays, set.within))
    }

    /// Returns a rule with its expression in today's shares, for texts; `None` if they are those of the day on which it was set.
    pub(super) fn rule_today(&self, armed: &ArmedRule) -> Option<ArmedRule> {
        let rule = &armed.rule;
        let todays = self.expression_today(rule.symbol, rule.judged.expression()?, rule.expression_set_at?)?;
        let mut shown = armed.clone();
        shown.rule.judged = RuleCondition::Expression(todays);
        shown.rule.expression_set_at = None;
        Some(shown)
    }

    /// Returns an expression of an earlier time in today's shares; `None` if they are the same, or if it would be too long.
    fn expression_today(&self, own: Symbol, expression: &Expression, since: Timestamp) -> Option<Expression> {
        let new_shares = |name: Option<Symbol>| {
            let stock = self.indices.get(&name.unwrap_or(own))?;
            self.new_shares(*stock, since)
        };
        if symbols(expression).into_iter().all(|name| new_shares(name).is_none()) {
            return None;
        }
        expression.in_new_shares(&new_shares)
    }

    /// Adjusts the rules on a stock for a split.
    pub(in crate::engine) fn split_rules(
        &mut self,
        symbol: Symbol,
        ratio: SplitRatio,
        now: Timestamp,
        out: &mut Vec<Decision>,
    ) {
        let stock = self.stock(symbol);
        for armed in self.rules.iter_mut().filter(|armed| armed.rule.symbol == symbol) {
            out.extend(armed.after_split(ratio, stock, now));
        }
    }
}

impl ArmedRule {
    fn after_split(&mut self, ratio: SplitRatio, own_stock: StockIndex, now: Timestamp) -> Option<Decision> {
        let rule = &mut self.rule;
        let (condition, initial_price) = after_split(&rule.condition, rule.initial_price, ratio);
        let lifecycle = rule.lifecycle.after_split(ratio);
        let has_new_level = condition != rule.condition;
        let is_changed = has_new_level || initial_price != rule.initial_price || lifecycle != rule.lifecycle;
        if has_new_level {
            rule.options = rule.options.clone().after_split(&rule.condition, ratio);
            if let Some(judged) = RuleCondition::of(&condition, rule.options.base) {
                rule.judged = judged;
            }
            let rearm = rule.options.rearm.zip(rule.judged.expression());
            self.rearm = rearm.and_then(|(rearm, expression)| RearmLevel::new(expression, rearm));
        }
        let threshold = match condition {
            Condition::Price { threshold, .. } => Some(threshold),
            _ => None,
        };
        (rule.condition, rule.initial_price, rule.lifecycle) = (condition, initial_price, lifecycle);
        self.previous_price = self.previous_price.map(|price| price.after_split(ratio));
        let revision = rule.revision;
        let action = AlertAction::Adjust {
            threshold,
            initial_price,
        };
        is_changed.then(|| {
            rule.revision = revision.next();
            Decision {
                alert: rule.alert,
                revision,
                stock: own_stock,
                at: now,
                action,
            }
        })
    }
}

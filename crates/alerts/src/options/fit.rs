//! The options that fit a condition.

use super::rearm::ConditionLevel;
use super::{AlertOptions, PercentBase, Rearm, SessionScope, TriggerPrice};
use crate::condition::Condition;
use crate::expression::ast::Relation;
use crate::expression::conversion::from_condition;
use crate::expression::shape::requires_crossing;
use crate::request::FieldErrors;

/// Checks that options fit a condition.
///
/// # Errors
/// The errors of each field: `rearm` needs one metric that is compared with a number, and a level at which the condition is
/// false; `hold` and `two_lasts` need a condition that can be true at two judgements; `session`, `trigger` and `base` need a
/// price. [`SessionScope::Extended`] does not fit [`TriggerPrice::Close`]: a close is one of the regular session.
pub fn check_fit(options: &AlertOptions, condition: &Condition) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    if !options.are_default() && from_condition(condition).is_none() {
        let kind = condition.kind();
        let message =
            format!("must be omitted for this {kind} alert; only conditions that compare values have options");
        errors.add("options", message);
        return Err(errors);
    }
    check_session(options, &mut errors);
    if let Some(rearm) = options.rearm {
        check_rearm(rearm, condition, &mut errors);
    }
    if is_momentary(condition) {
        const MOMENTARY: &str = "the condition is true at one judgement only";
        let help = match condition {
            Condition::Expression(_) => ", or give parameters.within",
            _ => "",
        };
        if options.hold.is_some() {
            errors.add("options.hold", format!("must be omitted, because {MOMENTARY}{help}"));
        }
        if options.trigger == TriggerPrice::TwoLasts {
            let message = format!("must not be two_lasts, because {MOMENTARY}; omit it{help}");
            errors.add("options.trigger", message);
        }
    }
    if !condition.is_about_market() {
        let set = [
            ("options.session", options.session != SessionScope::default()),
            ("options.trigger", options.trigger != TriggerPrice::default()),
            ("options.base", options.base != PercentBase::default()),
        ];
        for (field, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
            if errors.of(field).is_empty() {
                errors.add(
                    field,
                    "must be omitted, because the condition does not depend on a price",
                );
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_session(options: &AlertOptions, errors: &mut FieldErrors) {
    if options.session == SessionScope::Extended && options.trigger == TriggerPrice::Close {
        errors.add(
            "options.session",
            "must be regular if options.trigger is close, because a close is one of the regular session",
        );
    }
}

fn check_rearm(rearm: Rearm, condition: &Condition, errors: &mut FieldErrors) {
    let Some(level) = ConditionLevel::of(condition) else {
        errors.add(
            "options.rearm",
            "must be omitted, because the condition does not compare one metric with a number",
        );
        return;
    };
    if !level.is_true_at(&level.rearm_level(rearm)) {
        return;
    }
    match rearm {
        Rearm::At(_) => {
            let side = match level.relation() {
                Relation::Below => "at or above",
                Relation::AtMost => "above",
                Relation::Above => "at or below",
                Relation::AtLeast => "below",
            };
            let message = format!("must be {side} the level of the condition, where the condition is false");
            errors.add("options.rearm.at", message);
        }
        Rearm::Percent(_) => {
            let message = "has no effect, because the level of the condition is 0; give options.rearm.at";
            errors.add("options.rearm.percent", message);
        }
    }
}

/// Returns whether the condition is true at one judgement and then false again: every way to truth goes through a `crosses` without
/// `within`.
fn is_momentary(condition: &Condition) -> bool {
    match condition {
        Condition::MaTouch { .. } => true,
        Condition::Expression(condition) => condition.within.is_none() && requires_crossing(&condition.expression),
        _ => false,
    }
}

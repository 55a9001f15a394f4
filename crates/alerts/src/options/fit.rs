//! The options that fit a condition.

use jiff::SignedDuration;
use market::Symbol;

use super::rearm::ConditionLevel;
use super::{AlertOptions, PercentBase, Rearm, Repeat, SessionScope, TriggerPrice};
use crate::condition::{Condition, RsiDirection};
use crate::expression::ast::Relation;
use crate::expression::conversion::from_condition;
use crate::expression::metric::{ChangeBase, Metric};
use crate::expression::shape::{has_crossing, metrics, requires_crossing};
use crate::metrics::is_of_newest_price;
use crate::request::FieldErrors;

/// The length of a session, 09:30–16:00.
const REGULAR_SESSION: SignedDuration = SignedDuration::from_mins(390);
/// The length of an extended session, 04:00–20:00.
const EXTENDED_SESSION: SignedDuration = SignedDuration::from_hours(16);

/// Checks that options, and the parameter `within`, fit a condition.
///
/// # Errors
/// The errors of each field: `rearm` needs one metric that is compared with a number, and a level at which the condition is
/// false; `hold` and `two_lasts` need a condition that can be true at two judgements; `session` and `trigger` need a price, `base` a
/// percent change, `within` a `crosses`, and `cooldown_refire` a second firing. [`SessionScope::Extended`] does not fit
/// [`TriggerPrice::Close`]: a close is one of the regular session.
pub fn check_fit(options: &AlertOptions, condition: &Condition) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    check_session(options, &mut errors);
    match condition {
        Condition::Reminder { .. } => check_reminder(options, &mut errors),
        _ => check_repeating(options, condition, &mut errors),
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
    if condition.is_about_market() {
        check_prices(options, condition, &mut errors);
    }
    if let Condition::Expression(expression) = condition
        && expression.within.is_some()
        && !has_crossing(&expression.expression)
    {
        let message = "must be omitted, because the expression has no `crosses`; options.hold is the time for which a condition \
                       must be true";
        errors.add("parameters.within", message);
    }
    if options.base == PercentBase::Creation
        && let Some(symbol) = changed_since_creation(condition)
    {
        let message = format!(
            "must be prev_close or open, because the price of {symbol} at the alert's creation is not kept; or give \
             {symbol}.change_pct a base, such as {symbol}.change_pct(prev_close)"
        );
        errors.add("options.base", message);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks the options of a condition on prices or volumes: `bid`, `ask` and `mid` replace a price, `base` is that of a percent change.
fn check_prices(options: &AlertOptions, condition: &Condition, errors: &mut FieldErrors) {
    let replaces_last = matches!(
        options.trigger,
        TriggerPrice::Bid | TriggerPrice::Ask | TriggerPrice::Mid
    );
    if replaces_last && !judges_price(condition) {
        errors.add(
            "options.trigger",
            "must be last, two_lasts or close, because bid, ask and mid take the place of the last price, on which the condition does \
             not depend",
        );
    }
    if options.base != PercentBase::Creation && !measures_change(condition) {
        errors.add(
            "options.base",
            "must be omitted, because the condition measures no percent change; use price_change_up, price_change_down or change_pct",
        );
    }
}

/// Returns whether a condition on prices or volumes depends on the price that `trigger` names.
fn judges_price(condition: &Condition) -> bool {
    // The conditions that are no expressions compare prices.
    from_condition(condition).is_none_or(|expression| {
        metrics(&expression)
            .into_iter()
            .any(|used| is_of_newest_price(used.metric))
    })
}

/// Returns whether a condition measures a percent change from the base of the options.
fn measures_change(condition: &Condition) -> bool {
    match condition {
        Condition::PriceChange { .. } => true,
        Condition::Expression(condition) => metrics(&condition.expression)
            .iter()
            .any(|used| used.metric == Metric::ChangePct(ChangeBase::OfAlert)),
        _ => false,
    }
}

/// Returns the stock, besides the alert's own, whose change an expression measures from the base of the options.
fn changed_since_creation(condition: &Condition) -> Option<Symbol> {
    let Condition::Expression(condition) = condition else {
        return None;
    };
    let mut symbol = None;
    condition.expression.condition().for_each_metric(&mut |used| {
        if used.metric == Metric::ChangePct(ChangeBase::OfAlert) {
            symbol = symbol.or(used.symbol);
        }
    });
    symbol
}

/// Checks the options of a reminder, which fires once: only a snooze has an effect.
fn check_reminder(options: &AlertOptions, errors: &mut FieldErrors) {
    const FIRES_ONCE: &str = "must be omitted, because a reminder fires once";
    const AT_ITS_MOMENT: &str = "must be omitted, because a reminder fires at its moment and has ended then";
    if options.repeat != Repeat::Once {
        let message =
            "must be once or omitted, because a reminder fires once; daily_reminder fires on every trading day";
        errors.add("options.repeat", message);
    }
    let set = [
        ("options.cooldown", options.cooldown.is_some(), FIRES_ONCE),
        ("options.cooldown_refire", options.cooldown_refire, FIRES_ONCE),
        ("options.rearm", options.rearm.is_some(), FIRES_ONCE),
        ("options.max_firings", options.max_firings.is_some(), FIRES_ONCE),
        ("options.hold", options.hold.is_some(), AT_ITS_MOMENT),
        ("options.expires_at", options.expires_at.is_some(), AT_ITS_MOMENT),
        ("options.notify_on_expiry", options.notify_on_expiry, AT_ITS_MOMENT),
    ];
    for (field, _, message) in set.into_iter().filter(|(_, is_set, _)| *is_set) {
        errors.add(field, message);
    }
}

fn check_repeating(options: &AlertOptions, condition: &Condition, errors: &mut FieldErrors) {
    if let Some(rearm) = options.rearm {
        check_rearm(rearm, condition, errors);
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
    if let (Condition::MaCrossover { .. }, Some(hold)) = (condition, options.hold) {
        let session = match options.session {
            SessionScope::Regular => REGULAR_SESSION,
            SessionScope::Extended => EXTENDED_SESSION,
        };
        if hold.session_time() >= session {
            let message = "must be shorter than a session, because a crossing of the averages ends with its session";
            errors.add("options.hold", message);
        }
    }
    if options.cooldown_refire {
        let message = match condition {
            Condition::DailyReminder(_) => "must be omitted, because the condition is true at one moment of a day only",
            Condition::Rsi {
                direction: RsiDirection::Both,
                ..
            } => "must be omitted, because a firing ends the condition: then the other side counts",
            _ if options.repeat == Repeat::Once => {
                "must be omitted for an alert that fires once; or set options.repeat to each_time or once_per_day"
            }
            _ => return,
        };
        errors.add("options.cooldown_refire", message);
    }
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
        Condition::MaTouch { .. } | Condition::DailyReminder(_) => true,
        Condition::Expression(condition) => condition.within.is_none() && requires_crossing(&condition.expression),
        _ => false,
    }
}

//! Reads a condition as its [`ConditionSpec`](crate::condition::ConditionSpec) describes it.

use market::Symbol;
use serde_json::{Map, Value};

use super::ParseContext;
use super::fields::{FieldErrors, InvalidField};
use super::numbers::Threshold;
use super::parameters::Parameters;
use super::reminder;
use crate::condition::{Condition, ConditionKind, Values};

/// Reads a condition and the parameters in their normal form. Parts that are already invalid are skipped. `current` is the
/// condition of an alert that is being updated.
pub(super) fn read_with(
    kind: Result<ConditionKind, InvalidField>,
    symbol: Option<Symbol>,
    threshold: Threshold<'_>,
    parameters: Result<Option<Map<String, Value>>, InvalidField>,
    current: Option<&Condition>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<(Condition, Option<Map<String, Value>>), InvalidField> {
    match (kind, parameters) {
        (Ok(kind), Ok(parameters)) => {
            let mut parameters = Parameters::new(parameters);
            let condition = read(kind, symbol, threshold, &mut parameters, current, context, errors)?;
            Ok((condition, parameters.into_normal()))
        }
        (Ok(kind), Err(invalid)) => {
            let _ = threshold.read(kind, errors);
            Err(invalid)
        }
        (Err(invalid), _) => {
            threshold.must_be_a_number(errors);
            Err(invalid)
        }
    }
}

/// Reads a condition and brings its own parameters into their normal form. All parts are read before the first error is returned,
/// so that no error hides another.
pub(super) fn read(
    kind: ConditionKind,
    symbol: Option<Symbol>,
    threshold: Threshold<'_>,
    parameters: &mut Parameters,
    current: Option<&Condition>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<Condition, InvalidField> {
    let spec = kind.spec();
    let (current_moment, current_expression) = match current {
        Some(Condition::Reminder { at }) => (Some(*at), None),
        Some(Condition::Expression(current)) => (None, Some(&current.expression)),
        _ => (None, None),
    };
    let mut read = Ok(());
    for own in spec.request.parameters {
        read = read.and(parameters.read(kind, own, (symbol, current_expression), errors));
    }
    let (threshold, moment) = match kind {
        ConditionKind::Reminder => {
            let at = reminder::read(threshold, current_moment, parameters, context, errors)?;
            (None, Some(at))
        }
        _ => (threshold.read(kind, errors)?, None),
    };
    read?;
    let values = Values {
        threshold,
        parameters: parameters.map(),
        moment,
    };
    (spec.build)(&values).ok_or_else(|| errors.add("condition", "cannot be built from this request"))
}

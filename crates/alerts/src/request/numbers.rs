//! Numbers in requests: exact parsing and range checks.

use std::fmt::Display;

use market::Decimal;
use serde_json::Value;

use super::fields::{FieldErrors, InvalidField, kind_of};
use crate::condition::{ConditionKind, ThresholdNeed};

/// Returns the number exactly as written, or an error message with the allowed numbers.
pub(crate) fn decimal(value: &Value, allowed: impl Display) -> Result<Decimal, String> {
    match value {
        // The text of a JSON number is exact; its float would be an approximation.
        Value::Number(number) => number
            .to_string()
            .parse()
            .map_err(|_| format!("is too large; it must be {allowed}")),
        Value::String(text) => Err(match text.trim().parse::<Decimal>() {
            Ok(number) => format!("must be a number, not a string; write {number} without quotes"),
            Err(_) => format!("must be a number, not a string; it must be {allowed}"),
        }),
        other => {
            let kind = kind_of(other);
            Err(format!("must be a number, not {kind}; it must be {allowed}"))
        }
    }
}

/// The threshold of a condition.
#[derive(Clone, Copy)]
pub(super) enum Threshold<'a> {
    /// No threshold: omitted or null.
    Absent,
    /// The threshold of the request, not null.
    Sent(&'a Value),
    /// The current threshold of the alert: the request omits it.
    Kept(Decimal),
}

impl<'a> Threshold<'a> {
    /// Returns the threshold of a request. A null counts as omitted.
    pub(super) fn sent(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Absent,
            Some(value) => Self::Sent(value),
        }
    }

    /// Reads the threshold of a condition; `None` if the condition has none or its optional threshold is absent.
    pub(super) fn read(self, kind: ConditionKind, errors: &mut FieldErrors) -> Result<Option<Decimal>, InvalidField> {
        let mut invalid = |message: String| errors.add("threshold", message);
        let Some(spec) = &kind.spec().request.threshold else {
            return match self {
                Self::Sent(_) => Err(invalid(format!("must be omitted for {kind}"))),
                Self::Absent | Self::Kept(_) => Ok(None),
            };
        };
        let range = spec.range;
        let number = match self {
            Self::Absent if spec.need == ThresholdNeed::Required => {
                return Err(invalid(format!("is required for {kind}; it must be {range}")));
            }
            Self::Absent => return Ok(None),
            Self::Sent(value) => {
                let number = decimal(value, range).map_err(&mut invalid)?;
                // A decimal has six places, to which a smaller fraction is rounded.
                if range.is_whole && value.as_f64().is_some_and(|sent| sent.fract() != 0.0) {
                    return Err(invalid(format!("must be {range} for {kind}, but is {value}")));
                }
                number
            }
            Self::Kept(number) => number,
        };
        if !range.contains(number) {
            return Err(invalid(format!("must be {range} for {kind}, but is {number}")));
        }
        Ok(Some(number))
    }

    /// Checks the threshold's type. Used if the condition is unknown.
    pub(super) fn must_be_a_number(self, errors: &mut FieldErrors) {
        if let Self::Sent(value) = self
            && let Err(message) = decimal(value, "a number, or left out")
        {
            errors.add("threshold", message);
        }
    }
}

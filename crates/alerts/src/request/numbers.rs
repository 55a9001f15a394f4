//! Numbers in requests: exact parsing and range checks.

use market::{Decimal, Price};
use serde_json::Value;

use super::fields::{FieldErrors, InvalidField, kind_of};
use crate::condition::ConditionKind;

/// A rule for a number.
pub(super) struct NumberRule<T> {
    /// The rule in words, to continue after "must be".
    pub(super) text: &'static str,
    /// Converts a valid number; `None` if it is out of range.
    pub(super) take: fn(Decimal) -> Option<T>,
}

/// A price.
pub(super) const PRICE: NumberRule<Price> = NumberRule {
    text: "a price in US dollars above 0 and at most 1000000000",
    take: |number| Price::try_from(number).ok(),
};

/// A percentage above zero.
pub(super) const PERCENT: NumberRule<Decimal> = NumberRule {
    text: "a percentage above 0",
    take: positive,
};

/// A percentage by which a price can fall.
pub(super) const PERCENT_DOWN: NumberRule<Decimal> = NumberRule {
    text: "a percentage above 0 and at most 100",
    take: |number| positive(number).filter(|percent| percent.micros() <= 100_000_000),
};

/// The period of a moving average, in sessions.
pub(super) const SESSIONS: NumberRule<u16> = NumberRule {
    text: "a whole number of sessions from 2 to 400",
    take: |number| whole(number, 2, 400),
};

/// A value of the RSI.
pub(super) const RSI: NumberRule<Decimal> = NumberRule {
    text: "a number from 0 to 100",
    take: |number| (0..=100_000_000).contains(&number.micros()).then_some(number),
};

/// A P/E ratio.
pub(super) const RATIO: NumberRule<Decimal> = NumberRule {
    text: "a ratio above 0",
    take: positive,
};

/// A total value of insider trades, in US dollars.
pub(super) const DOLLARS: NumberRule<Decimal> = NumberRule {
    text: "an amount in US dollars above 0",
    take: positive,
};

/// The number of calendar days before a date.
pub(super) const DAYS_AHEAD: NumberRule<u16> = NumberRule {
    text: "a whole number of days from 0 to 365",
    take: |number| whole(number, 0, 365),
};

/// The number of calendar days until a reminder without a date; at most a century.
pub(super) const REMINDER_DAYS: NumberRule<u16> = NumberRule {
    text: "a whole number of calendar days from 0 to 36500",
    take: |number| whole(number, 0, 36_500),
};

/// The minimum number of distinct insiders.
pub(super) const EXECUTIVES: NumberRule<u16> = NumberRule {
    text: "a whole number from 1 to 100",
    take: |number| whole(number, 1, 100),
};

/// The window of filing dates, in days.
pub(super) const WINDOW_DAYS: NumberRule<u16> = NumberRule {
    text: "a whole number of days from 1 to 365",
    take: |number| whole(number, 1, 365),
};

/// The number of shares that a user holds.
pub(super) const SHARES: NumberRule<Decimal> = NumberRule {
    text: "a number of shares above 0",
    take: positive,
};

fn positive(number: Decimal) -> Option<Decimal> {
    (number > Decimal::ZERO).then_some(number)
}

fn whole(number: Decimal, least: u16, most: u16) -> Option<u16> {
    let whole = u16::try_from(number.as_whole()?).ok()?;
    (least..=most).contains(&whole).then_some(whole)
}

/// Returns the number exactly as written, or an error message.
pub(super) fn decimal<T>(value: &Value, rule: &NumberRule<T>) -> Result<Decimal, String> {
    match value {
        // The text of a JSON number is exact; its float would be an approximation.
        Value::Number(number) => number
            .to_string()
            .parse()
            .map_err(|_| format!("is too large; it must be {}", rule.text)),
        Value::String(text) => Err(match text.trim().parse::<Decimal>() {
            Ok(number) => format!("must be a number, not a string; write {number} without quotes"),
            Err(_) => format!("must be a number, not a string; it must be {}", rule.text),
        }),
        other => {
            let kind = kind_of(other);
            Err(format!("must be a number, not {kind}; it must be {}", rule.text))
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

    /// Checks that a condition without a threshold gets none.
    pub(super) fn forbidden(self, kind: ConditionKind, errors: &mut FieldErrors) -> Result<(), InvalidField> {
        match self {
            Self::Sent(_) => Err(errors.add("threshold", format!("must be omitted for {kind}"))),
            Self::Absent | Self::Kept(_) => Ok(()),
        }
    }

    /// Reads the optional threshold of a condition.
    pub(super) fn optional<T>(
        self,
        kind: ConditionKind,
        rule: &NumberRule<T>,
        errors: &mut FieldErrors,
    ) -> Result<Option<T>, InvalidField> {
        let number = match self {
            Self::Absent => return Ok(None),
            Self::Sent(value) => decimal(value, rule).map_err(|message| errors.add("threshold", message))?,
            Self::Kept(number) => number,
        };
        (rule.take)(number).map(Some).ok_or_else(|| {
            let text = rule.text;
            let message = format!("must be {text} for {kind}, but is {number}");
            errors.add("threshold", message)
        })
    }

    /// Reads the required threshold of a condition.
    pub(super) fn required<T>(
        self,
        kind: ConditionKind,
        rule: &NumberRule<T>,
        errors: &mut FieldErrors,
    ) -> Result<T, InvalidField> {
        self.optional(kind, rule, errors)?.ok_or_else(|| {
            let message = format!("is required for {kind}; it must be {}", rule.text);
            errors.add("threshold", message)
        })
    }

    /// Checks the threshold's type. Used if the condition is unknown.
    pub(super) fn must_be_a_number(self, errors: &mut FieldErrors) {
        let any = NumberRule {
            text: "a number, or left out",
            take: Some,
        };
        if let Self::Sent(value) = self
            && let Err(message) = decimal(value, &any)
        {
            errors.add("threshold", message);
        }
    }
}

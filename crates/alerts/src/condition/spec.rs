//! The description of a condition: its names, its request, and how a request becomes a [`Condition`].
//!
//! Everything that documents or checks requests derives from it: the reader of requests, the OpenAPI document, the tools and the
//! guide of agents, the prompt of language models, the labels in messages, and the tables of `docs/conditions.md`.

use std::fmt;

use jiff::Timestamp;
use market::{Decimal, MICROS_PER_UNIT, Price};
use serde_json::{Map, Value};

use super::{Condition, ConditionFamily, EpsBasis, Side};
use crate::expression::MAX_CHARACTERS;

/// The description of one condition.
#[derive(Clone, Copy, Debug)]
pub struct ConditionSpec {
    /// The name in requests and responses.
    pub name: &'static str,
    /// The family.
    pub family: ConditionFamily,
    /// The label in messages.
    pub label: &'static str,
    /// The event for which the alert fires.
    pub fires_when: &'static str,
    /// The data without which the alert is not evaluated.
    pub needs: &'static str,
    /// The threshold and parameters, which similar conditions share.
    pub request: &'static RequestSpec,
    /// A valid request, as JSON.
    pub example: &'static str,
    /// Builds the condition from values that were checked against `request`.
    pub(crate) build: fn(&Values<'_>) -> Option<Condition>,
}

/// The threshold and the parameters in a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestSpec {
    /// The name of the schema in the OpenAPI document.
    pub name: &'static str,
    /// The description of the schema.
    pub description: &'static str,
    /// The threshold; `None` if it must be omitted.
    pub threshold: Option<ThresholdSpec>,
    /// The condition's own parameters.
    pub parameters: &'static [ParameterSpec],
}

/// The threshold in a request.
#[derive(Clone, Copy, Debug)]
pub struct ThresholdSpec {
    /// The meaning.
    pub description: &'static str,
    /// Whether it may be omitted.
    pub need: ThresholdNeed,
    /// The allowed numbers.
    pub range: NumberRange,
}

/// Whether a threshold may be omitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThresholdNeed {
    /// It must be sent.
    Required,
    /// It has a default.
    Optional,
    /// It counts only if the parameters contain no date; otherwise any value is accepted.
    WithoutDate,
}

/// A parameter in a request.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSpec {
    /// The documented name. Requests may use both camel case and snake case.
    pub name: &'static str,
    /// The meaning and the default.
    pub description: &'static str,
    /// Whether it must be sent.
    pub is_required: bool,
    /// The allowed values.
    pub rule: ParameterRule,
}

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParameterRule {
    /// One of several words, or an alias, given with its word.
    Word(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// A number.
    Number(NumberRange),
    /// True or false.
    Flag,
    /// A text of at most [`MAX_NOTE_CHARACTERS`].
    Note,
    /// The date of a reminder.
    Date,
    /// The date or date-time of a reminder.
    DateTime,
    /// The time of day of a reminder.
    Time,
    /// An expression.
    Expression,
    /// The time for which a crossing counts.
    Within,
}

/// A range of numbers. It is displayed as text that continues after "must be".
#[derive(Clone, Copy, Debug)]
pub struct NumberRange {
    /// The noun, such as `a percentage`.
    pub noun: &'static str,
    /// The unit.
    pub unit: NumberUnit,
    /// The minimum in millionths; 1 means above zero.
    pub min_micros: i64,
    /// The maximum in millionths; the largest integer means unbounded.
    pub max_micros: i64,
    /// Whether only whole numbers are allowed.
    pub is_whole: bool,
}

/// The unit of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberUnit {
    /// None: a ratio, an index or a count.
    None,
    /// US dollars.
    Usd,
    /// Percent.
    Percent,
    /// Sessions.
    Sessions,
    /// Calendar days.
    Days,
}

/// The maximum length of a reminder's note, in characters.
pub const MAX_NOTE_CHARACTERS: usize = 2_000;

/// Returns a threshold that must be sent.
pub(super) const fn required(description: &'static str, range: NumberRange) -> Option<ThresholdSpec> {
    Some(ThresholdSpec {
        description,
        need: ThresholdNeed::Required,
        range,
    })
}

/// Returns an optional parameter.
pub(super) const fn parameter(name: &'static str, description: &'static str, rule: ParameterRule) -> ParameterSpec {
    ParameterSpec {
        name,
        description,
        is_required: false,
        rule,
    }
}

/// Returns the numbers from `minimum` to `maximum`.
pub(super) const fn between(noun: &'static str, unit: NumberUnit, minimum: u16, maximum: u16) -> NumberRange {
    NumberRange {
        noun,
        unit,
        min_micros: minimum as i64 * MICROS_PER_UNIT,
        max_micros: maximum as i64 * MICROS_PER_UNIT,
        is_whole: false,
    }
}

/// Returns the whole numbers from `minimum` to `maximum`.
pub(super) const fn whole(noun: &'static str, unit: NumberUnit, minimum: u16, maximum: u16) -> NumberRange {
    NumberRange {
        is_whole: true,
        ..between(noun, unit, minimum, maximum)
    }
}

/// Returns the numbers above zero.
pub(super) const fn above_zero(noun: &'static str, unit: NumberUnit) -> NumberRange {
    NumberRange {
        min_micros: 1,
        max_micros: i64::MAX,
        ..between(noun, unit, 0, 0)
    }
}

impl NumberRange {
    /// Returns the range with another maximum.
    pub(super) const fn at_most(self, maximum: i64) -> Self {
        Self {
            max_micros: maximum * MICROS_PER_UNIT,
            ..self
        }
    }

    /// Returns whether the number is allowed.
    #[must_use]
    pub fn contains(&self, number: Decimal) -> bool {
        (self.min_micros..=self.max_micros).contains(&number.micros())
            && (!self.is_whole || number.as_whole().is_some())
    }

    /// Returns whether zero and less are excluded.
    #[must_use]
    pub const fn is_above_zero(&self) -> bool {
        self.min_micros == 1
    }

    /// Returns the minimum as a whole number; 0 if only zero and less are excluded.
    #[must_use]
    pub const fn minimum(&self) -> i64 {
        self.min_micros / MICROS_PER_UNIT
    }

    /// Returns the maximum as a whole number: the largest one that is stored exactly, if the range is unbounded.
    #[must_use]
    pub const fn maximum(&self) -> i64 {
        self.max_micros / MICROS_PER_UNIT
    }

    /// Returns the bounds as text: `above 0` or `from 2 to 400`.
    #[must_use]
    pub fn bounds(&self) -> String {
        match (self.is_above_zero(), self.max_micros) {
            (true, i64::MAX) => "above 0".to_owned(),
            (true, _) => format!("above 0 and at most {}", self.maximum()),
            (false, _) => format!("from {} to {}", self.minimum(), self.maximum()),
        }
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.noun, self.bounds())
    }
}

impl fmt::Display for ParameterRule {
    /// Writes the allowed values as text that continues after "must be".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(words, _) => match words.split_last() {
                Some((last, rest)) if !rest.is_empty() => write!(f, "{} or {last}", rest.join(", ")),
                _ => f.write_str(&words.concat()),
            },
            Self::Number(range) => range.fmt(f),
            Self::Flag => f.write_str("true or false"),
            Self::Note => write!(f, "a text of at most {MAX_NOTE_CHARACTERS} characters"),
            Self::Date => f.write_str("a date"),
            Self::DateTime => f.write_str("a date or a date-time"),
            Self::Time => f.write_str("a time of day as HH:MM"),
            Self::Expression => write!(f, "an expression of at most {MAX_CHARACTERS} characters"),
            Self::Within => f.write_str("\"session\" or a duration from 1m to 30d"),
        }
    }
}

/// The values of a request that were checked against its [`RequestSpec`].
pub(crate) struct Values<'a> {
    pub(crate) threshold: Option<Decimal>,
    /// The parameters in their normal form.
    pub(crate) parameters: &'a Map<String, Value>,
    /// The instant of a reminder.
    pub(crate) moment: Option<Timestamp>,
}

impl<'a> Values<'a> {
    pub(super) fn price(&self, side: Side) -> Option<Condition> {
        let threshold = Price::try_from(self.threshold?).ok()?;
        Some(Condition::Price { side, threshold })
    }

    pub(super) fn price_change(&self, side: Side) -> Option<Condition> {
        let percent = self.threshold?;
        Some(Condition::PriceChange { side, percent })
    }

    pub(super) fn pe_ratio(&self, earnings: EpsBasis, side: Side) -> Option<Condition> {
        let threshold = self.threshold?;
        Some(Condition::PeRatio {
            side,
            earnings,
            threshold,
        })
    }

    pub(super) fn ma_touch(&self, side: Side) -> Option<Condition> {
        let period = self.whole()?;
        Some(Condition::MaTouch { side, period })
    }

    pub(super) fn whole(&self) -> Option<u16> {
        to_u16(self.threshold?)
    }

    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        self.parameters.get(name)?.as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<Decimal> {
        self.parameters.get(name)?.to_string().parse().ok()
    }

    pub(super) fn whole_number(&self, name: &str) -> Option<u16> {
        to_u16(self.number(name)?)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.parameters.get(name)?.as_bool()
    }
}

fn to_u16(number: Decimal) -> Option<u16> {
    u16::try_from(number.as_whole()?).ok()
}

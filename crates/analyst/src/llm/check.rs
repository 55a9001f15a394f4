//! Checks that a model's proposals make sense.

use std::fmt;

use alerts::condition::Side;
use alerts::{ConditionFamily, ConditionKind};
use market::{Decimal, Price};
use serde_json::{Map, Value, json};

use super::answer::ModelAlert;
use super::prompt::side;
use super::schema::{offered_conditions, offered_roles, threshold_range};
use super::untrusted::is_invisible;
use super::{AlertViolation, AnswerError, PromptInput};
use crate::proposal::{AlertDraft, Proposal};
use crate::propose::DUPLICATE_DISTANCE_RANGES;
use crate::{Role, tick};

/// The maximum length of a summary, in characters.
pub const MAX_SUMMARY_CHARS: usize = 1_000;
/// The maximum length of a rationale, in characters.
pub const MAX_RATIONALE_CHARS: usize = 600;
/// The minimum length of a summary or rationale, in characters.
const MIN_TEXT_CHARS: usize = 20;

/// The minimum distance of a level, in average true ranges: nearer levels are daily noise.
const MIN_DISTANCE_RANGES: f64 = 0.25;
/// The maximum distance of a level, in standard deviations of the horizon: farther levels are reached in 1 of 16,000
/// cases.
const MAX_DISTANCE_SIGMAS: f64 = 4.0;

/// The reason why a text is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextViolation {
    /// It is too short to say anything.
    TooShort,
    /// It is longer than the limit.
    TooLong,
    /// It contains an invisible character.
    InvisibleCharacter,
    /// It contains markup, a link or an address.
    MarkupOrLink,
    /// It contains no number.
    NoNumber,
}

impl fmt::Display for TextViolation {
    /// Completes a sentence that begins with the name of the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "is too short",
            Self::TooLong => "is too long",
            Self::InvisibleCharacter => "has invisible characters",
            Self::MarkupOrLink => "has markup or a link",
            Self::NoNumber => "has no number",
        })
    }
}

/// Checks a text that users read, in emails among other places.
pub(super) fn text(text: &str, most: usize) -> Result<(), TextViolation> {
    let chars = text.trim().chars().count();
    if chars < MIN_TEXT_CHARS {
        Err(TextViolation::TooShort)
    } else if text.chars().count() > most {
        Err(TextViolation::TooLong)
    } else if text
        .chars()
        .any(|character| character == '\n' || is_invisible(character))
    {
        Err(TextViolation::InvisibleCharacter)
    } else if has_markup_or_link(text) {
        Err(TextViolation::MarkupOrLink)
    } else if !text.chars().any(|character| character.is_ascii_digit()) {
        Err(TextViolation::NoNumber)
    } else {
        Ok(())
    }
}

/// Whether a text has markup, a link, an address, or a name that a mail program would turn into a link.
fn has_markup_or_link(text: &str) -> bool {
    let is_name = |word: &str| {
        // A full stop between two letters: example.com, but not "402.10", "U.S." or the end of a sentence.
        let characters: Vec<char> = word.chars().collect();
        let dotted = |w: &[char]| w[0].is_alphanumeric() && w[1] == '.' && w[2].is_alphabetic() && w[3].is_alphabetic();
        characters.windows(4).any(dotted)
    };
    text.contains(['<', '>', '@', '`', '[', ']', '{', '}', '\\'])
        || text.contains("://")
        || text.to_lowercase().contains("www.")
        || text.split_whitespace().any(is_name)
}

/// The minimum distance of a level, relative to the price.
pub(super) fn min_distance(input: &PromptInput<'_>) -> f64 {
    MIN_DISTANCE_RANGES * input.analysis.volatility.range_day
}

/// The maximum distance of a level, as a logarithm.
fn max_distance(input: &PromptInput<'_>) -> f64 {
    MAX_DISTANCE_SIGMAS * input.analysis.volatility.sigma_horizon()
}

/// Returns the lowest and the highest accepted level.
pub(super) fn level_range(input: &PromptInput<'_>) -> (Option<Price>, Option<Price>) {
    let (price, log) = (input.subject.price, max_distance(input));
    let at = |side: Side, log: f64| tick::beyond(price, side, price.as_f64() * log.exp());
    (at(Side::Below, -log), at(Side::Above, log))
}

/// Checks a model's alerts and turns them into proposals.
pub(super) fn alerts(
    alerts: Vec<ModelAlert>,
    model: &str,
    input: &PromptInput<'_>,
) -> Result<Vec<Proposal>, AnswerError> {
    let apart = DUPLICATE_DISTANCE_RANGES * input.analysis.volatility.range_day;
    let mut proposals: Vec<Proposal> = Vec::new();
    for (index, alert) in alerts.into_iter().enumerate() {
        let proposal =
            checked_proposal(alert, model, input).map_err(|violation| AnswerError::Alert { index, violation })?;
        if let Some(earlier) = proposals.iter().position(|other| proposal.repeats(other, apart)) {
            let violation = AlertViolation::Duplicate(earlier);
            return Err(AnswerError::Alert { index, violation });
        }
        proposals.push(proposal);
    }
    let is_price = |proposal: &Proposal| proposal.alert.condition.kind().family() == ConditionFamily::Price;
    if !proposals.iter().any(is_price) {
        return Err(AnswerError::SchemaMismatch {
            at: "alerts".to_owned(),
            violation: "have none on a price",
        });
    }
    Ok(proposals)
}

fn checked_proposal(alert: ModelAlert, model: &str, input: &PromptInput<'_>) -> Result<Proposal, AlertViolation> {
    let kind = ConditionKind::from_name(&alert.condition)
        .filter(|kind| offered_conditions(input.subject, input.analysis).contains(kind))
        .ok_or(AlertViolation::ConditionNotOffered)?;
    let role = Role::from_name(&alert.role)
        .filter(|role| offered_roles(input.subject.intention).contains(role))
        .ok_or(AlertViolation::RoleNotOffered)?;
    if side(kind)
        .zip(side_of(role))
        .is_some_and(|(is, should_be)| is != should_be)
    {
        return Err(AlertViolation::WrongSide);
    }
    text(&alert.rationale, MAX_RATIONALE_CHARS).map_err(AlertViolation::Rationale)?;
    let threshold = alert
        .threshold
        .map(|threshold| checked_threshold(kind, threshold, input))
        .transpose()?;
    let direction = alert.direction.filter(|_| kind == ConditionKind::RsiLimit);
    let draft = AlertDraft {
        role,
        kind,
        threshold,
        parameters: Map::from_iter(direction.map(|direction| ("direction".to_owned(), json!(direction)))),
        rationale: alert.rationale,
    };
    Ok(draft.into_proposal(input.subject, model)?)
}

/// The side of the price that a role is on, if the role has one.
const fn side_of(role: Role) -> Option<Side> {
    match role {
        Role::Breakout | Role::Target | Role::FartherTarget => Some(Side::Above),
        Role::Entry | Role::DeeperEntry | Role::Stop => Some(Side::Below),
        Role::OwnTarget | Role::Momentum | Role::TrendSign | Role::Event => None,
    }
}

/// Checks a threshold and converts it to the form of a request.
fn checked_threshold(kind: ConditionKind, threshold: f64, input: &PromptInput<'_>) -> Result<Value, AlertViolation> {
    let price = input.subject.price.as_f64();
    let out_of_range = |range: &str| AlertViolation::ThresholdOutOfRange(range.to_owned());
    let within = |least: f64, most: f64| {
        let is_within = (least..=most).contains(&threshold);
        is_within
            .then_some(threshold)
            .ok_or_else(|| out_of_range(&format!("{least} to {most}")))
    };
    let number = match kind {
        ConditionKind::PriceAbove | ConditionKind::PriceBelow => {
            let level = tick::nearest(threshold).ok_or_else(|| out_of_range("the range of prices"))?;
            check_distance(level.as_f64(), input)?;
            level.as_f64()
        }
        ConditionKind::PriceChangeUp | ConditionKind::PriceChangeDown => {
            let sign = if kind == ConditionKind::PriceChangeUp {
                1.0
            } else {
                -1.0
            };
            let percent = within(0.0, 10_000.0)?;
            check_distance(price * (1.0 + sign * percent / 100.0), input)?;
            // Hundredths of a percent: further digits only come from the model's arithmetic.
            (percent * 100.0).round() / 100.0
        }
        _ => match threshold_range(kind) {
            Some((least, most)) => within(least, most)?,
            // The reader of requests rejects a threshold here.
            None => threshold,
        },
    };
    let value = Decimal::from_f64(number).ok().and_then(alerts::json::number);
    value
        .map(Value::Number)
        .ok_or_else(|| out_of_range("the range of numbers"))
}

/// Checks that a level is neither daily noise nor out of reach. A level on the other side of the price holds already;
/// [`AlertDraft::into_proposal`] rejects it.
fn check_distance(level: f64, input: &PromptInput<'_>) -> Result<(), AlertViolation> {
    let (near, far) = (min_distance(input), max_distance(input));
    let log = (level / input.subject.price.as_f64()).ln();
    // A level of zero or less has no logarithm: it is infinitely far away.
    if log.is_nan() || log.abs() > far {
        Err(AlertViolation::TooFar(far.exp()))
    } else if log.abs() < near {
        Err(AlertViolation::TooNear(near))
    } else {
        Ok(())
    }
}

//! Whether what a model proposed makes sense.

use std::fmt;

use alerts::condition::Side;
use alerts::{ConditionKind, Family};
use market::{Decimal, Price};
use serde_json::{Map, Number, Value, json};

use super::fence::is_invisible;
use super::form::SaidAlert;
use super::prompt::side;
use super::schema::{offered, roles};
use super::{AlertFault, AnswerError, Brief};
use crate::gate::{Draft, Proposal};
use crate::{Role, tick};

/// A summary may have so many characters.
pub const MOST_SUMMARY_CHARS: usize = 1_000;
/// A rationale may have so many characters.
pub const MOST_RATIONALE_CHARS: usize = 600;
/// A text with fewer characters says nothing.
const LEAST_CHARS: usize = 20;

/// Nearer levels are a day's noise, in average true ranges.
const NEAREST_RANGES: f64 = 0.25;
/// Farther levels are out of reach, in standard deviations of the horizon: 1 of 16,000 cases.
const FARTHEST_SIGMAS: f64 = 4.0;
/// Two prices nearer than this, in average true ranges, are the same news.
const APART_RANGES: f64 = 0.5;

/// What is wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextFault {
    /// It says nothing.
    Short,
    /// It says more than anybody reads.
    Long,
    /// It has a character that one does not see.
    Invisible,
    /// It has markup, or something that leads elsewhere: a link or an address.
    Leads,
    /// It has no number.
    NoNumber,
}

impl fmt::Display for TextFault {
    /// Reads on from what the text is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "says nothing",
            Self::Long => "is too long",
            Self::Invisible => "has characters that one does not see",
            Self::Leads => "has markup or a link",
            Self::NoNumber => "has no number",
        })
    }
}

/// Checks a text that people are going to read, in mails among other places.
pub(super) fn text(text: &str, most: usize) -> Result<(), TextFault> {
    let chars = text.trim().chars().count();
    if chars < LEAST_CHARS {
        Err(TextFault::Short)
    } else if text.chars().count() > most {
        Err(TextFault::Long)
    } else if text
        .chars()
        .any(|character| character == '\n' || is_invisible(character))
    {
        Err(TextFault::Invisible)
    } else if leads_elsewhere(text) {
        Err(TextFault::Leads)
    } else if !text.chars().any(|character| character.is_ascii_digit()) {
        Err(TextFault::NoNumber)
    } else {
        Ok(())
    }
}

/// Whether a text has markup, a link, an address, or a name that a mail program would make a link of.
fn leads_elsewhere(text: &str) -> bool {
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

/// How near a level may be, as a part of the price.
pub(super) fn nearest_part(brief: &Brief<'_>) -> f64 {
    NEAREST_RANGES * brief.analysis.volatility.range_day
}

/// How far a level may be, as a logarithm.
fn farthest(brief: &Brief<'_>) -> f64 {
    FARTHEST_SIGMAS * brief.analysis.volatility.sigma_horizon()
}

/// The lowest and the highest level that is taken.
pub(super) fn within(brief: &Brief<'_>) -> (Option<Price>, Option<Price>) {
    let (price, log) = (brief.subject.price, farthest(brief));
    let at = |side: Side, log: f64| tick::beyond(price, side, price.as_f64() * log.exp());
    (at(Side::Below, -log), at(Side::Above, log))
}

/// The proposals that the model's alerts are.
pub(super) fn alerts(said: Vec<SaidAlert>, model: &str, brief: &Brief<'_>) -> Result<Vec<Proposal>, AnswerError> {
    let apart = APART_RANGES * brief.analysis.volatility.range_day;
    let mut proposals: Vec<Proposal> = Vec::new();
    for (place, alert) in said.into_iter().enumerate() {
        let proposal = admit(alert, model, brief).map_err(|fault| AnswerError::Alert { place, fault })?;
        if let Some(earlier) = proposals.iter().position(|other| proposal.repeats(other, apart)) {
            let fault = AlertFault::Repeats(earlier);
            return Err(AnswerError::Alert { place, fault });
        }
        proposals.push(proposal);
    }
    let is_price = |proposal: &Proposal| proposal.alert.condition.kind().family() == Family::Price;
    if !proposals.iter().any(is_price) {
        return Err(AnswerError::Form {
            at: "alerts".to_owned(),
            fault: "have none on a price",
        });
    }
    Ok(proposals)
}

fn admit(said: SaidAlert, model: &str, brief: &Brief<'_>) -> Result<Proposal, AlertFault> {
    let kind = ConditionKind::from_name(&said.condition)
        .filter(|kind| offered(brief.subject, brief.analysis).contains(kind))
        .ok_or(AlertFault::NotOffered)?;
    let role = Role::from_name(&said.role)
        .filter(|role| roles(brief.subject.intention).contains(role))
        .ok_or(AlertFault::NoSuchRole)?;
    if side(kind)
        .zip(side_of(role))
        .is_some_and(|(is, should_be)| is != should_be)
    {
        return Err(AlertFault::Misplaced);
    }
    text(&said.rationale, MOST_RATIONALE_CHARS).map_err(AlertFault::Rationale)?;
    let threshold = said
        .threshold
        .map(|threshold| checked_threshold(kind, threshold, brief))
        .transpose()?;
    let direction = said.direction.filter(|_| kind == ConditionKind::RsiLimit);
    let draft = Draft {
        role,
        kind,
        threshold,
        parameters: Map::from_iter(direction.map(|direction| ("direction".to_owned(), json!(direction)))),
        rationale: said.rationale,
    };
    Ok(draft.admit(brief.subject, model)?)
}

/// Which side of the price a role is on, if that is settled.
const fn side_of(role: Role) -> Option<Side> {
    match role {
        Role::Breakout | Role::Target | Role::FartherTarget => Some(Side::Above),
        Role::Entry | Role::DeeperEntry | Role::Stop => Some(Side::Below),
        Role::OwnTarget | Role::Momentum | Role::TrendSign | Role::Event => None,
    }
}

/// The threshold as a request has it, if it is none that says nothing.
fn checked_threshold(kind: ConditionKind, threshold: f64, brief: &Brief<'_>) -> Result<Value, AlertFault> {
    let price = brief.subject.price.as_f64();
    let within = |least: f64, most: f64, range: &'static str| {
        let is_within = (least..=most).contains(&threshold);
        is_within.then_some(threshold).ok_or(AlertFault::Threshold(range))
    };
    let number = match kind {
        ConditionKind::PriceAbove | ConditionKind::PriceBelow => {
            let level = tick::nearest(threshold).ok_or(AlertFault::Threshold("what a price can be"))?;
            at_fair_distance(level.as_f64(), brief)?;
            level.as_f64()
        }
        ConditionKind::PriceChangeUp | ConditionKind::PriceChangeDown => {
            let sign = if kind == ConditionKind::PriceChangeUp {
                1.0
            } else {
                -1.0
            };
            let percent = within(0.0, 10_000.0, "what a price can move by")?;
            at_fair_distance(price * (1.0 + sign * percent / 100.0), brief)?;
            // Hundredths of a percent: what stands beyond them is the model's arithmetic.
            (percent * 100.0).round() / 100.0
        }
        ConditionKind::RsiLimit => within(5.0, 95.0, "the range 5 to 95, beyond which the RSI hardly goes")?,
        ConditionKind::MaTouchAbove | ConditionKind::MaTouchBelow => within(5.0, 200.0, "the range 5 to 200 sessions")?,
        ConditionKind::VolumeChange => within(20.0, 1_000.0, "the range 20 to 1000 percent")?,
        ConditionKind::EarningsAnnouncement | ConditionKind::DividendExDate => {
            within(0.0, 30.0, "the range 0 to 30 days")?
        }
        // The request's own reader says that there must be none.
        _ => threshold,
    };
    let decimal = Decimal::from_f64(number).map_err(|_| AlertFault::Threshold("what a number can be"))?;
    let value = decimal
        .as_whole()
        .map(Value::from)
        .or_else(|| Number::from_f64(number).map(Value::Number));
    value.ok_or(AlertFault::Threshold("what a number can be"))
}

/// Whether a level is neither noise nor out of reach. A level on the other side of the price is left to the gate, which
/// knows that it holds already.
fn at_fair_distance(level: f64, brief: &Brief<'_>) -> Result<(), AlertFault> {
    let (near, far) = (nearest_part(brief), farthest(brief));
    let log = (level / brief.subject.price.as_f64()).ln();
    // A level of zero or less has no logarithm: it is infinitely far.
    if log.is_nan() || log.abs() > far {
        Err(AlertFault::TooFar(far.exp()))
    } else if log.abs() < near {
        Err(AlertFault::TooNear(near))
    } else {
        Ok(())
    }
}

//! The JSON schema of an answer.
//!
//! It uses only features that every server with `strict` understands: objects that require all their members and
//! allow no others, arrays, enumerations, and a type or null. It has no ranges and lengths, because some servers
//! reject a schema with such keywords and others ignore them; the parser checks them.

use alerts::ConditionKind;
use serde_json::{Value, json};

use crate::condition_state::ConditionState;
use crate::{Analysis, AnalysisSubject, Intention, Role};

/// The conditions that a model may propose: those that [`ConditionState`] can evaluate. A range limits the threshold to useful
/// values; [`super::check`] limits prices and percent changes by the volatility.
const SUPPORTED_CONDITIONS: [(ConditionKind, Option<(f64, f64)>); 14] = [
    (ConditionKind::PriceAbove, None),
    (ConditionKind::PriceBelow, None),
    (ConditionKind::PriceChangeUp, None),
    (ConditionKind::PriceChangeDown, None),
    (ConditionKind::NewHigh, None),
    (ConditionKind::NewLow, None),
    (ConditionKind::MaCrossoverGolden, None),
    (ConditionKind::MaCrossoverDeath, None),
    (ConditionKind::MaTouchAbove, Some((5.0, 200.0))),
    (ConditionKind::MaTouchBelow, Some((5.0, 200.0))),
    (ConditionKind::RsiLimit, Some((5.0, 95.0))),
    (ConditionKind::VolumeChange, Some((20.0, 1_000.0))),
    (ConditionKind::EarningsAnnouncement, Some((0.0, 30.0))),
    (ConditionKind::DividendExDate, Some((0.0, 30.0))),
];

/// Returns the least and the largest threshold of a condition, if they are limited.
pub(super) fn threshold_range(kind: ConditionKind) -> Option<(f64, f64)> {
    SUPPORTED_CONDITIONS.iter().find(|(supported, _)| *supported == kind)?.1
}

/// The conditions in the prompt: those that the plan includes and that can be evaluated for this stock.
#[must_use]
pub fn offered_conditions(subject: &AnalysisSubject<'_>, analysis: &Analysis) -> Vec<ConditionKind> {
    use alerts::Condition;
    use alerts::condition::{Side, VolumeBaseline};
    let is_pending = |condition: Condition| ConditionState::of(&condition, subject) == ConditionState::Pending;
    let can_come = |kind: ConditionKind| match kind {
        ConditionKind::NewHigh => is_pending(Condition::NewExtreme { side: Side::Above }),
        ConditionKind::NewLow => is_pending(Condition::NewExtreme { side: Side::Below }),
        ConditionKind::MaCrossoverGolden => is_pending(Condition::MaCrossover { side: Side::Above }),
        ConditionKind::MaCrossoverDeath => is_pending(Condition::MaCrossover { side: Side::Below }),
        ConditionKind::MaTouchAbove | ConditionKind::MaTouchBelow => analysis.trend.sma_fast.is_some(),
        ConditionKind::RsiLimit => analysis.rsi.is_some(),
        ConditionKind::VolumeChange => {
            let sessions = usize::from(VolumeBaseline::Ma20.sessions());
            subject.history.sum_of_volumes(sessions).is_some_and(|sum| sum > 0)
        }
        ConditionKind::EarningsAnnouncement => analysis.events.earnings.is_some_and(|ahead| ahead.days > 0),
        ConditionKind::DividendExDate => analysis.events.ex_dividend.is_some_and(|ahead| ahead.days > 0),
        _ => true,
    };
    let allowed = SUPPORTED_CONDITIONS
        .into_iter()
        .map(|(kind, _)| kind)
        .filter(|kind| subject.plan.allows(kind.family()));
    allowed.filter(|&kind| can_come(kind)).collect()
}

/// The roles of an intention.
pub(super) const fn offered_roles(intention: Intention) -> &'static [Role] {
    match intention {
        Intention::Buy => &[
            Role::Entry,
            Role::DeeperEntry,
            Role::Breakout,
            Role::Momentum,
            Role::TrendSign,
            Role::Event,
        ],
        Intention::Sell => &[
            Role::Target,
            Role::FartherTarget,
            Role::Stop,
            Role::Momentum,
            Role::TrendSign,
            Role::Event,
        ],
    }
}

/// Returns the schema of an answer about this stock.
#[must_use]
pub fn answer_schema(subject: &AnalysisSubject<'_>, analysis: &Analysis) -> Value {
    let conditions: Vec<_> = offered_conditions(subject, analysis)
        .iter()
        .map(|kind| kind.name())
        .collect();
    let roles: Vec<_> = offered_roles(subject.intention)
        .iter()
        .map(|role| role.name())
        .collect();
    let alert = object(&json!({
        "role": {"type": "string", "enum": roles},
        "condition": {"type": "string", "enum": conditions},
        "threshold": {
            "type": ["number", "null"],
            "description": "A price, a percentage, an RSI, a number of sessions or of days, as the condition takes it; else null.",
        },
        "direction": {
            "type": ["string", "null"],
            "enum": ["above", "below", null],
            "description": "For rsi_limit: from which side the threshold is reached; else null.",
        },
        "rationale": {"type": "string", "description": "One to three plain sentences with the numbers."},
    }));
    object(&json!({
        "summary": {"type": "string", "description": "Two to four plain sentences about the stock."},
        "alerts": {"type": "array", "items": alert},
    }))
}

/// Returns the schema of an object with exactly these members.
fn object(members: &Value) -> Value {
    let names: Vec<_> = members
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys())
        .collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

//! The JSON schema of an answer.
//!
//! It keeps to what every server that takes `strict` understands: objects with all their members required and no
//! others, arrays, enumerations, and a type or null. Ranges and lengths are not in it, for some servers refuse a schema
//! with such keywords and others ignore them; they are checked on arrival.

use alerts::ConditionKind;
use serde_json::{Value, json};

use crate::standing::Standing;
use crate::{Analysis, Intention, Role, Subject};

/// The conditions that a model may propose: those that this room can judge.
const ALL: [ConditionKind; 14] = [
    ConditionKind::PriceAbove,
    ConditionKind::PriceBelow,
    ConditionKind::PriceChangeUp,
    ConditionKind::PriceChangeDown,
    ConditionKind::NewHigh,
    ConditionKind::NewLow,
    ConditionKind::MaCrossoverGolden,
    ConditionKind::MaCrossoverDeath,
    ConditionKind::MaTouchAbove,
    ConditionKind::MaTouchBelow,
    ConditionKind::RsiLimit,
    ConditionKind::VolumeChange,
    ConditionKind::EarningsAnnouncement,
    ConditionKind::DividendExDate,
];

/// The conditions that a model is offered: those that the plan has and that can be judged for this stock.
#[must_use]
pub fn offered(subject: &Subject<'_>, analysis: &Analysis) -> Vec<ConditionKind> {
    use alerts::Condition;
    use alerts::condition::{Side, VolumeBaseline};
    let is_waiting = |condition: Condition| Standing::of(&condition, subject) == Standing::Waiting;
    let can_come = |kind: ConditionKind| match kind {
        ConditionKind::NewHigh => is_waiting(Condition::NewExtreme { side: Side::Above }),
        ConditionKind::NewLow => is_waiting(Condition::NewExtreme { side: Side::Below }),
        ConditionKind::MaCrossoverGolden => is_waiting(Condition::MaCrossover { side: Side::Above }),
        ConditionKind::MaCrossoverDeath => is_waiting(Condition::MaCrossover { side: Side::Below }),
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
    let allowed = ALL.into_iter().filter(|kind| subject.plan.allows(kind.family()));
    allowed.filter(|&kind| can_come(kind)).collect()
}

/// The roles that an alert can have for an intention.
pub(super) const fn roles(intention: Intention) -> &'static [Role] {
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

/// The schema that an answer about this stock has to have.
#[must_use]
pub fn answer_schema(subject: &Subject<'_>, analysis: &Analysis) -> Value {
    let conditions: Vec<_> = offered(subject, analysis).iter().map(|kind| kind.name()).collect();
    let roles: Vec<_> = roles(subject.intention).iter().map(|role| role.name()).collect();
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

/// An object with exactly these members.
fn object(members: &Value) -> Value {
    let names: Vec<_> = members
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys())
        .collect();
    json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
}

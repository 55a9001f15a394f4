//! The condition of a text as the members of a create request.

use market::Symbol;
use serde_json::{Map, Value, json};

use crate::condition::{Condition, InsiderDirection, VolumeBaseline};
use crate::expression::Expression;
use crate::expression::conversion::to_condition;
use crate::json::number;
use crate::request::{ParseContext, parse_create};

/// Returns the members `symbol`, `condition`, `threshold` and `parameters`: of one of the 23 conditions if it means exactly the same,
/// otherwise of an expression.
pub(super) fn of_expression(
    symbol: Symbol,
    expression: &Expression,
    within: Option<&str>,
    context: &ParseContext<'_>,
) -> Map<String, Value> {
    let named = within.is_none().then(|| to_condition(expression)).flatten();
    if let Some(body) = named.and_then(|condition| of_condition(symbol, &condition, context)) {
        return body;
    }
    let mut parameters = json!({"when": expression.to_string()});
    if let Some(within) = within {
        parameters["within"] = within.into();
    }
    members([
        ("symbol", Some(symbol.as_str().into())),
        ("condition", Some("expression".into())),
        ("parameters", Some(parameters)),
    ])
}

/// Returns the members of a condition; `None` unless they are read as the same condition.
fn of_condition(symbol: Symbol, condition: &Condition, context: &ParseContext<'_>) -> Option<Map<String, Value>> {
    let parameters = match *condition {
        Condition::VolumeChange { baseline, .. } => Some(json!({"volumeBaseline": match baseline {
            VolumeBaseline::Ma20 => "ma20",
            VolumeBaseline::Ma50 => "ma50",
            VolumeBaseline::Ma100 => "ma100",
        }})),
        Condition::InsiderTransactions(criteria) => Some(json!({
            "direction": match criteria.direction {
                InsiderDirection::Buy => "buy",
                InsiderDirection::Sell => "sell",
                InsiderDirection::Both => "both",
            },
            "windowDays": criteria.window_days,
        })),
        _ => None,
    };
    let threshold = condition.threshold().and_then(number).map(Value::Number);
    let body = members([
        ("symbol", Some(symbol.as_str().into())),
        ("condition", Some(condition.kind().name().into())),
        ("threshold", threshold),
        ("parameters", parameters),
    ]);
    let read = parse_create(&Value::Object(body.clone()), context).ok()?;
    (read.condition == *condition).then_some(body)
}

fn members<const N: usize>(members: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let given = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}

//! The condition of a text as the members of a create request.

use market::Symbol;
use serde_json::{Map, Value, json};

use super::write::instant;
use crate::condition::{
    BuzzDirection, Condition, DeliveryTime, InsiderCriteria, InsiderDirection, RsiDirection, VolumeBaseline,
};
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

/// Returns the members of a condition with its stock; `None` unless they are read as the same condition.
fn of_condition(symbol: Symbol, condition: &Condition, context: &ParseContext<'_>) -> Option<Map<String, Value>> {
    let mut body = members([("symbol", Some(symbol.as_str().into()))]);
    body.extend(members_of(condition));
    let read = parse_create(&Value::Object(body.clone()), context).ok()?;
    (read.condition == *condition).then_some(body)
}

/// Returns the members `condition`, `threshold` and `parameters` of a condition that is no expression, without those that are defaults.
pub(super) fn members_of(condition: &Condition) -> Map<String, Value> {
    let parameters = match *condition {
        Condition::Rsi { direction, .. } => Some(json!({"direction": match direction {
            RsiDirection::Above => "above",
            RsiDirection::Below => "below",
            RsiDirection::Both => "both",
        }})),
        Condition::VolumeChange { baseline, .. } => Some(json!({"volumeBaseline": match baseline {
            VolumeBaseline::Ma20 => "ma20",
            VolumeBaseline::Ma50 => "ma50",
            VolumeBaseline::Ma100 => "ma100",
        }})),
        Condition::SocialBuzz(direction) => Some(json!({"direction": match direction {
            BuzzDirection::Rising => "rising",
            BuzzDirection::Falling => "falling",
        }})),
        Condition::InsiderTransactions(criteria) => Some(Value::Object(insider_parameters(&criteria))),
        Condition::Reminder { at } => Some(json!({"date": instant(at)})),
        Condition::DailyReminder(DeliveryTime::AfterMarketClose) => Some(json!({"deliveryTime": "after_market_close"})),
        Condition::DividendPayment { shares } => shares.and_then(number).map(|shares| json!({"shares": shares})),
        _ => None,
    };
    members([
        ("condition", Some(condition.kind().name().into())),
        ("threshold", condition.threshold().and_then(number).map(Value::Number)),
        ("parameters", parameters),
    ])
}

fn insider_parameters(criteria: &InsiderCriteria) -> Map<String, Value> {
    let direction = match criteria.direction {
        InsiderDirection::Buy => "buy",
        InsiderDirection::Sell => "sell",
        InsiderDirection::Both => "both",
    };
    let least = criteria.min_executives;
    members([
        ("direction", Some(direction.into())),
        ("minExecutives", (least != 1).then(|| least.into())),
        ("windowDays", Some(criteria.window_days.into())),
        (
            "openMarketOnly",
            (!criteria.open_market_only).then_some(Value::Bool(false)),
        ),
    ])
}

fn members<const N: usize>(members: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let given = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}

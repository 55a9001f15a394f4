//! A valid example body for each condition.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use serde_json::{Value, json};

/// Returns a valid body for a condition.
pub(super) fn example(kind: ConditionKind) -> Value {
    let (threshold, parameters) = match kind {
        Kind::PriceAbove => (json!(200), Value::Null),
        Kind::PriceBelow => (json!(150.5), Value::Null),
        Kind::PriceChangeUp | Kind::PriceChangeDown => (json!(5), Value::Null),
        Kind::NewHigh | Kind::NewLow | Kind::MaCrossoverGolden | Kind::MaCrossoverDeath => (Value::Null, Value::Null),
        Kind::MaTouchAbove | Kind::MaTouchBelow => (json!(50), Value::Null),
        Kind::RsiLimit => (json!(70), json!({"direction": "above"})),
        Kind::VolumeChange => (json!(50), json!({"volumeBaseline": "ma20"})),
        Kind::PeRatioBelow | Kind::ForwardPeBelow => (json!(15), Value::Null),
        Kind::PeRatioAbove | Kind::ForwardPeAbove => (json!(40), Value::Null),
        Kind::SocialBuzz => (Value::Null, json!({"direction": "rising"})),
        Kind::InsiderTransactions => (
            json!(1_000_000),
            json!({"direction": "buy", "minExecutives": 2, "windowDays": 14}),
        ),
        Kind::Reminder => (Value::Null, json!({"date": "2030-01-31"})),
        Kind::DailyReminder => (Value::Null, json!({"deliveryTime": "market_open"})),
        Kind::EarningsAnnouncement => (json!(3), Value::Null),
        Kind::DividendExDate => (json!(2), Value::Null),
        Kind::DividendPayment => (Value::Null, json!({"shares": 25})),
    };
    let mut body = json!({"symbol": "AAPL", "condition": kind.name()});
    for (name, value) in [("threshold", threshold), ("parameters", parameters)] {
        if !value.is_null() {
            body[name] = value;
        }
    }
    body
}

/// Adds an example for each condition to the operation that creates alerts.
pub(in crate::document) fn add_examples(operation: &mut Value) {
    let Some(content) = operation.pointer_mut("/requestBody/content/application~1json") else {
        return;
    };
    if content["schema"]["$ref"] != "#/components/schemas/CreateAlert" {
        return;
    }
    let examples = ConditionKind::ALL.iter().map(|kind| {
        let example = json!({"summary": kind.name(), "value": example(*kind)});
        (kind.name().to_owned(), example)
    });
    content["examples"] = Value::Object(examples.collect());
}

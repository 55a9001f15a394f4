//! The schemas of the requests, from the descriptions of the conditions.

use alerts::ConditionKind;
use alerts::condition::{MAX_NOTE_CHARACTERS, NumberRange, ParameterRule, ParameterSpec, RequestSpec, ThresholdNeed};
use alerts::expression::MAX_CHARACTERS;
use market::Decimal;
use serde_json::{Map, Value, json};

use super::{labels, options, routing};
use crate::document::names::SYMBOL_PATTERN;

/// A date from 1900 to 2999. A pattern cannot check that it is not in the past.
const DATE: &str = concat!(
    "(19|2[0-9])[0-9]{2}-",
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    "|(19|2[0-9])(0[48]|[2468][048]|[13579][26])-02-29|2[048]00-02-29",
);
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";

/// Returns the descriptions of requests, each with its conditions.
pub(super) fn requests() -> Vec<(&'static RequestSpec, Vec<ConditionKind>)> {
    let mut requests: Vec<(&RequestSpec, Vec<ConditionKind>)> = Vec::new();
    for &kind in ConditionKind::ALL {
        let request = kind.spec().request;
        match requests.iter_mut().find(|(other, _)| other.name == request.name) {
            Some((_, kinds)) => kinds.push(kind),
            None => requests.push((request, vec![kind])),
        }
    }
    // The reminder's alternatives are the hardest to read.
    requests.sort_by_key(|(_, kinds)| kinds.contains(&ConditionKind::Reminder));
    requests
}

/// Returns the schema of a request for one of several conditions.
pub(super) fn request_schema(request: &RequestSpec, kinds: &[ConditionKind]) -> Value {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let has_scope = kinds != [ConditionKind::Reminder];
    let mut required = if has_scope {
        vec!["condition"]
    } else {
        vec!["symbol", "condition"]
    };
    if request
        .threshold
        .is_some_and(|threshold| threshold.need == ThresholdNeed::Required)
    {
        required.push("threshold");
    }
    let parameters = parameters_schema(request);
    if parameters["required"].is_array() {
        required.push("parameters");
    }
    let mut schema = json!({
        "type": "object",
        "title": request.name,
        "description": request.description,
        "properties": {
            "symbol": {"type": or_null("string", !has_scope), "pattern": SYMBOL_PATTERN, "description": "The ticker symbol, in upper or lower case"},
            "condition": {"type": "string", "enum": names},
            "threshold": threshold_schema(request),
            "notification": {
                "type": ["string", "null"], "enum": ["email", "sms", null],
                "description": "The notification channel, in addition to webhooks; default `email`. `sms` goes to the account's verified number",
            },
            "parameters": parameters,
            "note": labels::note(),
            "tags": labels::tags(),
            "managed_by": labels::managed_by(),
            "options": options::reference(),
            "email": {
                "type": ["string", "null"], "format": "email",
                "description": "The email address of a guest. Accounts are notified at their own address",
            },
        },
        "required": required,
    });
    routing::add_to(&mut schema["properties"]);
    if has_scope {
        schema["properties"]["scope"] = scope_schema();
        schema["anyOf"] = json!([
            {"title": "On a stock", "required": ["symbol"], "properties": {"symbol": {"type": "string"}, "scope": {"type": "null"}}},
            {"title": "Over many stocks", "required": ["scope"], "properties": {"symbol": {"type": "null"}, "scope": {"type": "object"}}},
        ]);
    } else {
        let none = json!({"type": "null"});
        let no_date = json!({"date": none, "reminder_date": none, "reminder_time": none});
        schema["anyOf"] = json!([
            {"title": "With a date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["date"], "properties": {"date": {"type": "string"}, "reminder_date": none, "reminder_time": none}}}},
            {"title": "With reminder_date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["reminder_date"], "properties": {"reminder_date": {"type": "string"}, "date": none}}}},
            {"title": "Without a date", "required": ["threshold"], "properties": {"threshold": {"type": "integer", "minimum": 1, "maximum": 36_500}, "parameters": {"properties": no_date}}},
        ]);
    }
    schema
}

/// Returns the schema of the scope of an alert over many stocks.
pub(super) fn scope_schema() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "The stocks of an alert over many stocks: `symbols`, or the `watchlist` that it follows. `symbol` is then omitted",
        "properties": {
            "symbols": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": SYMBOL_PATTERN}, "description": "The stocks, at most 500 different ones"},
            "watchlist": {"type": "string", "enum": ["all", "buy", "sell"], "description": "The stocks of the watchlist, as it changes"},
        },
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
        "example": {"symbols": ["AAPL", "MSFT"]},
    })
}

/// Returns the schema of a threshold.
pub(super) fn threshold_schema(request: &RequestSpec) -> Value {
    let Some(threshold) = request.threshold else {
        return json!({"type": "null", "description": "Must be omitted"});
    };
    match threshold.need {
        ThresholdNeed::Required => number_schema(threshold.description, &threshold.range, true),
        ThresholdNeed::Optional => number_schema(threshold.description, &threshold.range, false),
        ThresholdNeed::WithoutDate => json!({"description": threshold.description}),
    }
}

fn number_schema(description: &str, range: &NumberRange, is_required: bool) -> Value {
    let kind = if range.is_whole { "integer" } else { "number" };
    let minimum = if range.is_whole {
        json!(range.minimum())
    } else {
        json!(Decimal::from_micros(range.min_micros).as_f64())
    };
    json!({
        "type": or_null(kind, is_required),
        "description": description,
        "minimum": minimum,
        "maximum": range.maximum(),
    })
}

fn or_null(kind: &str, is_required: bool) -> Value {
    if is_required {
        json!(kind)
    } else {
        json!([kind, "null"])
    }
}

/// Returns the schema of a parameter.
pub(super) fn parameter_schema(parameter: &ParameterSpec) -> Value {
    let string = or_null("string", parameter.is_required);
    let description = parameter.description;
    let pattern = |pattern: String| json!({"type": string, "pattern": pattern, "description": description});
    match &parameter.rule {
        ParameterRule::Word(words, aliases) => {
            let aliases = aliases.iter().map(|(alias, _)| alias);
            let words = words.iter().chain(aliases).map(|word| json!(word));
            let null = (!parameter.is_required).then_some(Value::Null);
            let words: Vec<Value> = words.chain(null).collect();
            json!({"type": string, "description": description, "enum": words})
        }
        ParameterRule::Number(range) => number_schema(description, range, parameter.is_required),
        ParameterRule::Flag => json!({"type": or_null("boolean", parameter.is_required), "description": description}),
        ParameterRule::Note => json!({"type": string, "maxLength": MAX_NOTE_CHARACTERS, "description": description}),
        ParameterRule::Date => pattern(format!("^({DATE})$")),
        ParameterRule::DateTime => pattern(format!(
            "^({DATE})(T{TIME}:[0-5][0-9](\\.[0-9]{{1,9}})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$"
        )),
        ParameterRule::Time => pattern(format!("^{TIME}$")),
        ParameterRule::Expression => {
            json!({"type": string, "minLength": 1, "maxLength": MAX_CHARACTERS, "description": description})
        }
        ParameterRule::Within => pattern("^(session|[0-9]{1,5}[mhd])$".to_owned()),
    }
}

fn parameters_schema(request: &RequestSpec) -> Value {
    let own = request.parameters.iter();
    let required: Vec<_> = own.clone().filter(|own| own.is_required).map(|own| own.name).collect();
    let mut schema = json!({
        "type": or_null("object", !required.is_empty()),
        "description": "Parameters of the condition, and custom data to store with the alert; at most 16 KiB",
        "additionalProperties": {"$ref": "#/components/schemas/Mark"},
        "propertyNames": {"pattern": "^[^\\u0000]*$"},
    });
    let properties: Map<_, _> = own.map(|own| (own.name.to_owned(), parameter_schema(own))).collect();
    if !properties.is_empty() {
        schema["properties"] = properties.into();
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

//! The bodies that make and change alerts: a schema for each kind of condition, and an example for each condition.
//!
//! The service reads them by itself (`alerts::request`), so nothing here is generated. The tests send what the schemas
//! allow, and what lies just beyond, through that reader.

use alerts::ConditionKind;
use alerts::ConditionKind as Kind;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// What an alert is to wait for.
#[derive(Debug, ToSchema)]
pub struct CreateAlert {}

/// What is to change about an alert; what is left out stays.
#[derive(Debug, ToSchema)]
pub struct UpdateAlert {}

/// The largest number that is kept exactly, to six decimals.
const MOST: i64 = 9_223_372_036_854;
/// The smallest number above zero that is kept.
const LEAST: f64 = 0.000_001;

/// A date from 2027 on: what lies before is past, or will soon be.
const DATE: &str = concat!(
    "(202[7-9]|20[3-9][0-9]|2[1-9][0-9]{2})-",
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    "|2[0-9](0[48]|[2468][048]|[13579][26])-02-29",
);
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]";

/// Conditions whose requests look alike.
struct Shape {
    name: &'static str,
    description: &'static str,
    kinds: &'static [ConditionKind],
    threshold: Threshold,
    /// The condition's own parameters.
    parameters: Vec<(&'static str, Value)>,
    /// Those of them that must be there.
    required: &'static [&'static str],
}

enum Threshold {
    Omitted,
    Optional(Value),
    Required(Value),
}

fn number(description: &str, least: f64, most: i64) -> Value {
    json!({"type": "number", "description": description, "minimum": least, "maximum": most})
}

fn whole(description: &str, least: i64, most: i64) -> Value {
    json!({"type": "integer", "description": description, "minimum": least, "maximum": most})
}

fn word(description: &str, words: &[&str]) -> Value {
    let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    words.push(Value::Null);
    json!({"type": ["string", "null"], "description": description, "enum": words})
}

fn optional(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

fn plain(
    name: &'static str,
    description: &'static str,
    kinds: &'static [ConditionKind],
    threshold: Threshold,
) -> Shape {
    Shape {
        name,
        description,
        kinds,
        threshold,
        parameters: Vec::new(),
        required: &[],
    }
}

fn shapes() -> Vec<Shape> {
    vec![
        plain(
            "PriceAlert",
            "The price is at or above (at or below) a price.",
            &[Kind::PriceAbove, Kind::PriceBelow],
            Threshold::Required(number("A price in US dollars", LEAST, 1_000_000_000)),
        ),
        plain(
            "PriceRiseAlert",
            "The price is a percentage above the alert's `initial_price`.",
            &[Kind::PriceChangeUp],
            Threshold::Required(number("A percentage", LEAST, MOST)),
        ),
        plain(
            "PriceFallAlert",
            "The price is a percentage below the alert's `initial_price`.",
            &[Kind::PriceChangeDown],
            Threshold::Required(number("A percentage", LEAST, 100)),
        ),
        plain(
            "ExtremeAlert",
            "The price is above the highest (below the lowest) of 52 weeks; or the 50-day average crosses the 200-day average.",
            &[
                Kind::NewHigh,
                Kind::NewLow,
                Kind::MaCrossoverGolden,
                Kind::MaCrossoverDeath,
            ],
            Threshold::Omitted,
        ),
        plain(
            "AverageTouchAlert",
            "The price comes to its moving average from below (from above).",
            &[Kind::MaTouchAbove, Kind::MaTouchBelow],
            Threshold::Required(whole("The average's sessions", 2, 400)),
        ),
        Shape {
            name: "RsiAlert",
            description: "Wilder's RSI(14) is at or beyond a threshold.",
            kinds: &[Kind::RsiLimit],
            threshold: Threshold::Required(number("An RSI", 0.0, 100)),
            parameters: vec![(
                "direction",
                word(
                    "To the threshold from which side; `both`: to whichever side the RSI is not on now. Left out: `above` for a threshold of 50 or more, else `below`. `up` and `down` are taken for `above` and `below`",
                    &["above", "below", "both", "up", "down"],
                ),
            )],
            required: &[],
        },
        Shape {
            name: "VolumeAlert",
            description: "The session's volume so far is a percentage above the average of completed sessions.",
            kinds: &[Kind::VolumeChange],
            threshold: Threshold::Required(number("A percentage", LEAST, MOST)),
            parameters: vec![(
                "volumeBaseline",
                word(
                    "The average of 20, 50 or 100 sessions; `ma20` if it is left out",
                    &["ma20", "ma50", "ma100"],
                ),
            )],
            required: &[],
        },
        plain(
            "RatioAlert",
            "Price ÷ earnings per share, trailing or forward, is at or below (at or above) a ratio.",
            &[
                Kind::PeRatioBelow,
                Kind::PeRatioAbove,
                Kind::ForwardPeBelow,
                Kind::ForwardPeAbove,
            ],
            Threshold::Required(number("A ratio", LEAST, MOST)),
        ),
        Shape {
            name: "BuzzAlert",
            description: "People begin to talk far more, or far less, about the stock than they did.",
            kinds: &[Kind::SocialBuzz],
            threshold: Threshold::Omitted,
            parameters: vec![(
                "direction",
                json!({"type": "string", "description": "Which way", "enum": ["rising", "falling"]}),
            )],
            required: &["direction"],
        },
        insiders(),
        Shape {
            name: "DailyReminderAlert",
            description: "Every trading day; the alert stays active.",
            kinds: &[Kind::DailyReminder],
            threshold: Threshold::Omitted,
            parameters: vec![(
                "deliveryTime",
                word(
                    "At the open, or 15 minutes after the close; `market_open` if it is left out. Also taken as `delivery_time`",
                    &["market_open", "after_market_close"],
                ),
            )],
            required: &[],
        },
        plain(
            "EarningsAlert",
            "The next earnings date is at most so many calendar days ahead.",
            &[Kind::EarningsAnnouncement],
            Threshold::Required(whole("Days", 0, 365)),
        ),
        plain(
            "ExDividendAlert",
            "The next ex-dividend date is at most so many calendar days ahead.",
            &[Kind::DividendExDate],
            Threshold::Optional(whole("Days; 1 if it is left out", 0, 365)),
        ),
        Shape {
            name: "DividendPaymentAlert",
            description: "A dividend is paid today.",
            kinds: &[Kind::DividendPayment],
            threshold: Threshold::Omitted,
            parameters: vec![(
                "shares",
                optional(number(
                    "How many you have, for the amount in the notification",
                    LEAST,
                    MOST,
                )),
            )],
            required: &[],
        },
        Shape {
            name: "ReminderAlert",
            description: "Once, on a date at the market's open (on a closed day at 09:30 in New York), or at an instant.",
            kinds: &[Kind::Reminder],
            threshold: Threshold::Optional(json!({
                "type": "number",
                "description": "Ignored: the date counts. Without any date a whole number N from 1 to 36500 means the open N calendar days ahead",
            })),
            parameters: reminder_parameters(),
            required: &[],
        },
    ]
}

fn insiders() -> Shape {
    Shape {
        name: "InsiderAlert",
        description: "Insiders bought or sold for more than so much, by the filings of the last days.",
        kinds: &[Kind::InsiderTransactions],
        threshold: Threshold::Required(number("US dollars, all trades together", LEAST, MOST)),
        parameters: vec![
            (
                "direction",
                word("Which trades; `both` if it is left out", &["buy", "sell", "both"]),
            ),
            (
                "minExecutives",
                optional(whole("By at least so many insiders; 1 if it is left out", 1, 100)),
            ),
            (
                "windowDays",
                optional(whole("Filed within so many days; 7 if it is left out", 1, 365)),
            ),
            (
                "openMarketOnly",
                json!({"type": ["boolean", "null"], "description": "Only purchases and sales on the open market; true if it is left out"}),
            ),
        ],
        required: &[],
    }
}

fn reminder_parameters() -> Vec<(&'static str, Value)> {
    let moment = format!("^({DATE})(T{TIME}:[0-5][0-9](\\.[0-9]{{1,6}})?(Z|[+-](0[0-9]|1[0-2]):[0-5][0-9])?)?$");
    vec![
        (
            "date",
            json!({"type": "string", "pattern": moment, "description": "A date, or a date-time (without an offset in the account's time zone), which must not be past"}),
        ),
        (
            "reminder_date",
            json!({"type": "string", "pattern": format!("^({DATE})$"), "description": "A date, which must not be past; instead of `date`"}),
        ),
        (
            "reminder_time",
            json!({"type": ["string", "null"], "pattern": format!("^{TIME}$"), "description": "A time of that day in the account's time zone, as HH:MM"}),
        ),
    ]
}

impl Shape {
    fn schema(&self) -> Value {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let mut properties = json!({
            "symbol": {"type": "string", "pattern": "^[A-Za-z0-9.-]{1,10}$", "description": "The stock, in any case"},
            "condition": {"type": "string", "enum": names},
        });
        let mut required = vec!["symbol", "condition"];
        properties["threshold"] = match &self.threshold {
            Threshold::Omitted => json!({"type": "null", "description": "Must be omitted"}),
            Threshold::Optional(schema) => optional(schema.clone()),
            Threshold::Required(schema) => {
                required.push("threshold");
                schema.clone()
            }
        };
        properties["notification"] = json!({
            "type": ["string", "null"], "enum": ["email", "sms", null],
            "description": "How to tell you, beside the webhooks; `email` if it is left out. `sms` goes to the account's verified number",
        });
        properties["parameters"] = self.parameters_schema();
        if !self.required.is_empty() {
            required.push("parameters");
        }
        properties["email"] = json!({
            "type": ["string", "null"], "format": "email",
            "description": "Where to tell a guest; an account is told at its own address",
        });
        let mut schema = json!({
            "type": "object",
            "title": self.name,
            "description": self.description,
            "properties": properties,
            "required": required,
        });
        if self.kinds == [Kind::Reminder] {
            let none = json!({"date": null_only(), "reminder_date": null_only(), "reminder_time": null_only()});
            schema["anyOf"] = json!([
                {"title": "With a date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["date"], "properties": {"date": {"type": "string"}, "reminder_date": null_only(), "reminder_time": null_only()}}}},
                {"title": "With reminder_date", "required": ["parameters"], "properties": {"parameters": {"type": "object", "required": ["reminder_date"], "properties": {"reminder_date": {"type": "string"}, "date": null_only()}}}},
                {"title": "Without a date", "required": ["threshold"], "properties": {"threshold": {"type": "integer", "minimum": 1, "maximum": 36_500}, "parameters": {"properties": none}}},
            ]);
            for name in ["date", "reminder_date"] {
                let own = &mut schema["properties"]["parameters"]["properties"][name];
                *own = optional(own.clone());
            }
        }
        schema
    }

    fn parameters_schema(&self) -> Value {
        let own: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
            .collect();
        let is_needed = !self.required.is_empty();
        let mut schema = json!({
            "type": if is_needed { json!("object") } else { json!(["object", "null"]) },
            "description": "What the condition takes beside its threshold, and whatever marks of your own you want to keep with the alert; at most 16 KiB",
            "additionalProperties": {"$ref": "#/components/schemas/Mark"},
            "propertyNames": {"pattern": "^[^\\u0000]*$"},
        });
        if !own.is_empty() {
            schema["properties"] = Value::Object(own);
        }
        if is_needed {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

fn null_only() -> Value {
    json!({"type": "null"})
}

/// Describes the bodies.
pub(super) fn describe(schemas: &mut Value) {
    let shapes = shapes();
    for shape in &shapes {
        schemas[shape.name] = shape.schema();
    }
    let refs: Vec<Value> = shapes
        .iter()
        .map(|shape| json!({"$ref": format!("#/components/schemas/{}", shape.name)}))
        .collect();
    schemas["CreateAlert"] = json!({
        "description": "What an alert is to wait for. Which form it takes is decided by `condition`.",
        "oneOf": refs,
    });
    schemas["Mark"] = json!({
        "description": "Anything; nested at most 8 levels deep, and without the character U+0000",
        "anyOf": [
            {"type": ["boolean", "number", "null"]},
            {"type": "string", "pattern": "^[^\\u0000]*$"},
            {"type": "array", "items": {"$ref": "#/components/schemas/Mark"}},
            {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Mark"}, "propertyNames": {"pattern": "^[^\\u0000]*$"}},
        ],
    });
    schemas["UpdateAlert"] = json!({
        "type": "object",
        "description": "What is to change. The resulting alert must be one that could be created: see CreateAlert for what each condition takes.",
        "properties": {
            "condition": {"anyOf": [{"$ref": "#/components/schemas/ConditionName"}, {"type": "null"}], "description": "Null is as good as leaving it out"},
            "threshold": {"type": ["number", "null"], "description": "Null takes it away"},
            "notification": {"anyOf": [{"$ref": "#/components/schemas/ChannelName"}, {"type": "null"}], "description": "Null is as good as leaving it out"},
            "parameters": {
                "type": ["object", "null"],
                "description": "Replaces all of them; null takes them away",
                "additionalProperties": {"$ref": "#/components/schemas/Mark"},
                "propertyNames": {"pattern": "^[^\\u0000]*$"},
            },
        },
        "examples": [{"notification": "email"}],
    });
}

/// A sound body for a condition.
fn example(kind: ConditionKind) -> Value {
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

/// Gives the operation that makes alerts an example for each condition.
pub(super) fn exemplify(operation: &mut Value) {
    let content = &mut operation["requestBody"]["content"]["application/json"];
    if content["schema"]["$ref"] != "#/components/schemas/CreateAlert" {
        return;
    }
    let examples = ConditionKind::ALL.iter().map(|kind| {
        let example = json!({"summary": kind.name(), "value": example(*kind)});
        (kind.name().to_owned(), example)
    });
    content["examples"] = Value::Object(examples.collect());
}

#[cfg(test)]
mod tests {
    use alerts::request::{Context, RequestError, parse_create};
    use jiff::tz::TimeZone;
    use market::Calendar;

    use super::*;

    fn read(body: &Value) -> Result<alerts::NewAlert, RequestError> {
        let context = Context {
            now: "2026-12-01T15:00:00Z".parse().unwrap(),
            time_zone: &TimeZone::UTC,
            calendar: &Calendar::nyse(),
        };
        parse_create(body, &context)
    }

    #[test]
    fn every_condition_has_one_shape_and_an_example_that_is_taken() {
        let shapes = shapes();
        for kind in ConditionKind::ALL {
            let found = shapes.iter().filter(|shape| shape.kinds.contains(kind)).count();
            assert_eq!(found, 1, "{kind}");
            let alert = read(&example(*kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(alert.condition.kind(), *kind);
        }
    }

    /// The values at both ends of what a schema allows, and those just beyond.
    fn ends(schema: &Value) -> (Vec<Value>, Vec<Value>) {
        let step = if schema["type"].to_string().contains("integer") {
            1.0
        } else {
            LEAST
        };
        let (least, most) = (&schema["minimum"], &schema["maximum"]);
        let below = least.as_f64().map(|least| json!(least - step));
        let beyond = most.as_f64().map(|most| json!(most + step.max(most / 1e12)));
        let inside = [least, most].into_iter().filter(|end| !end.is_null()).cloned();
        (inside.collect(), below.into_iter().chain(beyond).collect())
    }

    fn check(kind: ConditionKind, place: &[&str], values: &[Value], is_taken: bool) {
        for value in values {
            let mut body = example(kind);
            let mut member = &mut body;
            for name in place {
                member = &mut member[*name];
            }
            *member = value.clone();
            assert_eq!(read(&body).is_ok(), is_taken, "{body}");
        }
    }

    #[test]
    fn thresholds_are_taken_to_both_ends_of_their_schema_and_no_further() {
        for shape in shapes() {
            for kind in shape.kinds.iter().filter(|kind| **kind != Kind::Reminder) {
                let schema = match &shape.threshold {
                    Threshold::Omitted => {
                        check(*kind, &["threshold"], &[Value::Null], true);
                        check(*kind, &["threshold"], &[json!(1)], false);
                        continue;
                    }
                    Threshold::Optional(schema) => {
                        check(*kind, &["threshold"], &[Value::Null], true);
                        schema
                    }
                    Threshold::Required(schema) => {
                        check(*kind, &["threshold"], &[Value::Null], false);
                        schema
                    }
                };
                let (inside, outside) = ends(schema);
                assert_eq!((inside.len(), outside.len()), (2, 2), "{kind}");
                check(*kind, &["threshold"], &inside, true);
                check(*kind, &["threshold"], &outside, false);
            }
        }
    }

    #[test]
    fn parameters_are_taken_as_their_schema_says() {
        for shape in shapes() {
            for kind in shape.kinds.iter().filter(|kind| **kind != Kind::Reminder) {
                for (name, schema) in &shape.parameters {
                    let place = ["parameters", *name];
                    let words = schema["enum"].as_array().cloned().unwrap_or_default();
                    check(*kind, &place, &words, true);
                    let (inside, outside) = ends(schema);
                    check(*kind, &place, &inside, true);
                    check(*kind, &place, &outside, false);
                    check(*kind, &place, &[json!({}), json!("nonsense")], false);
                    let may_be_left_out = !shape.required.contains(name);
                    check(*kind, &place, &[Value::Null], may_be_left_out);
                }
            }
        }
    }

    #[test]
    fn reminders_are_taken_in_each_of_their_forms() {
        let of = |threshold: Value, parameters: Value| {
            read(&json!({"symbol": "AAPL", "condition": "reminder", "threshold": threshold, "parameters": parameters}))
        };
        for (threshold, parameters, is_taken) in [
            (Value::Null, json!({"date": "2027-01-01"}), true),
            (json!(-5.5), json!({"date": "2028-02-29T09:30:00-05:00"}), true),
            (Value::Null, json!({"date": "2999-12-31T23:59:59.999999"}), true),
            (
                Value::Null,
                json!({"reminder_date": "2027-01-01", "reminder_time": "09:30"}),
                true,
            ),
            (
                Value::Null,
                json!({"reminder_date": "2027-01-01", "reminder_time": null}),
                true,
            ),
            (json!(1), Value::Null, true),
            (json!(36_500), json!({"date": null}), true),
            (json!(36_501), Value::Null, false),
            (Value::Null, Value::Null, false),
            (Value::Null, json!({"date": "2026-11-30"}), false),
            (Value::Null, json!({"date": "2027-02-29"}), false),
            (Value::Null, json!({"reminder_time": "09:30"}), false),
        ] {
            assert_eq!(
                of(threshold.clone(), parameters.clone()).is_ok(),
                is_taken,
                "{threshold} {parameters}"
            );
        }
    }
}

//! Alert conditions for agents: a flat schema, because many agents accept no alternatives at the root of a schema, and a
//! text about each condition's parameters.

use alerts::ConditionKind as Kind;
use serde_json::{Map, Value, json};

use super::examples::example;
use super::shapes::{MAX_NUMBER, MIN_POSITIVE_NUMBER, RequestShape, ThresholdRule, shapes};

/// Returns one line per condition: when it fires, its threshold and parameters, and an example.
pub(crate) fn conditions() -> String {
    let shapes = shapes();
    let lines = shapes
        .iter()
        .flat_map(|shape| shape.kinds.iter().map(move |kind| line(shape, *kind)));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(shape: &RequestShape, kind: Kind) -> String {
    let threshold = match &shape.threshold {
        ThresholdRule::Omitted => "no threshold (leave it out)".to_owned(),
        ThresholdRule::Ignored(schema) | ThresholdRule::Optional(schema) => {
            format!("threshold optional: {}", range(schema))
        }
        ThresholdRule::Required(schema) => format!("threshold required: {}", range(schema)),
    };
    let parameters: Vec<String> = shape
        .parameters
        .iter()
        .map(|(name, schema)| {
            let need = if shape.required.contains(name) {
                "required"
            } else {
                "optional"
            };
            format!("parameters.{name} {need}: {}", range(schema))
        })
        .collect();
    let mut parts = vec![meaning(kind).to_owned(), threshold];
    parts.extend(parameters);
    format!("- {}: {}. Example: {}", kind.name(), parts.join("; "), example(kind))
}

/// Returns when a condition fires.
const fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::PriceAbove => "the price is at or above the threshold",
        Kind::PriceBelow => "the price is at or below the threshold",
        Kind::PriceChangeUp => "the price is the threshold's percentage above the price at creation",
        Kind::PriceChangeDown => "the price is the threshold's percentage below the price at creation",
        Kind::NewHigh => "the price is above the 52-week high",
        Kind::NewLow => "the price is below the 52-week low",
        Kind::MaCrossoverGolden => "the 50-day average crosses the 200-day average upwards",
        Kind::MaCrossoverDeath => "the 50-day average crosses the 200-day average downwards",
        Kind::MaTouchAbove => "the price reaches its moving average from below",
        Kind::MaTouchBelow => "the price reaches its moving average from above",
        Kind::RsiLimit => "Wilder's RSI(14) reaches the threshold",
        Kind::VolumeChange => "the session's volume is the threshold's percentage above its average",
        Kind::PeRatioBelow => "price / trailing earnings per share is at or below the threshold",
        Kind::PeRatioAbove => "price / trailing earnings per share is at or above the threshold",
        Kind::ForwardPeBelow => "price / forward earnings per share is at or below the threshold",
        Kind::ForwardPeAbove => "price / forward earnings per share is at or above the threshold",
        Kind::SocialBuzz => "mentions of the stock rise or fall strongly",
        Kind::InsiderTransactions => "insiders bought or sold for more than the threshold, according to recent filings",
        Kind::Reminder => "a date, once",
        Kind::DailyReminder => "every trading day; the alert stays active",
        Kind::EarningsAnnouncement => "the next earnings date is at most the threshold's days ahead",
        Kind::DividendExDate => "the next ex-dividend date is at most the threshold's days ahead",
        Kind::DividendPayment => "a dividend is paid today",
    }
}

/// Returns the allowed values of a schema as text.
fn range(schema: &Value) -> String {
    let mut text = schema["description"].as_str().unwrap_or_default().to_owned();
    if let Some(words) = words(schema) {
        text.push_str(&format!(" ({})", words.join(", ")));
    }
    let (minimum, maximum) = (schema["minimum"].as_f64(), &schema["maximum"]);
    let is_unbounded = maximum.as_i64() == Some(MAX_NUMBER);
    match minimum {
        Some(minimum) if minimum == MIN_POSITIVE_NUMBER && is_unbounded => text.push_str(" (above 0)"),
        Some(minimum) if minimum == MIN_POSITIVE_NUMBER => text.push_str(&format!(" (above 0, at most {maximum})")),
        Some(minimum) => text.push_str(&format!(" ({minimum} to {maximum})")),
        None => {}
    }
    text
}

fn words(schema: &Value) -> Option<Vec<String>> {
    let words = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    Some(words.map(str::to_owned).collect())
}

/// Returns one schema of `parameters` for all conditions.
pub(crate) fn parameters() -> Value {
    let mut properties = Map::new();
    for shape in shapes() {
        let names: Vec<&str> = shape.kinds.iter().map(|kind| kind.name()).collect();
        for (name, schema) in &shape.parameters {
            let known = properties.entry((*name).to_owned()).or_insert_with(|| json!({}));
            merge(known, schema, &names.join(", "));
        }
    }
    json!({
        "type": "object",
        "description": "Further parameters of the condition; see `condition`. Other fields are stored with the alert unchanged.",
        "properties": properties,
    })
}

fn merge(known: &mut Value, schema: &Value, conditions: &str) {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    known["type"] = kind;
    let meaning = format!(
        "For {conditions}: {}.",
        schema["description"].as_str().unwrap_or_default()
    );
    known["description"] = match known["description"].as_str() {
        Some(others) => format!("{others} {meaning}").into(),
        None => meaning.into(),
    };
    if let Some(new) = words(schema) {
        let mut all = words(known).unwrap_or_default();
        all.extend(new.into_iter().filter(|word| !all.contains(word)).collect::<Vec<_>>());
        known["enum"] = json!(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_one_line_with_its_example() {
        let text = conditions();
        assert_eq!(text.lines().count(), Kind::ALL.len());
        for kind in Kind::ALL {
            let begin = format!("- {}: ", kind.name());
            let line = text
                .lines()
                .find(|line| line.starts_with(&begin))
                .unwrap_or_else(|| panic!("{begin}"));
            assert!(line.contains(&format!(r#""condition":"{}""#, kind.name())), "{line}");
        }
    }

    #[test]
    fn shared_parameter_has_the_values_of_all_conditions() {
        let direction = &parameters()["properties"]["direction"];
        let all = words(direction).unwrap();
        for word in ["above", "rising", "buy", "both"] {
            assert!(all.iter().any(|known| known == word), "{word}: {all:?}");
        }
        assert!(direction["description"].as_str().unwrap().contains("social_buzz"));
    }
}

//! The same for agents: one flat schema, because many of them take no alternatives at its root, and in words what each
//! condition takes.

use alerts::ConditionKind as Kind;
use serde_json::{Map, Value, json};

use super::examples::example;
use super::shapes::{LEAST, MOST, Shape, Threshold, shapes};

/// For each condition what it waits for, what it takes, and an example.
pub(crate) fn conditions() -> String {
    let shapes = shapes();
    let lines = shapes
        .iter()
        .flat_map(|shape| shape.kinds.iter().map(move |kind| line(shape, *kind)));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(shape: &Shape, kind: Kind) -> String {
    let threshold = match &shape.threshold {
        Threshold::Omitted => "no threshold (leave it out)".to_owned(),
        Threshold::Ignored(schema) | Threshold::Optional(schema) => format!("threshold optional: {}", range(schema)),
        Threshold::Required(schema) => format!("threshold required: {}", range(schema)),
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
    let mut parts = vec![waits_for(kind).to_owned(), threshold];
    parts.extend(parameters);
    format!("- {}: {}. Example: {}", kind.name(), parts.join("; "), example(kind))
}

/// What a condition waits for, for those that share a shape with another one.
const fn waits_for(kind: Kind) -> &'static str {
    match kind {
        Kind::PriceAbove => "the price is at or above the threshold",
        Kind::PriceBelow => "the price is at or below the threshold",
        Kind::PriceChangeUp => "the price is the threshold's percentage above what it is when the alert is made",
        Kind::PriceChangeDown => "the price is the threshold's percentage below what it is when the alert is made",
        Kind::NewHigh => "the price is above the highest of 52 weeks",
        Kind::NewLow => "the price is below the lowest of 52 weeks",
        Kind::MaCrossoverGolden => "the 50-day average crosses the 200-day average upwards",
        Kind::MaCrossoverDeath => "the 50-day average crosses the 200-day average downwards",
        Kind::MaTouchAbove => "the price comes to its moving average from below",
        Kind::MaTouchBelow => "the price comes to its moving average from above",
        Kind::RsiLimit => "Wilder's RSI(14) reaches the threshold",
        Kind::VolumeChange => "the session's volume is the threshold's percentage above its average",
        Kind::PeRatioBelow => "price / trailing earnings per share is at or below the threshold",
        Kind::PeRatioAbove => "price / trailing earnings per share is at or above the threshold",
        Kind::ForwardPeBelow => "price / forward earnings per share is at or below the threshold",
        Kind::ForwardPeAbove => "price / forward earnings per share is at or above the threshold",
        Kind::SocialBuzz => "people begin to talk far more, or far less, about the stock than they did",
        Kind::InsiderTransactions => {
            "insiders bought or sold for more than the threshold, by the filings of the last days"
        }
        Kind::Reminder => "a date, once",
        Kind::DailyReminder => "every trading day; the alert stays active",
        Kind::EarningsAnnouncement => "the next earnings date is at most the threshold's days ahead",
        Kind::DividendExDate => "the next ex-dividend date is at most the threshold's days ahead",
        Kind::DividendPayment => "a dividend is paid today",
    }
}

/// What a value may be, in words.
fn range(schema: &Value) -> String {
    let mut text = schema["description"].as_str().unwrap_or_default().to_owned();
    if let Some(words) = words(schema) {
        text.push_str(&format!(" ({})", words.join(", ")));
    }
    let (least, most) = (schema["minimum"].as_f64(), &schema["maximum"]);
    let is_any = most.as_i64() == Some(MOST);
    match least {
        Some(least) if least == LEAST && is_any => text.push_str(" (above 0)"),
        Some(least) if least == LEAST => text.push_str(&format!(" (above 0, at most {most})")),
        Some(least) => text.push_str(&format!(" ({least} to {most})")),
        None => {}
    }
    text
}

fn words(schema: &Value) -> Option<Vec<String>> {
    let words = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    Some(words.map(str::to_owned).collect())
}

/// `parameters` for all conditions together.
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
        "description": "What the condition takes beside its threshold; see `condition`. Other members are kept with the alert as they are.",
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
    fn every_condition_is_described_once_with_an_example_of_its_own() {
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
    fn a_parameter_that_several_conditions_take_has_all_their_words() {
        let direction = &parameters()["properties"]["direction"];
        let all = words(direction).unwrap();
        for word in ["above", "rising", "buy", "both"] {
            assert!(all.iter().any(|known| known == word), "{word}: {all:?}");
        }
        assert!(direction["description"].as_str().unwrap().contains("social_buzz"));
    }
}

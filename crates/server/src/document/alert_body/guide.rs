//! Alert conditions for agents: a flat schema, because many agents accept no alternatives at the root of a schema, and a
//! text about each condition's parameters.

use alerts::ConditionKind as Kind;
use alerts::condition::ThresholdNeed;
use serde_json::{Map, Value, json};

use super::example;
use super::schema::{parameter_schema, requests};

/// Returns one line per condition: when it fires, its threshold and parameters, and an example.
pub(crate) fn conditions() -> String {
    let lines: Vec<_> = Kind::ALL.iter().map(|kind| line(*kind)).collect();
    lines.join("\n")
}

fn line(kind: Kind) -> String {
    let spec = kind.spec();
    let mut parts = vec![spec.fires_when.to_owned()];
    parts.push(match &spec.request.threshold {
        None => "no threshold (leave it out)".to_owned(),
        Some(threshold) => match (threshold.need, threshold.range.bounds()) {
            (ThresholdNeed::Required, bounds) => format!("threshold required: {} ({bounds})", threshold.description),
            (ThresholdNeed::Optional, bounds) => format!("threshold optional: {} ({bounds})", threshold.description),
            (ThresholdNeed::WithoutDate, _) => format!("threshold optional: {}", threshold.description),
        },
    });
    parts.extend(spec.request.parameters.iter().map(|own| {
        let need = if own.is_required { "required" } else { "optional" };
        format!("parameters.{} {need}: {} ({})", own.name, own.description, own.rule)
    }));
    format!("- {}: {}. Example: {}", kind.name(), parts.join("; "), example(kind))
}

fn words(schema: &Value) -> Option<Vec<String>> {
    let words = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    Some(words.map(str::to_owned).collect())
}

/// Returns one schema of `parameters` for all conditions.
pub(crate) fn parameters() -> Value {
    let mut properties = Map::new();
    for (request, kinds) in requests() {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        for own in request.parameters {
            let known = properties.entry(own.name).or_insert_with(|| json!({}));
            merge(known, &parameter_schema(own), &names.join(", "));
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

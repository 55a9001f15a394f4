//! Parses a chat completion whose content is JSON of the schema.
//!
//! The parser is strict and names the place of an error, because not every server enforces the schema.

use serde_json::{Map, Value};

use super::{AnswerError, MAX_ANSWER_BYTES, UnfinishedReason};

/// A model's answer that matches the schema.
#[derive(Debug)]
pub(super) struct ModelAnswer {
    pub(super) summary: String,
    pub(super) alerts: Vec<ModelAlert>,
}

/// An alert that matches the schema.
#[derive(Debug)]
pub(super) struct ModelAlert {
    pub(super) role: String,
    pub(super) condition: String,
    pub(super) threshold: Option<f64>,
    pub(super) direction: Option<String>,
    pub(super) rationale: String,
}

/// Returns the content of the first choice of a chat completion.
pub(super) fn content(answer: &[u8]) -> Result<String, AnswerError> {
    if answer.len() > MAX_ANSWER_BYTES {
        return Err(AnswerError::TooLong(answer.len()));
    }
    let body: Value = serde_json::from_slice(answer).map_err(|_| AnswerError::NotACompletion("it is not JSON"))?;
    let choice = body
        .pointer("/choices/0")
        .ok_or(AnswerError::NotACompletion("it has no choice"))?;
    let message = choice
        .get("message")
        .ok_or(AnswerError::NotACompletion("its choice has no message"))?;
    if message.get("refusal").is_some_and(|refusal| !refusal.is_null()) {
        return Err(AnswerError::Refused);
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(AnswerError::Unfinished(UnfinishedReason::Length)),
        Some("content_filter") => return Err(AnswerError::Unfinished(UnfinishedReason::Filter)),
        _ => {}
    }
    let content = message.get("content").and_then(Value::as_str);
    content
        .map(str::to_owned)
        .ok_or(AnswerError::NotACompletion("its message has no text"))
}

/// Parses the content.
pub(super) fn parse(content: &str) -> Result<ModelAnswer, AnswerError> {
    let value: Value = serde_json::from_str(content).map_err(|_| AnswerError::NotJson)?;
    let members = members(&value, "the answer", &["summary", "alerts"])?;
    let alerts = members["alerts"]
        .as_array()
        .ok_or_else(|| schema_mismatch("alerts", "is not an array"))?;
    Ok(ModelAnswer {
        summary: text(members, "", "summary")?,
        alerts: alerts
            .iter()
            .enumerate()
            .map(|(index, value)| alert(index, value))
            .collect::<Result<_, _>>()?,
    })
}

fn alert(index: usize, value: &Value) -> Result<ModelAlert, AnswerError> {
    let at = format!("alerts[{index}]");
    let alert = members(
        value,
        &at,
        &["role", "condition", "threshold", "direction", "rationale"],
    )?;
    let dotted = format!("{at}.");
    let threshold = match &alert["threshold"] {
        Value::Null => None,
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        _ => {
            return Err(schema_mismatch(
                &format!("{at}.threshold"),
                "is neither a number nor null",
            ));
        }
    };
    let direction = match &alert["direction"] {
        Value::Null => None,
        Value::String(word) if word == "above" || word == "below" => Some(word.clone()),
        _ => {
            return Err(schema_mismatch(
                &format!("{at}.direction"),
                "is neither above nor below nor null",
            ));
        }
    };
    Ok(ModelAlert {
        role: text(alert, &dotted, "role")?,
        condition: text(alert, &dotted, "condition")?,
        threshold,
        direction,
        rationale: text(alert, &dotted, "rationale")?,
    })
}

/// Returns an object that has exactly these members.
fn members<'a>(value: &'a Value, at: &str, names: &[&str]) -> Result<&'a Map<String, Value>, AnswerError> {
    let object = value
        .as_object()
        .ok_or_else(|| schema_mismatch(at, "is not an object"))?;
    if names.iter().any(|&name| !object.contains_key(name)) {
        return Err(schema_mismatch(at, "lacks a member"));
    }
    if object.len() > names.len() {
        return Err(schema_mismatch(at, "has a member that is not in the schema"));
    }
    Ok(object)
}

fn text(object: &Map<String, Value>, before: &str, name: &str) -> Result<String, AnswerError> {
    let text = object.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| schema_mismatch(&format!("{before}{name}"), "is not a string"))
}

fn schema_mismatch(at: &str, violation: &'static str) -> AnswerError {
    AnswerError::SchemaMismatch {
        at: at.to_owned(),
        violation,
    }
}

//! The form of an answer: a chat completion whose content is JSON of the schema.
//!
//! Read by hand and to the letter: a server that does not enforce the schema is found out here, with the place where
//! it went wrong.

use serde_json::{Map, Value};

use super::{AnswerError, MAX_ANSWER_BYTES, Unfinished};

/// What a model said, of the right form.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) summary: String,
    pub(super) alerts: Vec<SaidAlert>,
}

/// One alert, of the right form.
#[derive(Debug)]
pub(super) struct SaidAlert {
    pub(super) role: String,
    pub(super) condition: String,
    pub(super) threshold: Option<f64>,
    pub(super) direction: Option<String>,
    pub(super) rationale: String,
}

/// The content of the first choice of a chat completion.
pub(super) fn content(answer: &[u8]) -> Result<String, AnswerError> {
    if answer.len() > MAX_ANSWER_BYTES {
        return Err(AnswerError::TooLong(answer.len()));
    }
    let body: Value = serde_json::from_slice(answer).map_err(|_| AnswerError::NoCompletion("it is no JSON"))?;
    let choice = body
        .pointer("/choices/0")
        .ok_or(AnswerError::NoCompletion("it has no choice"))?;
    let message = choice
        .get("message")
        .ok_or(AnswerError::NoCompletion("its choice has no message"))?;
    if message.get("refusal").is_some_and(|refusal| !refusal.is_null()) {
        return Err(AnswerError::Refused);
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(AnswerError::Unfinished(Unfinished::Length)),
        Some("content_filter") => return Err(AnswerError::Unfinished(Unfinished::Filter)),
        _ => {}
    }
    let content = message.get("content").and_then(Value::as_str);
    content
        .map(str::to_owned)
        .ok_or(AnswerError::NoCompletion("its message has no text"))
}

/// What the content says.
pub(super) fn said(content: &str) -> Result<Said, AnswerError> {
    let value: Value = serde_json::from_str(content).map_err(|_| AnswerError::NotJson)?;
    let said = members(&value, "the answer", &["summary", "alerts"])?;
    let alerts = said["alerts"].as_array().ok_or_else(|| form("alerts", "is no array"))?;
    Ok(Said {
        summary: text(said, "", "summary")?,
        alerts: alerts
            .iter()
            .enumerate()
            .map(|(place, value)| alert(place, value))
            .collect::<Result<_, _>>()?,
    })
}

fn alert(place: usize, value: &Value) -> Result<SaidAlert, AnswerError> {
    let at = format!("alerts[{place}]");
    let alert = members(
        value,
        &at,
        &["role", "condition", "threshold", "direction", "rationale"],
    )?;
    let dotted = format!("{at}.");
    let threshold = match &alert["threshold"] {
        Value::Null => None,
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        _ => return Err(form(&format!("{at}.threshold"), "is neither a number nor null")),
    };
    let direction = match &alert["direction"] {
        Value::Null => None,
        Value::String(word) if word == "above" || word == "below" => Some(word.clone()),
        _ => return Err(form(&format!("{at}.direction"), "is neither above nor below nor null")),
    };
    Ok(SaidAlert {
        role: text(alert, &dotted, "role")?,
        condition: text(alert, &dotted, "condition")?,
        threshold,
        direction,
        rationale: text(alert, &dotted, "rationale")?,
    })
}

/// An object with exactly these members.
fn members<'a>(value: &'a Value, at: &str, names: &[&str]) -> Result<&'a Map<String, Value>, AnswerError> {
    let object = value.as_object().ok_or_else(|| form(at, "is no object"))?;
    if names.iter().any(|&name| !object.contains_key(name)) {
        return Err(form(at, "lacks a member"));
    }
    if object.len() > names.len() {
        return Err(form(at, "has a member that the schema has not"));
    }
    Ok(object)
}

fn text(object: &Map<String, Value>, before: &str, name: &str) -> Result<String, AnswerError> {
    let text = object.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| form(&format!("{before}{name}"), "is no string"))
}

fn form(at: &str, fault: &'static str) -> AnswerError {
    AnswerError::Form {
        at: at.to_owned(),
        fault,
    }
}

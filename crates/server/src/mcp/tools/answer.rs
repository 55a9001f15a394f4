//! The answers of tools: data, or a refusal.

use serde::Serialize;
use serde_json::Value;
use service::ServiceError;

use crate::answer::Pagination;
use crate::error::{ApiError, Code};

/// Names that REST gives to data that has another name beside it, with that name.
const ALIASES: [(&str, &str); 3] = [
    ("stocks", "stock"),
    ("alertId", "alert_id"),
    ("fundamentals", "stock_fundamentals"),
];

/// The data that a tool answers: that of REST, without its aliases.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mcp) struct Answer {
    /// The data.
    pub(in crate::mcp) value: Value,
    /// The same as JSON text.
    pub(in crate::mcp) text: String,
}

impl Answer {
    pub(super) fn of(data: &impl Serialize) -> Result<Self, ToolError> {
        let (value, text) = without_aliases(data)?;
        Ok(Self { value, text })
    }

    /// A page of a list. MCP demands an object.
    pub(super) fn list(items: &[impl Serialize], pagination: Pagination) -> Result<Self, ToolError> {
        #[derive(Serialize)]
        struct List<'a, T> {
            items: &'a [T],
            pagination: Pagination,
        }
        Self::of(&List { items, pagination })
    }
}

/// Data without its aliases, as a value and as text with numbers as JavaScript writes them (200, not 200.0).
pub(in crate::mcp) fn without_aliases(data: &impl Serialize) -> Result<(Value, String), ToolError> {
    let written = || -> serde_json::Result<(Value, String)> {
        let mut value = serde_json::from_slice(&alerts::json::to_vec(data)?)?;
        drop_aliases(&mut value);
        let text = alerts::json::to_vec(&value)?;
        Ok((value, String::from_utf8_lossy(&text).into_owned()))
    };
    written().map_err(|error| ApiError::internal(error).into())
}

/// Drops them from an object, or from the items of a page.
fn drop_aliases(value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    for (alias, name) in ALIASES {
        if members.contains_key(name) {
            members.shift_remove(alias);
        }
    }
    if let Some(Value::Array(items)) = members.get_mut("items") {
        items.iter_mut().for_each(drop_aliases);
    }
}

/// Why a tool answers no data.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mcp) enum ToolError {
    /// The call is refused. The text says what to do.
    Refused(String),
    /// The resource or stock does not exist. The text says what there is.
    NotFound(String),
    /// An internal error, which is in the log.
    Internal,
}

impl From<ApiError> for ToolError {
    fn from(error: ApiError) -> Self {
        match error.code() {
            Code::InternalError => Self::Internal,
            Code::NotFound => Self::NotFound(error.message().to_owned()),
            _ => Self::Refused(error.message().to_owned()),
        }
    }
}

impl From<ServiceError> for ToolError {
    fn from(error: ServiceError) -> Self {
        ApiError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_are_dropped_where_their_name_is_present() {
        for (data, answered) in [
            (
                json!({"id": 1, "stock": {"a": 1}, "stocks": {"a": 1}}),
                json!({"id": 1, "stock": {"a": 1}}),
            ),
            (
                json!({"id": 1, "stocks": {"a": 1}}),
                json!({"id": 1, "stocks": {"a": 1}}),
            ),
            (json!({"alert_id": 1, "alertId": 1}), json!({"alert_id": 1})),
            (
                json!({"items": [{"stock": 1, "stocks": 1}, {"stocks": 1}]}),
                json!({"items": [{"stock": 1}, {"stocks": 1}]}),
            ),
        ] {
            let answer = Answer::of(&data).unwrap();
            assert_eq!(answer.value, answered, "{data}");
            assert_eq!(serde_json::from_str::<Value>(&answer.text).unwrap(), answered, "{data}");
        }
    }

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        assert_eq!(
            Answer::of(&json!({"threshold": 200.0})).unwrap().text,
            r#"{"threshold":200}"#
        );
    }
}

//! The result of a tool call: data or an error.

use foundation::ServiceError;
use serde::Serialize;
use serde_json::Value;

use crate::error::{ApiError, ApiErrorCode};

/// Aliases of REST fields, each with the name of the field.
pub(super) const ALIASES: [(&str, &str); 3] = [
    ("stocks", "stock"),
    ("alertId", "alert_id"),
    ("fundamentals", "stock_fundamentals"),
];

/// REST fields that tools leave out, since they would fill the context of an agent: long texts for people, and what only programs that
/// manage alerts need.
pub(super) const LEFT_OUT: [&str; 2] = ["managed_by", "templates"];

/// The data of a tool call: the REST data without its aliases and what tools leave out.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mcp) struct ToolOutput {
    /// The data.
    pub(in crate::mcp) value: Value,
    /// The data as JSON text.
    pub(in crate::mcp) text: String,
}

impl ToolOutput {
    /// Creates the output without aliases. The text has numbers in JavaScript format (200, not 200.0).
    pub(in crate::mcp) fn of(data: &impl Serialize) -> Result<Self, ToolError> {
        let output = || -> serde_json::Result<Self> {
            let mut value = serde_json::from_slice(&alerts::json::to_vec(data)?)?;
            drop_fields(&mut value);
            let text = alerts::json::text(&value);
            Ok(Self { value, text })
        };
        output().map_err(|error| ApiError::internal(error).into())
    }
}

/// Removes aliases and what tools leave out from an object, or from the items of a page.
fn drop_fields(value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    for (alias, name) in ALIASES {
        if members.contains_key(name) {
            members.shift_remove(alias);
        }
    }
    for name in LEFT_OUT {
        members.shift_remove(name);
    }
    if let Some(Value::Array(items)) = members.get_mut("items") {
        items.iter_mut().for_each(drop_fields);
    }
}

/// The error of a tool call.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::mcp) enum ToolError {
    /// The call is rejected. The text says how to fix it.
    Refused(String),
    /// The resource or stock does not exist. The text names alternatives.
    NotFound(String),
    /// An internal error. Its cause is in the log.
    Internal,
}

impl From<ApiError> for ToolError {
    fn from(error: ApiError) -> Self {
        match error.code() {
            ApiErrorCode::InternalError => Self::Internal,
            ApiErrorCode::NotFound => Self::NotFound(error.message().to_owned()),
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
    fn aliases_are_removed_if_the_field_is_present_and_templates_always() {
        for (data, expected) in [
            (
                json!({"id": 1, "stock": {"a": 1}, "stocks": {"a": 1}}),
                json!({"id": 1, "stock": {"a": 1}}),
            ),
            (
                json!({"id": 1, "stocks": {"a": 1}}),
                json!({"id": 1, "stocks": {"a": 1}}),
            ),
            (
                json!({"alert_id": 1, "alertId": 1, "templates": {}}),
                json!({"alert_id": 1}),
            ),
            (
                json!({"items": [{"stock": 1, "stocks": 1}, {"stocks": 1}]}),
                json!({"items": [{"stock": 1}, {"stocks": 1}]}),
            ),
        ] {
            let output = ToolOutput::of(&data).unwrap();
            assert_eq!(output.value, expected, "{data}");
            assert_eq!(serde_json::from_str::<Value>(&output.text).unwrap(), expected, "{data}");
        }
    }

    #[test]
    fn numbers_have_javascript_format() {
        assert_eq!(
            ToolOutput::of(&json!({"threshold": 200.0})).unwrap().text,
            r#"{"threshold":200}"#
        );
    }
}

//! The body of a preview request.

use jiff::civil::Date;
use serde_json::Value;

use foundation::request;
use foundation::request::{Field, NamedSchema, RefOr, Schema, formatted, reference};

/// The body of a create request within another body.
pub struct AlertBody(pub Value);

impl Field for AlertBody {
    fn read(value: &Value) -> Result<Self, String> {
        let body = value
            .as_object()
            .ok_or("must be an object with the fields of a new alert")?;
        Ok(Self(Value::Object(body.clone())))
    }

    fn schema() -> RefOr<Schema> {
        reference("CreateAlert")
    }

    fn components(_schemas: &mut Vec<NamedSchema>) {}
}

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Day(pub Date);

impl Field for Day {
    fn read(value: &Value) -> Result<Self, String> {
        const LENGTH: usize = "2024-03-08".len();
        let text = value.as_str().filter(|text| text.len() == LENGTH);
        let day = text.and_then(|text| text.parse().ok());
        day.map(Self)
            .ok_or_else(|| "must be a date such as 2024-03-08, or null".to_owned())
    }

    fn schema() -> RefOr<Schema> {
        formatted("date").into()
    }
}

request! {
    /// An alert to preview.
    PreviewAlertRequest as "PreviewAlert" {
        /// The alert.
        alert: AlertBody,
        /// First day; default: five years before the last one. At most ten years.
        from: Option<Day> = "2021-03-08",
        /// Last day; default: the last completed session.
        to: Option<Day> = "2026-03-06",
    }
}

//! The filters of templates: `money`, `percent` and `tojson`.

use market::Decimal;
use market::display::Percent;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Value};

use super::language::FILTERS;
use super::locale::{ENGLISH, Separators};

/// Zero with two decimals.
const ZERO: &str = "0.00";

/// Adds the filters to an environment.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    debug_assert_eq!(FILTERS, ["money", "percent", "tojson"]);
    environment.add_filter("money", money);
    environment.add_filter("percent", percent);
    environment.add_filter("tojson", tojson);
    environment.add_test("none", |value: &Value| value.is_none());
}

/// Formats an amount with two decimals and separated thousands: `1,234.50`. A missing value stays missing.
fn money(value: &Value, locale: Option<&str>) -> Result<Value, Error> {
    formatted("money", value, locale, |separators, number| {
        separators.format(&two_decimals(number))
    })
}

/// Formats a percentage with its sign and two decimals: `+1.64 %`. A missing value stays missing.
fn percent(value: &Value, locale: Option<&str>) -> Result<Value, Error> {
    formatted("percent", value, locale, |separators, number| {
        let digits = two_decimals(number);
        let sign = if digits.starts_with('-') || digits == ZERO {
            ""
        } else {
            "+"
        };
        format!("{sign}{} %", separators.format(&digits))
    })
}

fn formatted(
    filter: &str,
    value: &Value,
    locale: Option<&str>,
    format: impl Fn(Separators, f64) -> String,
) -> Result<Value, Error> {
    if value.is_none() {
        return Ok(Value::from(()));
    }
    let separators = locale.map_or(Ok(ENGLISH), Separators::of).map_err(invalid)?;
    let number = number(value).filter(|number| number.is_finite());
    let number = number.ok_or_else(|| invalid(format!("the filter {filter} needs a number")))?;
    Ok(Value::from(format(separators, number)))
}

/// Returns a number with two decimals, rounded half away from zero. Zero has no sign.
fn two_decimals(number: f64) -> String {
    let digits =
        Decimal::from_f64(number).map_or_else(|_| format!("{number:.2}"), |number| Percent(number).to_string());
    match digits.strip_prefix('-') {
        Some(ZERO) => ZERO.to_owned(),
        _ => digits,
    }
}

/// Writes a value as JSON.
fn tojson(value: &Value) -> Result<Value, Error> {
    let json = match value.kind() {
        ValueKind::None => serde_json::Value::Null,
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => number(value).into(),
        ValueKind::String => value.as_str().unwrap_or_default().into(),
        _ => return Err(invalid("the filter tojson needs a text or a number".to_owned())),
    };
    Ok(Value::from(alerts::json::text(&json)))
}

/// Returns the number in a value.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        _ => None,
    }
}

/// Formats a number without separators: `200`, `201.5`.
pub(super) fn plain_number(number: f64) -> String {
    alerts::json::text(&number.into())
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, problem)
}

#[cfg(test)]
mod tests {
    use super::super::{TemplateKind, TemplateVariables, UserTemplate};

    fn text(expression: &str) -> String {
        let source = format!("[{{{{ {expression} }}}}]");
        let template = UserTemplate::parse(TemplateKind::Text, &source);
        let rendered = template.and_then(|template| template.render(&TemplateVariables::example()));
        let rendered = rendered.unwrap_or_else(|error| error.to_string());
        rendered.trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    #[test]
    fn money_has_two_decimals_and_separated_thousands() {
        for (expression, expected) in [
            ("999.994|money", "999.99"),
            ("999.995|money", "1,000.00"),
            ("1234567.5|money", "1,234,567.50"),
            ("(-1234.5)|money", "-1,234.50"),
            ("0|money", "0.00"),
            ("(-0.001)|money", "0.00"),
            ("0.1234|money", "0.12"),
            ("1e15|money", "1,000,000,000,000,000.00"),
            ("1234.5|money('de')", "1.234,50"),
            ("1234.5|money('fr')", "1\u{202f}234,50"),
            ("none|money", ""),
            ("price|money", "201.50"),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
    }

    #[test]
    fn percent_has_two_decimals_and_its_sign() {
        for (expression, expected) in [
            ("1.635|percent", "+1.64 %"),
            ("1.634|percent", "+1.63 %"),
            ("(-2.41)|percent", "-2.41 %"),
            ("0|percent", "0.00 %"),
            ("0.004|percent", "0.00 %"),
            ("(-0.004)|percent", "0.00 %"),
            ("1234.5|percent", "+1,234.50 %"),
            ("(-1.5)|percent('de')", "-1,50 %"),
            ("none|percent", ""),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
    }

    #[test]
    fn tojson_writes_texts_numbers_and_missing_values() {
        for (expression, expected) in [
            (r#"'a "b" \\ c\n'|tojson"#, r#""a \"b\" \\ c\n""#),
            ("200.0|tojson", "200"),
            ("1.5|tojson", "1.5"),
            ("none|tojson", "null"),
            ("true|tojson", "true"),
            ("(price > 1)|tojson", "true"),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
    }

    #[test]
    fn wrong_input_is_named() {
        for (expression, part) in [
            ("'a'|money", "line 1: the filter money needs a number"),
            ("symbol|percent", "line 1: the filter percent needs a number"),
            ("1|money('xx')", "line 1: there is no locale `xx`; use en, de"),
        ] {
            assert!(text(expression).starts_with(part), "{}", text(expression));
        }
    }
}

//! Templates that users write for the texts of their notifications.
//!
//! A [`UserTemplate`] is a Jinja template of one [`TemplateKind`]. It is checked when it is saved ([`UserTemplate::parse`],
//! [`UserTemplate::check`]) and rendered when an alert has fired ([`UserTemplate::render`]) with its [`TemplateVariables`].
//!
//! The language is a part of Jinja: variables, operators, `if`, `set`, and the filters of [`filters`]. The check of the tokens
//! ([`language`]) permits nothing else, because the template engine alone is no sandbox:
//!
//! * its parser and compiler recurse into operators, so `1+1+1…` of 16 KiB overflows the stack of a thread;
//! * its fuel does not cover concatenated lists: `{% set a = a + a %}` takes gigabytes.
//!
//! Without lists, maps, loops, calls and attributes, all values are numbers and texts, and fuel limits the time and the memory of a
//! template. The result is written through [`BoundedOutput`], which fails at the first byte beyond the limit.

mod bounded_output;
mod error;
mod filters;
mod language;
mod locale;
mod variables;

#[cfg(test)]
mod hostile;

use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};
use serde::de::IgnoredAny;

pub use error::TemplateError;
pub use language::{FILTERS, VARIABLES};
pub use variables::TemplateVariables;

use bounded_output::BoundedOutput;

use super::plain;
use crate::channels::plain_lines;

/// Maximum size of the source of a template, in bytes.
pub const MAX_SOURCE_BYTES: usize = 16 * 1024;
/// Maximum size of the result of a template, in bytes.
pub const MAX_RESULT_BYTES: usize = 16 * 1024;
/// Maximum length of a title, in characters. A longer one is cut.
const MAX_TITLE_LENGTH: usize = 250;
/// Fuel of a template: it takes at most this number of steps, and creates at most 64 times this number of bytes.
const FUEL: u64 = 10_000;
/// Maximum number of nested blocks.
const MAX_NESTED_BLOCKS: usize = 50;
/// The name of the template in its environment.
const NAME: &str = "template";

alerts::named_enum! {
    /// The kind of the result of a template.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum TemplateKind {
        /// A title of one line.
        Title = "title",
        /// A text.
        Text = "text",
        /// The JSON body of a delivery to a webhook.
        Payload = "payload",
    }
}

/// A template that a user has written.
#[derive(Debug)]
pub struct UserTemplate {
    kind: TemplateKind,
    environment: Environment<'static>,
}

impl UserTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// [`TemplateError`], if it is too long, has a syntax error, or uses something that templates do not have.
    pub fn parse(kind: TemplateKind, source: &str) -> Result<Self, TemplateError> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(TemplateError::SourceTooLong { bytes: source.len() });
        }
        language::check(source)?;
        let mut environment = Environment::empty();
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_NESTED_BLOCKS);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(match kind {
            TemplateKind::Title | TemplateKind::Text => write_text,
            TemplateKind::Payload => write_json,
        });
        filters::add_to(&mut environment);
        environment
            .add_template_owned(NAME, source.to_owned())
            .map_err(|error| TemplateError::of_syntax(&error))?;
        Ok(Self { kind, environment })
    }

    /// Checks that the template renders with the variables of an example.
    ///
    /// # Errors
    /// As [`render`](Self::render).
    pub fn check(&self) -> Result<(), TemplateError> {
        self.render(&TemplateVariables::example()).map(|_| ())
    }

    /// Renders the template. A title is one line and at most 250 characters long. A text has no invisible characters. A payload is
    /// valid JSON.
    ///
    /// # Errors
    /// [`TemplateError`], if an expression cannot be evaluated, the result is empty, too long or not JSON, or it takes too many steps.
    pub fn render(&self, variables: &TemplateVariables) -> Result<String, TemplateError> {
        let mut output = BoundedOutput::new(MAX_RESULT_BYTES);
        let values = variables.values(self.kind);
        let template = self.environment.get_template(NAME);
        let rendered = template.and_then(|template| template.render_captured_to(values, &mut output).map(|_| ()));
        if output.is_exceeded() {
            return Err(TemplateError::ResultTooLong);
        }
        rendered.map_err(|error| TemplateError::of_rendering(&error))?;
        let text = output.into_text();
        let text = match self.kind {
            TemplateKind::Title => plain(&text, MAX_TITLE_LENGTH),
            TemplateKind::Text => plain_lines(&text),
            TemplateKind::Payload => {
                serde_json::from_str::<IgnoredAny>(&text).map_err(|error| TemplateError::of_json(&error))?;
                text
            }
        };
        if text.is_empty() {
            return Err(TemplateError::Empty);
        }
        Ok(text)
    }
}

/// Writes a value into a title or text. A missing value is left out.
fn write_text(output: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    write(output, value, "")
}

/// Writes a value into JSON. A missing value is null.
fn write_json(output: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    write(output, value, "null")
}

fn write(output: &mut Output, value: &Value, none: &str) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let written = match (value.is_none(), value.as_str(), filters::number(value)) {
        (true, ..) => output.write_str(none),
        (_, Some(text), _) => output.write_str(text),
        // Without a point and zero after whole numbers.
        (_, _, Some(number)) => output.write_str(&filters::plain_number(number)),
        _ => write!(output, "{value}"),
    };
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(kind: TemplateKind, source: &str) -> Result<String, TemplateError> {
        UserTemplate::parse(kind, source)?.render(&TemplateVariables::example())
    }

    fn text(source: &str) -> String {
        render(TemplateKind::Text, source).unwrap_or_else(|error| panic!("{source}: {error}"))
    }

    #[test]
    fn template_has_variables_conditions_and_assignments() {
        for (source, expected) in [
            ("{{ symbol }} is at {{ price }}", "AAPL is at 201.5"),
            (
                "{{ level }}, {{ price - level }}, {{ 2 * 3 }}, {{ -1 }}",
                "200, 1.5, 6, -1",
            ),
            ("{% if change_percent > 0 %}up{% else %}down{% endif %}", "up"),
            (
                "{% if note and price >= 300 %}a{% elif 'Ap' in company_name %}b{% endif %}",
                "b",
            ),
            ("{% set gap = price - level %}{{ gap|money }}", "1.50"),
            ("{{ 'high' if price > 200 else 'low' }}{# comment #}", "high"),
            ("{{ symbol ~ '!' }}\n{% raw %}{{ [1] }}{% endraw %}", "AAPL!\n{{ [1] }}"),
            ("{{ note is none }} {{ note is not none }} {{ none }}.", "False True ."),
            ("a\u{202e}\tb", "a b"),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }

    #[test]
    fn title_is_one_line_and_cut_to_its_length() {
        let title = |source: &str| render(TemplateKind::Title, source).unwrap();
        assert_eq!(title(" {{ symbol }}\n rose "), "AAPL rose");
        assert_eq!(title(&"a".repeat(250)), "a".repeat(250));
        assert_eq!(title(&"a".repeat(251)), format!("{}…", "a".repeat(249)));
    }

    #[test]
    fn payload_is_valid_json_and_missing_values_are_null() {
        let payload = |source: &str| render(TemplateKind::Payload, source);
        let source = r#"{"symbol": {{ symbol|tojson }}, "price": {{ price }}, "list": [1, {"a": {{ none }}}]}"#;
        let expected = r#"{"symbol": "AAPL", "price": 201.5, "list": [1, {"a": null}]}"#;
        assert_eq!(payload(source).unwrap(), expected);
        for source in [r#"{"a": }"#, "{{ symbol }}", "", "{} {}"] {
            let error = payload(source).unwrap_err();
            assert!(matches!(error, TemplateError::NotJson { .. }), "{source}: {error:?}");
        }
    }

    #[test]
    fn result_that_is_empty_is_an_error() {
        for (kind, source) in [
            (TemplateKind::Text, ""),
            (TemplateKind::Text, " \n{% if price < 0 %}a{% endif %}"),
            (TemplateKind::Title, "\u{200b}"),
        ] {
            assert_eq!(render(kind, source), Err(TemplateError::Empty), "{source}");
        }
    }

    #[test]
    fn source_and_result_have_16_kib() {
        let kib16 = "a".repeat(16 * 1024);
        assert_eq!(text(&kib16), kib16);
        let error = UserTemplate::parse(TemplateKind::Text, &format!("{kib16}a")).unwrap_err();
        assert_eq!(error, TemplateError::SourceTooLong { bytes: 16 * 1024 + 1 });
        let result = |bytes: usize| render(TemplateKind::Text, &format!("{{{{ 'a' * {bytes} }}}}"));
        assert_eq!(result(16 * 1024).map(|text| text.len()), Ok(16 * 1024));
        assert_eq!(result(16 * 1024 + 1), Err(TemplateError::ResultTooLong));
    }

    #[test]
    fn documented_examples_render() {
        for source in [
            "{{ company_name or symbol }}",
            "{{ fired_at }}",
            "{{ condition }}",
            "{{ value }}",
            "{{ link }}",
        ] {
            assert!(!text(source).is_empty(), "{source}");
        }
    }
}

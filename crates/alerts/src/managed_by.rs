//! The name of an alert that a program manages, such as the command line with a file of alerts.

use serde_json::{Map, Value, json};

/// The maximum length of a source and of a name, in Unicode characters.
pub const MAX_MANAGED_NAME_CHARACTERS: usize = 100;

/// The source that manages an alert, and the alert's name within it. An account has at most one alert of each name that is not
/// deleted.
///
/// Both are one line of 1 to [`MAX_MANAGED_NAME_CHARACTERS`] characters without spaces at the ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ManagedBy {
    source: Box<str>,
    name: Box<str>,
}

/// An error: a text is not a valid source or name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ManagedNameError {
    /// The text is empty, too long, has control characters, or spaces at its ends.
    #[error(
        "must have 1 to {MAX_MANAGED_NAME_CHARACTERS} characters on one line, without spaces at its beginning and its end"
    )]
    Invalid,
}

impl ManagedBy {
    /// Creates a name.
    ///
    /// # Errors
    /// [`ManagedNameError`] for an invalid source or name.
    pub fn new(source: &str, name: &str) -> Result<Self, ManagedNameError> {
        check_managed_name(source)?;
        check_managed_name(name)?;
        Ok(Self {
            source: source.into(),
            name: name.into(),
        })
    }

    /// Returns the source, such as the name of a set of files.
    #[must_use]
    pub const fn source(&self) -> &str {
        &self.source
    }

    /// Returns the name of the alert within its source.
    #[must_use]
    pub const fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name as JSON: `{"source": …, "name": …}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"source": self.source, "name": self.name})
    }

    /// Reads the value of a member `managed_by`. Returns the errors by field.
    pub(crate) fn read(value: &Value) -> Result<Self, Vec<(String, String)>> {
        let Some(members) = value.as_object() else {
            let message = "must be an object with source and name, or null";
            return Err(vec![("managed_by".to_owned(), message.to_owned())]);
        };
        let mut errors = Vec::new();
        for unknown in members
            .keys()
            .filter(|name| !["source", "name"].contains(&name.as_str()))
        {
            let message = "is not known; managed_by has source and name".to_owned();
            errors.push((format!("managed_by.{unknown}"), message));
        }
        let source = text(members, "source", &mut errors);
        let name = text(members, "name", &mut errors);
        match (source, name) {
            (Some(source), Some(name)) if errors.is_empty() => Ok(Self {
                source: source.into(),
                name: name.into(),
            }),
            _ => Err(errors),
        }
    }
}

/// Checks a source, or the name of an alert within its source.
///
/// # Errors
/// [`ManagedNameError`], with the rules.
pub fn check_managed_name(text: &str) -> Result<(), ManagedNameError> {
    let is_valid = (1..=MAX_MANAGED_NAME_CHARACTERS).contains(&text.chars().count())
        && !text.chars().any(char::is_control)
        && text.trim() == text;
    is_valid.then_some(()).ok_or(ManagedNameError::Invalid)
}

fn text<'a>(members: &'a Map<String, Value>, name: &str, errors: &mut Vec<(String, String)>) -> Option<&'a str> {
    let checked = match members.get(name) {
        Some(Value::String(text)) => check_managed_name(text)
            .map(|()| text.as_str())
            .map_err(|error| error.to_string()),
        Some(_) => Err("must be a string".to_owned()),
        None => Err("is required with managed_by".to_owned()),
    };
    checked
        .map_err(|message| errors.push((format!("managed_by.{name}"), message)))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: &Value) -> Vec<String> {
        let errors = ManagedBy::read(value).unwrap_err();
        errors.into_iter().map(|(field, _)| field).collect()
    }

    #[test]
    fn name_is_one_trimmed_line_of_limited_length() {
        let longest = "é".repeat(100);
        assert!(ManagedBy::new("team", &longest).is_ok());
        for invalid in ["", " a", "a ", "a\nb", "a\0", &"é".repeat(101)] {
            assert!(ManagedBy::new("team", invalid).is_err(), "{invalid:?}");
            assert!(ManagedBy::new(invalid, "dip").is_err(), "{invalid:?}");
        }
    }

    #[test]
    fn json_is_read_as_it_is_written() {
        let managed = ManagedBy::new("team", "dip of AAPL").unwrap();
        assert_eq!(ManagedBy::read(&managed.to_json()), Ok(managed));
    }

    #[test]
    fn source_and_name_are_both_required() {
        assert_eq!(fields(&json!({})), ["managed_by.source", "managed_by.name"]);
        assert_eq!(fields(&json!({"source": "team"})), ["managed_by.name"]);
        assert_eq!(fields(&json!({"source": 1, "name": "dip"})), ["managed_by.source"]);
        assert_eq!(fields(&json!("team")), ["managed_by"]);
        assert_eq!(
            fields(&json!({"source": "a", "name": "b", "nam": "c"})),
            ["managed_by.nam"]
        );
    }
}

//! The fields of a body that all conditions share.

use market::{Symbol, SymbolError};
use serde_json::{Map, Value};

use super::RequestError;
use super::fields::{FieldErrors, InvalidField, kind_of, member};
use crate::alert::Channel;
use crate::condition::ConditionKind;

/// The maximum length of an email address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
/// The maximum length of the local part, before the `@` (RFC 5321).
const MAX_LOCAL_BYTES: usize = 64;

pub(crate) fn object(body: &Value) -> Result<&Map<String, Value>, RequestError> {
    body.as_object()
        .ok_or_else(|| RequestError::NotAnObject { found: kind_of(body) })
}

pub(super) fn symbol(body: &Map<String, Value>, errors: &mut FieldErrors) -> Result<Symbol, InvalidField> {
    let message = match member(body, "symbol") {
        None => "is required; give a ticker such as AAPL".to_owned(),
        Some(Value::String(text)) => match text.parse() {
            Ok(symbol) => return Ok(symbol),
            Err(SymbolError::Empty) => "must not be empty; give a ticker such as AAPL".to_owned(),
            Err(SymbolError::TooLong) => {
                let most = market::symbol::MAX_SYMBOL_LENGTH;
                format!("must have at most {most} characters; give a ticker such as BRK.B")
            }
            Err(SymbolError::BadCharacter(_)) => {
                "must consist of A-Z, 0-9, '.' and '-'; give a ticker such as BRK.B".to_owned()
            }
        },
        Some(other) => {
            let kind = kind_of(other);
            format!("must be a string, not {kind}; give a ticker such as AAPL")
        }
    };
    Err(errors.add("symbol", message))
}

/// Reads the condition's name; `None` if it is omitted.
pub(super) fn condition(
    body: &Map<String, Value>,
    errors: &mut FieldErrors,
) -> Result<Option<ConditionKind>, InvalidField> {
    let Some(value) = member(body, "condition") else {
        return Ok(None);
    };
    let kind = value.as_str().and_then(ConditionKind::from_name);
    kind.map(Some).ok_or_else(|| {
        let message = format!("must be one of {}", names_of_conditions());
        errors.add("condition", message)
    })
}

pub(super) fn names_of_conditions() -> String {
    let names: Vec<_> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}

/// Reads the channel; `None` if it is omitted.
pub(super) fn notification(
    body: &Map<String, Value>,
    errors: &mut FieldErrors,
) -> Result<Option<Channel>, InvalidField> {
    let Some(value) = member(body, "notification") else {
        return Ok(None);
    };
    let channel = value.as_str().and_then(Channel::from_name);
    channel
        .map(Some)
        .ok_or_else(|| errors.add("notification", "must be email or sms"))
}

/// Reads a guest's email address; `None` if it is omitted.
pub(super) fn email(body: &Map<String, Value>, errors: &mut FieldErrors) -> Result<Option<String>, InvalidField> {
    match member(body, "email") {
        None => Ok(None),
        Some(Value::String(text)) if is_plausible_email(text.trim()) => Ok(Some(text.trim().to_owned())),
        Some(_) => Err(errors.add("email", "must be an email address such as ann@example.com")),
    }
}

/// Returns whether the text has the form of an email address. Whether the address exists is known only after a message is
/// delivered.
#[must_use]
pub fn is_plausible_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_local = |character: char| character.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(character);
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .chars()
                .all(|character| character.is_alphanumeric() || character == '-')
    };
    text.len() <= MAX_EMAIL_BYTES
        && (1..=MAX_LOCAL_BYTES).contains(&local.len())
        && local.chars().all(is_local)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_plausible_addresses_only() {
        let longest = format!("{}@{}.com", "a".repeat(64), "b".repeat(63));
        let too_long = format!("{}@{}.com", "a".repeat(65), "b".repeat(63));
        for (text, expected) in [
            ("ann@example.com", true),
            ("ann.o'neil+alerts@mail.example.co.uk", true),
            ("jürgen@bücher.example", true),
            (&longest, true),
            (&too_long, false),
            ("", false),
            ("ann", false),
            ("ann@", false),
            ("@example.com", false),
            ("ann@localhost", false),
            ("ann@example..com", false),
            ("ann@-example.com", false),
            (".ann@example.com", false),
            ("a..nn@example.com", false),
            ("ann@bob@example.com", false),
            ("ann smith@example.com", false),
            ("ann@example.com\r\nBcc: all@example.com", false),
            ("Ann <ann@example.com>", false),
        ] {
            assert_eq!(is_plausible_email(text), expected, "{text}");
        }
    }
}

//! Fields in request bodies about identity. Errors are collected by the [`BodyReader`]; the value is empty then.

use alerts::request::is_plausible_email;
use serde_json::Value;

use crate::access::password;
use foundation::ServiceError;
use foundation::account::normalize_email;
use foundation::body::BodyReader;

/// Maximum length of a person's name, in characters.
const MAX_FULL_NAME_CHARACTERS: usize = 100;

/// Reads an email address and normalizes it.
pub(super) fn email(members: &mut BodyReader<'_>) -> String {
    let email = members.required("email").map(normalize_email).unwrap_or_default();
    if !email.is_empty() && !is_plausible_email(&email) {
        members.add_error("email", "must be an email address such as ann@example.com");
    } else if email.is_empty() {
        members.add_missing("email");
    }
    email
}

/// Reads a new password.
pub(crate) fn new_password(members: &mut BodyReader<'_>, name: &str) -> String {
    let Some(password) = members.required(name) else {
        return String::new();
    };
    if let Some(fault) = password::violation(password) {
        members.add_error(name, fault);
    }
    password.to_owned()
}

/// Reads a person's name, if present.
pub(super) fn full_name(members: &mut BodyReader<'_>) -> Option<String> {
    let name = members.text("full_name")?.trim();
    let characters = name.chars().count();
    if !(1..=MAX_FULL_NAME_CHARACTERS).contains(&characters) || name.chars().any(char::is_control) {
        let fault = format!("must have 1 to {MAX_FULL_NAME_CHARACTERS} characters on one line");
        members.add_error("full_name", fault);
    }
    Some(name.to_owned())
}

/// Reads a body that contains only the token of a link.
pub(super) fn token(body: &Value) -> Result<String, ServiceError> {
    let mut members = BodyReader::new(body)?;
    let token = members.required("token").unwrap_or_default().to_owned();
    members.finish()?;
    Ok(token)
}

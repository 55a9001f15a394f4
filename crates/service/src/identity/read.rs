//! What is read of the bodies of requests about identity. A fault is noted with the others, and the text is empty then.

use alerts::request::is_plausible_email;
use serde_json::Value;

use crate::ServiceError;
use crate::access::accounts::normal_email;
use crate::access::password;
use crate::body::Members;

/// The longest name of a person, in characters.
const MAX_NAME_CHARACTERS: usize = 100;

/// An address, as it is kept.
pub(super) fn email(members: &mut Members<'_>) -> String {
    let email = members.required("email").map(normal_email).unwrap_or_default();
    if !email.is_empty() && !is_plausible_email(&email) {
        members.fault("email", "must be an email address such as ann@example.com");
    } else if email.is_empty() {
        members.missing("email");
    }
    email
}

/// A password that is to be kept.
pub(crate) fn new_password(members: &mut Members<'_>, name: &str) -> String {
    let Some(password) = members.required(name) else {
        return String::new();
    };
    if let Some(fault) = password::fault(password) {
        members.fault(name, fault);
    }
    password.to_owned()
}

/// What a person is called, if it is there.
pub(super) fn full_name(members: &mut Members<'_>) -> Option<String> {
    let name = members.text("full_name")?.trim();
    let characters = name.chars().count();
    if !(1..=MAX_NAME_CHARACTERS).contains(&characters) || name.chars().any(char::is_control) {
        let fault = format!("must have 1 to {MAX_NAME_CHARACTERS} characters on one line");
        members.fault("full_name", fault);
    }
    Some(name.to_owned())
}

/// The token of a link: all that the body has.
pub(super) fn token(body: &Value) -> Result<String, ServiceError> {
    let mut members = Members::of(body)?;
    let token = members.required("token").unwrap_or_default().to_owned();
    members.finish()?;
    Ok(token)
}

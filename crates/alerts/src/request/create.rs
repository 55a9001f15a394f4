//! The body of a create request.

use serde_json::Value;

use super::conditions;
use super::fields::{FieldErrors, InvalidField, member};
use super::labels;
use super::numbers::Threshold;
use super::parameters;
use super::{ParseContext, RequestError, body};
use crate::alert::NewAlert;

/// Reads the body of a create request.
///
/// `symbol` and `condition` are required. `notification` defaults to email. A null counts as an omitted member, and unknown
/// members are ignored. An `email` must have a plausible form and is otherwise kept unchanged: the caller decides whether a
/// guest needs one or an account may send one.
///
/// # Errors
/// [`RequestError`] with all errors of the body.
pub fn parse_create(body: &Value, context: &ParseContext<'_>) -> Result<NewAlert, RequestError> {
    let body = body::object(body)?;
    let mut errors = FieldErrors::default();
    let symbol = body::symbol(body, &mut errors);
    let kind = body::condition(body, &mut errors).and_then(|kind| {
        kind.ok_or_else(|| {
            let names = body::names_of_conditions();
            errors.add("condition", format!("is required; give one of {names}"))
        })
    });
    let notification = body::notification(body, &mut errors);
    let email = body::email(body, &mut errors);
    let note = labels::note(body, &mut errors);
    let tags = labels::tags(body, &mut errors);
    let parameters = member(body, "parameters").map_or(Ok(None), |value| parameters::object(value, &mut errors));
    let threshold = Threshold::sent(body.get("threshold"));
    let read = conditions::read_with(
        kind,
        symbol.as_ref().ok().copied(),
        threshold,
        parameters,
        None,
        context,
        &mut errors,
    );
    let options = super::options::read(
        body,
        read.as_ref().ok().map(|(condition, _)| condition),
        context,
        &mut errors,
    );
    let parts = || -> Result<NewAlert, InvalidField> {
        let (condition, parameters) = read?;
        Ok(NewAlert {
            symbol: symbol?,
            condition,
            notification: notification?.unwrap_or_default(),
            parameters,
            note: note?.flatten(),
            tags: tags?.unwrap_or_default(),
            options: options?.unwrap_or_default(),
            email: email?,
        })
    };
    parts().map_err(|InvalidField| RequestError::Invalid(errors))
}

//! The body of a create request.

use serde_json::{Map, Value};

use super::conditions;
use super::fields::{FieldErrors, InvalidField, member};
use super::labels;
use super::numbers::Threshold;
use super::parameters;
use super::{ParseContext, RequestError, body};
use crate::alert::NewAlert;
use crate::condition::Condition;
use crate::routing::{Routing, read_routing};
use crate::scope::template_symbol;

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
    let managed_by = labels::managed_by(body, &mut errors);
    let routing = read_routing(body, &Routing::default()).map_err(|found| errors.append(found));
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
        None,
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
            options: options?,
            routing: routing?.apply(&Routing::default()),
            managed_by: managed_by?.flatten(),
            email: email?,
        })
    };
    parts().map_err(|InvalidField| RequestError::Invalid(errors))
}

/// Reads the body of a create request with `scope`, which has no `symbol`. The symbol of the result stands for the members.
///
/// # Errors
/// [`RequestError`], as [`parse_create`]; also for a reminder, which concerns no stock.
pub fn parse_template(body: &Value, context: &ParseContext<'_>) -> Result<NewAlert, RequestError> {
    let refused = |field, message| {
        let mut errors = FieldErrors::default();
        errors.add(field, message);
        RequestError::Invalid(errors)
    };
    let mut fields: Map<String, Value> = body::object(body)?.clone();
    if member(&fields, "symbol").is_some() {
        return Err(refused(
            "symbol",
            "must be omitted with scope; put it into scope.symbols",
        ));
    }
    fields.insert("symbol".to_owned(), template_symbol().as_str().into());
    let template = parse_create(&Value::Object(fields), context)?;
    match template.condition {
        Condition::Reminder { .. } | Condition::DailyReminder(_) => Err(refused(
            "scope",
            "must be omitted for a reminder, which concerns no stock",
        )),
        _ => Ok(template),
    }
}

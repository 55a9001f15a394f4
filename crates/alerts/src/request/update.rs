//! The body of an update request.

use serde_json::{Map, Value};

use super::conditions;
use super::fields::{FieldErrors, InvalidField, member};
use super::labels;
use super::numbers::Threshold;
use super::parameters::{self, Parameters};
use super::{ParseContext, RequestError, body, options};
use crate::alert::{Alert, Channel};
use crate::condition::{Condition, ConditionKind};
use crate::managed_by::ManagedBy;
use crate::note::Note;
use crate::options::AlertOptions;
use crate::routing::{Routing, has_routing, read_routing};
use crate::tags::Tags;

/// The result of an update: the complete new values, not the difference.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertChange {
    /// The condition.
    pub condition: Condition,
    /// The notification channel.
    pub notification: Channel,
    /// The parameters in their normal form.
    pub parameters: Option<Map<String, Value>>,
    /// The owner's note.
    pub note: Option<Note>,
    /// The owner's tags.
    pub tags: Tags,
    /// The options.
    pub options: AlertOptions,
    /// The routing of its messages.
    pub routing: Routing,
    /// The source that manages it, and its name there. `None`: both stay as they are.
    pub managed_by: Option<Option<ManagedBy>>,
    /// Whether an active alert is armed again: unless the request has no fields but `note`, `tags`, `managed_by` and those of the routing.
    pub rearms: bool,
}

/// Reads the body of an update request for the alert `current`.
///
/// An omitted member keeps its current value. The complete result is validated like a new alert, except that an alert may keep a
/// moment or an end in the past, its expression, and a condition with options that do not fit it. A null removes the threshold, the parameters, the options, the note or the tags; for the condition and the notification, a null counts
/// as omitted. `parameters`, `options`, `note` and `tags` are replaced as a whole. The symbol cannot be changed and is ignored like any unknown member.
/// The members of the routing are changed one by one, see [`read_routing`].
///
/// A change of the condition requires a new threshold and new parameters: the same number or name means something else for
/// another condition. Only client metadata is kept.
///
/// # Errors
/// [`RequestError`] with all errors of the body.
pub fn parse_update(current: &Alert, body: &Value, context: &ParseContext<'_>) -> Result<AlertChange, RequestError> {
    let body = body::object(body)?;
    let mut errors = FieldErrors::default();
    let notification = body::notification(body, &mut errors);
    let note = labels::note(body, &mut errors);
    let tags = labels::tags(body, &mut errors);
    let managed_by = labels::managed_by(body, &mut errors);
    let routing = read_routing(body, &current.routing).map_err(|found| errors.append(found));
    let read = condition(current, body, context, &mut errors);
    let changed = read.as_ref().ok().map(|(condition, _)| condition);
    let options = options::read(body, changed, Some(current), context, &mut errors);
    let parts = || -> Result<AlertChange, InvalidField> {
        let (condition, parameters) = read?;
        let notification = notification?.unwrap_or(current.notification);
        Ok(AlertChange {
            condition,
            notification,
            parameters,
            note: note?.unwrap_or_else(|| current.note.clone()),
            tags: tags?.unwrap_or_else(|| current.tags.clone()),
            options: options?,
            routing: routing?.apply(&current.routing),
            managed_by: managed_by?,
            rearms: changes_evaluation(body) || !changes_messages(body),
        })
    };
    parts().map_err(|InvalidField| RequestError::Invalid(errors))
}

/// Returns whether the body of an update request contains no change: none of the known members, or only a null for the condition
/// or the notification.
#[must_use]
pub fn changes_nothing(body: &Value) -> bool {
    let Some(body) = body.as_object() else {
        return false;
    };
    !changes_evaluation(body) && !changes_messages(body)
}

fn changes_evaluation(body: &Map<String, Value>) -> bool {
    let is_named = |name: &str| member(body, name).is_some();
    let is_sent = |name: &str| body.contains_key(name);
    is_named("condition")
        || is_named("notification")
        || is_sent("threshold")
        || is_sent("parameters")
        || is_sent("options")
}

/// Returns whether a body changes what is only used in messages and lists.
fn changes_messages(body: &Map<String, Value>) -> bool {
    ["note", "tags", "managed_by"]
        .iter()
        .any(|name| body.contains_key(*name))
        || has_routing(body)
}

/// Returns the condition and the parameters of the updated alert.
fn condition(
    current: &Alert,
    body: &Map<String, Value>,
    context: &ParseContext<'_>,
    errors: &mut FieldErrors,
) -> Result<(Condition, Option<Map<String, Value>>), InvalidField> {
    let changes_condition =
        member(body, "condition").is_some() || ["threshold", "parameters"].iter().any(|name| body.contains_key(*name));
    if !changes_condition {
        return Ok((current.condition.clone(), current.parameters.clone()));
    }
    let current_kind = current.condition.kind();
    let kind = body::condition(body, errors).map(|kind| kind.unwrap_or(current_kind));
    let kind_changes = kind.is_ok_and(|kind| kind != current_kind);
    let parameters = match body.get("parameters") {
        Some(value) => parameters::object(value, errors),
        None if kind_changes => Ok(client_metadata(current, kind)),
        None => Ok(current.parameters.clone()),
    };
    let threshold = match (body.get("threshold"), current.condition.threshold()) {
        (None, Some(current_threshold)) if !kind_changes => Threshold::Kept(current_threshold),
        (sent, _) => Threshold::sent(sent),
    };
    conditions::read_with(
        kind,
        Some(current.symbol),
        threshold,
        parameters,
        Some(&current.condition),
        context,
        errors,
    )
}

/// Returns the client metadata: the alert's parameters without those that its current or its new condition reads.
fn client_metadata(current: &Alert, new: Result<ConditionKind, InvalidField>) -> Option<Map<String, Value>> {
    let mut parameters = Parameters::new(current.parameters.clone());
    for kind in [Some(current.condition.kind()), new.ok()].into_iter().flatten() {
        for own in kind.spec().request.parameters {
            parameters.remove(own.name);
        }
    }
    parameters
        .into_normal()
        .filter(|client_metadata| !client_metadata.is_empty())
}

//! The body of an update request.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::conditions::{self, Asked};
use super::fields::{Faults, Noted, member};
use super::numbers::Threshold;
use super::parameters::{self, Parameters};
use super::{Context, RequestError, body};
use crate::alert::{Alert, Channel};
use crate::condition::{Condition, ConditionKind};

/// What an update makes of an alert: the resulting whole, not the difference.
#[derive(Clone, PartialEq, Debug)]
pub struct AlertChange {
    /// What to wait for from now on.
    pub condition: Condition,
    /// How to tell.
    pub notification: Channel,
    /// The parameters in their normal form.
    pub parameters: Option<Map<String, Value>>,
}

/// Reads the body of an update request for the alert that `current` is.
///
/// A member that is left out keeps its current value, and the resulting whole is judged like a new
/// alert's, except that a reminder whose moment stays as it is may be past. A null takes the
/// threshold or the parameters away, and is as good as leaving out the condition or the
/// notification. `parameters` are replaced as a whole. The symbol cannot be changed; like any other
/// member that is not known it is ignored.
///
/// Another condition demands its own threshold and parameters: those of the old condition do not
/// carry over, because the same number or name means something else to another condition. Only the
/// marks of clients stay.
///
/// # Errors
/// [`RequestError`], with every fault of the body.
pub fn parse_update(current: &Alert, body: &Value, context: &Context<'_>) -> Result<AlertChange, RequestError> {
    let body = body::object(body)?;
    let mut faults = Faults::default();
    let notification = body::notification(body, &mut faults);
    let read = condition(current, body, context, &mut faults);
    let parts = || -> Result<AlertChange, Noted> {
        let (condition, parameters) = read?;
        let notification = notification?.unwrap_or(current.notification);
        Ok(AlertChange {
            condition,
            notification,
            parameters,
        })
    };
    parts().map_err(|Noted| RequestError::Invalid(faults))
}

/// Whether the body of an update request names nothing to change: none of the members that it could
/// have, or only a null for the condition or the notification.
#[must_use]
pub fn changes_nothing(body: &Value) -> bool {
    let Some(body) = body.as_object() else {
        return false;
    };
    let is_named = |name: &str| member(body, name).is_some();
    let is_sent = |name: &str| body.contains_key(name);
    !(is_named("condition") || is_named("notification") || is_sent("threshold") || is_sent("parameters"))
}

/// The condition and the parameters that the alert is to have.
fn condition(
    current: &Alert,
    body: &Map<String, Value>,
    context: &Context<'_>,
    faults: &mut Faults,
) -> Result<(Condition, Option<Map<String, Value>>), Noted> {
    let concerned =
        member(body, "condition").is_some() || ["threshold", "parameters"].iter().any(|name| body.contains_key(*name));
    if !concerned {
        return Ok((current.condition, current.parameters.clone()));
    }
    let standing_kind = current.condition.kind();
    let kind = body::condition(body, faults).map(|kind| kind.unwrap_or(standing_kind));
    let becomes_another = kind.is_ok_and(|kind| kind != standing_kind);
    let parameters = match body.get("parameters") {
        Some(value) => parameters::object(value, faults),
        None if becomes_another => Ok(marks(current, kind)),
        None => Ok(current.parameters.clone()),
    };
    let threshold = match (body.get("threshold"), current.condition.threshold()) {
        (None, Some(standing)) if !becomes_another => Threshold::Kept(standing),
        (sent, _) => Threshold::sent(sent),
    };
    let standing = standing_moment(current);
    let asked = kind.map(|kind| Asked {
        kind,
        threshold,
        standing,
    });
    conditions::read_with(asked, parameters, threshold, context, faults)
}

fn standing_moment(current: &Alert) -> Option<Timestamp> {
    match current.condition {
        Condition::Reminder { at } => Some(at),
        _ => None,
    }
}

/// The alert's parameters without those that its condition reads or that the new one would read.
fn marks(current: &Alert, new: Result<ConditionKind, Noted>) -> Option<Map<String, Value>> {
    let mut parameters = Parameters::new(current.parameters.clone());
    for kind in [Some(current.condition.kind()), new.ok()].into_iter().flatten() {
        for name in conditions::own_parameters(kind) {
            parameters.remove(name);
        }
    }
    parameters.into_normal().filter(|marks| !marks.is_empty())
}

//! The update of an alert.

use jiff::Timestamp;

use super::{HistoryAction, PriceAvailability, Transition, TransitionError, armed_lifecycle, changed};
use crate::alert::{Alert, Status};
use crate::lifecycle::Lifecycle;
use crate::request::AlertChange;

/// Applies an update.
///
/// An active alert is armed again, even if the update changes nothing, and keeps its initial price; without an initial price it
/// takes `price`. Of any other alert only the fields change, and an update with equal values changes nothing. An update of only the
/// note, the tags and the routing arms no alert, and keeps the revision.
///
/// # Errors
/// [`TransitionError::NoPrice`] for an update to a percent change, if the alert is active and neither has an initial price nor
/// can get one.
pub fn update(
    alert: &Alert,
    change: AlertChange,
    price: PriceAvailability,
    now: Timestamp,
) -> Result<Transition, TransitionError> {
    let is_active = alert.status == Status::Active;
    let initial_price = match alert.initial_price {
        None if is_active && change.rearms => price.for_condition(&change.condition)?,
        kept => kept,
    };
    let AlertChange {
        condition,
        notification,
        parameters,
        note,
        tags,
        options,
        routing,
        // It belongs to no alert of this crate: nothing here depends on it.
        managed_by: _,
        rearms,
    } = change;
    let is_rearmed = is_active && rearms;
    let differs = alert.condition != condition
        || alert.notification != notification
        || alert.parameters != parameters
        || alert.options != options;
    let messages_differ = alert.note != note || alert.tags != tags || alert.routing != routing;
    if !is_rearmed && !differs && !messages_differ {
        return Ok(Transition::Unchanged);
    }
    let is_snoozed = options.snoozed_until.is_some() && options.snoozed_until != alert.options.snoozed_until;
    let action = if is_snoozed {
        HistoryAction::Snoozed
    } else {
        HistoryAction::Updated
    };
    Ok(changed(alert, action, |after| {
        if after.condition != condition {
            after.threshold_set_at = now;
        }
        after.condition = condition;
        after.notification = notification;
        after.parameters = parameters;
        after.note = note;
        after.tags = tags;
        after.options = options;
        after.routing = routing;
        if !rearms {
            // The evaluation does not change, so a firing that is being committed stays valid.
            after.revision = alert.revision;
            return;
        }
        if after.initial_price != initial_price {
            after.initial_price = initial_price;
            after.initial_price_set_at = price.set_at(now);
        }
        if is_rearmed {
            after.rsi_side = None;
            after.armed_at = now;
            // The firings count since the activation.
            let new = armed_lifecycle(&after.condition, &after.options, now);
            after.lifecycle = new.map(|new| match alert.lifecycle.as_deref() {
                None => new,
                Some(old) if alert.condition == after.condition => Box::new(old.armed_anew(now, None)),
                // The crossings belong to the old condition.
                Some(old) => Box::new(Lifecycle {
                    firings: old.firings,
                    last_fired_at: old.last_fired_at,
                    ..*new
                }),
            });
        }
    }))
}

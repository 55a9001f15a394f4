//! Buttons of messages, which act without opening a page.

use alerts::Status;
use delivery::messages::{AlertButton, ChannelActionKind};
use delivery::notification_channels::{ButtonActions, ButtonPress, NotificationChannelType};
use foundation::{Actor, ServiceError};
use jiff::SignedDuration;
use notify::templates::render::local_time;
use store::model::EventId;

use super::FiringLinks;

/// The type of the channels whose messages have such buttons.
const VIA: NotificationChannelType = NotificationChannelType::Telegram;

/// A snooze of an hour with more time left was begun by the same press.
const SAME_SNOOZE: SignedDuration = SignedDuration::from_mins(59);

impl ButtonActions for FiringLinks {
    async fn press(&self, press: ButtonPress) -> Result<String, ServiceError> {
        match self.act(&press).await {
            // The button is read again when the database is available.
            Err(error @ ServiceError::StorageUnavailable(_)) => Err(error),
            Err(error) => Ok(refusal(error)),
            Ok(text) => Ok(text),
        }
    }
}

impl FiringLinks {
    /// Performs the action of a button, unless it was performed before. A person may press a button twice, and a press may be read twice.
    async fn act(&self, press: &ButtonPress) -> Result<String, ServiceError> {
        let first = *press.firings.first().ok_or_else(super::no_such_firing)?;
        let actor = self.owner(first).await?;
        match press.action {
            ChannelActionKind::Acknowledge | ChannelActionKind::AcknowledgeAll => {
                self.acknowledge_by_button(&actor, first, press).await
            }
            ChannelActionKind::Change(action) => self.change_by_button(&actor, first, action).await,
        }
    }

    async fn acknowledge_by_button(
        &self,
        actor: &Actor,
        first: EventId,
        press: &ButtonPress,
    ) -> Result<String, ServiceError> {
        let by = press.sender.as_ref().unwrap_or(&actor.email);
        let acknowledged = self.firings.acknowledge_as(actor, &press.firings, by, VIA.name());
        if acknowledged.await? {
            return Ok("Acknowledged".to_owned());
        }
        let firing = self.firings.firing(actor, first).await?.firing;
        let by_another = firing.acknowledged.filter(|acknowledged| acknowledged.by != *by);
        Ok(match by_another {
            Some(acknowledged) => format!("{} has acknowledged this already", acknowledged.by),
            None => "You have acknowledged this already".to_owned(),
        })
    }

    async fn change_by_button(
        &self,
        actor: &Actor,
        firing: EventId,
        action: AlertButton,
    ) -> Result<String, ServiceError> {
        let id = self.alert_of(actor, firing).await?;
        let alert = self.alerts.alert(actor, id).await?.stored.alert;
        let now = self.ports.clock.now();
        let snoozed_until = alert.options.snoozed_until.filter(|until| *until > now);
        let has_effect = match action {
            // A press may be read twice, but one that comes later extends the snooze.
            AlertButton::SnoozeOneHour => snoozed_until.is_none_or(|until| until < now + SAME_SNOOZE),
            AlertButton::SnoozeUntilOpen => {
                let open = self.alerts.settings.calendar.next_open(now);
                snoozed_until.is_none_or(|until| open.is_some_and(|open| until < open))
            }
            AlertButton::Pause => alert.status != Status::Paused,
            AlertButton::Rearm => alert.status != Status::Active,
        };
        let alert = match has_effect {
            true => self.change_alert(actor, id, action).await?.stored.alert,
            false => alert,
        };
        let already = if has_effect { "" } else { " already" };
        Ok(match action {
            AlertButton::SnoozeOneHour | AlertButton::SnoozeUntilOpen => {
                let until = alert.options.snoozed_until;
                let until = until.map_or_else(String::new, |until| {
                    format!(" until {}", local_time(until, &actor.time_zone))
                });
                format!("Snoozed{until}{already}")
            }
            AlertButton::Pause => format!("Paused{already}"),
            AlertButton::Rearm => format!("Armed{}", if has_effect { " again" } else { already }),
        })
    }
}

/// Returns the text for a person whose button has failed.
fn refusal(error: ServiceError) -> String {
    match error {
        ServiceError::NotFound(_) => "This alert no longer exists".to_owned(),
        ServiceError::Internal(error) => {
            tracing::error!(%error, "the action of a button has failed");
            "This has failed. Try again, or open the alert".to_owned()
        }
        // Without the name of a field, which means nothing in a chat.
        ServiceError::Invalid { fields, message, .. } => {
            let first = fields.into_values().flatten().next();
            format!("This cannot be done: {}", first.unwrap_or(message))
        }
        other => format!("This cannot be done: {other}"),
    }
}

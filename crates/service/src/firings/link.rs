//! Links in messages that acknowledge a firing or change its alert.

use alerts::AlertId;
use delivery::messages::{ActionLink, AlertButton, ChannelActionKind};
use foundation::quiet_hours::time_zone;
use foundation::{Actor, AuthMethod, Ports, ServiceError};
use serde_json::json;
use store::model::EventId;

use super::Firings;
use crate::alerts::{AlertDetail, Alerts};

/// Use cases behind the links in messages.
#[derive(Clone)]
pub struct FiringLinks {
    pub(crate) ports: Ports,
    pub(crate) firings: Firings,
    pub(crate) alerts: Alerts,
}

impl FiringLinks {
    /// Returns what a link does. Nothing changes.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid or expired token.
    pub fn read(&self, token: &str) -> Result<ChannelActionKind, ServiceError> {
        Ok(self.link(token)?.action)
    }

    /// Performs the action of a link, in the name of the owner of the alert.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid or expired token; the errors of the change, for instance [`ServiceError::NotFound`] for
    /// an alert that was deleted.
    pub async fn follow(&self, token: &str) -> Result<ChannelActionKind, ServiceError> {
        let link = self.link(token)?;
        let firings = link.subject.firings(&self.ports.store).await?;
        let first = *firings.first().ok_or_else(super::no_such_firing)?;
        let actor = self.owner(first).await?;
        match link.action {
            ChannelActionKind::Acknowledge | ChannelActionKind::AcknowledgeAll => {
                self.firings
                    .acknowledge_as(&actor, &firings, &actor.email, link.via.name())
                    .await?;
            }
            ChannelActionKind::Change(action) => {
                let alert = self.alert_of(&actor, first).await?;
                self.change_alert(&actor, alert, action).await?;
            }
        }
        Ok(link.action)
    }

    /// Returns the alert of a firing.
    pub(super) async fn alert_of(&self, actor: &Actor, firing: EventId) -> Result<AlertId, ServiceError> {
        let firing = self.ports.store.firing(actor.account, firing).await?;
        Ok(firing.ok_or_else(super::no_such_firing)?.alert)
    }

    /// Changes an alert, and returns it.
    pub(super) async fn change_alert(
        &self,
        actor: &Actor,
        alert: AlertId,
        action: AlertButton,
    ) -> Result<AlertDetail, ServiceError> {
        let snooze = |until: &str| json!({"snooze": until});
        match action {
            AlertButton::SnoozeOneHour => self.alerts.patch_alert(actor, alert, &snooze("1h")).await,
            AlertButton::SnoozeUntilOpen => self.alerts.patch_alert(actor, alert, &snooze("next_open")).await,
            AlertButton::Pause => self.alerts.pause_alert(actor, alert).await,
            AlertButton::Rearm => self.alerts.activate_alert(actor, alert).await,
        }
    }

    fn link(&self, token: &str) -> Result<ActionLink, ServiceError> {
        let link = ActionLink::from_token(&self.ports.vault, token, self.ports.clock.now());
        link.ok_or_else(|| ServiceError::field("t", "is not a valid token; open the complete link from the message"))
    }

    /// Returns the owner of a firing's alert, who has got the message.
    pub(super) async fn owner(&self, firing: EventId) -> Result<Actor, ServiceError> {
        let account = self.ports.store.account_of_firing(firing).await?;
        let account = account.ok_or_else(super::no_such_firing)?;
        Ok(Actor {
            account: account.id,
            plan: account.plan,
            is_operator: false,
            time_zone: time_zone(&account),
            email: account.email,
            auth_method: AuthMethod::MessageLink { firing },
        })
    }
}

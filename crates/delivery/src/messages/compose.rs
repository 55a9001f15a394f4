//! The content of messages, for the channels that render it.

use std::sync::Arc;

use alerts::AlertId;
use foundation::links::link;
use foundation::vault::{Vault, VaultError};
use notify::channels::{ChannelAction, ChannelActionKind};
use notify::templates::AccountEmail;
use notify::templates::render::{FiredAlert, FiredAlerts};
use store::model::{ClaimedMessage, FoldedFirings, NotificationChannelType};
use url::Url;

use super::action_link::ActionLink;
use super::write::content_location;

/// Product name in messages.
pub(super) const PRODUCT_NAME: &str = "Bellwether";

/// Reason why a message cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    /// The content was sealed with another key, which the operator may restore.
    #[error(transparent)]
    Sealed(#[from] VaultError),
    /// The content does not match this version.
    #[error("invalid message content: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The message has no notification channel to go to, or is not about a firing.
    #[error("the message has no destination")]
    NoDestination,
}

/// Opens the content of messages and creates links.
pub(crate) struct Composer {
    pub(super) vault: Arc<Vault>,
    pub(super) public_url: String,
}

impl Composer {
    /// Returns the fired alert, with links if the owner has an account.
    pub(super) fn fired(&self, message: &ClaimedMessage, data: &str, via: NotificationChannelType) -> FiredAlert {
        let mut alert = FiredAlert::from_event_data(data);
        if message.account.is_none() {
            return alert;
        }
        if let Some(id) = message.alert {
            alert = alert.with_link(self.alert_link(id));
        }
        if let Some(link) = self.action_link(message, ChannelActionKind::Acknowledge, via) {
            alert = alert.with_acknowledge_link(link);
        }
        alert
    }

    /// Returns the fired alerts of a message, with links if their owner has an account.
    pub(super) fn fired_alerts(
        &self,
        message: &ClaimedMessage,
        firings: &FoldedFirings,
        via: NotificationChannelType,
    ) -> FiredAlerts {
        let is_owned = message.account.is_some();
        let acknowledge_link = self.action_link(message, ChannelActionKind::AcknowledgeAll, via);
        FiredAlerts {
            listed: firings
                .listed
                .iter()
                .map(|data| FiredAlert::from_event_data(data))
                .collect(),
            total: firings.total,
            link: is_owned.then(|| self.fired_link()),
            acknowledge_link: acknowledge_link.filter(|_| is_owned),
            not_by_sms: None,
            is_fallback: message.is_fallback,
        }
    }

    /// Returns the link to the alerts that fired.
    pub(super) fn fired_link(&self) -> String {
        link(&self.public_url, "fired", &[])
    }

    /// Returns the link to the page of an alert.
    pub(super) fn alert_link(&self, alert: AlertId) -> String {
        link(&self.public_url, &format!("alerts/{alert}"), &[])
    }

    /// Returns a link that acts on the firing of a message.
    pub(super) fn action_link(
        &self,
        message: &ClaimedMessage,
        action: ChannelActionKind,
        via: NotificationChannelType,
    ) -> Option<String> {
        let token = action_of(message, action, via)?.token(&self.vault);
        Some(link(&self.public_url, action.page(), &[("t", &token)]))
    }

    /// Returns some actions of a message to a service.
    pub(super) fn actions(
        &self,
        message: &ClaimedMessage,
        kinds: &[ChannelActionKind],
        via: NotificationChannelType,
    ) -> Vec<ChannelAction> {
        let actions = kinds.iter().filter_map(|&kind| {
            let link = self.action_link(message, kind, via)?;
            let button = action_of(message, kind, via)?;
            Some(ChannelAction {
                kind,
                url: Url::parse(&link).ok()?,
                callback_data: (via == NotificationChannelType::Telegram).then(|| button.callback_data(&self.vault)),
            })
        });
        actions.collect()
    }

    /// Opens the content of a message about an account.
    pub(super) fn account_email(&self, message: &ClaimedMessage, sealed: &[u8]) -> Result<AccountEmail, RenderError> {
        Ok(serde_json::from_str(
            &self.vault.open(content_location(message.id), sealed)?,
        )?)
    }
}

/// Returns an action on the firing of a message, or on all of its firings.
fn action_of(message: &ClaimedMessage, action: ChannelActionKind, via: NotificationChannelType) -> Option<ActionLink> {
    let id = match action {
        ChannelActionKind::AcknowledgeAll => message.id.0,
        ChannelActionKind::Acknowledge | ChannelActionKind::Change(_) => message.event?.0,
    };
    Some(ActionLink::new(action, id, via, message.created_at))
}

//! Renders messages.

use std::sync::Arc;

use notify::email::Email;
use notify::sms::Sms;
use notify::templates::AccountEmail;
use notify::templates::render::{self, EmailContext, FiredAlert};
use store::model::{ClaimedMessage, MessageChannel, MessageContent, is_alert_news};

use super::recipient::Recipient;
use super::transport::OutgoingMessage;
use super::unsubscribe;
use super::write::content_location;
use foundation::links::link;
use foundation::vault::{Vault, VaultError};

/// Product name in messages.
const PRODUCT_NAME: &str = "Bellwether";

/// Reason why a message cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(super) enum RenderError {
    /// The content was sealed with another key, which the operator may restore.
    #[error(transparent)]
    Sealed(#[from] VaultError),
    /// The content does not match this version.
    #[error("invalid message content: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Renders messages.
pub(super) struct Composer {
    pub(super) vault: Arc<Vault>,
    pub(super) public_url: String,
}

impl Composer {
    /// Renders a message for its channel.
    pub(super) fn compose(
        &self,
        channel: MessageChannel,
        message: &ClaimedMessage,
        recipient: Recipient,
    ) -> Result<OutgoingMessage, RenderError> {
        match channel {
            MessageChannel::Email => self.mail(message, recipient),
            MessageChannel::Sms => self.text(message, recipient),
        }
    }

    fn mail(&self, message: &ClaimedMessage, recipient: Recipient) -> Result<OutgoingMessage, RenderError> {
        let mut context = EmailContext::new(PRODUCT_NAME, &self.public_url);
        context.recipient_name.clone_from(&recipient.name);
        context.time_zone = recipient.time_zone;
        if is_alert_news(&message.kind) {
            let token = unsubscribe::token(&self.vault, &recipient.to);
            context.unsubscribe_link = Some(link(&self.public_url, "unsubscribe", &[("token", &token)]));
        }
        let mail = match &message.content {
            MessageContent::Sealed(sealed) => render::account_email(&self.letter(message, sealed)?, &context),
            MessageContent::Firing(data) => render::fired_alert_email(&self.fired(message, data), &context),
        };
        let email = Email::new(recipient.to, recipient.name, message.id.0, message.created_at, mail);
        Ok(OutgoingMessage::Email(Box::new(email)))
    }

    /// Returns the fired alert, with a link to it if the owner has an account.
    fn fired(&self, message: &ClaimedMessage, data: &str) -> FiredAlert {
        let alert = FiredAlert::from_event_data(data);
        match message.alert.filter(|_| message.account.is_some()) {
            Some(id) => alert.with_link(link(&self.public_url, &format!("alerts/{id}"), &[])),
            None => alert,
        }
    }

    fn text(&self, message: &ClaimedMessage, recipient: Recipient) -> Result<OutgoingMessage, RenderError> {
        let text = match &message.content {
            MessageContent::Sealed(sealed) => render::account_sms(&self.letter(message, sealed)?, PRODUCT_NAME),
            MessageContent::Firing(data) => render::fired_alert_sms(&FiredAlert::from_event_data(data), PRODUCT_NAME),
        };
        Ok(OutgoingMessage::Sms(Sms { to: recipient.to, text }))
    }

    fn letter(&self, message: &ClaimedMessage, sealed: &[u8]) -> Result<AccountEmail, RenderError> {
        Ok(serde_json::from_str(
            &self.vault.open(content_location(message.id), sealed)?,
        )?)
    }
}

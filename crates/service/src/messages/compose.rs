//! Messages get their words.

use std::sync::Arc;

use notify::email::Email;
use notify::sms::Sms;
use notify::templates::AccountEmail;
use notify::templates::render::{self, EmailContext, FiredAlert};
use store::model::{ClaimedMessage, MessageChannel, MessageContent, is_alert_news};

use super::carrier::Parcel;
use super::recipient::Recipient;
use super::unsubscribe;
use super::write::place;
use crate::links::link;
use crate::vault::{Vault, VaultError};

/// What this service is called in messages.
const PRODUCT: &str = "Bellwether";

/// Why a message has no words.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wordless {
    /// It was sealed with another key, which the operator may find again.
    #[error(transparent)]
    Sealed(#[from] VaultError),
    /// It is no letter of this version.
    #[error("a letter cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Writes messages.
pub(super) struct Composer {
    pub(super) vault: Arc<Vault>,
    pub(super) public_url: String,
}

impl Composer {
    /// A message in its words.
    pub(super) fn compose(
        &self,
        channel: MessageChannel,
        message: &ClaimedMessage,
        recipient: Recipient,
    ) -> Result<Parcel, Wordless> {
        match channel {
            MessageChannel::Email => self.mail(message, recipient),
            MessageChannel::Sms => self.text(message, recipient),
        }
    }

    fn mail(&self, message: &ClaimedMessage, recipient: Recipient) -> Result<Parcel, Wordless> {
        let mut context = EmailContext::new(PRODUCT, &self.public_url);
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
        Ok(Parcel::Mail(Box::new(email)))
    }

    /// An alert that fired, with a link to it if its owner has an account.
    fn fired(&self, message: &ClaimedMessage, data: &str) -> FiredAlert {
        let alert = FiredAlert::from_event_data(data);
        match message.alert.filter(|_| message.account.is_some()) {
            Some(id) => alert.with_link(link(&self.public_url, &format!("alerts/{id}"), &[])),
            None => alert,
        }
    }

    fn text(&self, message: &ClaimedMessage, recipient: Recipient) -> Result<Parcel, Wordless> {
        let text = match &message.content {
            MessageContent::Sealed(sealed) => render::account_sms(&self.letter(message, sealed)?, PRODUCT),
            MessageContent::Firing(data) => render::fired_alert_sms(&FiredAlert::from_event_data(data), PRODUCT),
        };
        Ok(Parcel::Text(Sms { to: recipient.to, text }))
    }

    fn letter(&self, message: &ClaimedMessage, sealed: &[u8]) -> Result<AccountEmail, Wordless> {
        Ok(serde_json::from_str(&self.vault.open(place(message.id), sealed)?)?)
    }
}

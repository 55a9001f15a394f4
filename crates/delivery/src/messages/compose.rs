//! The content of messages, for the channels that render it.

use std::sync::Arc;

use foundation::links::link;
use foundation::vault::{Vault, VaultError};
use notify::templates::AccountEmail;
use notify::templates::render::FiredAlert;
use store::model::ClaimedMessage;

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
}

/// Opens the content of messages and creates links.
pub(crate) struct Composer {
    pub(super) vault: Arc<Vault>,
    pub(super) public_url: String,
}

impl Composer {
    /// Returns the fired alert, with a link to it if the owner has an account.
    pub(super) fn fired(&self, message: &ClaimedMessage, data: &str) -> FiredAlert {
        let alert = FiredAlert::from_event_data(data);
        match message.alert.filter(|_| message.account.is_some()) {
            Some(id) => alert.with_link(link(&self.public_url, &format!("alerts/{id}"), &[])),
            None => alert,
        }
    }

    /// Opens the content of a message about an account.
    pub(super) fn account_email(&self, message: &ClaimedMessage, sealed: &[u8]) -> Result<AccountEmail, RenderError> {
        Ok(serde_json::from_str(
            &self.vault.open(content_location(message.id), sealed)?,
        )?)
    }
}

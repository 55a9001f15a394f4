//! Renders and queues emails about alerts within a transaction.

use std::sync::Arc;

use delivery::messages::account_email;
use foundation::Random;
use foundation::vault::Vault;
use jiff::Timestamp;
use notify::templates::AccountEmail;
use store::model::AccountId;
use store::{StoreError, UnitOfWork};

use super::Evaluator;

/// Renders and queues emails.
#[derive(Clone)]
pub(super) struct NoticeWriter {
    vault: Arc<Vault>,
    random: Arc<Random>,
    pub(super) at: Timestamp,
}

impl NoticeWriter {
    /// Queues an email. One that cannot be rendered is logged. Delivery limits are checked when it is sent.
    pub(super) async fn queue(
        &self,
        unit: &mut UnitOfWork,
        to: &str,
        account: Option<AccountId>,
        email: &AccountEmail,
    ) -> Result<(), StoreError> {
        match account_email(&self.vault, &self.random, self.at, to, account, email) {
            Ok(message) => unit.queue_message(&message).await,
            Err(error) => {
                tracing::error!(%error, kind = email.kind(), "an email cannot be rendered");
                Ok(())
            }
        }
    }
}

impl Evaluator {
    /// Returns a writer of emails that are written at an instant.
    pub(super) fn notice_writer(&self, at: Timestamp) -> NoticeWriter {
        NoticeWriter {
            vault: Arc::clone(&self.vault),
            random: Arc::clone(&self.random),
            at,
        }
    }
}

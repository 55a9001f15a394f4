//! Deletion of an account. All personal data is deleted; an anonymized row remains for statistics.

use std::sync::Arc;

use alerts::Plan;
use foundation::account::lock_account;
use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, Profile};

use crate::identity::account::AccountSettings;
use crate::identity::requests::DeleteAccountRequest;
use foundation::request::Request;
use foundation::{Actor, ServiceError};

impl AccountSettings {
    /// Deletes the actor's account permanently: `{confirmation: "DELETE"}`.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without the confirmation.
    pub async fn delete_account(&self, actor: &Actor, body: &Value) -> Result<(), ServiceError> {
        DeleteAccountRequest::read(body)?;
        let evaluator = Arc::clone(&self.evaluator);
        let transaction = self.ports.transaction_then(
            (actor.account, self.ports.clock.now()),
            |&(account, now), unit| {
                Box::pin(async move {
                    let account = lock_account(unit, account).await?;
                    let mut deleted = Vec::new();
                    for stored in unit.lock_alerts_of_account(account.id).await? {
                        let alert = stored.alert;
                        if unit.delete_alert(&alert, now).await? {
                            deleted.push(alert.id);
                        }
                    }
                    unit.erase_account_data(&account, now).await?;
                    unit.update_account(&anonymized(&account, now)).await?;
                    Ok(deleted)
                })
            },
            move |deleted| {
                for id in deleted {
                    evaluator.remove_alert(*id);
                }
            },
        );
        transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(())
    }
}

/// Returns the anonymized row of a deleted account.
fn anonymized(account: &Account, now: Timestamp) -> Account {
    Account {
        id: account.id,
        // Mail to this domain is never delivered (RFC 2606).
        email: format!("{}@deleted.invalid", account.id.0),
        password_hash: None,
        full_name: None,
        plan: Plan::Basic,
        is_operator: false,
        is_verified: false,
        time_zone: "UTC".to_owned(),
        created_at: account.created_at,
        profile: Profile {
            deleted_at: Some(now),
            ..Profile::default()
        },
    }
}

//! Deletion of an account. All personal data is deleted; an anonymized row remains for statistics.

use alerts::{AlertId, Plan};
use foundation::account::lock_account;
use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, Profile};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use crate::identity::account::AccountSettings;
use crate::identity::requests::DeleteAccountRequest;
use foundation::request::Request;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl AccountSettings {
    /// Deletes the actor's account permanently: `{confirmation: "DELETE"}`.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without the confirmation.
    pub async fn delete_account(&self, actor: &Actor, body: &Value) -> Result<(), ServiceError> {
        DeleteAccountRequest::read(body)?;
        let work = DeleteAccount {
            account_settings: self.clone(),
            account: actor.account,
            now: self.ports.clock.now(),
        };
        self.ports.store.write(work).await?;
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

struct DeleteAccount {
    account_settings: AccountSettings,
    account: AccountId,
    now: Timestamp,
}

impl Transaction for DeleteAccount {
    type Output = Vec<AlertId>;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Vec<AlertId>, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = lock_account(unit, self.account).await?;
            let mut deleted = Vec::new();
            for stored in unit.lock_alerts_of_account(self.account).await? {
                let alert = stored.alert;
                if unit.delete_alert(&alert, self.now).await? {
                    deleted.push(alert.id);
                }
            }
            unit.erase_account_data(&account, self.now).await?;
            unit.update_account(&anonymized(&account, self.now)).await?;
            Ok(deleted)
        })
    }

    fn committed(&self, deleted: &Vec<AlertId>) {
        for id in deleted {
            self.account_settings.evaluator.remove_alert(*id);
        }
    }
}

//! Deleting an account: all that was its owner's goes. The row stays, with nothing in it that tells whose it was, because
//! what happened is counted by it.

use alerts::{AlertId, Plan};
use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, Profile};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::present;
use crate::body::Members;
use crate::identity::account::AccountSettings;
use crate::{AccountId, Actor, ServiceError};

/// What has to be said for it.
const CONFIRMATION: &str = "DELETE";

impl AccountSettings {
    /// Deletes the actor's account for good: `{confirmation: "DELETE"}`.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] without the confirmation.
    pub async fn delete_account(&self, actor: &Actor, body: &Value) -> Result<(), ServiceError> {
        let mut members = Members::of(body)?;
        if members.value("confirmation").and_then(Value::as_str) != Some(CONFIRMATION) {
            members.fault(
                "confirmation",
                "is required and must be \"DELETE\": the account and all that is in it goes for good",
            );
        }
        members.finish()?;
        let work = Delete {
            account_settings: self.clone(),
            account: actor.account,
            now: self.ports.clock.now(),
        };
        self.ports.store.write(work).await?;
        self.reception.forget(actor.account);
        Ok(())
    }
}

/// What stays of an account.
fn shell(account: &Account, now: Timestamp) -> Account {
    Account {
        id: account.id,
        // No mail goes to this domain (RFC 2606).
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

struct Delete {
    account_settings: AccountSettings,
    account: AccountId,
    now: Timestamp,
}

impl Transaction for Delete {
    type Output = Vec<AlertId>;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Vec<AlertId>, Abort<ServiceError>>> {
        Box::pin(async move {
            let account = present(unit, self.account).await?;
            let mut deleted = Vec::new();
            for stored in unit.lock_alerts_of_account(self.account).await? {
                let alert = stored.alert;
                if unit.delete_alert(&alert, self.now).await? {
                    deleted.push(alert.id);
                }
            }
            unit.erase_account_data(&account, self.now).await?;
            unit.update_account(&shell(&account, self.now)).await?;
            Ok(deleted)
        })
    }

    fn committed(&self, deleted: &Vec<AlertId>) {
        for id in deleted {
            self.account_settings.evaluator.forget(*id);
        }
    }
}

//! Name and time zone of an account's owner.

use serde_json::Value;
use store::model::Account;

use super::requests::UpdateSessionRequest;
use crate::identity::account::AccountSettings;
use foundation::request::Request;
use foundation::{Actor, ServiceError};

impl AccountSettings {
    /// Updates the actor's profile: `{full_name?, time_zone?}`. Absent fields stay unchanged; `full_name: null` removes
    /// the name.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid name or time zone, [`ServiceError::Unauthenticated`] if the account no
    /// longer exists.
    pub async fn update_profile(&self, actor: &Actor, body: &Value) -> Result<Account, ServiceError> {
        let request = UpdateSessionRequest::read(body)?;
        let inputs = (
            actor.account,
            request.full_name.0.map(|name| name.map(|name| name.0)),
            request.time_zone.map(|zone| zone.0),
        );
        let transaction = self
            .ports
            .transaction(inputs, |&(account, ref full_name, ref time_zone), unit| {
                Box::pin(async move {
                    let mut account = foundation::account::lock_account(unit, account).await?;
                    if let Some(full_name) = full_name {
                        account.full_name.clone_from(full_name);
                    }
                    if let Some(time_zone) = time_zone {
                        account.time_zone.clone_from(time_zone);
                    }
                    unit.update_account(&account).await?;
                    Ok(account)
                })
            });
        let account = transaction.await?;
        self.credential_cache.invalidate(account.id);
        Ok(account)
    }
}

//! Name and time zone of an account's owner.

use jiff::tz::TimeZone;
use serde_json::Value;
use store::model::{Account, AccountId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::fields;
use crate::identity::account::AccountSettings;
use foundation::body::BodyReader;
use foundation::{Actor, ServiceError};

impl AccountSettings {
    /// Updates the actor's profile: `{full_name?, time_zone?}`. Absent fields stay unchanged; `full_name: null` removes
    /// the name.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid name or time zone, [`ServiceError::Unauthenticated`] if the account no
    /// longer exists.
    pub async fn update_profile(&self, actor: &Actor, body: &Value) -> Result<Account, ServiceError> {
        let mut members = BodyReader::new(body)?;
        let full_name = members.contains("full_name").then(|| fields::full_name(&mut members));
        let time_zone = time_zone(&mut members);
        members.finish()?;
        let work = UpdateProfile {
            account: actor.account,
            full_name,
            time_zone,
        };
        let account = self.ports.store.write(work).await?;
        self.credential_cache.invalidate(account.id);
        Ok(account)
    }
}

/// Reads the IANA name of a time zone, if present.
pub(crate) fn time_zone(members: &mut BodyReader<'_>) -> Option<String> {
    let name = members.text("time_zone")?;
    let zone = TimeZone::get(name).ok();
    let name = zone.as_ref().and_then(TimeZone::iana_name).map(str::to_owned);
    if name.is_none() {
        members.add_error(
            "time_zone",
            "must be the IANA name of a time zone, such as Europe/Berlin",
        );
    }
    name
}

struct UpdateProfile {
    account: AccountId,
    full_name: Option<Option<String>>,
    time_zone: Option<String>,
}

impl Transaction for UpdateProfile {
    type Output = Account;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Account, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = foundation::account::lock_account(unit, self.account).await?;
            if let Some(full_name) = &self.full_name {
                account.full_name.clone_from(full_name);
            }
            if let Some(time_zone) = &self.time_zone {
                account.time_zone.clone_from(time_zone);
            }
            unit.update_account(&account).await?;
            Ok(account)
        })
    }
}

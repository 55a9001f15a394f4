//! What an account's owner is called, and where they live.

use jiff::tz::TimeZone;
use serde_json::Value;
use store::model::{Account, AccountId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::read;
use crate::body::Members;
use crate::identity::account::AccountSettings;
use crate::{Actor, ServiceError};

impl AccountSettings {
    /// Changes what is told about the actor: `{full_name?, time_zone?}`. What is left out stays; a name that is null goes.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a name or a zone that will not do, [`ServiceError::Unauthenticated`] if the account is
    /// not there any more.
    pub async fn update_profile(&self, actor: &Actor, body: &Value) -> Result<Account, ServiceError> {
        let mut members = Members::of(body)?;
        let full_name = members.has("full_name").then(|| read::full_name(&mut members));
        let time_zone = time_zone(&mut members);
        members.finish()?;
        let work = Update {
            account: actor.account,
            full_name,
            time_zone,
        };
        let account = self.ports.store.write(work).await?;
        self.reception.forget(account.id);
        Ok(account)
    }
}

/// The IANA name of a time zone, if it is there.
pub(crate) fn time_zone(members: &mut Members<'_>) -> Option<String> {
    let name = members.text("time_zone")?;
    let zone = TimeZone::get(name).ok();
    let name = zone.as_ref().and_then(TimeZone::iana_name).map(str::to_owned);
    if name.is_none() {
        members.fault(
            "time_zone",
            "must be the IANA name of a time zone, such as Europe/Berlin",
        );
    }
    name
}

struct Update {
    account: AccountId,
    full_name: Option<Option<String>>,
    time_zone: Option<String>,
}

impl Transaction for Update {
    type Output = Account;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Account, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = super::account::present(unit, self.account).await?;
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

//! Listing and ending of OAuth grants by the account's owner.

use jiff::Timestamp;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{Grant, GrantId};
use crate::oauth::OAuth;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl OAuth {
    /// Returns the live grants of the signed-in actor, oldest first.
    pub async fn grants(&self, actor: &Actor) -> Result<Vec<Grant>, ServiceError> {
        let now = self.ports.clock.now();
        Ok(self.ports.store.grants(actor.account, now).await?)
    }

    /// Ends a grant of the signed-in actor. This process rejects its tokens at once, other processes a few seconds
    /// later.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor has no such live grant.
    pub async fn end_grant(&self, actor: &Actor, id: GrantId) -> Result<(), ServiceError> {
        let work = EndGrant {
            account: actor.account,
            id,
            now: self.ports.clock.now(),
        };
        self.ports.store.write(work).await?;
        self.credential_cache.invalidate(actor.account);
        Ok(())
    }
}

struct EndGrant {
    account: AccountId,
    id: GrantId,
    now: Timestamp,
}

impl Transaction for EndGrant {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            if unit.end_grant(self.account, self.id, self.now).await? {
                Ok(())
            } else {
                Err(Abort::Refused(ServiceError::NotFound("grant")))
            }
        })
    }
}

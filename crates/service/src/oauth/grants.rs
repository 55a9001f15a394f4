//! What somebody has allowed programs, as they look at it and end it.

use jiff::Timestamp;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{Grant, GrantId};
use crate::oauth::OAuth;
use crate::{AccountId, Actor, ServiceError};

impl OAuth {
    /// What the actor, who has signed in, has allowed programs and not ended yet, oldest first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn grants(&self, actor: &Actor) -> Result<Vec<Grant>, ServiceError> {
        let now = self.ports.clock.now();
        Ok(self.ports.store.grants(actor.account, now).await?)
    }

    /// Ends what the actor, who has signed in, has allowed a program. Its tokens are refused from now on; by another process of
    /// this service a few seconds later.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for what the actor has not allowed, or has ended.
    pub async fn end_grant(&self, actor: &Actor, id: GrantId) -> Result<(), ServiceError> {
        let work = End {
            account: actor.account,
            id,
            now: self.ports.clock.now(),
        };
        self.ports.store.write(work).await?;
        self.reception.forget(actor.account);
        Ok(())
    }
}

struct End {
    account: AccountId,
    id: GrantId,
    now: Timestamp,
}

impl Transaction for End {
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

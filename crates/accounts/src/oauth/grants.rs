//! Listing and ending of OAuth grants by the account's owner.

use store::Abort;

use super::{Grant, GrantId};
use crate::oauth::OAuth;
use foundation::{Actor, ServiceError};

impl OAuth {
    /// Returns the live grants of the signed-in actor, oldest first.
    pub async fn grants(&self, actor: &Actor) -> Result<Vec<Grant>, ServiceError> {
        let now = self.ports.clock.now();
        Ok(self.ports.store.grants(actor.account, now).await?)
    }

    /// Ends a grant of the signed-in actor. This process rejects its tokens at once, other processes within a second.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor has no such live grant.
    pub async fn end_grant(&self, actor: &Actor, id: GrantId) -> Result<(), ServiceError> {
        let inputs = (actor.account, id, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, now), unit| {
            Box::pin(async move {
                if unit.end_grant(account, id, now).await? {
                    Ok(())
                } else {
                    Err(Abort::Refused(ServiceError::NotFound("grant")))
                }
            })
        });
        transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(())
    }
}

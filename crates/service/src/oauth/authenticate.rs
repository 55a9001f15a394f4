//! Who shows an access token of a program.

use super::tokens::is_well_formed;
use super::{ACCESS, ACCESS_MARK, scopes};
use crate::access::{Authenticator, authenticate};
use crate::identity::secret;
use crate::{Actor, ServiceError, Via};

impl Authenticator {
    /// In whose name a program acts that shows this access token, and what it may do. The answer may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if there is no such token, its time is over, or its grant has ended.
    pub async fn authenticate_grant(&self, token: &str) -> Result<Actor, ServiceError> {
        let (reception, ports) = (&self.reception, &self.ports);
        if !is_well_formed(token, ACCESS_MARK) {
            return Err(no_token());
        }
        let (hash, now) = (secret::hash(ACCESS, "", token), ports.clock.now());
        let actor = match reception.recall(&hash, now) {
            Some(actor) => actor,
            None => {
                let since = reception.begin();
                let found = ports.store.grant_access_token(hash).await?;
                let found = found.filter(|found| now < found.expires_at && found.grant.is_live(now));
                let found = found.ok_or_else(no_token)?;
                let via = Via::Grant {
                    id: found.grant.id,
                    client: found.grant.client_name,
                    scopes: scopes::known(&found.scopes),
                };
                let actor = authenticate::of(found.account, via);
                reception.remember(hash, &actor, since, now);
                actor
            }
        };
        reception.note_use(&ports.store, &actor, now);
        Ok(actor)
    }
}

fn no_token() -> ServiceError {
    let message = "this access token is not known, its time is over, or what the app was allowed has ended; get another one \
                   with the refresh token, or connect the app again";
    ServiceError::Unauthenticated(message.to_owned())
}

//! Authentication by OAuth access token.

use super::tokens::is_well_formed;
use super::{ACCESS_HASH_PURPOSE, ACCESS_TOKEN_PREFIX, scopes};
use crate::access::{Authenticator, authenticate};
use foundation::secret;
use foundation::{Actor, AuthMethod, ServiceError};

impl Authenticator {
    /// Returns the actor of an OAuth access token. The result may be as old as a cache entry.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the token does not exist or is expired, or its grant has ended.
    pub async fn authenticate_grant(&self, token: &str) -> Result<Actor, ServiceError> {
        let (credential_cache, ports) = (&self.credential_cache, &self.ports);
        if !is_well_formed(token, ACCESS_TOKEN_PREFIX) {
            return Err(no_token());
        }
        let (hash, now) = (secret::hash(ACCESS_HASH_PURPOSE, "", token), ports.clock.now());
        let actor = match credential_cache.get(&hash, &*ports.clock) {
            Some(actor) => actor,
            None => {
                let lookup = credential_cache.begin_lookup(&*ports.clock);
                let found = ports.store.grant_access_token(hash).await?;
                let found = found.filter(|found| now < found.expires_at && found.grant.is_live(now));
                let found = found.ok_or_else(no_token)?;
                let auth_method = AuthMethod::Grant {
                    id: found.grant.id,
                    client: found.grant.client_name,
                    scopes: scopes::known(&found.scopes),
                };
                let actor = authenticate::actor_for(found.account, auth_method);
                credential_cache.insert(hash, &actor, lookup);
                actor
            }
        };
        credential_cache.record_use(&ports.store, &actor, now);
        Ok(actor)
    }
}

fn no_token() -> ServiceError {
    let message = "this access token is unknown or expired, or its grant has ended; get a new \
                   one with the refresh token, or connect the app again";
    ServiceError::Unauthenticated(message.to_owned())
}

//! Token revocation (RFC 7009).

use super::params::RequestParams;
use super::tokens::is_well_formed;
use super::{
    ACCESS_HASH_PURPOSE, ACCESS_TOKEN_PREFIX, OAuthError, OAuthErrorCode, REFRESH_HASH_PURPOSE, REFRESH_TOKEN_PREFIX,
};
use crate::oauth::OAuth;
use foundation::secret;
use store::model::AccountId;

/// Result of a revocation.
enum RevokeOutcome {
    /// The token is revoked.
    Revoked(AccountId),
    /// The token belongs to another client.
    OtherClient,
    /// The token is unknown.
    NotFound,
}

/// Hash of the token to revoke.
#[derive(Clone, Copy)]
enum TokenHash {
    /// A refresh token: ends its grant.
    Refresh([u8; 32]),
    /// An access token: only this token.
    Access([u8; 32]),
}

impl OAuth {
    /// Revokes a token. A refresh token ends its grant with all tokens; an access token is revoked alone. Unknown
    /// tokens are a success, as the RFC requires.
    ///
    /// # Errors
    /// [`OAuthError`]
    pub async fn revoke_token(&self, params: &[(String, String)]) -> Result<(), OAuthError> {
        let params = RequestParams(params);
        let (text, client) = (params.required("token")?, params.single("client_id")?);
        // The prefix shows the type of the token, so the type hint is not needed.
        let token = if is_well_formed(text, REFRESH_TOKEN_PREFIX) {
            TokenHash::Refresh(secret::hash(REFRESH_HASH_PURPOSE, "", text))
        } else if is_well_formed(text, ACCESS_TOKEN_PREFIX) {
            TokenHash::Access(secret::hash(ACCESS_HASH_PURPOSE, "", text))
        } else {
            return Ok(());
        };
        // The client id is optional: the token itself is sufficient, but a wrong client id is an error.
        let inputs = (token, client.map(str::to_owned), self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(token, ref client, now), unit| {
            Box::pin(async move {
                let grant = match token {
                    TokenHash::Refresh(hash) => unit.grant_of_refresh_token(hash).await?.map(|(grant, _)| grant),
                    TokenHash::Access(hash) => unit.grant_of_access_token(hash).await?,
                };
                let Some(grant) = grant else {
                    return Ok(RevokeOutcome::NotFound);
                };
                if client.as_ref().is_some_and(|client| *client != grant.client_id) {
                    return Ok(RevokeOutcome::OtherClient);
                }
                match token {
                    TokenHash::Refresh(_) => unit.end_grant(grant.account, grant.id, now).await?,
                    TokenHash::Access(hash) => unit.delete_grant_access_token(hash).await?,
                };
                Ok(RevokeOutcome::Revoked(grant.account))
            })
        });
        match transaction.await? {
            RevokeOutcome::Revoked(account) => self.credential_cache.invalidate(account),
            RevokeOutcome::NotFound => {}
            RevokeOutcome::OtherClient => {
                let description = "this token belongs to another client";
                return Err(OAuthError::new(OAuthErrorCode::InvalidGrant, description));
            }
        }
        Ok(())
    }
}

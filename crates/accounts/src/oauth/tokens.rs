//! Token endpoint: exchanges authorization codes and refresh tokens.

use std::fmt;

use jiff::Timestamp;
use store::model::NewTokens;
use store::{Abort, UnitOfWork};

use super::client::registered_id;
use super::params::RequestParams;
use super::{
    ACCESS_HASH_PURPOSE, ACCESS_TOKEN_LIFETIME, ACCESS_TOKEN_PREFIX, CODE_HASH_PURPOSE, Grant, MAX_RENEWALS_PER_HOUR,
    OAuthError, OAuthErrorCode, REFRESH_HASH_PURPOSE, REFRESH_TOKEN_PREFIX, check_hourly_limit, expiry, later, pkce,
    scopes,
};
use crate::oauth::OAuth;
use foundation::secret;
use foundation::{Scope, ServiceError};
use store::model::AccountId;

/// Tokens issued to a client.
#[derive(Clone)]
pub struct IssuedTokens {
    /// Access token.
    pub access_token: String,
    /// Lifetime of the access token, in seconds.
    pub expires_in_s: i64,
    /// Refresh token, valid for one exchange.
    pub refresh_token: String,
    /// Scopes of the access token.
    pub scopes: Vec<Scope>,
}

impl fmt::Debug for IssuedTokens {
    /// Formats all fields except the tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedTokens")
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// Result of an exchange.
enum ExchangeOutcome {
    /// Tokens were issued.
    Issued(Vec<Scope>),
    /// The code or refresh token was used before. Its grant has ended.
    Reused(Grant),
    /// The code or refresh token is unknown, expired, or not for this client.
    Invalid,
    /// The requested scope exceeds the grant.
    ScopeTooWide(OAuthError),
}

impl OAuth {
    /// Exchanges a code or a refresh token.
    ///
    /// # Errors
    /// [`OAuthError`]
    pub async fn exchange_tokens(&self, params: &[(String, String)]) -> Result<IssuedTokens, OAuthError> {
        let params = RequestParams(params);
        let kind = params.required("grant_type")?;
        self.require_mcp_resource(params)?;
        if params.single("client_secret")?.is_some() || params.single("client_assertion")?.is_some() {
            let description = "clients have no secrets here; send only client_id";
            return Err(OAuthError::new(OAuthErrorCode::InvalidClient, description));
        }
        let client = params.required("client_id")?;
        match kind {
            "authorization_code" => self.exchange_code(params, client).await,
            "refresh_token" => self.exchange_refresh_token(params, client).await,
            _ => {
                let description = "grant_type must be authorization_code or refresh_token";
                Err(OAuthError::new(OAuthErrorCode::UnsupportedGrantType, description))
            }
        }
    }

    async fn exchange_code(&self, params: RequestParams<'_>, client: &str) -> Result<IssuedTokens, OAuthError> {
        let code = params.required("code")?;
        let verifier = params.required("code_verifier")?;
        if !pkce::is_verifier(verifier) {
            return Err(OAuthError::request(
                "code_verifier must have 43 to 128 unreserved characters",
            ));
        }
        let pending = self.pending_tokens();
        let exchanged = if secret::is_well_formed(code) {
            let inputs = (
                secret::hash(CODE_HASH_PURPOSE, "", code),
                client.to_owned(),
                params.single("redirect_uri")?.map(str::to_owned),
                verifier.to_owned(),
                pending.hashes(),
                pending.now,
            );
            let transaction = self.ports.transaction(
                inputs,
                |&(hash, ref client, ref redirect_uri, ref verifier, tokens, now), unit| {
                    Box::pin(async move {
                        let Some(stored) = unit.authorization_code(hash).await? else {
                            return Ok(ExchangeOutcome::Invalid);
                        };
                        let (grant, code) = (stored.grant, stored.code);
                        if stored.is_used {
                            return end_reused_grant(unit, grant, now).await;
                        }
                        // OAuth 2.1 has no `redirect_uri` here. OAuth 2.0 clients send it; then it must match.
                        let matches_client = grant.client_id == *client
                            && redirect_uri.as_ref().is_none_or(|uri| *uri == code.redirect_uri)
                            && pkce::verifies(verifier, &code.challenge);
                        // The code stays valid for its own client. Another client cannot use it.
                        if !matches_client || now >= code.expires_at || !lock_account(unit, grant.account).await? {
                            return Ok(ExchangeOutcome::Invalid);
                        }
                        if !unit.use_authorization_code(hash, now).await? {
                            return end_reused_grant(unit, grant, now).await;
                        }
                        let scopes = scopes::known(&grant.scopes);
                        issue_tokens(unit, &grant, scopes, tokens, now).await
                    })
                },
            );
            transaction.await?
        } else {
            ExchangeOutcome::Invalid
        };
        self.finish_exchange(exchanged, pending, client).await
    }

    async fn exchange_refresh_token(
        &self,
        params: RequestParams<'_>,
        client: &str,
    ) -> Result<IssuedTokens, OAuthError> {
        let token = params.required("refresh_token")?;
        let pending = self.pending_tokens();
        let exchanged = if is_well_formed(token, REFRESH_TOKEN_PREFIX) {
            let inputs = (
                secret::hash(REFRESH_HASH_PURPOSE, "", token),
                client.to_owned(),
                params.single("scope")?.map(str::to_owned),
                pending.hashes(),
                pending.now,
            );
            let transaction = self.ports.transaction(inputs, |&(hash, ref client, ref requested_scope, tokens, now), unit| {
Box::pin(async move {
            let Some((grant, is_used)) = unit.grant_of_refresh_token(hash).await? else {
                return Ok(ExchangeOutcome::Invalid);
            };
            if is_used {
                return end_reused_grant(unit, grant, now).await;
            }
            if grant.client_id != *client || !grant.is_live(now) {
                return Ok(ExchangeOutcome::Invalid);
            }
            let scopes = match scopes::narrowed(requested_scope.as_deref(), &scopes::known(&grant.scopes)) {
                Ok(scopes) => scopes,
                Err(refusal) => return Ok(ExchangeOutcome::ScopeTooWide(refusal)),
            };
            if !lock_account(unit, grant.account).await? {
                return Ok(ExchangeOutcome::Invalid);
            }
            // Checked under the lock, so that a rejected token is not used up.
            let first = unit
                .nth_newest_refresh_token_created_at(grant.id, MAX_RENEWALS_PER_HOUR)
                .await?;
            let message =
                "this grant was renewed 60 times in the last hour; use the access token for as long as \
                 expires_in says";
            check_hourly_limit(first, now, message)?;
            if !unit.use_grant_refresh_token(hash, now).await? {
                return end_reused_grant(unit, grant, now).await;
            }
            issue_tokens(unit, &grant, scopes, tokens, now).await

})
});
            transaction.await?
        } else {
            ExchangeOutcome::Invalid
        };
        self.finish_exchange(exchanged, pending, client).await
    }

    async fn finish_exchange(
        &self,
        exchanged: ExchangeOutcome,
        pending: PendingTokens,
        client: &str,
    ) -> Result<IssuedTokens, OAuthError> {
        match exchanged {
            ExchangeOutcome::Issued(scopes) => Ok(IssuedTokens {
                access_token: pending.access,
                expires_in_s: ACCESS_TOKEN_LIFETIME.as_secs(),
                refresh_token: pending.refresh,
                scopes,
            }),
            ExchangeOutcome::ScopeTooWide(refusal) => Err(refusal),
            ExchangeOutcome::Reused(grant) => {
                self.credential_cache.invalidate(grant.account);
                tracing::warn!(
                    account = %grant.account.0,
                    grant = %grant.id.0,
                    "a code or refresh token of an app was used twice; its grant was ended"
                );
                Err(invalid_grant())
            }
            ExchangeOutcome::Invalid => {
                self.require_known_client(client).await?;
                Err(invalid_grant())
            }
        }
    }

    /// Reports `invalid_client` if a client's registration has expired, so that it registers again.
    async fn require_known_client(&self, client: &str) -> Result<(), OAuthError> {
        if client.starts_with("https://") {
            return Ok(());
        }
        let found = match registered_id(client) {
            Some(id) => self.ports.store.oauth_client(id).await?,
            None => None,
        };
        if found.is_some() {
            return Ok(());
        }
        let description = "there is no such client; register it again";
        Err(OAuthError::new(OAuthErrorCode::InvalidClient, description))
    }

    fn pending_tokens(&self) -> PendingTokens {
        let random = &self.ports.random;
        PendingTokens {
            access: format!("{ACCESS_TOKEN_PREFIX}{}", secret::new(random)),
            refresh: format!("{REFRESH_TOKEN_PREFIX}{}", secret::new(random)),
            now: self.ports.clock.now(),
        }
    }
}

fn invalid_grant() -> OAuthError {
    let description = "this code or refresh token is unknown, already used or expired, or does not \
                       match the client, redirect_uri or code_verifier; send the user here again";
    OAuthError::new(OAuthErrorCode::InvalidGrant, description)
}

/// Returns whether a text has the form of a token. Other texts need no lookup.
pub(super) fn is_well_formed(text: &str, mark: &str) -> bool {
    text.strip_prefix(mark).is_some_and(secret::is_well_formed)
}

/// Tokens that are generated but not stored yet.
struct PendingTokens {
    access: String,
    refresh: String,
    now: Timestamp,
}

/// Hashes of the tokens.
#[derive(Clone, Copy)]
struct TokenHashes {
    access: [u8; 32],
    refresh: [u8; 32],
}

impl PendingTokens {
    fn hashes(&self) -> TokenHashes {
        TokenHashes {
            access: secret::hash(ACCESS_HASH_PURPOSE, "", &self.access),
            refresh: secret::hash(REFRESH_HASH_PURPOSE, "", &self.refresh),
        }
    }
}

/// Ends the grant of a code or token that was used twice. If the grant has already ended, there is nothing to log or
/// invalidate.
async fn end_reused_grant(
    unit: &mut UnitOfWork,
    grant: Grant,
    now: Timestamp,
) -> Result<ExchangeOutcome, Abort<ServiceError>> {
    if unit.end_grant(grant.account, grant.id, now).await? {
        Ok(ExchangeOutcome::Reused(grant))
    } else {
        Ok(ExchangeOutcome::Invalid)
    }
}

/// Locks the account until the end of the transaction. Transactions that end grants hold the same lock. Returns whether
/// the account exists.
async fn lock_account(unit: &mut UnitOfWork, account: AccountId) -> Result<bool, Abort<ServiceError>> {
    Ok(unit.lock_account(account).await?.is_some())
}

/// Issues the tokens of a grant whose code or refresh token was just used, if the grant is live.
async fn issue_tokens(
    unit: &mut UnitOfWork,
    grant: &Grant,
    scopes: Vec<Scope>,
    tokens: TokenHashes,
    now: Timestamp,
) -> Result<ExchangeOutcome, Abort<ServiceError>> {
    let Some(grant) = unit.grant(grant.id).await?.filter(|grant| grant.is_live(now)) else {
        return Ok(ExchangeOutcome::Invalid);
    };
    unit.renew_grant(grant.id, now, expiry(grant.created_at, now)).await?;
    if let Some(client) = registered_id(&grant.client_id) {
        unit.touch_oauth_client(client, now).await?;
    }
    let tokens = NewTokens {
        access: tokens.access,
        scopes: scopes::names_of(&scopes),
        expires_at: later(now, ACCESS_TOKEN_LIFETIME),
        refresh: tokens.refresh,
    };
    unit.insert_grant_tokens(grant.id, &tokens, now).await?;
    Ok(ExchangeOutcome::Issued(scopes))
}

//! Codes and refresh tokens are exchanged for tokens.

use std::fmt;

use jiff::Timestamp;
use store::model::NewTokens;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::client::registered_id;
use super::params::Params;
use super::{
    ACCESS, ACCESS_LIFE, ACCESS_MARK, CODE, ErrorCode, Grant, MAX_RENEWALS_AN_HOUR, OAuthError, REFRESH, REFRESH_MARK,
    expiry, later, must_be_an_hour_ago, pkce, scopes,
};
use crate::identity::secret;
use crate::oauth::OAuth;
use crate::{AccountId, Scope, ServiceError};

/// What a program gets.
#[derive(Clone)]
pub struct Issued {
    /// What to show with each request.
    pub access_token: String,
    /// How long that is good for, in seconds.
    pub expires_in_s: i64,
    /// What to get the next tokens with. It is good once.
    pub refresh_token: String,
    /// What the access token may be used for.
    pub scopes: Vec<Scope>,
}

impl fmt::Debug for Issued {
    /// Everything but the tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued")
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// What became of what a program has shown.
enum Exchanged {
    /// It was good, and is used up now.
    Good(Vec<Scope>),
    /// It had been used before: its grant is ended now, whoever has what came of it.
    Reused(Grant),
    /// There is no such thing, it is over, or it is not for this program.
    Bad,
    /// More is wanted than was allowed.
    TooMuch(OAuthError),
}

impl OAuth {
    /// Exchanges a code or a refresh token, as the parameters say.
    ///
    /// # Errors
    /// [`OAuthError`]
    pub async fn exchange_tokens(&self, params: &[(String, String)]) -> Result<Issued, OAuthError> {
        let params = Params(params);
        let kind = params.required("grant_type")?;
        self.must_be_for_mcp(params)?;
        if params.one("client_secret")?.is_some() || params.one("client_assertion")?.is_some() {
            let description = "clients have no secrets here; send client_id and nothing that is secret";
            return Err(OAuthError::new(ErrorCode::InvalidClient, description));
        }
        let client = params.required("client_id")?;
        match kind {
            "authorization_code" => self.exchange_code(params, client).await,
            "refresh_token" => self.exchange_refresh_token(params, client).await,
            _ => {
                let description = "grant_type must be authorization_code or refresh_token";
                Err(OAuthError::new(ErrorCode::UnsupportedGrantType, description))
            }
        }
    }

    async fn exchange_code(&self, params: Params<'_>, client: &str) -> Result<Issued, OAuthError> {
        let code = params.required("code")?;
        let verifier = params.required("code_verifier")?;
        if !pkce::is_verifier(verifier) {
            return Err(OAuthError::request(
                "code_verifier must have 43 to 128 unreserved characters",
            ));
        }
        let issue = self.issue();
        let work = ExchangeCode {
            hash: secret::hash(CODE, "", code),
            client: client.to_owned(),
            redirect_uri: params.one("redirect_uri")?.map(str::to_owned),
            verifier: verifier.to_owned(),
            tokens: issue.hashes(),
            now: issue.now,
        };
        let exchanged = if secret::is_well_formed(code) {
            self.ports.store.write(work).await?
        } else {
            Exchanged::Bad
        };
        self.exchanged(exchanged, issue, client).await
    }

    async fn exchange_refresh_token(&self, params: Params<'_>, client: &str) -> Result<Issued, OAuthError> {
        let token = params.required("refresh_token")?;
        let issue = self.issue();
        let work = ExchangeRefreshToken {
            hash: secret::hash(REFRESH, "", token),
            client: client.to_owned(),
            asked: params.one("scope")?.map(str::to_owned),
            tokens: issue.hashes(),
            now: issue.now,
        };
        let exchanged = if is_well_formed(token, REFRESH_MARK) {
            self.ports.store.write(work).await?
        } else {
            Exchanged::Bad
        };
        self.exchanged(exchanged, issue, client).await
    }

    async fn exchanged(&self, exchanged: Exchanged, issue: Issue, client: &str) -> Result<Issued, OAuthError> {
        match exchanged {
            Exchanged::Good(scopes) => Ok(Issued {
                access_token: issue.access,
                expires_in_s: ACCESS_LIFE.as_secs(),
                refresh_token: issue.refresh,
                scopes,
            }),
            Exchanged::TooMuch(refusal) => Err(refusal),
            Exchanged::Reused(grant) => {
                self.reception.forget(grant.account);
                tracing::warn!(
                    account = %grant.account.0,
                    grant = %grant.id.0,
                    "a code or refresh token of an app was shown that had been exchanged before; what the app was allowed \
                     has ended"
                );
                Err(bad())
            }
            Exchanged::Bad => {
                self.must_be_known(client).await?;
                Err(bad())
            }
        }
    }

    /// A program that was forgotten has to be told, so that it registers again.
    async fn must_be_known(&self, client: &str) -> Result<(), OAuthError> {
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
        Err(OAuthError::new(ErrorCode::InvalidClient, description))
    }

    fn issue(&self) -> Issue {
        let chance = &self.ports.chance;
        Issue {
            access: format!("{ACCESS_MARK}{}", secret::new(chance)),
            refresh: format!("{REFRESH_MARK}{}", secret::new(chance)),
            now: self.ports.clock.now(),
        }
    }
}

fn bad() -> OAuthError {
    let description = "this code or refresh token is not known, was used before, is over, or is not for this client, \
                       redirect_uri or code_verifier; send the person here again";
    OAuthError::new(ErrorCode::InvalidGrant, description)
}

/// Whether a text could be a token: if not, it need not be looked for.
pub(super) fn is_well_formed(text: &str, mark: &str) -> bool {
    text.strip_prefix(mark).is_some_and(secret::is_well_formed)
}

/// Tokens that are about to be given out.
struct Issue {
    access: String,
    refresh: String,
    now: Timestamp,
}

/// What they hash to.
#[derive(Clone, Copy)]
struct Hashes {
    access: [u8; 32],
    refresh: [u8; 32],
}

impl Issue {
    fn hashes(&self) -> Hashes {
        Hashes {
            access: secret::hash(ACCESS, "", &self.access),
            refresh: secret::hash(REFRESH, "", &self.refresh),
        }
    }
}

/// Ends a grant something of which was shown a second time. Of one that is over already nothing more needs to be said or
/// forgotten, however often that is shown.
async fn reused(unit: &mut UnitOfWork, grant: Grant, now: Timestamp) -> Result<Exchanged, Abort<ServiceError>> {
    if unit.end_grant(grant.account, grant.id, now).await? {
        Ok(Exchanged::Reused(grant))
    } else {
        Ok(Exchanged::Bad)
    }
}

/// Whether the account is there, and locked until the end of the transaction: whoever ends grants holds that lock, or is seen
/// afterwards.
async fn lock(unit: &mut UnitOfWork, account: AccountId) -> Result<bool, Abort<ServiceError>> {
    Ok(unit.lock_account(account).await?.is_some())
}

/// Gives out tokens of a grant whose code or refresh token was just used up, if it goes on.
async fn give(
    unit: &mut UnitOfWork,
    grant: &Grant,
    scopes: Vec<Scope>,
    tokens: Hashes,
    now: Timestamp,
) -> Result<Exchanged, Abort<ServiceError>> {
    let Some(grant) = unit.grant(grant.id).await?.filter(|grant| grant.is_live(now)) else {
        return Ok(Exchanged::Bad);
    };
    unit.renew_grant(grant.id, now, expiry(grant.created_at, now)).await?;
    if let Some(client) = registered_id(&grant.client_id) {
        unit.touch_oauth_client(client, now).await?;
    }
    let tokens = NewTokens {
        access: tokens.access,
        scopes: scopes::names_of(&scopes),
        expires_at: later(now, ACCESS_LIFE),
        refresh: tokens.refresh,
    };
    unit.insert_grant_tokens(grant.id, &tokens, now).await?;
    Ok(Exchanged::Good(scopes))
}

struct ExchangeCode {
    hash: [u8; 32],
    client: String,
    redirect_uri: Option<String>,
    verifier: String,
    tokens: Hashes,
    now: Timestamp,
}

impl Transaction for ExchangeCode {
    type Output = Exchanged;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Exchanged, Abort<ServiceError>>> {
        Box::pin(async move {
            let Some(shown) = unit.authorization_code(self.hash).await? else {
                return Ok(Exchanged::Bad);
            };
            let (grant, code) = (shown.grant, shown.code);
            if shown.is_used {
                return reused(unit, grant, self.now).await;
            }
            // OAuth 2.1 has no redirect_uri here any more; programs that follow 2.0 send it, and then it has to be the one.
            let is_for_them = grant.client_id == self.client
                && self.redirect_uri.as_ref().is_none_or(|uri| *uri == code.redirect_uri)
                && pkce::verifies(&self.verifier, &code.challenge);
            // It stays good for the program it was made for: nobody else can do anything with it.
            if !is_for_them || self.now >= code.expires_at || !lock(unit, grant.account).await? {
                return Ok(Exchanged::Bad);
            }
            if !unit.use_authorization_code(self.hash, self.now).await? {
                return reused(unit, grant, self.now).await;
            }
            let scopes = scopes::known(&grant.scopes);
            give(unit, &grant, scopes, self.tokens, self.now).await
        })
    }
}

struct ExchangeRefreshToken {
    hash: [u8; 32],
    client: String,
    asked: Option<String>,
    tokens: Hashes,
    now: Timestamp,
}

impl Transaction for ExchangeRefreshToken {
    type Output = Exchanged;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Exchanged, Abort<ServiceError>>> {
        Box::pin(async move {
            let Some((grant, is_used)) = unit.grant_of_refresh_token(self.hash).await? else {
                return Ok(Exchanged::Bad);
            };
            if is_used {
                return reused(unit, grant, self.now).await;
            }
            if grant.client_id != self.client || !grant.is_live(self.now) {
                return Ok(Exchanged::Bad);
            }
            let scopes = match scopes::narrowed(self.asked.as_deref(), &scopes::known(&grant.scopes)) {
                Ok(scopes) => scopes,
                Err(refusal) => return Ok(Exchanged::TooMuch(refusal)),
            };
            if !lock(unit, grant.account).await? {
                return Ok(Exchanged::Bad);
            }
            // Under the lock, so that what is refused is not used up.
            let first = unit
                .nth_newest_refresh_token_created_at(grant.id, MAX_RENEWALS_AN_HOUR)
                .await?;
            let message =
                "this grant was renewed 60 times in the last hour; use the access token for as long as expires_in says";
            must_be_an_hour_ago(first, self.now, message).map_err(Abort::Refused)?;
            if !unit.use_grant_refresh_token(self.hash, self.now).await? {
                return reused(unit, grant, self.now).await;
            }
            give(unit, &grant, scopes, self.tokens, self.now).await
        })
    }
}

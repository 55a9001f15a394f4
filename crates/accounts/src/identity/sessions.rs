//! Sessions: started by signing in, extended by refresh tokens, ended by signing out.
//!
//! A session has a cookie for browsers and a chain of refresh tokens for other clients. Each refresh token is valid for
//! one exchange. A second use means that it, or its successor, was stolen, so it ends the session.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, AccountId, RefreshOutcome, SessionId, UserSession};
use store::{Abort, UnitOfWork};

use crate::access::ACCESS_TOKEN_LIFETIME;
use crate::access::authenticate::{COOKIE_HASH_PURPOSE, SESSION_LIFETIME, expiry};
use crate::identity::AccountAccess;
use crate::identity::requests::RefreshTokenRequest;
use foundation::request::Request;
use foundation::secret;
use foundation::{Actor, AuthMethod, ServiceError};

/// Hash purpose of refresh tokens.
const REFRESH_TOKEN_HASH_PURPOSE: &str = "refresh token";
/// How many sessions are listed at most.
const MAX_LISTED_SESSIONS: u32 = 100;

/// Result of a sign-in or a token refresh.
#[derive(Clone)]
pub struct SessionTokens {
    /// Account.
    pub account: Account,
    /// The session.
    pub session: UserSession,
    /// Access token, valid for [`SessionTokens::expires_in_s`].
    pub access_token: String,
    /// Refresh token, valid for one exchange.
    pub refresh_token: String,
    /// Session cookie; only for a new session.
    pub cookie: Option<String>,
}

impl SessionTokens {
    /// Returns the lifetime of an access token, in seconds.
    #[must_use]
    pub const fn expires_in_s() -> i64 {
        ACCESS_TOKEN_LIFETIME.as_secs()
    }

    /// Returns the `Max-Age` of the cookie, in seconds: the maximum lifetime of a session. The session may end earlier
    /// on the server.
    #[must_use]
    pub const fn cookie_max_age_s() -> i64 {
        SESSION_LIFETIME.as_secs()
    }
}

impl fmt::Debug for SessionTokens {
    /// Formats all fields except the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTokens")
            .field("account", &self.account.id)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// Secrets and start time of a session that is not stored yet.
#[derive(Clone)]
pub(super) struct NewSession {
    id: SessionId,
    cookie: String,
    refresh_token: String,
    now: Timestamp,
}

impl AccountAccess {
    pub(super) fn new_session(&self, now: Timestamp) -> NewSession {
        let random = &self.ports.random;
        NewSession {
            id: SessionId(random.uuid()),
            cookie: secret::new(random),
            refresh_token: secret::new(random),
            now,
        }
    }

    /// Returns the tokens of a new session.
    pub(super) fn session_tokens(
        &self,
        new_session: NewSession,
        account: Account,
        session: UserSession,
    ) -> Result<SessionTokens, ServiceError> {
        Ok(SessionTokens {
            access_token: self.access_token(&session, new_session.now)?,
            refresh_token: new_session.refresh_token,
            cookie: Some(new_session.cookie),
            account,
            session,
        })
    }

    fn access_token(&self, session: &UserSession, now: Timestamp) -> Result<String, ServiceError> {
        let random = &self.ports.random;
        self.tokens.issue(random, session.account, session.id, now)
    }

    /// Exchanges a refresh token: `{refresh_token}`. A second exchange of the same token ends its session.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] for an invalid token.
    pub async fn refresh(&self, body: &Value) -> Result<SessionTokens, ServiceError> {
        let presented = &RefreshTokenRequest::read(body)?.refresh_token.0;
        if !secret::is_well_formed(presented) {
            return Err(invalid_refresh_token());
        }
        let now = self.ports.clock.now();
        let next = secret::new(&self.ports.random);
        let inputs = (
            secret::hash(REFRESH_TOKEN_HASH_PURPOSE, "", presented),
            secret::hash(REFRESH_TOKEN_HASH_PURPOSE, "", &next),
            now,
        );
        let transaction = self.ports.transaction(inputs, |&(hash, next, now), unit| {
            Box::pin(async move {
                let mut refreshed = unit.use_refresh_token(hash, now).await?;
                if let RefreshOutcome::Valid(found) = &mut refreshed {
                    let (session, account) = &mut **found;
                    if account.profile.deleted_at.is_some() {
                        return Ok(RefreshOutcome::Unknown);
                    }
                    session.last_seen_at = now;
                    session.expires_at = expiry(session.created_at, now);
                    unit.touch_session(session.id, now, session.expires_at, None).await?;
                    unit.insert_refresh_token(session.id, next, now).await?;
                }
                Ok(refreshed)
            })
        });
        match transaction.await? {
            RefreshOutcome::Valid(found) => {
                let (session, account) = *found;
                Ok(SessionTokens {
                    access_token: self.access_token(&session, now)?,
                    refresh_token: next,
                    cookie: None,
                    account,
                    session,
                })
            }
            RefreshOutcome::Reused(session) => {
                self.credential_cache.invalidate(session.account);
                tracing::warn!(
                    account = %session.account.0,
                    "a refresh token was used twice; its session was ended"
                );
                Err(invalid_refresh_token())
            }
            RefreshOutcome::Unknown => Err(invalid_refresh_token()),
        }
    }

    /// Ends the actor's session.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the actor did not authenticate by session.
    pub async fn sign_out(&self, actor: &Actor) -> Result<(), ServiceError> {
        let inputs = (actor.account, session_of(actor)?, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, id, now), unit| {
            Box::pin(async move {
                unit.end_session(account, id, now).await?;
                Ok(())
            })
        });
        transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(())
    }

    /// Returns the sessions in which the actor's account is signed in, the last used first, at most 100.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the actor did not authenticate by session.
    pub async fn sessions(&self, actor: &Actor) -> Result<Vec<UserSession>, ServiceError> {
        session_of(actor)?;
        let now = self.ports.clock.now();
        Ok(self
            .ports
            .store
            .live_sessions(actor.account, now, MAX_LISTED_SESSIONS)
            .await?)
    }

    /// Ends a session of the actor's account.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Forbidden`] if the actor did not authenticate by session.
    pub async fn end_session(&self, actor: &Actor, session: SessionId) -> Result<(), ServiceError> {
        session_of(actor)?;
        let inputs = (actor.account, session, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, session, now), unit| {
            Box::pin(async move {
                match unit.end_session(account, session, now).await? {
                    true => Ok(()),
                    false => Err(Abort::Refused(ServiceError::NotFound("session"))),
                }
            })
        });
        transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(())
    }

    /// Ends all sessions of the actor's account except the actor's own. Returns their number.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the actor did not authenticate by session.
    pub async fn end_other_sessions(&self, actor: &Actor) -> Result<u64, ServiceError> {
        let inputs = (actor.account, session_of(actor)?, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, own, now), unit| {
            Box::pin(async move { Ok(unit.end_sessions(account, Some(own), now).await?) })
        });
        let ended = transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(ended)
    }

    /// Returns the current state of the actor's session and account.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the session has ended, [`ServiceError::Forbidden`] if the actor did not
    /// authenticate by session.
    pub async fn session(&self, actor: &Actor) -> Result<(UserSession, Account), ServiceError> {
        let found = self.ports.store.session(session_of(actor)?).await?;
        let now = self.ports.clock.now();
        let found = found.filter(|(session, _)| session.account == actor.account && session.is_live(now));
        found.ok_or_else(|| ServiceError::Unauthenticated("this session has ended; sign in again".to_owned()))
    }
}

/// Returns the id of the actor's session.
///
/// # Errors
/// [`ServiceError::Forbidden`] if the actor did not authenticate by session.
pub fn session_of(actor: &Actor) -> Result<SessionId, ServiceError> {
    match &actor.auth_method {
        AuthMethod::Session { id, .. } => Ok(*id),
        AuthMethod::ApiKey { .. } | AuthMethod::Grant { .. } | AuthMethod::MessageLink { .. } => {
            Err(ServiceError::Forbidden {
                reason: "session_required",
                required: Some("session".to_owned()),
                message: "API keys and apps cannot do this; sign in and use the session or its token".to_owned(),
            })
        }
    }
}

fn invalid_refresh_token() -> ServiceError {
    let message = "this refresh token is unknown or already used, or its session has ended; sign in again";
    ServiceError::Unauthenticated(message.to_owned())
}

impl NewSession {
    /// Stores the session.
    pub(super) async fn write(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
    ) -> Result<UserSession, Abort<ServiceError>> {
        let session = UserSession {
            id: self.id,
            account,
            created_at: self.now,
            last_seen_at: self.now,
            expires_at: expiry(self.now, self.now),
            ended_at: None,
            client: None,
        };
        let cookie = secret::hash(COOKIE_HASH_PURPOSE, "", &self.cookie);
        unit.insert_session(&session, Some(cookie)).await?;
        let token = secret::hash(REFRESH_TOKEN_HASH_PURPOSE, "", &self.refresh_token);
        unit.insert_refresh_token(session.id, token, self.now).await?;
        Ok(session)
    }
}

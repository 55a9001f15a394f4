//! Sessions: begun by signing in, kept up by refresh tokens, ended by signing out.
//!
//! A session has a cookie, for browsers, and a chain of refresh tokens, for everybody else. Each refresh token is good for
//! one exchange. One that is shown again was stolen, or the one shown before was: so the whole session ends.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;
use store::model::{Account, AccountId, RefreshOutcome, Session, SessionId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::secret;
use crate::access::TOKEN_LIFE;
use crate::access::authenticate::{COOKIE, SESSION_LIFE, expiry};
use crate::body::Members;
use crate::identity::Identity;
use crate::{Actor, ServiceError, Via};

/// What refresh tokens are hashed for.
const REFRESH: &str = "refresh token";

/// Somebody who has signed in, or has exchanged a refresh token.
#[derive(Clone)]
pub struct SignedIn {
    /// Who it is.
    pub account: Account,
    /// The session.
    pub session: Session,
    /// What to show with each request, for [`SignedIn::expires_in_s`].
    pub access_token: String,
    /// What to get the next tokens with. It is good once.
    pub refresh_token: String,
    /// What a browser shows instead; only of a session that has just begun.
    pub cookie: Option<String>,
}

impl SignedIn {
    /// How long the access token is good for, in seconds.
    #[must_use]
    pub const fn expires_in_s() -> i64 {
        TOKEN_LIFE.as_secs()
    }

    /// How long a browser may keep a cookie, in seconds: the longest life of a session. Whether it goes on the service
    /// decides.
    #[must_use]
    pub const fn cookie_life_s() -> i64 {
        SESSION_LIFE.as_secs()
    }
}

impl fmt::Debug for SignedIn {
    /// Everything but the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedIn")
            .field("account", &self.account.id)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A session that is about to begin: its secrets, and what is kept of them.
#[derive(Clone)]
pub(super) struct Beginning {
    id: SessionId,
    cookie: String,
    refresh_token: String,
    now: Timestamp,
}

impl Identity {
    pub(super) fn beginning(&self, now: Timestamp) -> Beginning {
        let chance = &self.ports.chance;
        Beginning {
            id: SessionId(chance.uuid()),
            cookie: secret::new(chance),
            refresh_token: secret::new(chance),
            now,
        }
    }

    /// What somebody gets whose session has begun.
    pub(super) fn begun(
        &self,
        beginning: Beginning,
        account: Account,
        session: Session,
    ) -> Result<SignedIn, ServiceError> {
        Ok(SignedIn {
            access_token: self.access_token(&session, beginning.now)?,
            refresh_token: beginning.refresh_token,
            cookie: Some(beginning.cookie),
            account,
            session,
        })
    }

    fn access_token(&self, session: &Session, now: Timestamp) -> Result<String, ServiceError> {
        let chance = &self.ports.chance;
        self.tokens.issue(chance, session.account, session.id, now)
    }

    /// Exchanges a refresh token: `{refresh_token}`. One that was exchanged before ends its session.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if it is not good.
    pub async fn refresh(&self, body: &Value) -> Result<SignedIn, ServiceError> {
        let mut members = Members::of(body)?;
        let shown = members.required("refresh_token").unwrap_or_default();
        members.finish()?;
        if !secret::is_well_formed(shown) {
            return Err(bad_refresh_token());
        }
        let now = self.ports.clock.now();
        let next = secret::new(&self.ports.chance);
        let work = Refresh {
            hash: secret::hash(REFRESH, "", shown),
            next: secret::hash(REFRESH, "", &next),
            now,
        };
        match self.ports.store.write(work).await? {
            RefreshOutcome::Valid(found) => {
                let (session, account) = *found;
                Ok(SignedIn {
                    access_token: self.access_token(&session, now)?,
                    refresh_token: next,
                    cookie: None,
                    account,
                    session,
                })
            }
            RefreshOutcome::Reused(session) => {
                self.reception.forget(session.account);
                tracing::warn!(
                    account = %session.account.0,
                    "a refresh token was shown that had been exchanged before; its session was ended"
                );
                Err(bad_refresh_token())
            }
            RefreshOutcome::Unknown => Err(bad_refresh_token()),
        }
    }

    /// Ends the session that the actor has shown.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if it was no session that they have shown.
    pub async fn sign_out(&self, actor: &Actor) -> Result<(), ServiceError> {
        let work = SignOut {
            account: actor.account,
            id: session_of(actor)?,
            now: self.ports.clock.now(),
        };
        self.ports.store.write(work).await?;
        self.reception.forget(actor.account);
        Ok(())
    }

    /// The session that the actor has shown, with its account, as they are now.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if it is over, [`ServiceError::Forbidden`] if it was no session that they have
    /// shown.
    pub async fn session(&self, actor: &Actor) -> Result<(Session, Account), ServiceError> {
        let found = self.ports.store.session(session_of(actor)?).await?;
        let now = self.ports.clock.now();
        let found = found.filter(|(session, _)| session.account == actor.account && session.is_live(now));
        found.ok_or_else(|| ServiceError::Unauthenticated("this session is over; sign in again".to_owned()))
    }
}

/// The session that the actor has shown.
pub(crate) fn session_of(actor: &Actor) -> Result<SessionId, ServiceError> {
    match &actor.via {
        Via::Session { id, .. } => Ok(*id),
        Via::Key { .. } | Via::Grant { .. } => Err(ServiceError::Forbidden {
            reason: "session_required",
            required: Some("session".to_owned()),
            message: "API keys and apps cannot do this; sign in and use the session or its token".to_owned(),
        }),
    }
}

fn bad_refresh_token() -> ServiceError {
    let message = "this refresh token is not known, was used already, or its session is over; sign in again";
    ServiceError::Unauthenticated(message.to_owned())
}

impl Beginning {
    /// Writes the session down.
    pub(super) async fn write(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
    ) -> Result<Session, Abort<ServiceError>> {
        let session = Session {
            id: self.id,
            account,
            created_at: self.now,
            last_seen_at: self.now,
            expires_at: expiry(self.now, self.now),
            ended_at: None,
        };
        let cookie = secret::hash(COOKIE, "", &self.cookie);
        unit.insert_session(&session, Some(cookie)).await?;
        let token = secret::hash(REFRESH, "", &self.refresh_token);
        unit.insert_refresh_token(session.id, token, self.now).await?;
        Ok(session)
    }
}

struct Refresh {
    hash: [u8; 32],
    next: [u8; 32],
    now: Timestamp,
}

impl Transaction for Refresh {
    type Output = RefreshOutcome;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<RefreshOutcome, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut refreshed = unit.use_refresh_token(self.hash, self.now).await?;
            if let RefreshOutcome::Valid(found) = &mut refreshed {
                let (session, account) = &mut **found;
                if account.profile.deleted_at.is_some() {
                    return Ok(RefreshOutcome::Unknown);
                }
                session.last_seen_at = self.now;
                session.expires_at = expiry(session.created_at, self.now);
                unit.touch_session(session.id, self.now, session.expires_at).await?;
                unit.insert_refresh_token(session.id, self.next, self.now).await?;
            }
            Ok(refreshed)
        })
    }
}

struct SignOut {
    account: AccountId,
    id: SessionId,
    now: Timestamp,
}

impl Transaction for SignOut {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            unit.end_session(self.account, self.id, self.now).await?;
            Ok(())
        })
    }
}

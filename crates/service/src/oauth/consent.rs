//! Somebody decides what a program may do.
//!
//! What they were shown comes back with their answer, sealed for their session. So nobody can be made to allow what they have
//! not seen, no session answers what another was asked, and nothing can be changed on the way: an answer says which of the
//! scopes stay, and can add none.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::model::{AuthorizationCode, GrantId, SessionId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::client::registered_id;
use super::{
    Asked, CODE, CODE_LIFE, ErrorCode, Grant, MAX_GRANTS, MAX_GRANTS_AN_HOUR, THINKING, later, must_be_an_hour_ago,
    scopes,
};
use crate::identity::account::awake;
use crate::identity::secret;
use crate::identity::sessions::session_of;
use crate::oauth::OAuth;
use crate::vault::Place;
use crate::{AccountId, Actor, Scope, ServiceError};

/// What somebody decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The program may do this much of what it wants, by name.
    Allow(Vec<String>),
    /// It may do nothing.
    Deny,
}

/// What somebody was shown.
#[derive(Serialize, Deserialize)]
struct Shown {
    client_id: String,
    client_name: String,
    redirect_uri: String,
    state: Option<String>,
    challenge: String,
    scopes: Vec<String>,
    /// Until when it can be answered, in seconds since 1970.
    until: i64,
}

const fn place(session: SessionId) -> Place {
    Place {
        table: "sessions",
        column: "oauth consent",
        row: session.0,
    }
}

impl OAuth {
    /// What has to come back with somebody's decision: what they are shown, sealed for their session.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if they have not signed in.
    pub fn ask_consent(&self, actor: &Actor, asked: &Asked) -> Result<String, ServiceError> {
        let session = session_of(actor)?;
        let ports = &self.ports;
        let shown = Shown {
            client_id: asked.client.id.clone(),
            client_name: asked.client.name.clone(),
            redirect_uri: asked.redirect_uri.clone(),
            state: asked.state.clone(),
            challenge: asked.challenge.clone(),
            scopes: scopes::names_of(&asked.scopes),
            until: later(ports.clock.now(), THINKING).as_second(),
        };
        let text = serde_json::to_string(&shown).map_err(ServiceError::internal)?;
        let sealed = ports.vault.seal(&ports.chance, place(session), &text);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Does what somebody has decided. Returns where their browser is to be sent.
    ///
    /// Whoever allows nothing of it denies it.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if it is not known what they were shown, or was too long ago;
    /// [`ServiceError::Unauthenticated`] if their session is over; [`ServiceError::Forbidden`] for an account that rests;
    /// [`ServiceError::TooMany`] for one that has allowed very much in the last hour.
    pub async fn decide(&self, actor: &Actor, sealed: &str, decision: Decision) -> Result<String, ServiceError> {
        let session = session_of(actor)?;
        let ports = &self.ports;
        let now = ports.clock.now();
        let shown = self
            .shown(session, sealed)
            .filter(|shown| now.as_second() < shown.until);
        let shown = shown.ok_or_else(stale)?;
        let answer = |said: &[(&str, &str)]| self.answer_to(&shown.redirect_uri, shown.state.as_deref(), said);
        let denied = |why| answer(&[("error", ErrorCode::AccessDenied.name()), ("error_description", why)]);
        let Decision::Allow(ticked) = decision else {
            return Ok(denied("the person does not want this"));
        };
        let allowed: Vec<Scope> = scopes::known(&shown.scopes)
            .into_iter()
            .filter(|scope| ticked.iter().any(|name| name == scope.name()))
            .collect();
        if allowed.is_empty() {
            return Ok(denied("the person has allowed nothing of what was asked for"));
        }
        let code = secret::new(&ports.chance);
        let work = Allow {
            session,
            require_confirmation: self.settings.identity.require_email_confirmation,
            grant: Grant {
                id: GrantId(ports.chance.uuid()),
                account: actor.account,
                client_id: shown.client_id.clone(),
                client_name: shown.client_name.clone(),
                scopes: scopes::names_of(&allowed),
                created_at: now,
                last_used_at: None,
                // It begins when the code is exchanged.
                expires_at: later(now, CODE_LIFE),
                ended_at: None,
            },
            code: AuthorizationCode {
                hash: secret::hash(CODE, "", &code),
                redirect_uri: shown.redirect_uri.clone(),
                challenge: shown.challenge.clone(),
                expires_at: later(now, CODE_LIFE),
            },
        };
        ports.store.write(work).await?;
        Ok(answer(&[("code", &code)]))
    }

    fn shown(&self, session: SessionId, sealed: &str) -> Option<Shown> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let text = self.ports.vault.open(place(session), &bytes).ok()?;
        serde_json::from_str(&text).ok()
    }
}

fn stale() -> ServiceError {
    let message = "this page was open for too long, or somebody else has signed in here since; go back to the app and \
                   connect it again";
    ServiceError::Malformed(message.to_owned())
}

fn over() -> Abort<ServiceError> {
    let message = "this session is over, or its address is not confirmed yet; sign in again";
    Abort::Refused(ServiceError::Unauthenticated(message.to_owned()))
}

struct Allow {
    session: SessionId,
    require_confirmation: bool,
    grant: Grant,
    code: AuthorizationCode,
}

impl Allow {
    /// Whether it is still who has seen the page: the session may have been ended since it was looked at.
    async fn may(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
        now: Timestamp,
    ) -> Result<bool, Abort<ServiceError>> {
        let account = awake(unit, account).await?;
        let session = unit.session(self.session).await?;
        let is_theirs = session.is_some_and(|session| session.account == account.id && session.is_live(now));
        Ok(is_theirs && (account.is_verified || !self.require_confirmation))
    }
}

impl Transaction for Allow {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let now = self.grant.created_at;
            if !self.may(unit, self.grant.account, now).await? {
                return Err(over());
            }
            let first = unit
                .nth_newest_grant_created_at(self.grant.account, MAX_GRANTS_AN_HOUR - 1)
                .await?;
            let message = "an account allows at most 60 apps something in an hour; come again later";
            must_be_an_hour_ago(first, now, message).map_err(Abort::Refused)?;
            unit.insert_grant(&self.grant, MAX_GRANTS).await?;
            unit.insert_authorization_code(self.grant.id, &self.code).await?;
            if let Some(client) = registered_id(&self.grant.client_id) {
                unit.touch_oauth_client(client, now).await?;
            }
            Ok(())
        })
    }
}

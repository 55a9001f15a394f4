//! Consent: the user decides what a client may do.
//!
//! The consent form contains the request, sealed for the user's session. A form is therefore valid only in the session
//! that rendered it, and its content cannot be changed: users allow only what the form has shown them. The
//! decision can only remove scopes, not add them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::model::{AuthorizationCode, GrantId, SessionId};
use store::{Abort, UnitOfWork};

use super::client::registered_id;
use super::{
    AuthorizationRequest, CODE_HASH_PURPOSE, CODE_LIFETIME, CONSENT_TIMEOUT, Grant, MAX_GRANTS_PER_ACCOUNT,
    MAX_GRANTS_PER_HOUR, OAuthErrorCode, check_hourly_limit, later, scopes,
};
use crate::identity::sessions::session_of;
use crate::oauth::OAuth;
use foundation::account::lock_active_account;
use foundation::secret;
use foundation::vault::SecretLocation;
use foundation::{Actor, Scope, ServiceError};
use store::model::AccountId;

/// Decision of the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConsentDecision {
    /// Allows these scopes, by name.
    Allow(Vec<String>),
    /// Denies the request.
    Deny,
}

/// The authorization request that the consent form shows.
#[derive(Serialize, Deserialize)]
struct ConsentState {
    client_id: String,
    client_name: String,
    redirect_uri: String,
    state: Option<String>,
    challenge: String,
    scopes: Vec<String>,
    /// Expiry, in seconds since 1970.
    #[serde(rename = "until")]
    expires_at_s: i64,
}

const fn location(session: SessionId) -> SecretLocation {
    SecretLocation {
        table: "sessions",
        column: "oauth consent",
        row: session.0,
    }
}

impl OAuth {
    /// Returns the token for the consent form: the request, sealed for the actor's session.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] if the actor did not authenticate by session.
    pub fn consent_token(&self, actor: &Actor, request: &AuthorizationRequest) -> Result<String, ServiceError> {
        let session = session_of(actor)?;
        let ports = &self.ports;
        let state = ConsentState {
            client_id: request.client.id.clone(),
            client_name: request.client.name.clone(),
            redirect_uri: request.redirect_uri.clone(),
            state: request.state.clone(),
            challenge: request.challenge.clone(),
            scopes: scopes::names_of(&request.scopes),
            expires_at_s: later(ports.clock.now(), CONSENT_TIMEOUT).as_second(),
        };
        let text = serde_json::to_string(&state).map_err(ServiceError::internal)?;
        let sealed = ports.vault.seal(&ports.random, location(session), &text);
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Applies the user's decision. Returns the redirect for the browser. Allowing no scope counts as denying.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if the consent token is invalid or expired; [`ServiceError::Unauthenticated`] if the
    /// session has ended; [`ServiceError::Forbidden`] for a deactivated account; [`ServiceError::RateLimited`] after
    /// too many grants in the last hour.
    pub async fn decide(&self, actor: &Actor, sealed: &str, decision: ConsentDecision) -> Result<String, ServiceError> {
        let session = session_of(actor)?;
        let ports = &self.ports;
        let now = ports.clock.now();
        let state = self
            .open_state(session, sealed)
            .filter(|state| now.as_second() < state.expires_at_s);
        let state = state.ok_or_else(expired_page)?;
        let answer =
            |parameters: &[(&str, &str)]| self.redirect_with(&state.redirect_uri, state.state.as_deref(), parameters);
        let denied = |why| {
            answer(&[
                ("error", OAuthErrorCode::AccessDenied.name()),
                ("error_description", why),
            ])
        };
        let ConsentDecision::Allow(ticked) = decision else {
            return Ok(denied("the user denied the request"));
        };
        let allowed: Vec<Scope> = scopes::known(&state.scopes)
            .into_iter()
            .filter(|scope| ticked.iter().any(|name| name == scope.name()))
            .collect();
        if allowed.is_empty() {
            return Ok(denied("the user allowed none of the requested scopes"));
        }
        let code = secret::new(&ports.random);
        let work = CreateGrant {
            session,
            require_confirmation: self.settings.require_email_confirmation,
            grant: Grant {
                id: GrantId(ports.random.uuid()),
                account: actor.account,
                client_id: state.client_id.clone(),
                client_name: state.client_name.clone(),
                scopes: scopes::names_of(&allowed),
                created_at: now,
                last_used_at: None,
                // The exchange of the code extends it.
                expires_at: later(now, CODE_LIFETIME),
                ended_at: None,
            },
            code: AuthorizationCode {
                hash: secret::hash(CODE_HASH_PURPOSE, "", &code),
                redirect_uri: state.redirect_uri.clone(),
                challenge: state.challenge.clone(),
                expires_at: later(now, CODE_LIFETIME),
            },
        };
        ports.transaction(work, |work, unit| Box::pin(work.run(unit))).await?;
        Ok(answer(&[("code", &code)]))
    }

    fn open_state(&self, session: SessionId, sealed: &str) -> Option<ConsentState> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let text = self.ports.vault.open(location(session), &bytes).ok()?;
        serde_json::from_str(&text).ok()
    }
}

fn expired_page() -> ServiceError {
    let message =
        "this page has expired, or another account has signed in here since; go back to the app and connect it again";
    ServiceError::Malformed(message.to_owned())
}

fn session_over() -> Abort<ServiceError> {
    let message = "this session has ended, or its address is not confirmed yet; sign in again";
    Abort::Refused(ServiceError::Unauthenticated(message.to_owned()))
}

struct CreateGrant {
    session: SessionId,
    require_confirmation: bool,
    grant: Grant,
    code: AuthorizationCode,
}

impl CreateGrant {
    /// Returns whether the session is still live: it may have ended since the request was authenticated.
    async fn is_still_allowed(
        &self,
        unit: &mut UnitOfWork,
        account: AccountId,
        now: Timestamp,
    ) -> Result<bool, Abort<ServiceError>> {
        let account = lock_active_account(unit, account).await?;
        let session = unit.session(self.session).await?;
        let is_theirs = session.is_some_and(|session| session.account == account.id && session.is_live(now));
        Ok(is_theirs && (account.is_verified || !self.require_confirmation))
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<(), Abort<ServiceError>> {
        let now = self.grant.created_at;
        if !self.is_still_allowed(unit, self.grant.account, now).await? {
            return Err(session_over());
        }
        let first = unit
            .nth_newest_grant_created_at(self.grant.account, MAX_GRANTS_PER_HOUR - 1)
            .await?;
        let message = "an account can connect at most 60 apps per hour; try again later";
        check_hourly_limit(first, now, message)?;
        unit.insert_grant(&self.grant, MAX_GRANTS_PER_ACCOUNT).await?;
        unit.insert_authorization_code(self.grant.id, &self.code).await?;
        if let Some(client) = registered_id(&self.grant.client_id) {
            unit.touch_oauth_client(client, now).await?;
        }
        Ok(())
    }
}

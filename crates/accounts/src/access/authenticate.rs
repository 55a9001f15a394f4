//! Authentication by API key, access token and session cookie.

use foundation::Actor;
use foundation::AuthMethod;
use foundation::CredentialKind;
use foundation::Scope;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use store::model::{Account, ApiKey, SessionClient, UserSession};

use super::keys;
use crate::access::{AccessTokens, CredentialCache};
use foundation::secret;
use foundation::{Ports, ServiceError};

/// Maximum time between two uses of a session.
pub(crate) const SESSION_IDLE_TIMEOUT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Maximum age of a session, regardless of use.
pub(crate) const SESSION_LIFETIME: SignedDuration = SignedDuration::from_hours(180 * 24);
/// Minimum time between two recordings of the same session's use.
const SESSION_USE_RECORD_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// Hash purpose of session cookies.
pub(crate) const COOKIE_HASH_PURPOSE: &str = "session cookie";

/// Checks API keys, access tokens, session cookies and passwords.
#[derive(Clone)]
pub struct Authenticator {
    pub(crate) ports: Ports,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) tokens: Arc<AccessTokens>,
}

impl Authenticator {
    /// Returns the actor of an API key. The result may be as old as a cache entry.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the key does not exist.
    pub async fn authenticate_key(&self, key: &str) -> Result<Actor, ServiceError> {
        let (credential_cache, ports) = (&self.credential_cache, &self.ports);
        if !keys::is_well_formed(key) {
            return Err(unknown_api_key());
        }
        let (hash, now) = (keys::hash(key), ports.clock.now());
        let actor = match credential_cache.get(&hash, &*ports.clock) {
            Some(actor) => actor,
            None => {
                let lookup = credential_cache.begin_lookup(&*ports.clock);
                let found = ports.store.api_key_by_hash(hash).await?;
                let found = found.filter(|(_, account)| account.profile.deleted_at.is_none());
                let (key, account) = found.ok_or_else(unknown_api_key)?;
                let actor = api_key_actor(key, account);
                credential_cache.insert(hash, &actor, lookup);
                actor
            }
        };
        credential_cache.record_use(&ports.store, &actor, now);
        Ok(actor)
    }

    /// Returns the actor of an access token. The state of the session may be as old as a cache entry.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the token is invalid or expired, or its session has ended.
    pub async fn authenticate_token(&self, token: &str) -> Result<Actor, ServiceError> {
        let (credential_cache, ports) = (&self.credential_cache, &self.ports);
        let now = ports.clock.now();
        let claimed = self.tokens.verify(token, now).ok_or_else(invalid_access_token)?;
        // All tokens of a session share one cache entry. No secret has this hash, because a session id is not a secret.
        let hash = secret::hash("session", "", &claimed.session.0.to_string());
        if let Some(actor) = credential_cache.get(&hash, &*ports.clock) {
            return Ok(actor);
        }
        let lookup = credential_cache.begin_lookup(&*ports.clock);
        let found = ports.store.session(claimed.session).await?;
        let found = found.filter(|(session, _)| session.account == claimed.account);
        let actor = self
            .signed_in(found, CredentialKind::Token, None, now)
            .ok_or_else(invalid_access_token)?;
        credential_cache.insert(hash, &actor, lookup);
        Ok(actor)
    }

    /// Returns the actor of a session cookie. The result may be as old as a cache entry. A client that is given is recorded as the one that
    /// uses the session.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the session does not exist or has ended.
    pub async fn authenticate_cookie(
        &self,
        cookie: &str,
        client: Option<SessionClient>,
    ) -> Result<Actor, ServiceError> {
        let (credential_cache, ports) = (&self.credential_cache, &self.ports);
        if !secret::is_well_formed(cookie) {
            return Err(session_over());
        }
        let (hash, now) = (secret::hash(COOKIE_HASH_PURPOSE, "", cookie), ports.clock.now());
        if let Some(actor) = credential_cache.get(&hash, &*ports.clock) {
            return Ok(actor);
        }
        let lookup = credential_cache.begin_lookup(&*ports.clock);
        let found = ports.store.session_by_cookie(hash).await?;
        let actor = self
            .signed_in(found, CredentialKind::Cookie, client, now)
            .ok_or_else(session_over)?;
        credential_cache.insert(hash, &actor, lookup);
        Ok(actor)
    }

    /// Returns the actor of a session if the session is live. Records the use of the session in the background.
    fn signed_in(
        &self,
        found: Option<(UserSession, Account)>,
        by: CredentialKind,
        client: Option<SessionClient>,
        now: Timestamp,
    ) -> Option<Actor> {
        let (session, account) = found?;
        if !session.is_live(now) || account.profile.deleted_at.is_some() {
            return None;
        }
        let is_elsewhere = client.is_some() && client != session.client;
        if is_elsewhere || now.duration_since(session.last_seen_at) >= SESSION_USE_RECORD_INTERVAL {
            self.credential_cache
                .record_session_use(&self.ports.store, &session, client, now);
        }
        let auth_method = AuthMethod::Session {
            id: session.id,
            credential: by,
        };
        Some(actor_for(account, auth_method))
    }
}

/// Returns when a session expires that is used now.
pub(crate) fn expiry(created_at: Timestamp, now: Timestamp) -> Timestamp {
    let after = |at: Timestamp, time| at.saturating_add(time).unwrap_or(Timestamp::MAX);
    after(now, SESSION_IDLE_TIMEOUT).min(after(created_at, SESSION_LIFETIME))
}

fn unknown_api_key() -> ServiceError {
    let message = "unknown API key; check that it was copied completely (sk_ and 64 characters), or create a new one";
    ServiceError::Unauthenticated(message.to_owned())
}

fn invalid_access_token() -> ServiceError {
    let message = "this bearer token is invalid or expired; get a new one with the refresh token, or sign in again";
    ServiceError::Unauthenticated(message.to_owned())
}

fn session_over() -> ServiceError {
    ServiceError::Unauthenticated("this session has ended; sign in again".to_owned())
}

fn api_key_actor(key: ApiKey, account: Account) -> Actor {
    let scopes = key.scopes.iter().filter_map(|name| Scope::from_name(name));
    // Former operators lose the operator scopes.
    let scopes = scopes.filter(|scope| account.is_operator || Scope::PUBLIC.contains(scope));
    let auth_method = AuthMethod::ApiKey {
        id: key.id,
        name: key.name,
        scopes: scopes.collect(),
    };
    actor_for(account, auth_method)
}

/// Returns the actor for an account and an authentication method.
pub(crate) fn actor_for(account: Account, auth_method: AuthMethod) -> Actor {
    Actor {
        account: account.id,
        plan: account.plan,
        is_operator: account.is_operator,
        time_zone: TimeZone::get(&account.time_zone).unwrap_or(TimeZone::UTC),
        email: account.email,
        auth_method,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alerts::Plan;
    use jiff::Timestamp;
    use store::model::{AccountId, ApiKeyId};
    use uuid::Uuid;

    fn actor_with(is_operator: bool, scopes: &[&str], time_zone: &str) -> Actor {
        let id = AccountId(Uuid::from_u128(1));
        let key = ApiKey {
            id: ApiKeyId(Uuid::from_u128(2)),
            account: id,
            name: "script".to_owned(),
            prefix: "sk_01234567".to_owned(),
            hash: [0; 32],
            scopes: scopes.iter().map(|name| (*name).to_owned()).collect(),
            created_at: Timestamp::UNIX_EPOCH,
            last_used_at: None,
        };
        let account = Account {
            id,
            email: "ann@example.com".to_owned(),
            password_hash: None,
            full_name: None,
            plan: Plan::Basic,
            is_operator,
            is_verified: true,
            time_zone: time_zone.to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            profile: store::model::Profile::default(),
        };
        api_key_actor(key, account)
    }

    #[test]
    fn former_operator_loses_operator_scopes_and_unknown_scopes_are_ignored() {
        let scopes = ["stocks:read", "market:write", "moon:read"];
        let may = |is_operator, scope| actor_with(is_operator, &scopes, "UTC").require(scope).is_ok();
        assert!(may(true, Scope::StocksRead) && may(true, Scope::MarketWrite));
        assert!(may(false, Scope::StocksRead) && !may(false, Scope::MarketWrite));
        assert!(!may(true, Scope::AlertsRead));
    }

    #[test]
    fn unknown_time_zone_falls_back_to_utc() {
        assert_eq!(actor_with(false, &[], "Mars/Olympus").time_zone, TimeZone::UTC);
        assert_eq!(
            actor_with(false, &[], "Europe/Berlin").time_zone.iana_name(),
            Some("Europe/Berlin")
        );
    }
}

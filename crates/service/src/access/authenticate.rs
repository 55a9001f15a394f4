//! Who is it?

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use store::model::{Account, ApiKey, Session};

use super::{Actor, Scope, Shown, Via, keys};
use crate::access::{Reception, Tokens};
use crate::identity::secret;
use crate::{Ports, ServiceError};

/// A session that is not used ends after this time.
pub(crate) const SESSION_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A session ends after this time, however much it is used.
pub(crate) const SESSION_LIFE: SignedDuration = SignedDuration::from_hours(180 * 24);
/// A session's use is written down at most once in this time.
const SESSION_NOTED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// What cookies are hashed for.
pub(crate) const COOKIE: &str = "session cookie";

/// Checks API keys, access tokens, session cookies and passwords.
#[derive(Clone)]
pub struct Authenticator {
    pub(crate) ports: Ports,
    pub(crate) reception: Arc<Reception>,
    pub(crate) tokens: Arc<Tokens>,
}

impl Authenticator {
    /// Who shows this API key. The answer may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if there is no such key.
    pub async fn authenticate_key(&self, key: &str) -> Result<Actor, ServiceError> {
        let (reception, ports) = (&self.reception, &self.ports);
        if !keys::is_well_formed(key) {
            return Err(unknown());
        }
        let (hash, now) = (keys::hash(key), ports.clock.now());
        let actor = match reception.recall(&hash, now) {
            Some(actor) => actor,
            None => {
                let since = reception.begin();
                let found = ports.store.api_key_by_hash(hash).await?;
                let found = found.filter(|(_, account)| account.profile.deleted_at.is_none());
                let (key, account) = found.ok_or_else(unknown)?;
                let actor = actor(key, account);
                reception.remember(hash, &actor, since, now);
                actor
            }
        };
        reception.note_use(&ports.store, &actor, now);
        Ok(actor)
    }

    /// Who shows this access token. Whether the session goes on may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if it is no token of ours, its time is over, or its session has ended.
    pub async fn authenticate_token(&self, token: &str) -> Result<Actor, ServiceError> {
        let (reception, ports) = (&self.reception, &self.ports);
        let now = ports.clock.now();
        let claimed = self.tokens.read(token, now).ok_or_else(no_token)?;
        // Tokens of a session are remembered as one. No secret hashes to this: it is not one.
        let hash = secret::hash("session", "", &claimed.session.0.to_string());
        if let Some(actor) = reception.recall(&hash, now) {
            return Ok(actor);
        }
        let since = reception.begin();
        let found = ports.store.session(claimed.session).await?;
        let found = found.filter(|(session, _)| session.account == claimed.account);
        let actor = self.signed_in(found, Shown::Token, now).ok_or_else(no_token)?;
        reception.remember(hash, &actor, since, now);
        Ok(actor)
    }

    /// Who shows this session cookie. The answer may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if there is no such session, or it has ended.
    pub async fn authenticate_cookie(&self, cookie: &str) -> Result<Actor, ServiceError> {
        let (reception, ports) = (&self.reception, &self.ports);
        if !secret::is_well_formed(cookie) {
            return Err(no_session());
        }
        let (hash, now) = (secret::hash(COOKIE, "", cookie), ports.clock.now());
        if let Some(actor) = reception.recall(&hash, now) {
            return Ok(actor);
        }
        let since = reception.begin();
        let found = ports.store.session_by_cookie(hash).await?;
        let actor = self.signed_in(found, Shown::Cookie, now).ok_or_else(no_session)?;
        reception.remember(hash, &actor, since, now);
        Ok(actor)
    }

    /// Who has signed in, if the session goes on. That it is used is written down in the background.
    fn signed_in(&self, found: Option<(Session, Account)>, by: Shown, now: Timestamp) -> Option<Actor> {
        let (session, account) = found?;
        if !session.is_live(now) || account.profile.deleted_at.is_some() {
            return None;
        }
        if now.duration_since(session.last_seen_at) >= SESSION_NOTED_EVERY {
            self.reception.note_session(&self.ports.store, &session, now);
        }
        let via = Via::Session { id: session.id, by };
        Some(of(account, via))
    }
}

/// Until when a session goes on that is used now.
pub(crate) fn expiry(created_at: Timestamp, now: Timestamp) -> Timestamp {
    let after = |at: Timestamp, time| at.saturating_add(time).unwrap_or(Timestamp::MAX);
    after(now, SESSION_IDLE).min(after(created_at, SESSION_LIFE))
}

fn unknown() -> ServiceError {
    let message = "this API key is not known; check that it was copied whole (sk_ and 64 characters), or create one";
    ServiceError::Unauthenticated(message.to_owned())
}

fn no_token() -> ServiceError {
    let message = "this bearer token is not valid, or its time is over; get another one with the refresh token, or sign \
                   in again";
    ServiceError::Unauthenticated(message.to_owned())
}

fn no_session() -> ServiceError {
    ServiceError::Unauthenticated("this session is over; sign in again".to_owned())
}

fn actor(key: ApiKey, account: Account) -> Actor {
    let scopes = key.scopes.iter().filter_map(|name| Scope::from_name(name));
    // Who is no operator any more has no operator's scopes any more.
    let scopes = scopes.filter(|scope| account.is_operator || Scope::PUBLIC.contains(scope));
    let via = Via::Key {
        id: key.id,
        name: key.name,
        scopes: scopes.collect(),
    };
    of(account, via)
}

/// An account's owner, or whoever acts in their name.
pub(crate) fn of(account: Account, via: Via) -> Actor {
    Actor {
        account: account.id,
        plan: account.plan,
        is_operator: account.is_operator,
        time_zone: TimeZone::get(&account.time_zone).unwrap_or(TimeZone::UTC),
        email: account.email,
        via,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alerts::Plan;
    use jiff::Timestamp;
    use store::model::{AccountId, ApiKeyId};
    use uuid::Uuid;

    fn shown(is_operator: bool, scopes: &[&str], time_zone: &str) -> Actor {
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
        actor(key, account)
    }

    #[test]
    fn an_operators_scopes_end_with_being_one_and_unknown_scopes_are_none() {
        let scopes = ["stocks:read", "market:write", "moon:read"];
        let may = |is_operator, scope| shown(is_operator, &scopes, "UTC").require(scope).is_ok();
        assert!(may(true, Scope::StocksRead) && may(true, Scope::MarketWrite));
        assert!(may(false, Scope::StocksRead) && !may(false, Scope::MarketWrite));
        assert!(!may(true, Scope::AlertsRead));
    }

    #[test]
    fn a_zone_that_is_not_known_is_utc() {
        assert_eq!(shown(false, &[], "Mars/Olympus").time_zone, TimeZone::UTC);
        assert_eq!(
            shown(false, &[], "Europe/Berlin").time_zone.iana_name(),
            Some("Europe/Berlin")
        );
    }
}

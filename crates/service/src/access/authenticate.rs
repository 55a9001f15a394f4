//! Who is it?

use jiff::tz::TimeZone;
use store::model::{Account, ApiKey};

use super::{Actor, Scope, Via, keys};
use crate::{Service, ServiceError};

impl Service {
    /// Who shows this API key. The answer may be a few seconds old.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if there is no such key.
    pub async fn authenticate_key(&self, key: &str) -> Result<Actor, ServiceError> {
        let (reception, ports) = (&self.0.reception, &self.0.ports);
        if !keys::is_well_formed(key) {
            return Err(unknown());
        }
        let (hash, now) = (keys::hash(key), ports.clock.now());
        let actor = match reception.recall(&hash, now) {
            Some(actor) => actor,
            None => {
                let since = reception.begin();
                let found = ports.store.api_key_by_hash(hash).await?;
                let (key, account) = found.ok_or_else(unknown)?;
                let actor = actor(key, account);
                reception.remember(hash, &actor, since, now);
                actor
            }
        };
        reception.note_use(&ports.store, &actor, now);
        Ok(actor)
    }
}

fn unknown() -> ServiceError {
    let message = "this API key is not known; check that it was copied whole (sk_ and 64 characters), or create one";
    ServiceError::Unauthenticated(message.to_owned())
}

fn actor(key: ApiKey, account: Account) -> Actor {
    let scopes = key.scopes.iter().filter_map(|name| Scope::from_name(name));
    // Who is no operator any more has no operator's scopes any more.
    let scopes = scopes.filter(|scope| account.is_operator || Scope::PUBLIC.contains(scope));
    Actor {
        account: account.id,
        plan: account.plan,
        is_operator: account.is_operator,
        time_zone: TimeZone::get(&account.time_zone).unwrap_or(TimeZone::UTC),
        via: Via::Key {
            id: key.id,
            name: key.name,
            scopes: scopes.collect(),
        },
        email: account.email,
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

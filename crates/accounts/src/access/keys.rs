//! API keys: `sk_` and 64 characters, shown once and stored as a hash.

use foundation::Actor;
use foundation::Scope;
use foundation::account::normalize_email;
use std::fmt::{self, Write};

use alerts::Plan;
use sha2::{Digest, Sha256};
use store::Abort;
use store::model::{AccountId, ApiKey, ApiKeyId};

use super::credential_cache::CredentialHash;
use crate::access::Accounts;
use foundation::account::require_active;
use foundation::{ErrorsByField, ServiceError};

/// Prefix of every key.
const API_KEY_PREFIX: &str = "sk_";
/// Number of characters after the prefix: 256 random bits in hexadecimal.
const SECRET_CHARACTERS: usize = 64;
/// Number of leading characters that are stored in plain text, so that owners can tell keys apart.
const SHOWN_PREFIX_CHARACTERS: usize = 11;
/// Maximum length of a key's name, in characters.
const MAX_KEY_NAME_CHARACTERS: usize = 100;
/// Maximum number of keys on the basic plan. Paid plans have no limit.
const MAX_API_KEYS_BASIC_PLAN: u64 = 1;

/// Parameters of a new API key.
#[derive(Clone, Debug)]
pub struct ApiKeyParams {
    /// Name, 1 to 100 characters.
    pub name: String,
    /// Scopes, at least one.
    pub scopes: Vec<Scope>,
}

/// A new API key with its secret, which is available only now.
#[derive(Clone)]
pub struct CreatedApiKey {
    /// The stored part of the key.
    pub key: ApiKey,
    /// The secret.
    pub secret: String,
    /// Rate limit tier: the account's plan.
    pub tier: Plan,
}

impl fmt::Debug for CreatedApiKey {
    /// Formats all fields except the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedApiKey")
            .field("key", &self.key)
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

impl Accounts {
    /// Creates an API key for the account with this email address, on behalf of the operator. The plan's limit does not
    /// apply. Operator scopes require an operator account.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if no account has the address, [`ServiceError::Invalid`] for an invalid name or
    /// scopes.
    pub async fn create_api_key_for_email(
        &self,
        email: &str,
        key: ApiKeyParams,
    ) -> Result<CreatedApiKey, ServiceError> {
        let found = self.ports.store.account_by_email(&normalize_email(email)).await?;
        let account = found.ok_or(ServiceError::NotFound("account"))?;
        self.create_key(account.id, key, KeyCreator::Operator).await
    }

    /// Returns the actor's API keys, oldest first. Requires a session: a key must not reveal other keys.
    pub async fn api_keys(&self, actor: &Actor) -> Result<Vec<ApiKey>, ServiceError> {
        Ok(self.ports.store.api_keys(actor.account).await?)
    }

    /// Creates an API key for the signed-in actor.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid name or scopes, [`ServiceError::Forbidden`] if the plan's limit is
    /// reached.
    pub async fn create_api_key(&self, actor: &Actor, key: ApiKeyParams) -> Result<CreatedApiKey, ServiceError> {
        self.create_key(actor.account, key, KeyCreator::Owner).await
    }

    /// Deletes an API key of the signed-in actor. This process rejects it at once, other processes within a second.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor has no such key.
    pub async fn delete_api_key(&self, actor: &Actor, id: ApiKeyId) -> Result<(), ServiceError> {
        let account = actor.account;
        let transaction = self.ports.transaction((account, id), |&(account, id), unit| {
            Box::pin(async move {
                if unit.delete_api_key(account, id).await? {
                    Ok(())
                } else {
                    Err(Abort::Refused(ServiceError::NotFound("API key")))
                }
            })
        });
        transaction.await?;
        self.credential_cache.invalidate(account);
        Ok(())
    }

    async fn create_key(
        &self,
        account: AccountId,
        new: ApiKeyParams,
        creator: KeyCreator,
    ) -> Result<CreatedApiKey, ServiceError> {
        let ApiKeyParams { name, mut scopes } = new;
        let name = name.trim().to_owned();
        scopes.sort_unstable();
        scopes.dedup();
        check(&name, &scopes)?;
        let secret = secret(&self.ports.random.bytes());
        let key = ApiKey {
            id: ApiKeyId(self.ports.random.uuid()),
            account,
            name,
            prefix: secret.chars().take(SHOWN_PREFIX_CHARACTERS).collect(),
            hash: hash(&secret),
            scopes: scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            created_at: self.ports.clock.now(),
            last_used_at: None,
        };
        let inputs = (
            key.clone(),
            creator,
            scopes.iter().any(|scope| !Scope::PUBLIC.contains(scope)),
        );
        let transaction = self
            .ports
            .transaction(inputs, |&(ref key, creator, wants_operator), unit| {
                Box::pin(async move {
                    let refuse = |refusal: ServiceError| Err(Abort::Refused(refusal));
                    let Some(account) = unit.lock_account(key.account).await? else {
                        return refuse(ServiceError::NotFound("account"));
                    };
                    if creator == KeyCreator::Owner {
                        require_active(&account)?;
                    }
                    if wants_operator && !account.is_operator {
                        let names: Vec<_> = Scope::PUBLIC.iter().map(|scope| scope.name()).collect();
                        let fault = format!(
                            "market:write and outbox:read require an operator account; choose from {}",
                            names.join(", ")
                        );
                        return refuse(ServiceError::field("scopes", fault));
                    }
                    if creator == KeyCreator::Owner
                        && account.plan == Plan::Basic
                        && unit.count_api_keys(account.id).await? >= MAX_API_KEYS_BASIC_PLAN
                    {
                        return refuse(ServiceError::Forbidden {
                            reason: "plan",
                            required: Some(Plan::Premium.name().to_owned()),
                            message: format!(
                                "the basic plan has {MAX_API_KEYS_BASIC_PLAN} API key; delete that one, or take the \
                         premium or early_bird plan"
                            ),
                        });
                    }
                    unit.insert_api_key(key).await?;
                    Ok(account.plan)
                })
            });
        let tier = transaction.await?;
        Ok(CreatedApiKey { key, secret, tier })
    }
}

/// Creator of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyCreator {
    /// The account's owner. The plan's limit applies.
    Owner,
    /// The operator. The plan's limit does not apply.
    Operator,
}

/// Returns the error of a key without scopes.
pub(super) fn no_scopes() -> String {
    let names: Vec<_> = Scope::PUBLIC.iter().map(|scope| scope.name()).collect();
    format!("must not be empty; choose from {}", names.join(", "))
}

fn check(name: &str, scopes: &[Scope]) -> Result<(), ServiceError> {
    let mut faults = ErrorsByField::new();
    let characters = name.chars().count();
    if !(1..=MAX_KEY_NAME_CHARACTERS).contains(&characters) || name.chars().any(char::is_control) {
        let fault = format!("must have 1 to {MAX_KEY_NAME_CHARACTERS} characters on one line");
        faults.insert("name".to_owned(), vec![fault]);
    }
    if scopes.is_empty() {
        faults.insert("scopes".to_owned(), vec![no_scopes()]);
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(ServiceError::fields(faults))
    }
}

/// Encodes 256 random bits as a key.
fn secret(bits: &[u8; SECRET_CHARACTERS / 2]) -> String {
    bits.iter().fold(API_KEY_PREFIX.to_owned(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Hashes a key. Keys have 256 random bits, so a plain SHA-256 hash is sufficient.
pub(super) fn hash(secret: &str) -> CredentialHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Returns whether a text has the form of a key. Other texts need no lookup.
pub(super) fn is_well_formed(text: &str) -> bool {
    text.strip_prefix(API_KEY_PREFIX).is_some_and(|secret| {
        secret.len() == SECRET_CHARACTERS && secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_has_prefix_and_64_characters() {
        let mut bits = [0xab; 32];
        bits[0] = 0x01;
        let secret = secret(&bits);
        assert_eq!(secret.len(), 67);
        assert!(secret.starts_with("sk_01abab"), "{secret}");
        assert!(is_well_formed(&secret));
    }

    #[test]
    fn malformed_keys_are_rejected() {
        let digits = "0".repeat(63);
        for (text, expected) in [
            (format!("sk_{digits}0"), true),
            (format!("sk_{digits}"), false),
            (format!("sk_{digits}00"), false),
            (format!("sk_{digits}-"), false),
            (format!("pk_{digits}0"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_well_formed(&text), expected, "{text}");
        }
    }

    #[test]
    fn key_hash_is_sha_256() {
        // Test vector of FIPS 180-2, B.1.
        assert_eq!(hash("abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn name_has_1_to_100_characters_on_one_line() {
        let ok = |name: &str| check(name, Scope::PUBLIC).is_ok();
        assert!(ok("a") && ok(&"ä".repeat(100)));
        assert!(!ok("") && !ok(&"a".repeat(101)) && !ok("a\nb"));
        assert!(check("a", &[]).is_err());
    }
}

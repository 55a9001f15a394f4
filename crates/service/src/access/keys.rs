//! API keys: `sk_` and 64 characters, shown once and kept as a hash.

use std::fmt::{self, Write};

use alerts::Plan;
use sha2::{Digest, Sha256};
use store::model::{AccountId, ApiKey, ApiKeyId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::accounts::normal_email;
use super::reception::KeyHash;
use super::{Actor, Scope};
use crate::access::Accounts;
use crate::identity::account::must_be_awake;
use crate::{Fields, ServiceError};

/// What every key begins with.
const MARK: &str = "sk_";
/// How many characters follow it: 256 random bits in hexadecimal.
const SECRET_CHARACTERS: usize = 64;
/// How much of a key is kept, so that its owner can tell it from others.
const PREFIX_CHARACTERS: usize = 11;
/// The longest name of a key, in characters.
const MAX_NAME_CHARACTERS: usize = 100;
/// How many keys an account of the basic plan has; the paid plans have any number.
const BASIC_API_KEYS: u64 = 1;

/// An API key to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What its owner calls it, 1 to 100 characters.
    pub name: String,
    /// What it may be used for, at least one thing.
    pub scopes: Vec<Scope>,
}

/// A new API key, the only time it is seen.
#[derive(Clone)]
pub struct CreatedKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// The key itself.
    pub secret: String,
    /// The tier of its rate limits: the account's plan.
    pub tier: Plan,
}

impl fmt::Debug for CreatedKey {
    /// Everything but the key itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey")
            .field("key", &self.key)
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

impl Accounts {
    /// Makes an API key for the account of that address, as its operator: whatever scopes are asked for (the
    /// operators' own ones only for an operator's account), beyond the plan's number of keys, too.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the address has no account, [`ServiceError::Invalid`] for a name or scopes that
    /// will not do.
    pub async fn create_key_for(&self, email: &str, key: NewKey) -> Result<CreatedKey, ServiceError> {
        let found = self.ports.store.account_by_email(&normal_email(email)).await?;
        let account = found.ok_or(ServiceError::NotFound("account"))?;
        self.create_key(account.id, key, By::Operator).await
    }

    /// The actor's API keys, oldest first. Only for somebody who has signed in: what a key can do must not include
    /// finding out about others.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn api_keys(&self, actor: &Actor) -> Result<Vec<ApiKey>, ServiceError> {
        Ok(self.ports.store.api_keys(actor.account).await?)
    }

    /// Makes an API key for the actor, who has signed in.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a name or scopes that will not do, [`ServiceError::Forbidden`] for a key more than
    /// the plan has.
    pub async fn create_api_key(&self, actor: &Actor, key: NewKey) -> Result<CreatedKey, ServiceError> {
        self.create_key(actor.account, key, By::Owner).await
    }

    /// Deletes an API key of the actor, who has signed in. It is refused from now on; by another process of this
    /// service a few seconds later.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for a key the actor does not have.
    pub async fn delete_api_key(&self, actor: &Actor, id: ApiKeyId) -> Result<(), ServiceError> {
        let account = actor.account;
        self.ports.store.write(Delete { account, id }).await?;
        self.reception.forget(account);
        Ok(())
    }

    async fn create_key(&self, account: AccountId, new: NewKey, by: By) -> Result<CreatedKey, ServiceError> {
        let NewKey { name, mut scopes } = new;
        let name = name.trim().to_owned();
        scopes.sort_unstable();
        scopes.dedup();
        check(&name, &scopes)?;
        let secret = secret(&self.ports.chance.bytes());
        let key = ApiKey {
            id: ApiKeyId(self.ports.chance.uuid()),
            account,
            name,
            prefix: secret.chars().take(PREFIX_CHARACTERS).collect(),
            hash: hash(&secret),
            scopes: scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            created_at: self.ports.clock.now(),
            last_used_at: None,
        };
        let work = Insert {
            key: key.clone(),
            by,
            wants_operator: scopes.iter().any(|scope| !Scope::PUBLIC.contains(scope)),
        };
        let tier = self.ports.store.write(work).await?;
        Ok(CreatedKey { key, secret, tier })
    }
}

/// Who makes a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// The account's owner, within the plan.
    Owner,
    /// The operator of this service.
    Operator,
}

fn check(name: &str, scopes: &[Scope]) -> Result<(), ServiceError> {
    let mut faults = Fields::new();
    let characters = name.chars().count();
    if !(1..=MAX_NAME_CHARACTERS).contains(&characters) || name.chars().any(char::is_control) {
        let fault = format!("must have 1 to {MAX_NAME_CHARACTERS} characters on one line");
        faults.insert("name".to_owned(), vec![fault]);
    }
    if scopes.is_empty() {
        let names: Vec<_> = Scope::PUBLIC.iter().map(|scope| scope.name()).collect();
        let fault = format!("must not be empty; give some of {}", names.join(", "));
        faults.insert("scopes".to_owned(), vec![fault]);
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(ServiceError::fields(faults))
    }
}

/// A key of 256 random bits.
fn secret(bits: &[u8; SECRET_CHARACTERS / 2]) -> String {
    bits.iter().fold(MARK.to_owned(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is kept of a key. It has 256 random bits, so a plain hash gives nothing away.
pub(super) fn hash(secret: &str) -> KeyHash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Whether a text could be a key: if not, it need not be looked for.
pub(super) fn is_well_formed(text: &str) -> bool {
    text.strip_prefix(MARK).is_some_and(|secret| {
        secret.len() == SECRET_CHARACTERS && secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

struct Insert {
    key: ApiKey,
    by: By,
    wants_operator: bool,
}

impl Transaction for Insert {
    type Output = Plan;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Plan, Abort<ServiceError>>> {
        Box::pin(async move {
            let refuse = |refusal: ServiceError| Err(Abort::Refused(refusal));
            let Some(account) = unit.lock_account(self.key.account).await? else {
                return refuse(ServiceError::NotFound("account"));
            };
            if self.by == By::Owner {
                must_be_awake(&account).map_err(Abort::Refused)?;
            }
            if self.wants_operator && !account.is_operator {
                let names: Vec<_> = Scope::PUBLIC.iter().map(|scope| scope.name()).collect();
                let fault = format!(
                    "market:write and outbox:read are for operators, which this account is not; give some of {}",
                    names.join(", ")
                );
                return refuse(ServiceError::field("scopes", fault));
            }
            if self.by == By::Owner
                && account.plan == Plan::Basic
                && unit.count_api_keys(account.id).await? >= BASIC_API_KEYS
            {
                return refuse(ServiceError::Forbidden {
                    reason: "plan",
                    required: Some(Plan::Premium.name().to_owned()),
                    message: format!(
                        "the basic plan has {BASIC_API_KEYS} API key; delete that one, or take the premium or \
                         early_bird plan"
                    ),
                });
            }
            unit.insert_api_key(&self.key).await?;
            Ok(account.plan)
        })
    }
}

struct Delete {
    account: AccountId,
    id: ApiKeyId,
}

impl Transaction for Delete {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            if unit.delete_api_key(self.account, self.id).await? {
                Ok(())
            } else {
                Err(Abort::Refused(ServiceError::NotFound("API key")))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sk_and_64_characters() {
        let mut bits = [0xab; 32];
        bits[0] = 0x01;
        let secret = secret(&bits);
        assert_eq!(secret.len(), 67);
        assert!(secret.starts_with("sk_01abab"), "{secret}");
        assert!(is_well_formed(&secret));
    }

    #[test]
    fn what_is_too_short_too_long_or_has_other_characters_is_no_key() {
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
    fn a_key_is_kept_as_its_sha_256() {
        // The example of FIPS 180-2, B.1.
        assert_eq!(hash("abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn a_name_has_1_to_100_characters_on_one_line() {
        let ok = |name: &str| check(name, Scope::PUBLIC).is_ok();
        assert!(ok("a") && ok(&"ä".repeat(100)));
        assert!(!ok("") && !ok(&"a".repeat(101)) && !ok("a\nb"));
        assert!(check("a", &[]).is_err());
    }
}

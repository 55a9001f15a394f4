//! The key of the database's secrets: whether a program has the right one, and how it is changed.
//!
//! The database holds a known text sealed with the key, the key check value. A program that cannot open it has another key
//! and must not start: it could not open the stored secrets, and other programs could not open the ones that it seals.

use std::sync::Arc;

use jiff::Timestamp;
use notify::signature::SigningSecret;
use store::{
    Abort, BoxFuture, KeyRotation, KeyRotationError, ResealOutcome, SealedLocation, SealedValue, Store, StoreError,
    Transaction, UnitOfWork,
};
use uuid::Uuid;

use crate::vault::{Place, Vault};
use crate::{Chance, idempotency, messages, webhooks};

/// The text that the key check value seals.
const CHECK_TEXT: &str = "bellwether key check";
const CHECK_PLACE: Place = Place {
    table: "key_check",
    column: "sealed",
    row: Uuid::nil(),
};

/// Why a key is not the database's.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key check value was sealed with another one.
    #[error("the secrets in the database are sealed with another key")]
    OtherKey,
    /// There is no key check value yet, and not everything that is sealed opens with this key.
    #[error("{unreadable} of {values} secrets in the database are sealed with another key")]
    Unreadable {
        /// How many do not open.
        unreadable: usize,
        /// How many there are.
        values: usize,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether a vault has the key that a key check value was sealed with.
#[must_use]
pub fn opens(vault: &Vault, check: &[u8]) -> bool {
    vault.open(CHECK_PLACE, check).is_ok_and(|text| text == CHECK_TEXT)
}

/// Checks that a vault has the database's key. A database without a key check value gets one, if everything that is sealed
/// in it opens with this key.
///
/// # Errors
/// [`KeyError`]
pub async fn check_key(store: &Store, vault: &Arc<Vault>, chance: &Chance, now: Timestamp) -> Result<(), KeyError> {
    if let Some(check) = store.key_check().await? {
        return opens(vault, &check).then_some(()).ok_or(KeyError::OtherKey);
    }
    let work = MakeCheck {
        vault: Arc::clone(vault),
        check: vault.seal(chance, CHECK_PLACE, CHECK_TEXT),
        now,
    };
    store.write(work).await.map_err(|abort| match abort {
        Abort::Refused(refusal) => refusal,
        Abort::Store(error) => error.into(),
    })
}

/// Whether there is anything in the database that was sealed.
///
/// # Errors
/// [`StoreError`], if the database fails.
pub async fn has_sealed_values(store: &Store) -> Result<bool, StoreError> {
    let count = store.write(Count).await;
    count.map(|count| count > 0).map_err(|abort| match abort {
        Abort::Store(error) => error,
        Abort::Refused(never) => match never {},
    })
}

struct Count;

impl Transaction for Count {
    type Output = usize;
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<usize, Abort<Self::Refusal>>> {
        Box::pin(async move {
            let mut values = 0;
            unit.for_each_sealed_value(&mut |_| values += 1).await?;
            Ok(values)
        })
    }
}

struct MakeCheck {
    vault: Arc<Vault>,
    check: Vec<u8>,
    now: Timestamp,
}

impl Transaction for MakeCheck {
    type Output = ();
    type Refusal = KeyError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<KeyError>>> {
        Box::pin(async move {
            let (mut values, mut unreadable) = (0, 0);
            let mut count = |value: SealedValue| {
                // An answer that does not open is not given, and goes within a day.
                if !matches!(value.location, SealedLocation::StoredResponse(_)) {
                    values += 1;
                    unreadable += usize::from(self.vault.open(place(&value.location), &value.sealed).is_err());
                }
            };
            unit.for_each_sealed_value(&mut count).await?;
            if unreadable > 0 {
                return Err(Abort::Refused(KeyError::Unreadable { unreadable, values }));
            }
            if unit.insert_key_check(&self.check, self.now).await? {
                return Ok(());
            }
            // Another program has made it in this moment.
            let check = unit.key_check().await?.unwrap_or_default();
            opens(&self.vault, &check)
                .then_some(())
                .ok_or(Abort::Refused(KeyError::OtherKey))
        })
    }
}

/// The treatment of values that the former key does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// Nothing is changed, and the rotation is refused.
    Refuse,
    /// They are discarded: webhooks are switched off and get another secret, messages are dropped.
    Discard,
}

/// The result of a rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rotated {
    /// How many values are sealed with the new key.
    pub sealed: usize,
    /// How many were discarded, because the former key did not open them.
    pub discarded: usize,
}

/// Seals everything in the database anew, in one transaction.
///
/// # Errors
/// [`KeyRotationError`]; nothing was changed then.
pub async fn rotate_key(
    database: &mut KeyRotation,
    former: &Vault,
    new: &Vault,
    chance: &Chance,
    now: Timestamp,
    unreadable: Unreadable,
) -> Result<Rotated, KeyRotationError<KeyError>> {
    let check = database.key_check().await?;
    if check.is_some_and(|check| !opens(former, &check)) && unreadable == Unreadable::Refuse {
        return Err(KeyRotationError::Refused(KeyError::OtherKey));
    }
    let mut rotated = Rotated::default();
    let mut reseal = |value: &SealedValue| -> Result<ResealOutcome, KeyError> {
        let place = place(&value.location);
        let is_answer = matches!(value.location, SealedLocation::StoredResponse(_));
        match former.open(place, &value.sealed) {
            Ok(text) => {
                rotated.sealed += 1;
                Ok(ResealOutcome::Sealed(new.seal(chance, place, &text)))
            }
            // It goes within a day, and until then its request is not done again.
            Err(_) if is_answer => Ok(ResealOutcome::Kept),
            Err(_) if unreadable == Unreadable::Discard => {
                rotated.discarded += 1;
                let replacement = matches!(value.location, SealedLocation::WebhookSecret(_));
                let secret = replacement.then(|| SigningSecret::from_random(chance.bytes()));
                Ok(ResealOutcome::Lost {
                    replacement: secret.map(|secret| new.seal(chance, place, secret.expose())),
                })
            }
            Err(_) => Err(KeyError::Unreadable {
                unreadable: 1,
                values: rotated.sealed + 1,
            }),
        }
    };
    let check = new.seal(chance, CHECK_PLACE, CHECK_TEXT);
    database.reseal(&check, now, &mut reseal).await?;
    Ok(rotated)
}

/// The place that a sealed value is authenticated with.
fn place(place: &SealedLocation) -> Place {
    match place {
        SealedLocation::WebhookSecret(webhook) | SealedLocation::FormerWebhookSecret { webhook, .. } => {
            webhooks::place(*webhook)
        }
        SealedLocation::Message(message) => messages::place(*message),
        SealedLocation::OutboxMessage(message) => messages::kept_place(*message),
        SealedLocation::StoredResponse(request) => idempotency::place(request),
    }
}

//! Check and rotation of the key for sealed secrets.
//!
//! The database contains the key check value: a known text, sealed with the key. A process that cannot open it has
//! another key and must not start: it could not open the stored secrets, and other processes could not open its own.

use std::sync::Arc;

use jiff::Timestamp;
use notify::signature::SigningSecret;
use store::{Abort, KeyRotation, KeyRotationError, ResealOutcome, SealedLocation, SealedValue, Store, StoreError};
use uuid::Uuid;

use crate::idempotency;
use delivery::{messages, notification_channels, webhooks};
use foundation::Random;
use foundation::vault::{SecretLocation, Vault};

/// Plaintext of the key check value.
const KEY_CHECK_TEXT: &str = "bellwether key check";
const KEY_CHECK_LOCATION: SecretLocation = SecretLocation {
    table: "key_check",
    column: "sealed",
    row: Uuid::nil(),
};

/// Reason why a key is rejected.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key check value was sealed with another key.
    #[error("the secrets in the database are sealed with another key")]
    OtherKey,
    /// There is no key check value yet, and some sealed values do not open with this key.
    #[error("{unreadable} of {values} secrets in the database are sealed with another key")]
    Unreadable {
        /// Number of values that do not open.
        unreadable: usize,
        /// Number of values.
        values: usize,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns whether a vault has the key of a key check value.
#[must_use]
pub fn is_key_for(vault: &Vault, check: &[u8]) -> bool {
    vault
        .open(KEY_CHECK_LOCATION, check)
        .is_ok_and(|text| text == KEY_CHECK_TEXT)
}

/// Checks that a vault has the database's key. Creates the key check value if there is none and all sealed values open
/// with this key.
///
/// # Errors
/// [`KeyError`]
pub async fn check_key(store: &Store, vault: &Arc<Vault>, random: &Random, now: Timestamp) -> Result<(), KeyError> {
    if let Some(check) = store.key_check().await? {
        return is_key_for(vault, &check).then_some(()).ok_or(KeyError::OtherKey);
    }
    let inputs = (
        Arc::clone(vault),
        vault.seal(random, KEY_CHECK_LOCATION, KEY_CHECK_TEXT),
        now,
    );
    let transaction = store.transaction(inputs, |&(ref vault, ref check, now), unit| {
        Box::pin(async move {
            let (mut values, mut unreadable) = (0, 0);
            let mut count = |value: SealedValue| {
                // Idempotent responses that do not open are not returned, and are deleted within a day.
                if !matches!(value.location, SealedLocation::StoredResponse(_)) {
                    values += 1;
                    unreadable += usize::from(vault.open(location(&value.location), &value.sealed).is_err());
                }
            };
            unit.for_each_sealed_value(&mut count).await?;
            if unreadable > 0 {
                return Err(Abort::Refused(KeyError::Unreadable { unreadable, values }));
            }
            if unit.insert_key_check(check, now).await? {
                return Ok(());
            }
            // Another process created it at the same time.
            let check = unit.key_check().await?.unwrap_or_default();
            is_key_for(vault, &check)
                .then_some(())
                .ok_or(Abort::Refused(KeyError::OtherKey))
        })
    });
    transaction.await.map_err(|abort| match abort {
        Abort::Refused(refusal) => refusal,
        Abort::Store(error) => error.into(),
    })
}

/// Returns whether the database contains sealed values.
///
/// # Errors
/// [`StoreError`] if the database fails.
pub async fn has_sealed_values(store: &Store) -> Result<bool, StoreError> {
    let count = store.commit((), |(), unit| {
        Box::pin(async move {
            let mut values = 0_usize;
            unit.for_each_sealed_value(&mut |_| values += 1).await?;
            Ok(values)
        })
    });
    Ok(count.await? > 0)
}

/// Policy for values that the previous key does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnreadablePolicy {
    /// Rejects the rotation and changes nothing.
    Refuse,
    /// Discards them: webhooks are disabled and get a new secret, notification channels are disabled, messages are dropped.
    Discard,
}

/// Result of a key rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RotationSummary {
    /// Number of values sealed with the new key.
    pub sealed: usize,
    /// Number of values discarded because the previous key did not open them.
    pub discarded: usize,
}

/// Reseals all values in one transaction.
///
/// # Errors
/// [`KeyRotationError`]; then nothing has changed.
pub async fn rotate_key(
    database: &mut KeyRotation,
    former: &Vault,
    new: &Vault,
    random: &Random,
    now: Timestamp,
    unreadable: UnreadablePolicy,
) -> Result<RotationSummary, KeyRotationError<KeyError>> {
    let check = database.key_check().await?;
    if check.is_some_and(|check| !is_key_for(former, &check)) && unreadable == UnreadablePolicy::Refuse {
        return Err(KeyRotationError::Refused(KeyError::OtherKey));
    }
    let mut rotated = RotationSummary::default();
    let mut reseal = |value: &SealedValue| -> Result<ResealOutcome, KeyError> {
        let location = location(&value.location);
        let is_answer = matches!(value.location, SealedLocation::StoredResponse(_));
        match former.open(location, &value.sealed) {
            Ok(text) => {
                rotated.sealed += 1;
                Ok(ResealOutcome::Sealed(new.seal(random, location, &text)))
            }
            // Deleted within a day; until then its request is not repeated.
            Err(_) if is_answer => Ok(ResealOutcome::Kept),
            Err(_) if unreadable == UnreadablePolicy::Discard => {
                rotated.discarded += 1;
                let replacement = matches!(value.location, SealedLocation::WebhookSecret(_));
                let secret = replacement.then(|| SigningSecret::from_random(random.bytes()));
                Ok(ResealOutcome::Lost {
                    replacement: secret.map(|secret| new.seal(random, location, secret.expose())),
                })
            }
            Err(_) => Err(KeyError::Unreadable {
                unreadable: 1,
                values: rotated.sealed + 1,
            }),
        }
    };
    let check = new.seal(random, KEY_CHECK_LOCATION, KEY_CHECK_TEXT);
    database.reseal(&check, now, &mut reseal).await?;
    Ok(rotated)
}

/// Returns the sealing location of a stored value.
fn location(place: &SealedLocation) -> SecretLocation {
    match place {
        SealedLocation::WebhookSecret(webhook) | SealedLocation::FormerWebhookSecret { webhook, .. } => {
            webhooks::secret_location(*webhook)
        }
        SealedLocation::ChannelConfig(channel) => notification_channels::config_location(*channel),
        SealedLocation::WebPushKey(id) => notification_channels::web_push_key_location(*id),
        SealedLocation::Message(message) => messages::content_location(*message),
        SealedLocation::OutboxMessage(message) => messages::outbox_location(*message),
        SealedLocation::StoredResponse(request) => idempotency::response_location(request),
    }
}

//! The key of push messages: that of the operator, or one that is generated at the first start and stored in the database.

use foundation::Ports;
use foundation::vault::{SecretLocation, Vault, VaultError};
use notify::channels::web_push::{VapidKey, VapidKeyError};
use store::StoreError;
use uuid::Uuid;

/// Reason why there is no key of push messages.
#[derive(Debug, thiserror::Error)]
pub enum WebPushKeyError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored key was sealed with another key.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The stored key is invalid.
    #[error("the stored key of push messages is invalid; set `web_push.vapid_private_key`")]
    Invalid(#[from] VapidKeyError),
}

/// Returns the sealing location of the stored key.
pub const fn web_push_key_location(id: Uuid) -> SecretLocation {
    SecretLocation {
        table: "web_push_keys",
        column: "private_key",
        row: id,
    }
}

/// Returns the stored key. Without one, generates it: of processes that start at the same time, all get the key of the first.
///
/// # Errors
/// [`WebPushKeyError`]
pub async fn stored_web_push_key(ports: &Ports) -> Result<VapidKey, WebPushKeyError> {
    if let Some((id, sealed)) = ports.store.web_push_key().await? {
        return open(&ports.vault, id, &sealed);
    }
    let random = std::sync::Arc::clone(&ports.random);
    let key = VapidKey::generate(&(Box::new(move || random.bytes()) as _))?;
    let id = ports.random.uuid();
    let sealed = ports
        .vault
        .seal(&ports.random, web_push_key_location(id), key.private_key().expose());
    let inputs = (id, sealed, ports.clock.now());
    let insert = ports.store.commit(inputs, |&(id, ref sealed, now), unit| {
        Box::pin(unit.insert_web_push_key(id, sealed, now))
    });
    let (id, sealed) = insert.await?;
    open(&ports.vault, id, &sealed)
}

fn open(vault: &Vault, id: Uuid, sealed: &[u8]) -> Result<VapidKey, WebPushKeyError> {
    let text = vault.open(web_push_key_location(id), sealed)?;
    Ok(VapidKey::from_base64url(&text)?)
}

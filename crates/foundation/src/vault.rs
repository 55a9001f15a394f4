//! Vault: encrypts secrets before they are written to the database ("sealing").
//!
//! Values are sealed with XChaCha20-Poly1305 and a random nonce. The location (table, column, row) is authenticated
//! data, so a sealed value moved to another row cannot be opened. The header contains a format version and the key id.
//! So several keys can coexist: new values use the current key, existing values open with their own key.
//!
//! Keys are derived from `auth.secret_key` or from a generated key file. The vault does not know their origin and never
//! prints them.

use std::fmt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use uuid::Uuid;

use crate::Random;

/// Format version, the first byte of a sealed value.
const FORMAT_VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
/// Length of the header before the ciphertext, in bytes.
const HEADER_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;

/// Location of a sealed value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecretLocation {
    /// Table.
    pub table: &'static str,
    /// Column.
    pub column: &'static str,
    /// Row.
    pub row: Uuid,
}

impl SecretLocation {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        for part in [self.table.as_bytes(), self.column.as_bytes(), self.row.as_bytes()] {
            bytes.extend_from_slice(part);
            // Names of tables and columns never contain this byte.
            bytes.push(0);
        }
        bytes
    }
}

/// Reason why a value cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VaultError {
    /// The value was sealed with an unknown key.
    #[error(
        "a secret in the database was sealed with another key; start with the auth.secret_key, or the key file, that it \
         was sealed with"
    )]
    UnknownKey,
    /// The value was changed, or sealed for another location.
    #[error("a secret in the database was tampered with, or moved from another row")]
    Tampered,
}

/// Seals and opens secrets.
pub struct Vault {
    current: SealingKey,
    previous: Vec<SealingKey>,
    /// Root of keys for other purposes.
    root: [u8; 32],
}

struct SealingKey {
    id: [u8; KEY_ID_BYTES],
    cipher: XChaCha20Poly1305,
}

impl SealingKey {
    fn of(material: &[u8]) -> Self {
        let key = derived(material, b"bellwether: secrets at rest");
        let id = derived(material, b"bellwether: name of the key of secrets at rest");
        let mut short = [0; KEY_ID_BYTES];
        short.copy_from_slice(&id[..KEY_ID_BYTES]);
        Self {
            id: short,
            cipher: XChaCha20Poly1305::new(&key.into()),
        }
    }
}

/// Derives 32 bytes for one purpose, like the first block of HKDF-Expand.
fn derived(material: &[u8], purpose: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(material) else {
        return [0; 32];
    };
    mac.update(purpose);
    mac.update(&[1]);
    mac.finalize().into_bytes().into()
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    /// Creates a vault with a key derived from a secret, which must be hard to guess.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self {
            current: SealingKey::of(secret),
            previous: Vec::new(),
            root: derived(secret, b"bellwether: root of derived keys"),
        }
    }

    /// Derives a key for a purpose other than sealing, for example to sign links or to hash short codes. The key
    /// changes with the vault's secret.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        derived(&self.root, purpose.as_bytes())
    }

    /// Adds a previous secret, for values that were sealed with it.
    #[must_use]
    pub fn with_previous_key(mut self, secret: &[u8]) -> Self {
        self.previous.push(SealingKey::of(secret));
        self
    }

    /// Seals a text for its location.
    #[must_use]
    pub fn seal(&self, random: &Random, location: SecretLocation, text: &str) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = random.bytes();
        let location = location.bytes();
        let payload = Payload {
            msg: text.as_bytes(),
            aad: &location,
        };
        // Fails only for texts of hundreds of gigabytes.
        let sealed = self.current.cipher.encrypt(&XNonce::from(nonce), payload);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + text.len() + 16);
        bytes.push(FORMAT_VERSION);
        bytes.extend_from_slice(&self.current.id);
        bytes.extend_from_slice(&nonce);
        bytes.extend(sealed.unwrap_or_default());
        bytes
    }

    /// Opens a value that was sealed for this location.
    ///
    /// # Errors
    /// [`VaultError`]
    pub fn open(&self, location: SecretLocation, sealed: &[u8]) -> Result<String, VaultError> {
        let (head, text) = sealed.split_at_checked(HEADER_BYTES).ok_or(VaultError::Tampered)?;
        let (id, nonce) = head[1..].split_at(KEY_ID_BYTES);
        if head[0] != FORMAT_VERSION {
            return Err(VaultError::Tampered);
        }
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let key = keys.find(|key| key.id == id).ok_or(VaultError::UnknownKey)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| VaultError::Tampered)?;
        let location = location.bytes();
        let payload = Payload {
            msg: text,
            aad: &location,
        };
        let opened = key.cipher.decrypt(&XNonce::from(nonce), payload);
        String::from_utf8(opened.map_err(|_| VaultError::Tampered)?).map_err(|_| VaultError::Tampered)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn random() -> Random {
        Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)))
    }

    const HERE: SecretLocation = SecretLocation {
        table: "webhooks",
        column: "secret",
        row: Uuid::from_u128(1),
    };

    #[test]
    fn sealed_value_opens_only_at_its_location() {
        let vault = Vault::new(b"a key of sixteen bytes or more");
        let sealed = vault.seal(&random(), HERE, "whsec_open");
        assert_eq!(vault.open(HERE, &sealed).as_deref(), Ok("whsec_open"));
        for elsewhere in [
            SecretLocation {
                table: "accounts",
                ..HERE
            },
            SecretLocation {
                column: "previous_secret",
                ..HERE
            },
            SecretLocation {
                row: Uuid::from_u128(2),
                ..HERE
            },
        ] {
            assert_eq!(vault.open(elsewhere, &sealed), Err(VaultError::Tampered));
        }
    }

    #[test]
    fn ciphertext_hides_text_and_is_unique() {
        let (vault, random) = (Vault::new(b"key"), random());
        let (one, other) = (
            vault.seal(&random, HERE, "whsec_open"),
            vault.seal(&random, HERE, "whsec_open"),
        );
        assert_ne!(one, other);
        assert!(!one.windows(4).any(|bytes| bytes == b"open"));
    }

    #[test]
    fn changing_any_byte_prevents_opening() {
        let vault = Vault::new(b"key");
        let sealed = vault.seal(&random(), HERE, "whsec_open");
        for location in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[location] ^= 1;
            assert!(vault.open(HERE, &changed).is_err(), "byte {location}");
        }
        assert_eq!(vault.open(HERE, &sealed[..HEADER_BYTES - 1]), Err(VaultError::Tampered));
        assert_eq!(vault.open(HERE, &[]), Err(VaultError::Tampered));
    }

    #[test]
    fn previous_key_is_needed_for_its_values() {
        let sealed = Vault::new(b"old").seal(&random(), HERE, "x");
        assert_eq!(Vault::new(b"new").open(HERE, &sealed), Err(VaultError::UnknownKey));
        let both = Vault::new(b"new").with_previous_key(b"old");
        assert_eq!(both.open(HERE, &sealed).as_deref(), Ok("x"));
        let newer = both.seal(&random(), HERE, "y");
        assert_eq!(Vault::new(b"new").open(HERE, &newer).as_deref(), Ok("y"));
    }

    #[test]
    fn derived_keys_differ_by_purpose_and_are_stable() {
        let vault = Vault::new(b"key");
        assert_eq!(vault.derive("links"), Vault::new(b"key").derive("links"));
        assert_ne!(vault.derive("links"), vault.derive("codes"));
        assert_ne!(vault.derive("links"), Vault::new(b"other").derive("links"));
    }

    #[test]
    fn debug_output_omits_keys() {
        assert_eq!(format!("{:?}", Vault::new(b"key")), "Vault");
    }
}

//! The vault: what must not be read by whoever gets hold of the database is sealed before it is written.
//!
//! Sealed is with XChaCha20-Poly1305 and a random nonce. The place where a secret lies (table, column, row) is
//! authenticated with it, so that a sealed secret that somebody moves to another row does not open there. In front of
//! each stand the seal's form and the id of its key, so that there can be several keys: what is new is sealed with the
//! first of them, what is there opens with whichever it was sealed with.
//!
//! Keys are made of `auth.secret_key`, or of a file that the program makes for itself. The vault does not know where its
//! keys come from, nor does it ever print them.

use std::fmt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use uuid::Uuid;

use crate::Chance;

/// The form of a seal: its first byte.
const FORM: u8 = 1;
const ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
/// What comes before the sealed text.
const HEAD_BYTES: usize = 1 + ID_BYTES + NONCE_BYTES;

/// Where a secret lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row.
    pub row: Uuid,
}

impl Place {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        for part in [self.table.as_bytes(), self.column.as_bytes(), self.row.as_bytes()] {
            bytes.extend_from_slice(part);
            // Neither a table nor a column has this byte in its name.
            bytes.push(0);
        }
        bytes
    }
}

/// Why something does not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VaultError {
    /// It was sealed with a key that is not there.
    #[error(
        "a secret in the database was sealed with another key; start with the auth.secret_key, or the key file, that it \
         was sealed with"
    )]
    OtherKey,
    /// It is not what was sealed, or not where it was sealed for.
    #[error("a secret in the database was tampered with, or moved from another row")]
    Broken,
}

/// Seals and opens.
pub struct Vault {
    first: Key,
    others: Vec<Key>,
    /// What keys for other purposes are made of.
    root: [u8; 32],
}

struct Key {
    id: [u8; ID_BYTES],
    cipher: XChaCha20Poly1305,
}

impl Key {
    fn of(material: &[u8]) -> Self {
        let key = derived(material, b"bellwether: secrets at rest");
        let id = derived(material, b"bellwether: name of the key of secrets at rest");
        let mut short = [0; ID_BYTES];
        short.copy_from_slice(&id[..ID_BYTES]);
        Self {
            id: short,
            cipher: XChaCha20Poly1305::new(&key.into()),
        }
    }
}

/// 32 bytes made of a secret for one purpose, as the first block of HKDF's expansion has it.
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
    /// A vault with a key made of a secret, which has to be hard to guess.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self {
            first: Key::of(secret),
            others: Vec::new(),
            root: derived(secret, b"bellwether: root of derived keys"),
        }
    }

    /// A key for another purpose than sealing, always the same one: to sign links with, or to hash short codes under. What
    /// it was used for is void once the vault has another secret.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        derived(&self.root, purpose.as_bytes())
    }

    /// The same vault, that opens what was sealed with another secret, too.
    #[must_use]
    pub fn with_former(mut self, secret: &[u8]) -> Self {
        self.others.push(Key::of(secret));
        self
    }

    /// Seals a text for its place.
    #[must_use]
    pub fn seal(&self, chance: &Chance, place: Place, text: &str) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = chance.bytes();
        let place = place.bytes();
        let payload = Payload {
            msg: text.as_bytes(),
            aad: &place,
        };
        // It fails for texts of hundreds of gigabytes only.
        let sealed = self.first.cipher.encrypt(&XNonce::from(nonce), payload);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + text.len() + 16);
        bytes.push(FORM);
        bytes.extend_from_slice(&self.first.id);
        bytes.extend_from_slice(&nonce);
        bytes.extend(sealed.unwrap_or_default());
        bytes
    }

    /// Opens what was sealed for that place.
    ///
    /// # Errors
    /// [`VaultError`]
    pub fn open(&self, place: Place, sealed: &[u8]) -> Result<String, VaultError> {
        let (head, text) = sealed.split_at_checked(HEAD_BYTES).ok_or(VaultError::Broken)?;
        let (id, nonce) = head[1..].split_at(ID_BYTES);
        if head[0] != FORM {
            return Err(VaultError::Broken);
        }
        let mut keys = std::iter::once(&self.first).chain(&self.others);
        let key = keys.find(|key| key.id == id).ok_or(VaultError::OtherKey)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| VaultError::Broken)?;
        let place = place.bytes();
        let payload = Payload { msg: text, aad: &place };
        let opened = key.cipher.decrypt(&XNonce::from(nonce), payload);
        String::from_utf8(opened.map_err(|_| VaultError::Broken)?).map_err(|_| VaultError::Broken)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn chance() -> Chance {
        Chance::new(Box::new(ChaCha20Rng::seed_from_u64(1)))
    }

    const HERE: Place = Place {
        table: "webhooks",
        column: "secret",
        row: Uuid::from_u128(1),
    };

    #[test]
    fn what_is_sealed_opens_in_its_place_and_nowhere_else() {
        let vault = Vault::new(b"a key of sixteen bytes or more");
        let sealed = vault.seal(&chance(), HERE, "whsec_open");
        assert_eq!(vault.open(HERE, &sealed).as_deref(), Ok("whsec_open"));
        for elsewhere in [
            Place {
                table: "accounts",
                ..HERE
            },
            Place {
                column: "previous_secret",
                ..HERE
            },
            Place {
                row: Uuid::from_u128(2),
                ..HERE
            },
        ] {
            assert_eq!(vault.open(elsewhere, &sealed), Err(VaultError::Broken));
        }
    }

    #[test]
    fn nothing_of_the_text_can_be_read_and_no_two_seals_are_alike() {
        let (vault, chance) = (Vault::new(b"key"), chance());
        let (one, other) = (
            vault.seal(&chance, HERE, "whsec_open"),
            vault.seal(&chance, HERE, "whsec_open"),
        );
        assert_ne!(one, other);
        assert!(!one.windows(4).any(|bytes| bytes == b"open"));
    }

    #[test]
    fn a_changed_byte_anywhere_breaks_the_seal() {
        let vault = Vault::new(b"key");
        let sealed = vault.seal(&chance(), HERE, "whsec_open");
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(vault.open(HERE, &changed).is_err(), "byte {place}");
        }
        assert_eq!(vault.open(HERE, &sealed[..HEAD_BYTES - 1]), Err(VaultError::Broken));
        assert_eq!(vault.open(HERE, &[]), Err(VaultError::Broken));
    }

    #[test]
    fn a_new_key_opens_what_the_former_one_sealed_only_if_it_is_given() {
        let sealed = Vault::new(b"old").seal(&chance(), HERE, "x");
        assert_eq!(Vault::new(b"new").open(HERE, &sealed), Err(VaultError::OtherKey));
        let both = Vault::new(b"new").with_former(b"old");
        assert_eq!(both.open(HERE, &sealed).as_deref(), Ok("x"));
        let newer = both.seal(&chance(), HERE, "y");
        assert_eq!(Vault::new(b"new").open(HERE, &newer).as_deref(), Ok("y"));
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own_and_keeps_it() {
        let vault = Vault::new(b"key");
        assert_eq!(vault.derive("links"), Vault::new(b"key").derive("links"));
        assert_ne!(vault.derive("links"), vault.derive("codes"));
        assert_ne!(vault.derive("links"), Vault::new(b"other").derive("links"));
    }

    #[test]
    fn a_vault_prints_nothing_of_its_keys() {
        assert_eq!(format!("{:?}", Vault::new(b"key")), "Vault");
    }
}

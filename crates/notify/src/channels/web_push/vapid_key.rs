//! The key pair that identifies this service at push services (RFC 8292).

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::encrypt::private_key;
use crate::channels::{ChannelSecret, RandomBytes};

/// Length of a private key, in bytes.
const PRIVATE_KEY_BYTES: usize = 32;

/// A text that is no private key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "must be a P-256 private key: 32 bytes in base64url without padding, as `npx web-push generate-vapid-keys` prints it; \"\" generates one"
)]
pub struct VapidKeyError;

/// The key pair that signs push messages. Browsers subscribe with the public key; with another one they must subscribe again.
#[derive(Clone)]
pub struct VapidKey {
    pair: Arc<EcdsaKeyPair>,
    private_key: ChannelSecret,
}

impl fmt::Debug for VapidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VapidKey")
            .field("public_key", &self.public_key())
            .finish_non_exhaustive()
    }
}

impl VapidKey {
    /// Reads a private key from base64url without padding.
    ///
    /// # Errors
    /// [`VapidKeyError`]
    pub fn from_base64url(text: &str) -> Result<Self, VapidKeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| VapidKeyError)?;
        if bytes.len() != PRIVATE_KEY_BYTES {
            return Err(VapidKeyError);
        }
        let key = PrivateKey::from_private_key(&ECDH_P256, &bytes).map_err(|_| VapidKeyError)?;
        Self::of(&key, &bytes).map_err(|_| VapidKeyError)
    }

    /// Generates a key pair.
    ///
    /// # Errors
    /// [`VapidKeyError`] if the random numbers are no key.
    pub fn generate(random: &RandomBytes) -> Result<Self, VapidKeyError> {
        let key = private_key(random).map_err(|_| VapidKeyError)?;
        let bytes = AsBigEndian::<EcPrivateKeyBin<'static>>::as_be_bytes(&key).map_err(|_| VapidKeyError)?;
        Self::of(&key, bytes.as_ref()).map_err(|_| VapidKeyError)
    }

    fn of(key: &PrivateKey, bytes: &[u8]) -> Result<Self, Unspecified> {
        let public_key = key.compute_public_key()?;
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_private_key_and_public_key(algorithm, bytes, public_key.as_ref());
        Ok(Self {
            pair: Arc::new(pair.map_err(|_| Unspecified)?),
            private_key: ChannelSecret::new(URL_SAFE_NO_PAD.encode(bytes)),
        })
    }

    /// Returns the private key in base64url, as it is stored.
    #[must_use]
    pub fn private_key(&self) -> &ChannelSecret {
        &self.private_key
    }

    /// Returns the public key in base64url, as browsers subscribe with it: an uncompressed point of P-256.
    #[must_use]
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    /// Signs a text with ES256 (RFC 7518, section 3.4). The library chooses the random number of the signature.
    pub(super) fn sign(&self, text: &str) -> Result<Vec<u8>, Unspecified> {
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes())?;
        Ok(signature.as_ref().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_key_is_that_of_the_private_key() {
        // The key pair of the sender in RFC 8291, appendix A.
        let key = VapidKey::from_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw").unwrap();
        let public = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
        assert_eq!(key.public_key(), public);
        assert!(!format!("{key:?}").contains(key.private_key().expose()));
    }

    #[test]
    fn generated_key_is_read_again() {
        let random: RandomBytes = Box::new(|| [7; 32]);
        let key = VapidKey::generate(&random).unwrap();
        let read = VapidKey::from_base64url(key.private_key().expose()).unwrap();
        assert_eq!(read.public_key(), key.public_key());
    }

    #[test]
    fn text_that_is_no_private_key_is_refused() {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        for text in [
            String::new(),
            "key".to_owned(),
            encode(&[7; 31]),
            encode(&[7; 33]),
            encode(&[0; 32]),
            encode(&[255; 32]),
            format!("{}=", encode(&[7; 32])),
        ] {
            assert_eq!(VapidKey::from_base64url(&text).err(), Some(VapidKeyError), "{text}");
        }
    }
}

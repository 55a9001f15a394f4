//! Signing secrets. Their `Debug` output does not contain the secret.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use subtle::ConstantTimeEq;

/// The prefix of generated secrets, defined by Standard Webhooks.
const PREFIX: &str = "whsec_";
/// Maximum length of a secret in bytes.
const MAX_SECRET_BYTES: usize = 512;
/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A secret that signs the deliveries of a webhook.
#[derive(Clone)]
pub struct SigningSecret(Box<str>);

/// The text cannot be used as a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be a text of 1 to {MAX_SECRET_BYTES} bytes; leave it out to generate one")]
pub struct SigningSecretError;

impl SigningSecret {
    /// Creates a secret from random bytes: `whsec_` and their base64.
    #[must_use]
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", general_purpose::STANDARD.encode(bytes)).into())
    }

    /// Creates a secret from the text that a user has chosen, unchanged.
    ///
    /// # Errors
    /// [`SigningSecretError`] if it is empty or too long.
    pub fn from_user(text: &str) -> Result<Self, SigningSecretError> {
        let is_valid = !text.is_empty() && text.len() <= MAX_SECRET_BYTES;
        if is_valid {
            Ok(Self(text.into()))
        } else {
            Err(SigningSecretError)
        }
    }

    /// Returns the secret text, to store it encrypted or to show it once to its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the key of service signatures: the whole text.
    pub(super) fn whole(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the key of Standard Webhooks signatures: the decoded bytes after `whsec_`, or else the bytes of the text.
    pub(super) fn decoded(&self) -> Vec<u8> {
        let encoded = self.0.strip_prefix(PREFIX);
        let decoded = encoded.and_then(|text| BASE64.decode(text).ok());
        let decoded = decoded.filter(|bytes| !bytes.is_empty());
        decoded.unwrap_or_else(|| self.whole().to_vec())
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret")
    }
}

impl PartialEq for SigningSecret {
    fn eq(&self, other: &Self) -> bool {
        self.whole().ct_eq(other.whole()).into()
    }
}

impl Eq for SigningSecret {}

/// Maximum number of secrets that sign a delivery: the current one and those that were replaced last.
pub const MAX_SIGNING_SECRETS: usize = 5;

/// The secret of a webhook, and after rotations the former secrets until they expire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SigningSecrets {
    /// The current secret, which signs everything.
    pub current: SigningSecret,
    /// Former secrets, which also sign with Standard Webhooks; the newest first.
    pub former: Vec<SigningSecret>,
}

impl From<SigningSecret> for SigningSecrets {
    fn from(current: SigningSecret) -> Self {
        Self {
            current,
            former: Vec::new(),
        }
    }
}

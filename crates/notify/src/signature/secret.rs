//! Secrets, which do not print.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use subtle::ConstantTimeEq;

/// What secrets that this service makes begin with, as Standard Webhooks has it.
const PREFIX: &str = "whsec_";
/// A secret may be so long, in bytes.
const MAX_LENGTH: usize = 512;
/// Padding or none, as one finds it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a webhook's deliveries are signed with.
#[derive(Clone)]
pub struct Secret(Box<str>);

/// Why a text cannot be a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be a text of 1 to {MAX_LENGTH} bytes; left out, one is made")]
pub struct BadSecret;

impl Secret {
    /// A secret of random bytes: `whsec_` and their base64.
    #[must_use]
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", general_purpose::STANDARD.encode(bytes)).into())
    }

    /// A secret that a user has chosen. It is used as it is.
    ///
    /// # Errors
    /// [`BadSecret`], if it is empty or very long.
    pub fn from_user(text: &str) -> Result<Self, BadSecret> {
        let fits = !text.is_empty() && text.len() <= MAX_LENGTH;
        if fits { Ok(Self(text.into())) } else { Err(BadSecret) }
    }

    /// The secret itself, to be kept encrypted or shown once to its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The key of the service's own signatures: the whole text.
    pub(super) fn whole(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The key of Standard Webhooks: the bytes behind `whsec_`, or else the text's own.
    pub(super) fn decoded(&self) -> Vec<u8> {
        let encoded = self.0.strip_prefix(PREFIX);
        let decoded = encoded.and_then(|text| BASE64.decode(text).ok());
        let decoded = decoded.filter(|bytes| !bytes.is_empty());
        decoded.unwrap_or_else(|| self.whole().to_vec())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.whole().ct_eq(other.whole()).into()
    }
}

impl Eq for Secret {}

/// Secrets that sign a delivery at a time, at most: the current one and those that were replaced last.
pub const MAX_SIGNING_SECRETS: usize = 5;

/// A webhook's secret, and after rotations the former ones for as long as they are good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secrets {
    /// What everything is signed with.
    pub current: Secret,
    /// The secrets that sign Standard Webhooks as well, the newest first.
    pub former: Vec<Secret>,
}

impl From<Secret> for Secrets {
    fn from(current: Secret) -> Self {
        Self {
            current,
            former: Vec::new(),
        }
    }
}

//! The code that links a Telegram chat to a channel: its owner sends `/start CODE` to the bot.

use std::fmt;

use foundation::{Random, secret};
use jiff::{SignedDuration, Timestamp};
use store::model::ChannelLink;

/// Purpose of the codes.
const CODE_PURPOSE: &str = "telegram_link";
/// Lifetime of a code.
const CODE_LIFETIME: SignedDuration = SignedDuration::from_mins(15);
/// Number of characters of a code. Each has 5 random bits.
const CODE_LENGTH: usize = 16;
/// The characters of codes: without 0, 1, I and O, which are easily confused.
const CODE_CHARACTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// A code that links a chat, available only when it is created.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkCode {
    /// The code.
    pub code: String,
    /// Time from which it is invalid.
    pub expires_at: Timestamp,
}

impl fmt::Debug for LinkCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkCode")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl LinkCode {
    /// Generates a code.
    pub(super) fn new(random: &Random, now: Timestamp) -> Self {
        let bytes: [u8; CODE_LENGTH] = random.bytes();
        let characters = bytes.map(|byte| char::from(CODE_CHARACTERS[usize::from(byte % 32)]));
        Self {
            code: characters.iter().collect(),
            expires_at: now.saturating_add(CODE_LIFETIME).unwrap_or(Timestamp::MAX),
        }
    }

    /// Returns the stored form.
    pub(super) fn stored(&self) -> ChannelLink {
        ChannelLink {
            hash: code_hash(&self.code),
            expires_at: self.expires_at,
        }
    }
}

/// Hashes a code, in upper or lower case.
pub(super) fn code_hash(code: &str) -> [u8; 32] {
    secret::hash(CODE_PURPOSE, "", &code.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn code_has_16_characters_and_expires_after_15_minutes() {
        let random = Random::new(Box::new(ChaCha20Rng::seed_from_u64(1)));
        let now: Timestamp = "2026-03-02T15:04:00Z".parse().unwrap();
        let (one, other) = (LinkCode::new(&random, now), LinkCode::new(&random, now));
        assert_ne!(one.code, other.code);
        assert!(one.code.len() == 16 && one.code.bytes().all(|byte| CODE_CHARACTERS.contains(&byte)));
        assert_eq!(one.expires_at.to_string(), "2026-03-02T15:19:00Z");
        assert_eq!(code_hash(&one.code.to_lowercase()), one.stored().hash);
        assert!(!format!("{one:?}").contains(&one.code));
    }
}

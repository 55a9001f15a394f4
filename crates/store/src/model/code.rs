//! One-time codes that prove that a message reached its recipient.

use jiff::Timestamp;

use super::AccountId;

/// A code to be sent. Only its hash, which includes the purpose, is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCode {
    /// Purpose, as one word.
    pub purpose: &'static str,
    /// The account that it concerns. A code without an account is useless, unless it belongs to a guest. Such codes
    /// cost the same work for unknown addresses as for known ones, and are counted.
    pub account: Option<AccountId>,
    /// Subject: an address, a number or an alert id.
    pub subject: String,
    /// Further data.
    pub payload: Option<String>,
    /// SHA-256 of code, purpose and subject. For short codes an HMAC.
    pub hash: [u8; 32],
    /// Creation time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
}

/// A code that was used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedCode {
    /// The account that it concerns.
    pub account: Option<AccountId>,
    /// Subject: an address, a number or an alert id.
    pub subject: String,
    /// Further data.
    pub payload: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
}

/// The state of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeState {
    /// The code can be used.
    Valid,
    /// The code was used or revoked.
    Used,
    /// The code has expired.
    Expired,
}

/// The result of a guess at a short code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeCheck {
    /// The guess was correct, and the code is used now.
    Correct,
    /// The guess was wrong. Contains the number of remaining guesses.
    Wrong(u64),
    /// No code can be guessed: none was sent, or it was used, has expired, or had too many wrong guesses.
    NoActiveCode,
}

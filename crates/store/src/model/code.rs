//! Codes: what is sent to somebody so that they show that it reached them.

use jiff::Timestamp;

use super::AccountId;

/// A code to be sent. The code itself is nowhere; only what it hashes to, together with what it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCode {
    /// What it is for, in a word.
    pub purpose: &'static str,
    /// Whose account it is about. Without one it is good for nothing, unless it is a guest's: it stands for the work that
    /// an unknown address has to cost, and is counted.
    pub account: Option<AccountId>,
    /// What it is about: an address, a number, an alert's id.
    pub subject: String,
    /// What it is about besides, if there is anything.
    pub payload: Option<String>,
    /// SHA-256 of the code with purpose and subject; of a short code an HMAC.
    pub hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

/// What a code that was shown is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedCode {
    /// Whose account.
    pub account: Option<AccountId>,
    /// The address, the number, the alert's id.
    pub subject: String,
    /// What it is about besides.
    pub payload: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What is known of a code, whether it is still good or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeState {
    /// It can be used.
    Good,
    /// It was used, or withdrawn.
    Used,
    /// Its time is over.
    Expired,
}

/// What became of a guess at a short code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guessed {
    /// It was right, and the code is used up now.
    Right,
    /// It was wrong; so many guesses are left.
    Wrong(u64),
    /// There is no code that could be guessed at: none was sent, it was used, its time is over, or too many guesses
    /// were wrong.
    Nothing,
}

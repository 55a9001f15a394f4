//! What people allow programs: clients, grants, and what is exchanged for what.

use jiff::Timestamp;
use uuid::Uuid;

use super::{Account, AccountId};

/// Which of the clients that have registered themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OAuthClientId(pub Uuid);

/// A program that has registered itself: what it says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisteredClient {
    /// Which one.
    pub id: OAuthClientId,
    /// What it calls itself.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// When it registered.
    pub created_at: Timestamp,
}

/// Which grant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GrantId(pub Uuid);

/// What an account's owner has allowed a program. All codes and tokens that came of it are good for nothing once it is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Which one.
    pub id: GrantId,
    /// Whose.
    pub account: AccountId,
    /// The program: a registered client's id, or the address of its metadata document.
    pub client_id: String,
    /// What the program calls itself.
    pub client_name: String,
    /// What it may do, by name.
    pub scopes: Vec<String>,
    /// When it was allowed.
    pub created_at: Timestamp,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it ends unless it is renewed before.
    pub expires_at: Timestamp,
    /// When it was ended.
    pub ended_at: Option<Timestamp>,
}

impl Grant {
    /// Whether it is good for anything at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

/// A code that a program exchanges for its first tokens. The code itself is nowhere, only what it hashes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantCode {
    /// What it hashes to.
    pub hash: [u8; 32],
    /// Where it was sent.
    pub redirect_uri: String,
    /// What the program has to know the origin of (PKCE, S256).
    pub challenge: String,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

/// A code that was shown, with its grant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownCode {
    /// The code.
    pub code: GrantCode,
    /// Whether it was used before.
    pub is_used: bool,
    /// What it was made with.
    pub grant: Grant,
}

/// Tokens that are about to be given out, as what they hash to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewTokens {
    /// The access token.
    pub access: [u8; 32],
    /// What it may be used for.
    pub scopes: Vec<String>,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
    /// The refresh token.
    pub refresh: [u8; 32],
}

/// An access token that was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownToken {
    /// What it may be used for.
    pub scopes: Vec<String>,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
    /// Its grant, whether that is over or not.
    pub grant: Grant,
    /// Whose it is.
    pub account: Account,
}

//! Accounts.

use alerts::Plan;
use jiff::Timestamp;
use uuid::Uuid;

/// Which account.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AccountId(pub Uuid);

/// An account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Which one.
    pub id: AccountId,
    /// Its address, in lower case; no two accounts have the same.
    pub email: String,
    /// The password as argon2 keeps it; `None` for an account that has none.
    pub password_hash: Option<String>,
    /// What its owner is called.
    pub full_name: Option<String>,
    /// What it pays for.
    pub plan: Plan,
    /// Whether its owner operates this service.
    pub is_operator: bool,
    /// Whether the address is known to be the owner's.
    pub is_verified: bool,
    /// The IANA name of the zone its owner's clocks show.
    pub time_zone: String,
    /// When it was made.
    pub created_at: Timestamp,
}

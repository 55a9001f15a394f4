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
    /// What its owner has said besides.
    pub profile: Profile,
}

/// What an account's owner can say about themselves and do to the account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Their telephone number, known to be theirs.
    pub phone: Option<Phone>,
    /// When they do not want to be disturbed.
    pub quiet_hours: Option<QuietHours>,
    /// Whether what agents want to change waits until its owner has said yes.
    pub agents_wait: bool,
    /// Whether they want to be told when alerts cannot be judged for want of fresh quotes.
    pub notify_blind: bool,
    /// Since when the account rests.
    pub deactivated_at: Option<Timestamp>,
    /// When it was deleted. Nothing in it tells any more whose it was.
    pub deleted_at: Option<Timestamp>,
}

/// A telephone number that was shown to be its owner's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phone {
    /// The number in the form of E.164: `+14155550123`.
    pub number: String,
    /// When they showed it.
    pub verified_at: Timestamp,
}

/// When somebody does not want to be disturbed, in minutes since midnight where they live. What begins later than it ends
/// goes over midnight; the two are never equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuietHours {
    /// The first minute.
    pub from: u16,
    /// The first minute after it.
    pub until: u16,
}

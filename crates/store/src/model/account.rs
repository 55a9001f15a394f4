//! Accounts.

use alerts::Plan;
use jiff::Timestamp;
use uuid::Uuid;

/// Account id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AccountId(pub Uuid);

/// An account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Unique id.
    pub id: AccountId,
    /// Email address in lower case, unique.
    pub email: String,
    /// Argon2 password hash. `None`: the account has no password.
    pub password_hash: Option<String>,
    /// Full name of the owner.
    pub full_name: Option<String>,
    /// Plan.
    pub plan: Plan,
    /// Whether the owner operates this service.
    pub is_operator: bool,
    /// Whether the email address is verified.
    pub is_verified: bool,
    /// IANA name of the owner's time zone.
    pub time_zone: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Further settings and states.
    pub profile: Profile,
}

/// Settings and states of an account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Verified telephone number.
    pub phone: Option<Phone>,
    /// Quiet hours.
    pub quiet_hours: Option<QuietHours>,
    /// End of the owner's absence. Until then messages about alerts are kept.
    pub away_until: Option<Timestamp>,
    /// Whether changes proposed by agents wait for the owner's approval.
    pub agents_wait: bool,
    /// Whether the owner wants blindness notices: alerts cannot be evaluated because quotes are stale.
    pub notify_blind: bool,
    /// Since when the account is deactivated.
    pub deactivated_at: Option<Timestamp>,
    /// Time of deletion. A deleted account contains no personal data.
    pub deleted_at: Option<Timestamp>,
}

/// A verified telephone number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phone {
    /// The number in E.164 format: `+14155550123`.
    pub number: String,
    /// Time of verification.
    pub verified_at: Timestamp,
}

/// Quiet hours in minutes since midnight, local time of the owner. If `from` is greater than `until`, they span
/// midnight. The two are never equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuietHours {
    /// First minute.
    pub from: u16,
    /// First minute after the end.
    pub until: u16,
}

//! What agents want to change, waiting for the account's owner.

use jiff::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::AccountId;

/// Which approval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApprovalId(pub Uuid);

/// How far an approval has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ApprovalStatus {
    /// Nobody has said anything yet.
    Pending,
    /// It was approved and is being done. A process that ended meanwhile has left it so.
    Begun,
    /// It was approved and done.
    Approved,
    /// It is not to be done.
    Denied,
}

impl ApprovalStatus {
    /// Every status there is.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::Begun, Self::Approved, Self::Denied];

    /// Its name in its column and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Begun => "begun",
            Self::Approved => "approved",
            Self::Denied => "denied",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.name() == name)
    }
}

/// What an agent wants to change.
#[derive(Clone, PartialEq, Debug)]
pub struct Approval {
    /// Which one.
    pub id: ApprovalId,
    /// Whose account it is about.
    pub account: AccountId,
    /// The tool that was called.
    pub tool: String,
    /// With what.
    pub arguments: Map<String, Value>,
    /// What it comes to, in a sentence.
    pub preview: String,
    /// Who asked.
    pub asked_by: String,
    /// How far it has come.
    pub status: ApprovalStatus,
    /// When it was asked.
    pub created_at: Timestamp,
    /// Until when it can be approved.
    pub expires_at: Timestamp,
    /// When it was approved and began to be done.
    pub begun_at: Option<Timestamp>,
    /// When it was done, or denied.
    pub decided_at: Option<Timestamp>,
}

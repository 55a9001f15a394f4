//! Stored alerts and how lists of them are filtered and sorted.

use alerts::{Alert, AlertId, AlertScope, ConditionKind, ManagedBy, Status, Tags};
use market::Symbol;

use super::AccountId;

/// The owner of an alert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AlertOwner {
    /// An account.
    Account(AccountId),
    /// A guest: a person without an account.
    Guest {
        /// The guest's email address.
        email: String,
    },
}

/// An alert with the data that the alert rules do not use.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredAlert {
    /// The alert.
    pub alert: Alert,
    /// Owner.
    pub owner: AlertOwner,
    /// Origin: the name of an API key, a session or the analyst.
    pub created_by: Option<String>,
    /// Its role in an alert over many stocks.
    pub role: ScopeRole,
    /// The source that manages it, and its name there. Members have none: their alert over many stocks has it.
    pub managed_by: Option<ManagedBy>,
}

/// The role of a stored alert in an alert over many stocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ScopeRole {
    /// An alert on one stock.
    #[default]
    Single,
    /// An alert over many stocks. It is never evaluated itself, and its symbol is that of its first member, which nobody sees.
    Scoped(AlertScope),
    /// One stock of the alert with this id, which is evaluated like a single alert. Its id is internal: its
    /// owner sees that of the alert over many stocks.
    Member(AlertId),
}

impl StoredAlert {
    /// Returns the id by which its owner knows the alert: that of the alert over many stocks, for a member.
    #[must_use]
    pub const fn shown_id(&self) -> AlertId {
        match self.role {
            ScopeRole::Member(parent) => parent,
            ScopeRole::Single | ScopeRole::Scoped(_) => self.alert.id,
        }
    }

    /// Returns the scope of an alert over many stocks.
    #[must_use]
    pub const fn scope(&self) -> Option<&AlertScope> {
        match &self.role {
            ScopeRole::Scoped(scope) => Some(scope),
            ScopeRole::Single | ScopeRole::Member(_) => None,
        }
    }
}

/// A filter for an account's alerts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertFilter {
    /// Only alerts in this status.
    pub status: Option<Status>,
    /// Only alerts with this condition.
    pub condition: Option<ConditionKind>,
    /// Only alerts on this stock.
    pub symbol: Option<Symbol>,
    /// Only alerts whose symbol or company name contains this text, ignoring case.
    pub search: Option<String>,
    /// Only alerts that have all these tags.
    pub tags: Tags,
    /// Only alerts that this source manages.
    pub source: Option<String>,
}

/// The field that a list of alerts is sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AlertSortField {
    /// Creation time.
    #[default]
    CreatedAt,
    /// Symbol.
    Symbol,
    /// Name of the condition.
    Condition,
    /// Name of the status.
    Status,
    /// Threshold. Alerts without one come last.
    Threshold,
    /// Time of the last firing. Alerts that never fired come last.
    TriggeredAt,
    /// Initial price. Alerts without one come last.
    InitialPrice,
}

/// The number of changes of what the lists of an account show of its alerts. Equal revisions of an account mean equal lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlertRevision(pub i64);

/// The number of changes of the alerts that a source manages, except those of their status. Equal revisions mean that they are as they
/// were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceRevision(pub i64);

/// The order of a list of alerts. Ties are sorted by creation, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AlertSort {
    /// Sort field.
    pub field: AlertSortField,
    /// Smallest first.
    pub ascending: bool,
}

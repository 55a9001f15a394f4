//! Alerts as they are kept and asked for.

use alerts::{Alert, ConditionKind, Status};
use market::Symbol;

use super::AccountId;

/// Who made an alert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// An account.
    Account(AccountId),
    /// Somebody without one.
    Guest {
        /// Where to tell them.
        email: String,
    },
}

/// An alert with what the rules do not look at.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredAlert {
    /// The alert.
    pub alert: Alert,
    /// Whose.
    pub owner: Owner,
    /// What made it: the name of an API key, a session, the analyst.
    pub created_by: Option<String>,
}

/// Which alerts of an account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertFilter {
    /// Only those of this status.
    pub status: Option<Status>,
    /// Only those of this condition.
    pub condition: Option<ConditionKind>,
    /// Only those of this stock.
    pub symbol: Option<Symbol>,
    /// Only those whose symbol or company name has this text in it, in any case.
    pub search: Option<String>,
}

/// By what a list of alerts is sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AlertSortField {
    /// When they were made.
    #[default]
    CreatedAt,
    /// By symbol.
    Symbol,
    /// By the condition's name.
    Condition,
    /// By the status's name.
    Status,
    /// By threshold; those without one come last.
    Threshold,
    /// When they last fired; those that never did come last.
    TriggeredAt,
    /// By initial price; those without one come last.
    InitialPrice,
}

/// In which order a list of alerts comes. Ties are in the order of creation, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlertSort {
    /// By what.
    pub field: AlertSortField,
    /// Smallest first.
    pub ascending: bool,
}

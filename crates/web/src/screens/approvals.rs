//! The approvals screen: changes that agents want to make in an account.

use askama::Template;
use jiff::Timestamp;

use crate::filters;
use crate::layout::Shell;
use crate::screens::builder::RuleCheck;

/// A change that waits for the owner's decision.
#[derive(Clone, PartialEq, Debug)]
pub struct PendingApproval {
    /// The id.
    pub id: String,
    /// The change in words.
    pub preview: String,
    /// The alert that it changes, as it is now.
    pub before: Option<String>,
    /// The meaning of the requested alert: its sentence, preview and chart.
    pub check: Option<RuleCheck>,
    /// The client that requested it.
    pub asked_by: String,
    /// The time of the request.
    pub created_at: Timestamp,
}

/// The approvals screen.
#[derive(Template, Debug)]
#[template(path = "approvals.html")]
pub struct ApprovalsPage {
    /// The frame.
    pub shell: Shell,
    /// The pending changes.
    pub pending: Vec<PendingApproval>,
}

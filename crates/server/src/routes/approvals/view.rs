//! Approvals as JSON.

use serde::Serialize;
use serde_json::{Map, Value};
use service::Service;
use service::alerts::Created;
use service::approvals::{Approval, Changed};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::names::ApprovalStatusName;
use crate::routes::alerts::activate::ActivatedAlert;
use crate::routes::alerts::delete::DeletedAlert;
use crate::routes::alerts::pause::PausedAlert;
use crate::routes::alerts::view::{Alert, MadeByView};
use crate::routes::watchlist::delete::DeletedWatchlistItem;
use crate::routes::watchlist::view::WatchlistItem;
use crate::values::timestamp;

/// What an agent wants to change.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalView {
    /// Which approval.
    pub id: Uuid,
    /// How far it has come: waiting, being done, done, or not to be done.
    #[schema(value_type = ApprovalStatusName)]
    pub status: &'static str,
    /// The tool that the agent called.
    #[schema(example = "create_alert")]
    pub tool: String,
    /// With what.
    #[schema(value_type = Object)]
    pub arguments: Map<String, Value>,
    /// What it comes to, in a sentence.
    #[schema(example = "Make an alert: AAPL price_above 200, told by email")]
    pub preview: String,
    /// Who asked.
    pub asked_by: MadeByView,
    /// When.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Until when it can be approved.
    #[schema(format = DateTime, example = "2026-03-09T15:04:00.000Z")]
    pub expires_at: String,
    /// When it was done, or denied.
    #[schema(required, format = DateTime, example = "2026-03-02T15:10:00.000Z")]
    pub decided_at: Option<String>,
}

impl ApprovalView {
    /// As the service shows it.
    #[must_use]
    pub fn of(approval: Approval) -> Self {
        Self {
            id: approval.id.0,
            status: approval.status.name(),
            tool: approval.tool,
            arguments: approval.arguments,
            preview: approval.preview,
            asked_by: MadeByView::of(&approval.asked_by),
            created_at: timestamp(approval.created_at),
            expires_at: timestamp(approval.expires_at),
            decided_at: approval.decided_at.map(timestamp),
        }
    }
}

/// What a tool answers that has changed nothing yet.
#[derive(Debug, Serialize, ToSchema)]
pub struct WaitingChange {
    /// Always `true`.
    pub waits_for_approval: bool,
    /// What waits.
    pub approval: ApprovalView,
    /// Where the account's owner approves it.
    #[schema(format = "uri", example = "https://alerts.example.com/approvals")]
    pub approve_at: String,
    /// What the agent should say.
    pub message: String,
}

impl WaitingChange {
    /// Of what waits.
    #[must_use]
    pub fn of(approval: Approval, service: &Service) -> Self {
        let approve_at = service.approvals.approvals_url();
        let message = format!(
            "Nothing has been changed yet: the account's owner wants to approve what agents change. Ask them to look at \
             {approve_at}; once they have approved, it is done, and need not be asked again."
        );
        Self {
            waits_for_approval: true,
            approval: ApprovalView::of(approval),
            approve_at,
            message,
        }
    }
}

/// What a change came to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ChangeMade {
    /// The alert as it is now.
    Alert(Box<Alert>),
    /// The alert that is put aside.
    Paused(PausedAlert),
    /// The alert that is active again.
    Resumed(ActivatedAlert),
    /// The alert that is gone.
    AlertDeleted(DeletedAlert),
    /// The item of the watchlist.
    Item(Box<WatchlistItem>),
    /// The item that is gone.
    ItemDeleted(DeletedWatchlistItem),
}

impl ChangeMade {
    /// As the service shows it: what REST answers for the same.
    #[must_use]
    pub fn of(changed: Changed) -> Self {
        match changed {
            Changed::Created(Created::New(alert) | Created::Existing(alert)) | Changed::Updated(alert) => {
                Self::Alert(Box::new(Alert::of(*alert)))
            }
            Changed::Paused(alert) => Self::Paused(PausedAlert::of(&alert)),
            Changed::Resumed(alert) => Self::Resumed(ActivatedAlert::of(&alert)),
            Changed::AlertDeleted(id) => Self::AlertDeleted(DeletedAlert::of(id)),
            Changed::Item(item) => Self::Item(Box::new(WatchlistItem::of(*item))),
            Changed::ItemDeleted(_) => Self::ItemDeleted(DeletedWatchlistItem::DELETED),
        }
    }
}

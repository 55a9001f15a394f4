//! Approvals in responses.

use serde_json::{Map, Value};
use service::Service;
use service::alerts::Created;
use service::approvals::{Approval, CompletedChange};

use crate::document::names::ApprovalStatusName;
use crate::routes::alerts::activate::ActivatedAlert;
use crate::routes::alerts::delete::DeletedAlert;
use crate::routes::alerts::pause::PausedAlert;
use crate::routes::alerts::view::{AlertView, CreatorView};
use crate::routes::prelude::*;
use crate::routes::watchlist::delete::DeletedWatchlistItem;
use crate::routes::watchlist::view::WatchlistItemView;

/// A change requested by an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalView {
    /// Approval id.
    pub id: Uuid,
    /// Status: pending, in progress, done or denied.
    #[schema(value_type = ApprovalStatusName)]
    pub status: &'static str,
    /// Name of the tool that the agent called.
    #[schema(example = "create_alert")]
    pub tool: String,
    /// Arguments of the tool call.
    #[schema(value_type = Object)]
    pub arguments: Map<String, Value>,
    /// Description of the change in one sentence.
    #[schema(example = "Make an alert: AAPL price_above 200, notified by email")]
    pub preview: String,
    /// The agent that requested the change.
    pub asked_by: CreatorView,
    /// Time of the request.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub created_at: String,
    /// Time until which the change can be approved.
    #[schema(format = DateTime, example = "2026-03-09T15:04:00.000Z")]
    pub expires_at: String,
    /// Time of the decision.
    #[schema(required, format = DateTime, example = "2026-03-02T15:10:00.000Z")]
    pub decided_at: Option<String>,
}

impl ApprovalView {
    pub(crate) fn of(approval: Approval) -> Self {
        Self {
            id: approval.id.0,
            status: approval.status.name(),
            tool: approval.tool,
            arguments: approval.arguments,
            preview: approval.preview,
            asked_by: CreatorView::of(&approval.asked_by),
            created_at: timestamp(approval.created_at),
            expires_at: timestamp(approval.expires_at),
            decided_at: approval.decided_at.map(timestamp),
        }
    }
}

/// Tool result for a change that waits for approval.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WaitingChange)]
pub struct PendingApprovalResponse {
    /// Always `true`.
    pub waits_for_approval: bool,
    /// The pending approval.
    pub approval: ApprovalView,
    /// URL of the page where the account's owner decides.
    #[schema(format = "uri", example = "https://alerts.example.com/approvals")]
    pub approve_at: String,
    /// Message for the agent to relay.
    pub message: String,
}

impl PendingApprovalResponse {
    pub(crate) fn of(approval: Approval, service: &Service) -> Self {
        let approve_at = service.approvals.approvals_url();
        let message = format!(
            "Nothing has been changed yet: the account's owner must approve changes by agents. Ask the owner to open {approve_at}; \
             the change is made as soon as it is approved, and the request need not be repeated."
        );
        Self {
            waits_for_approval: true,
            approval: ApprovalView::of(approval),
            approve_at,
            message,
        }
    }
}

/// Result of an approved change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ChangeMade)]
pub enum AppliedChange {
    /// The created or updated alert.
    Alert(Box<AlertView>),
    /// The paused alert.
    Paused(PausedAlert),
    /// The resumed alert.
    Resumed(ActivatedAlert),
    /// The deleted alert.
    AlertDeleted(DeletedAlert),
    /// The watchlist item.
    Item(Box<WatchlistItemView>),
    /// The deleted watchlist item.
    ItemDeleted(DeletedWatchlistItem),
}

impl AppliedChange {
    /// Creates the same response as the REST endpoint for this change.
    pub(crate) fn of(changed: CompletedChange) -> Self {
        match changed {
            CompletedChange::Created(Created::New(alert) | Created::Existing(alert))
            | CompletedChange::Updated(alert) => Self::Alert(Box::new(AlertView::of(*alert))),
            CompletedChange::Paused(alert) => Self::Paused(PausedAlert::of(&alert)),
            CompletedChange::Resumed(alert) => Self::Resumed(ActivatedAlert::of(&alert)),
            CompletedChange::AlertDeleted(id) => Self::AlertDeleted(DeletedAlert::of(id)),
            CompletedChange::Item(item) => Self::Item(Box::new(WatchlistItemView::of(*item))),
            CompletedChange::ItemDeleted(_) => Self::ItemDeleted(DeletedWatchlistItem::DELETED),
        }
    }
}

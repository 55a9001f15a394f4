//! Stores changes that need approval.

use store::Abort;
use store::model::{Approval, ApprovalId, ApprovalStatus};

use super::{APPROVAL_LIFETIME, AgentChange, MAX_PENDING_APPROVALS};
use crate::approvals::Approvals;
use foundation::MadeBy;
use foundation::account::lock_active_account;
use foundation::{Actor, ServiceError};

impl Approvals {
    /// Stores a change for approval. An identical pending change of the same agent is returned instead.
    pub(super) async fn request_approval(&self, actor: &Actor, change: &AgentChange) -> Result<Approval, ServiceError> {
        let preview = self.preview(actor, change).await?;
        let now = self.ports.clock.now();
        let approval = Approval {
            id: ApprovalId(self.ports.random.uuid()),
            account: actor.account,
            tool: change.tool().to_owned(),
            arguments: change.arguments(),
            preview,
            asked_by: MadeBy::of(actor).to_text(),
            status: ApprovalStatus::Pending,
            created_at: now,
            expires_at: now.saturating_add(APPROVAL_LIFETIME).unwrap_or(jiff::Timestamp::MAX),
            begun_at: None,
            decided_at: None,
        };
        let transaction = self.ports.transaction(approval, |approval, unit| {
            Box::pin(async move {
                lock_active_account(unit, approval.account).await?;
                let pending = unit.pending_approvals(approval.account, approval.created_at).await?;
                let is_same = |other: &&Approval| {
                    (&other.tool, &other.arguments, &other.asked_by)
                        == (&approval.tool, &approval.arguments, &approval.asked_by)
                };
                if let Some(same) = pending.iter().find(is_same) {
                    return Ok(same.clone());
                }
                if pending.len() >= MAX_PENDING_APPROVALS {
                    return Err(Abort::Refused(too_many_pending()));
                }
                unit.insert_approval(approval).await?;
                Ok(approval.clone())
            })
        });
        transaction.await
    }
}

fn too_many_pending() -> ServiceError {
    ServiceError::Forbidden {
        reason: "approvals",
        required: None,
        message: format!("{MAX_PENDING_APPROVALS} changes already wait for approval; approve or deny them first"),
    }
}

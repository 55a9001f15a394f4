//! Approval or denial by the account's owner.

use jiff::{SignedDuration, Timestamp};
use store::model::{Approval, ApprovalId, ApprovalStatus};
use store::{Abort, UnitOfWork};

use super::{AgentChange, CompletedChange};
use crate::approvals::Approvals;
use foundation::MadeBy;
use foundation::account::{lock_account, lock_active_account};
use foundation::{Actor, ServiceError};
use store::model::AccountId;

/// Time after which an unfinished change counts as abandoned.
const BEGUN_TIMEOUT: SignedDuration = SignedDuration::from_mins(1);

impl Approvals {
    /// Applies a pending change on behalf of the agent that requested it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] if it is decided or expired; and the errors of the change
    /// itself, after which it is pending again.
    pub async fn approve(&self, actor: &Actor, id: ApprovalId) -> Result<(Approval, CompletedChange), ServiceError> {
        let begun = self.advance(actor, id, ApprovalStatus::Begun).await?;
        let change = AgentChange::from_tool_call(&begun.tool, begun.arguments.clone());
        let change = change.ok_or_else(|| ServiceError::internal("an approval contains an unknown change"))?;
        match self
            .apply_change(actor, &change, &MadeBy::from_text(&begun.asked_by))
            .await
        {
            Ok(changed) => Ok((self.settle(begun, ApprovalStatus::Approved).await?, changed)),
            Err(refusal) => {
                self.settle(begun, ApprovalStatus::Pending).await?;
                Err(refusal)
            }
        }
    }

    /// Denies a pending change.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] if it is decided or expired.
    pub async fn deny(&self, actor: &Actor, id: ApprovalId) -> Result<Approval, ServiceError> {
        self.advance(actor, id, ApprovalStatus::Denied).await
    }

    async fn advance(&self, actor: &Actor, id: ApprovalId, status: ApprovalStatus) -> Result<Approval, ServiceError> {
        let work = AdvanceApproval {
            account: actor.account,
            id,
            status,
            now: self.ports.clock.now(),
        };
        self.ports
            .transaction(work, |work, unit| Box::pin(work.run(unit)))
            .await
    }

    /// Stores the result of a change.
    async fn settle(&self, begun: Approval, status: ApprovalStatus) -> Result<Approval, ServiceError> {
        let now = self.ports.clock.now();
        let inputs = (begun, status, now);
        let transaction = self.ports.transaction(inputs, |&(ref begun, status, now), unit| {
            Box::pin(async move {
                // If another process has taken it over, that process stores the result.
                unit.advance_approval(begun, status, now).await?;
                let found = unit.approval(begun.account, begun.id).await?;
                found.ok_or_else(|| Abort::Refused(ServiceError::NotFound("approval")))
            })
        });
        transaction.await
    }
}

struct AdvanceApproval {
    account: AccountId,
    id: ApprovalId,
    status: ApprovalStatus,
    now: Timestamp,
}

impl AdvanceApproval {
    fn refusal(&self, approval: &Approval) -> Option<ServiceError> {
        let was_left = approval
            .begun_at
            .is_some_and(|at| self.now.duration_since(at) >= BEGUN_TIMEOUT);
        let why = match approval.status {
            ApprovalStatus::Approved => "this change is already approved and applied",
            ApprovalStatus::Denied => "this change is already denied; let the agent request it again",
            ApprovalStatus::Begun if !was_left => "this change is being applied; check again in a minute",
            ApprovalStatus::Begun if self.status == ApprovalStatus::Denied => {
                "this change was approved before and may have been applied; check its result"
            }
            ApprovalStatus::Pending if self.now >= approval.expires_at => {
                "this request has expired; let the agent request the change again"
            }
            ApprovalStatus::Pending | ApprovalStatus::Begun => return None,
        };
        Some(ServiceError::Conflict(why.to_owned()))
    }

    async fn run(&self, unit: &mut UnitOfWork) -> Result<Approval, Abort<ServiceError>> {
        match self.status {
            ApprovalStatus::Denied => lock_account(unit, self.account).await?,
            _ => lock_active_account(unit, self.account).await?,
        };
        let missing = || Abort::Refused(ServiceError::NotFound("approval"));
        let approval = unit.approval(self.account, self.id).await?.ok_or_else(missing)?;
        if let Some(refusal) = self.refusal(&approval) {
            return Err(Abort::Refused(refusal));
        }
        // The account is locked, so no other process has changed it in the meantime.
        unit.advance_approval(&approval, self.status, self.now).await?;
        unit.approval(self.account, self.id).await?.ok_or_else(missing)
    }
}

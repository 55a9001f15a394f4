//! The owner decides.

use jiff::{SignedDuration, Timestamp};
use store::model::{Approval, ApprovalId, ApprovalStatus};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{AgentChange, Changed};
use crate::alerts::MadeBy;
use crate::approvals::Approvals;
use crate::identity::account::{awake, present};
use crate::{AccountId, Actor, ServiceError};

/// Whoever has begun with a change and is not done after this time is no more.
const BEGUN_FOR: SignedDuration = SignedDuration::from_mins(1);

impl Approvals {
    /// Makes a change that waits, in the name of who asked for it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] for one that is decided or whose time is over; and as the change
    /// itself: then it waits again.
    pub async fn approve(&self, actor: &Actor, id: ApprovalId) -> Result<(Approval, Changed), ServiceError> {
        let begun = self.advance(actor, id, ApprovalStatus::Begun).await?;
        let change = AgentChange::read(&begun.tool, begun.arguments.clone());
        let change = change.ok_or_else(|| ServiceError::internal("an approval is for no change there is"))?;
        match self
            .make_change(actor, &change, &MadeBy::from_text(&begun.asked_by))
            .await
        {
            Ok(changed) => Ok((self.settle(begun, ApprovalStatus::Approved).await?, changed)),
            Err(refusal) => {
                self.settle(begun, ApprovalStatus::Pending).await?;
                Err(refusal)
            }
        }
    }

    /// Has a change that waits never be made.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Conflict`] for one that is decided or whose time is over.
    pub async fn deny(&self, actor: &Actor, id: ApprovalId) -> Result<Approval, ServiceError> {
        self.advance(actor, id, ApprovalStatus::Denied).await
    }

    async fn advance(&self, actor: &Actor, id: ApprovalId, status: ApprovalStatus) -> Result<Approval, ServiceError> {
        let work = Advance {
            account: actor.account,
            id,
            status,
            now: self.ports.clock.now(),
        };
        Ok(self.ports.store.write(work).await?)
    }

    /// Writes down what came of a change that was begun.
    async fn settle(&self, begun: Approval, status: ApprovalStatus) -> Result<Approval, ServiceError> {
        let now = self.ports.clock.now();
        Ok(self.ports.store.write(Settle { begun, status, now }).await?)
    }
}

struct Advance {
    account: AccountId,
    id: ApprovalId,
    status: ApprovalStatus,
    now: Timestamp,
}

impl Advance {
    fn refusal(&self, approval: &Approval) -> Option<ServiceError> {
        let was_left = approval
            .begun_at
            .is_some_and(|at| self.now.duration_since(at) >= BEGUN_FOR);
        let why = match approval.status {
            ApprovalStatus::Approved => "this is approved and done already",
            ApprovalStatus::Denied => "this is denied already; have the agent ask again",
            ApprovalStatus::Begun if !was_left => "this is being done; look again in a minute",
            ApprovalStatus::Begun if self.status == ApprovalStatus::Denied => {
                "this was approved before, and may have been done; look whether it was"
            }
            ApprovalStatus::Pending if self.now >= approval.expires_at => {
                "this has waited for too long; have the agent ask again"
            }
            ApprovalStatus::Pending | ApprovalStatus::Begun => return None,
        };
        Some(ServiceError::Conflict(why.to_owned()))
    }
}

impl Transaction for Advance {
    type Output = Approval;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Approval, Abort<ServiceError>>> {
        Box::pin(async move {
            match self.status {
                ApprovalStatus::Denied => present(unit, self.account).await?,
                _ => awake(unit, self.account).await?,
            };
            let missing = || Abort::Refused(ServiceError::NotFound("approval"));
            let approval = unit.approval(self.account, self.id).await?.ok_or_else(missing)?;
            if let Some(refusal) = self.refusal(&approval) {
                return Err(Abort::Refused(refusal));
            }
            // The account is locked, so nobody else has taken it on meanwhile.
            unit.advance_approval(&approval, self.status, self.now).await?;
            unit.approval(self.account, self.id).await?.ok_or_else(missing)
        })
    }
}

struct Settle {
    begun: Approval,
    status: ApprovalStatus,
    now: Timestamp,
}

impl Transaction for Settle {
    type Output = Approval;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Approval, Abort<ServiceError>>> {
        Box::pin(async move {
            // If somebody else has taken it on since, it is theirs to settle.
            unit.advance_approval(&self.begun, self.status, self.now).await?;
            let found = unit.approval(self.begun.account, self.begun.id).await?;
            found.ok_or_else(|| Abort::Refused(ServiceError::NotFound("approval")))
        })
    }
}

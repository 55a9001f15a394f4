//! An agent asks.

use store::model::{Approval, ApprovalId, ApprovalStatus};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::{AgentChange, MAX_PENDING, PENDING_FOR};
use crate::alerts::MadeBy;
use crate::approvals::Approvals;
use crate::identity::account::awake;
use crate::{Actor, ServiceError};

impl Approvals {
    /// Has a change wait. The same change of the same agent waits once.
    pub(super) async fn ask_for(&self, actor: &Actor, change: &AgentChange) -> Result<Approval, ServiceError> {
        let preview = self.preview(actor, change).await?;
        let now = self.ports.clock.now();
        let work = Ask(Approval {
            id: ApprovalId(self.ports.chance.uuid()),
            account: actor.account,
            tool: change.tool().to_owned(),
            arguments: change.arguments(),
            preview,
            asked_by: MadeBy::of(actor).to_text(),
            status: ApprovalStatus::Pending,
            created_at: now,
            expires_at: now.saturating_add(PENDING_FOR).unwrap_or(jiff::Timestamp::MAX),
            begun_at: None,
            decided_at: None,
        });
        Ok(self.ports.store.write(work).await?)
    }
}

struct Ask(Approval);

impl Transaction for Ask {
    type Output = Approval;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Approval, Abort<ServiceError>>> {
        Box::pin(async move {
            let Self(asked) = self;
            awake(unit, asked.account).await?;
            let pending = unit.pending_approvals(asked.account, asked.created_at).await?;
            let is_same = |other: &&Approval| {
                (&other.tool, &other.arguments, &other.asked_by) == (&asked.tool, &asked.arguments, &asked.asked_by)
            };
            if let Some(same) = pending.iter().find(is_same) {
                return Ok(same.clone());
            }
            if pending.len() >= MAX_PENDING {
                return Err(Abort::Refused(too_many()));
            }
            unit.insert_approval(asked).await?;
            Ok(asked.clone())
        })
    }
}

fn too_many() -> ServiceError {
    ServiceError::Forbidden {
        reason: "approvals",
        required: None,
        message: format!("{MAX_PENDING} changes wait for the account's owner already; have them decided first"),
    }
}

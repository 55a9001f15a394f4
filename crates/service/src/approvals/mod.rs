//! Approvals: changes by agents that wait for the account's owner.
//!
//! An account can require approval (`agents_wait`, off by default). Then a tool that would change something only stores
//! the request ([`request`]): the change, a one-sentence preview and the agent. A change that would fail anyway fails
//! at once. The owner, signed in, approves or denies it ([`decide`]) within [`APPROVAL_LIFETIME`].
//!
//! An approval is applied once: the first process applies the change, others get a conflict. If the change fails by
//! then (the alert is deleted, the plan's limit is reached), it is pending again. If the process dies midway, it can be
//! approved again after a minute. That is safe because all changes are idempotent ([`change`]).

mod change;
mod decide;
mod preview;
mod request;
mod routing;

use std::sync::Arc;

use jiff::SignedDuration;

use crate::alerts::Alerts;
use accounts::identity::AccountAccess;
pub use change::{AgentChange, CompletedChange};
use evaluation::EvaluationConfig;
use evaluation::prices::Prices;
use foundation::account::{load_account, lock_account};
use foundation::{Actor, Ports, ServiceError};
pub use store::model::{Approval, ApprovalId, ApprovalStatus};
use watchlist::Watchlists;

/// Time until a pending change expires.
pub const APPROVAL_LIFETIME: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Maximum number of pending changes per account.
pub const MAX_PENDING_APPROVALS: usize = 50;
/// Maximum number of approvals in a list.
const MAX_LISTED_APPROVALS: u32 = 200;

/// Result of an agent's call.
#[derive(Clone, PartialEq, Debug)]
pub enum AgentChangeOutcome {
    /// The change was applied.
    Done(CompletedChange),
    /// The change waits for the owner.
    Pending(Box<Approval>),
}

/// Changes that agents request and owners approve.
#[derive(Clone)]
pub struct Approvals {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) identity: AccountAccess,
    pub(crate) prices: Prices,
    pub(crate) alerts: Alerts,
    pub(crate) watchlists: Watchlists,
}

impl Approvals {
    /// Applies a change on behalf of an agent, or stores it for approval if the account requires that.
    ///
    /// # Errors
    /// The errors of the change itself; [`ServiceError::Forbidden`] if too many changes are pending.
    pub async fn change_as_agent(
        &self,
        actor: &Actor,
        change: &AgentChange,
    ) -> Result<AgentChangeOutcome, ServiceError> {
        if load_account(&self.ports.store, actor).await?.profile.agents_wait {
            return Ok(AgentChangeOutcome::Pending(Box::new(
                self.request_approval(actor, change).await?,
            )));
        }
        let made_by = foundation::MadeBy::of(actor);
        Ok(AgentChangeOutcome::Done(
            self.apply_change(actor, change, &made_by).await?,
        ))
    }

    /// Returns whether the signed-in actor requires approval, and the approvals, newest first.
    pub async fn approvals(&self, actor: &Actor) -> Result<(bool, Vec<Approval>), ServiceError> {
        let agents_wait = load_account(&self.ports.store, actor).await?.profile.agents_wait;
        Ok((
            agents_wait,
            self.ports.store.approvals(actor.account, MAX_LISTED_APPROVALS).await?,
        ))
    }

    /// Turns the approval requirement on or off for the signed-in actor. Pending changes stay pending.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn set_agent_approval(&self, actor: &Actor, agents_wait: bool) -> Result<(), ServiceError> {
        let transaction = self
            .ports
            .transaction((actor.account, agents_wait), |&(account, agents_wait), unit| {
                Box::pin(async move {
                    let mut account = lock_account(unit, account).await?;
                    account.profile.agents_wait = agents_wait;
                    unit.update_account(&account).await?;
                    Ok(())
                })
            });
        transaction.await
    }

    /// Returns the URL of the approvals page.
    #[must_use]
    pub fn approvals_url(&self) -> String {
        format!("{}/approvals", self.identity.public_url())
    }
}

//! Approvals: what agents want to change waits for the account's owner, if the owner wants it so.
//!
//! An account can demand it (`agents_wait`, off at first). Then a tool that would change something is not done but written down
//! ([`ask`]): what it is, what it comes to in a sentence, who asked. Whatever would be refused anyway is refused at once. The
//! owner, who has to sign in for it, says yes or no ([`decide`]); after [`PENDING_FOR`] it is too late.
//!
//! A yes is taken once: whoever takes it on first does the change, and everybody else is told that it is decided. If it is refused
//! by then (the alert is gone, the plan is full), it waits again. A process that ends in the middle leaves it begun, and a minute
//! later it can be approved once more: that is safe because no change does more when it is made twice ([`change`]).

mod ask;
mod change;
mod decide;
mod preview;

use std::sync::Arc;

use jiff::SignedDuration;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use crate::alerts::Alerts;
use crate::identity::Identity;
use crate::identity::account::{account_of, present};
use crate::prices::Prices;
use crate::watchlist::Watchlists;
use crate::{AccountId, Actor, Ports, ServiceError, Settings};
pub use change::{AgentChange, Changed};
pub use store::model::{Approval, ApprovalId, ApprovalStatus};

/// For how long a change waits.
pub const PENDING_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// So many changes of an account wait at most.
pub const MAX_PENDING: usize = 50;
/// So many approvals are shown.
const SHOWN: u32 = 200;

/// What came of an agent's call.
#[derive(Clone, PartialEq, Debug)]
pub enum Asked {
    /// It was done.
    Done(Changed),
    /// It waits for the owner.
    Waits(Box<Approval>),
}

/// Changes that agents request and owners approve.
#[derive(Clone)]
pub struct Approvals {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) identity: Identity,
    pub(crate) prices: Prices,
    pub(crate) alerts: Alerts,
    pub(crate) watchlists: Watchlists,
}

impl Approvals {
    /// Makes a change in an agent's name, or has it wait, if the account demands that.
    ///
    /// # Errors
    /// As the change itself; [`ServiceError::Forbidden`] if too many wait already.
    pub async fn change_as_agent(&self, actor: &Actor, change: &AgentChange) -> Result<Asked, ServiceError> {
        if account_of(&self.ports.store, actor).await?.profile.agents_wait {
            return Ok(Asked::Waits(Box::new(self.ask_for(actor, change).await?)));
        }
        let made_by = crate::alerts::MadeBy::of(actor);
        Ok(Asked::Done(self.make_change(actor, change, &made_by).await?))
    }

    /// Whether agents wait for the actor, who has signed in, and what they have asked, newest first.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] only.
    pub async fn approvals(&self, actor: &Actor) -> Result<(bool, Vec<Approval>), ServiceError> {
        let agents_wait = account_of(&self.ports.store, actor).await?.profile.agents_wait;
        Ok((agents_wait, self.ports.store.approvals(actor.account, SHOWN).await?))
    }

    /// Has agents wait for the actor, who has signed in, or not any more. What waits goes on waiting.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account is not there any more.
    pub async fn let_agents_wait(&self, actor: &Actor, agents_wait: bool) -> Result<(), ServiceError> {
        let work = LetWait {
            account: actor.account,
            agents_wait,
        };
        Ok(self.ports.store.write(work).await?)
    }

    /// Where people approve.
    #[must_use]
    pub fn approvals_url(&self) -> String {
        format!("{}/approvals", self.identity.public_url())
    }
}

struct LetWait {
    account: AccountId,
    agents_wait: bool,
}

impl Transaction for LetWait {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = present(unit, self.account).await?;
            account.profile.agents_wait = self.agents_wait;
            unit.update_account(&account).await?;
            Ok(())
        })
    }
}

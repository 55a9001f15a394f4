//! Deactivation and reactivation of an account. A deactivated account evaluates no alerts and is read-only.

use alerts::transition::{self, Transition};
use alerts::{Alert, Status};
use foundation::account::lock_account;
use jiff::Timestamp;
use store::model::Account;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use crate::identity::account::AccountSettings;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

impl AccountSettings {
    /// Deactivates the actor's account. Its active alerts are paused, and nothing can be created or activated. The
    /// account can be read, and its owner can sign in and reactivate it. Repeating it changes nothing. Returns the
    /// number of paused alerts.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn deactivate_account(&self, actor: &Actor) -> Result<usize, ServiceError> {
        let work = Deactivate {
            account_settings: self.clone(),
            account: actor.account,
            now: self.ports.clock.now(),
        };
        let paused = self.ports.store.write(work).await?;
        self.credential_cache.invalidate(actor.account);
        Ok(paused.len())
    }

    /// Reactivates the actor's account. Its alerts stay paused until the owner activates them.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn reactivate_account(&self, actor: &Actor) -> Result<Account, ServiceError> {
        let account = self.ports.store.write(Reactivate(actor.account)).await?;
        self.credential_cache.invalidate(actor.account);
        Ok(account)
    }
}

struct Deactivate {
    account_settings: AccountSettings,
    account: AccountId,
    now: Timestamp,
}

impl Transaction for Deactivate {
    type Output = Vec<Alert>;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Vec<Alert>, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = lock_account(unit, self.account).await?;
            let mut paused = Vec::new();
            for stored in unit.lock_alerts_of_account(self.account).await? {
                let alert = stored.alert;
                if alert.status != Status::Active {
                    continue;
                }
                let transition = transition::pause(&alert).map_err(|refused| Abort::Refused(refused.into()))?;
                if let Transition::Changed(changed) = transition
                    && unit.update_alert(&changed, alert.revision, self.now, None).await?
                {
                    paused.push(changed.alert);
                }
            }
            if account.profile.deactivated_at.is_none() {
                account.profile.deactivated_at = Some(self.now);
                unit.update_account(&account).await?;
            }
            Ok(paused)
        })
    }

    fn committed(&self, paused: &Vec<Alert>) {
        for alert in paused {
            self.account_settings.evaluator.apply_change(alert);
        }
    }
}

struct Reactivate(AccountId);

impl Transaction for Reactivate {
    type Output = Account;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Account, Abort<ServiceError>>> {
        Box::pin(async move {
            let mut account = lock_account(unit, self.0).await?;
            if account.profile.deactivated_at.take().is_some() {
                unit.update_account(&account).await?;
            }
            Ok(account)
        })
    }
}

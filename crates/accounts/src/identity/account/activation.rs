//! Deactivation and reactivation of an account. A deactivated account evaluates no alerts and is read-only.

use std::sync::Arc;

use alerts::Status;
use alerts::transition::{self, Transition};
use foundation::account::lock_account;
use store::model::Account;

use crate::identity::account::AccountSettings;
use foundation::{Actor, ServiceError};

impl AccountSettings {
    /// Deactivates the actor's account. Its active alerts are paused, and nothing can be created or activated. The
    /// account can be read, and its owner can sign in and reactivate it. Repeating it changes nothing. Returns the
    /// number of paused alerts.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn deactivate_account(&self, actor: &Actor) -> Result<usize, ServiceError> {
        let evaluator = Arc::clone(&self.evaluator);
        let transaction = self.ports.transaction_then(
            (actor.account, self.ports.clock.now()),
            |&(account, now), unit| {
                Box::pin(async move {
                    let mut account = lock_account(unit, account).await?;
                    let mut paused = Vec::new();
                    for stored in unit.lock_alerts_of_account(account.id).await? {
                        let is_evaluated = stored.scope().is_none();
                        let alert = stored.alert;
                        if alert.status != Status::Active {
                            continue;
                        }
                        let transition = transition::pause(&alert).map_err(ServiceError::from)?;
                        if let Transition::Changed(changed) = transition
                            && unit.update_alert(&changed, &alert, now, None).await?
                        {
                            paused.extend(is_evaluated.then_some(changed.alert));
                        }
                    }
                    if account.profile.deactivated_at.is_none() {
                        account.profile.deactivated_at = Some(now);
                        unit.update_account(&account).await?;
                    }
                    Ok(paused)
                })
            },
            move |paused| {
                for alert in paused {
                    evaluator.apply_change(alert);
                }
            },
        );
        let paused = transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(paused.len())
    }

    /// Reactivates the actor's account. Its alerts stay paused until the owner activates them.
    ///
    /// # Errors
    /// [`ServiceError::Unauthenticated`] if the account no longer exists.
    pub async fn reactivate_account(&self, actor: &Actor) -> Result<Account, ServiceError> {
        let transaction = self.ports.transaction(actor.account, |&account, unit| {
            Box::pin(async move {
                let mut account = lock_account(unit, account).await?;
                if account.profile.deactivated_at.take().is_some() {
                    unit.update_account(&account).await?;
                }
                Ok(account)
            })
        });
        let account = transaction.await?;
        self.credential_cache.invalidate(actor.account);
        Ok(account)
    }
}

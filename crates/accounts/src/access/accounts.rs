//! Account administration for operators.

use foundation::account::DEFAULT_TIME_ZONE;
use foundation::account::normalize_email;
use std::sync::Arc;

use alerts::Plan;
use alerts::request::is_plausible_email;
use store::Abort;
use store::model::{Account, AccountId};

use super::{downgrade, password};
use crate::access::{Authenticator, CredentialCache};
use delivery::messages::MessageWriter;
use evaluation::evaluator::Evaluator;
use foundation::{ErrorsByField, Ports, ServiceError};

/// A new account, as the operator specifies it.
#[derive(Clone)]
pub struct NewAccount {
    /// Email address.
    pub email: String,
    /// Its password, 8 to 200 characters.
    pub password: String,
    /// Plan.
    pub plan: Plan,
    /// Whether the account has operator rights.
    pub is_operator: bool,
    /// Whether the email address counts as verified.
    pub is_verified: bool,
}

impl std::fmt::Debug for NewAccount {
    /// Formats all fields except the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewAccount")
            .field("email", &self.email)
            .field("plan", &self.plan)
            .field("is_operator", &self.is_operator)
            .field("is_verified", &self.is_verified)
            .finish_non_exhaustive()
    }
}

/// Use cases for operators: accounts, plans and API keys.
#[derive(Clone)]
pub struct Accounts {
    pub(crate) ports: Ports,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) authenticator: Authenticator,
    pub(crate) writer: MessageWriter,
}

impl Accounts {
    /// Creates an account. The email address is stored in normalized form, so that each mailbox has at most one
    /// account.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an invalid address or password, [`ServiceError::Conflict`] if the address already
    /// has an account.
    pub async fn create_account(&self, user: NewAccount) -> Result<Account, ServiceError> {
        let email = normalize_email(&user.email);
        let mut faults = ErrorsByField::new();
        if !is_plausible_email(&email) {
            let fault = "must be an email address such as ann@example.com".to_owned();
            faults.insert("email".to_owned(), vec![fault]);
        }
        if let Some(fault) = password::violation(&user.password) {
            faults.insert("password".to_owned(), vec![fault]);
        }
        if !faults.is_empty() {
            return Err(ServiceError::fields(faults));
        }
        let account = Account {
            id: AccountId(self.ports.random.uuid()),
            email,
            password_hash: Some(self.authenticator.hash_password(user.password).await?),
            full_name: None,
            plan: user.plan,
            is_operator: user.is_operator,
            is_verified: user.is_verified,
            time_zone: DEFAULT_TIME_ZONE.to_owned(),
            created_at: self.ports.clock.now(),
            profile: store::model::Profile::default(),
        };
        let transaction = self.ports.transaction(account, |account, unit| {
            Box::pin(async move {
                if unit.insert_account(account).await? {
                    return Ok(account.clone());
                }
                let message = "this address already has an account; use another address, or sign in to that account";
                Err(Abort::Refused(ServiceError::Conflict(message.to_owned())))
            })
        });
        transaction.await
    }

    /// Changes the plan of an account. Active alerts that the new plan does not include are paused, and the owner gets
    /// an email.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if no account has the address.
    pub async fn set_plan(&self, email: &str, plan: Plan) -> Result<Account, ServiceError> {
        let evaluator = Arc::clone(&self.evaluator);
        let inputs = (self.clone(), normalize_email(email), plan, self.ports.clock.now());
        let transaction = self.ports.transaction_then(
            inputs,
            |&(ref accounts, ref email, plan, now), unit| {
                Box::pin(async move {
                    let missing = || Abort::Refused(ServiceError::NotFound("account"));
                    let found = unit.account_by_email(email).await?.ok_or_else(missing)?;
                    // Read again under the lock, so that concurrent changes are not overwritten.
                    let mut account = unit.lock_account(found.id).await?.ok_or_else(missing)?;
                    account.plan = plan;
                    if !unit.update_account(&account).await? {
                        return Err(missing());
                    }
                    let paused = downgrade::pause_alerts_beyond_plan(accounts, unit, &account, now).await?;
                    Ok((account, paused))
                })
            },
            move |(_, paused)| {
                for alert in paused {
                    evaluator.apply_change(alert);
                }
            },
        );
        let (account, _) = transaction.await?;
        self.credential_cache.invalidate(account.id);
        Ok(account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_omits_password() {
        let user = NewAccount {
            email: "ann@example.com".to_owned(),
            password: "correct horse".to_owned(),
            plan: Plan::Basic,
            is_operator: false,
            is_verified: true,
        };
        assert!(!format!("{user:?}").contains("horse"));
    }
}

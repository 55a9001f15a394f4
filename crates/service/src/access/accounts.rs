//! Accounts, as the operator makes them.

use std::sync::Arc;

use alerts::request::is_plausible_email;
use alerts::{Alert, Plan};
use jiff::Timestamp;
use store::model::{Account, AccountId};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use url::Host;

use super::{downgrade, password};
use crate::access::{Authenticator, Reception};
use crate::evaluator::Evaluator;
use crate::messages::MessageWriter;
use crate::{Fields, Ports, ServiceError};

/// An account to be made by the operator.
#[derive(Clone)]
pub struct NewUser {
    /// Its address.
    pub email: String,
    /// Its password, 8 to 200 characters.
    pub password: String,
    /// What it pays for.
    pub plan: Plan,
    /// Whether its owner operates this service.
    pub is_operator: bool,
    /// Whether the address is known to be the owner's.
    pub is_verified: bool,
}

impl std::fmt::Debug for NewUser {
    /// Everything but the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser")
            .field("email", &self.email)
            .field("plan", &self.plan)
            .field("is_operator", &self.is_operator)
            .field("is_verified", &self.is_verified)
            .finish_non_exhaustive()
    }
}

/// Use cases of operators: accounts, their plans and their API keys.
#[derive(Clone)]
pub struct Accounts {
    pub(crate) ports: Ports,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) reception: Arc<Reception>,
    pub(crate) authenticator: Authenticator,
    pub(crate) writer: MessageWriter,
}

impl Accounts {
    /// Makes an account. Its address is kept in lower case, so that it is one address however it is written.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for an address or a password that will not do, [`ServiceError::Conflict`] if the
    /// address has an account.
    pub async fn create_user(&self, user: NewUser) -> Result<Account, ServiceError> {
        let email = normal_email(&user.email);
        let mut faults = Fields::new();
        if !is_plausible_email(&email) {
            let fault = "must be an email address such as ann@example.com".to_owned();
            faults.insert("email".to_owned(), vec![fault]);
        }
        if let Some(fault) = password::fault(&user.password) {
            faults.insert("password".to_owned(), vec![fault]);
        }
        if !faults.is_empty() {
            return Err(ServiceError::fields(faults));
        }
        let account = Account {
            id: AccountId(self.ports.chance.uuid()),
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
        Ok(self.ports.store.write(Insert(account)).await?)
    }

    /// Puts an account on another plan. Its active alerts that the plan does not have are paused, and its owner is told.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the address has no account.
    pub async fn set_plan(&self, email: &str, plan: Plan) -> Result<Account, ServiceError> {
        let work = SetPlan {
            accounts: self.clone(),
            email: normal_email(email),
            plan,
            now: self.ports.clock.now(),
        };
        let (account, _) = self.ports.store.write(work).await?;
        self.reception.forget(account.id);
        Ok(account)
    }
}

/// The zone of an account whose owner has not said where they live: the market's.
pub(crate) const DEFAULT_TIME_ZONE: &str = "America/New_York";

/// An address as it is kept and looked for: in lower case, and with the name of its host as servers know it, because mail to
/// `ann@ｅxample.com` and to `ann@example.com` goes to the same mailbox.
pub(crate) fn normal_email(email: &str) -> String {
    let email = email.trim().to_lowercase();
    let Some((mailbox, host)) = email.rsplit_once('@') else {
        return email;
    };
    // What is escaped in a URL is no part of an address, and is refused as it is.
    if host.is_ascii() || host.contains('%') {
        return email;
    }
    match Host::parse(host) {
        Ok(Host::Domain(host)) => format!("{mailbox}@{host}"),
        _ => email,
    }
}

struct Insert(Account);

impl Transaction for Insert {
    type Output = Account;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Account, Abort<ServiceError>>> {
        Box::pin(async move {
            if unit.insert_account(&self.0).await? {
                return Ok(self.0.clone());
            }
            let message = "this address has an account already; use another address, or that account";
            Err(Abort::Refused(ServiceError::Conflict(message.to_owned())))
        })
    }
}

struct SetPlan {
    accounts: Accounts,
    email: String,
    plan: Plan,
    now: Timestamp,
}

impl Transaction for SetPlan {
    type Output = (Account, Vec<Alert>);
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Self::Output, Abort<ServiceError>>> {
        Box::pin(async move {
            let missing = || Abort::Refused(ServiceError::NotFound("account"));
            let found = unit.account_by_email(&self.email).await?.ok_or_else(missing)?;
            // Read again under its lock, so that no change of somebody else's is written over.
            let mut account = unit.lock_account(found.id).await?.ok_or_else(missing)?;
            account.plan = self.plan;
            if !unit.update_account(&account).await? {
                return Err(missing());
            }
            let paused = downgrade::pause_what_is_missing(&self.accounts, unit, &account, self.now).await?;
            Ok((account, paused))
        })
    }

    fn committed(&self, (_, paused): &Self::Output) {
        for alert in paused {
            self.accounts.evaluator.tell(alert);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_in_any_case_and_with_space_around_it() {
        assert_eq!(normal_email("  Ann@Example.COM\n"), "ann@example.com");
    }

    #[test]
    fn an_address_is_the_same_however_the_name_of_its_host_is_written() {
        for (written, kept) in [
            ("ann@\u{ff45}xample.com", "ann@example.com"),
            ("ann@example\u{3002}com", "ann@example.com"),
            ("ann@ex\u{ad}ample.com", "ann@example.com"),
            ("ann@B\u{dc}CHER.example", "ann@xn--bcher-kva.example"),
            ("ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example"),
            ("j\u{f6}rg@example.com", "j\u{f6}rg@example.com"),
            ("ann", "ann"),
            // These are no addresses, and stay so.
            ("ann@\u{ff11}27.0.0.1", "ann@\u{ff11}27.0.0.1"),
            ("ann@\u{ff45}x%61mple.com", "ann@\u{ff45}x%61mple.com"),
        ] {
            assert_eq!(normal_email(written), kept, "{written}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        let user = NewUser {
            email: "ann@example.com".to_owned(),
            password: "correct horse".to_owned(),
            plan: Plan::Basic,
            is_operator: false,
            is_verified: true,
        };
        assert!(!format!("{user:?}").contains("horse"));
    }
}

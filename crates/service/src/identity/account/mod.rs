//! Account settings for the account's owner.
//!
//! * [`subscription`]: features and usage of the plan.
//! * [`preferences`]: time zone and quiet hours. [`address`], [`phone`], [`password`]: contact details and password;
//!   each change requires a proof of ownership.
//! * [`export`]: data export. [`activation`]: deactivation for a while. [`delete`]: permanent deletion.

mod activation;
pub(crate) mod address;
mod delete;
mod export;
mod password;
mod phone;
pub(crate) mod phone_number;
mod preferences;
mod subscription;

use std::sync::Arc;

use store::model::Account;
use store::{Abort, Store, UnitOfWork};
use tokio_util::task::TaskTracker;

use crate::access::{Authenticator, CredentialCache};
use crate::evaluator::Evaluator;
use crate::identity::{AccountAccess, SignInThrottle};
use crate::messages::MessageWriter;
use crate::{AccountId, Actor, Ports, ServiceConfig, ServiceError};
pub use export::ExportStream;
pub use phone::CODE_LIFETIME as PHONE_CODE_LIFETIME;
pub use phone_number::{CallingCode, CallingCodeError, default_allowed_countries};
pub use preferences::Preferences;
pub use store::model::{Phone, QuietHours};
pub use subscription::{QuotaPeriod, SmsQuota, Subscription};

/// Use cases for account owners: email address, password, phone number, preferences, export and deletion.
#[derive(Clone)]
pub struct AccountSettings {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<ServiceConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) throttle: Arc<SignInThrottle>,
    pub(crate) authenticator: Authenticator,
    pub(crate) identity: AccountAccess,
    pub(crate) writer: MessageWriter,
    pub(crate) tasks: TaskTracker,
}

/// Returns the current state of the actor's account.
pub(crate) async fn load_account(store: &Store, actor: &Actor) -> Result<Account, ServiceError> {
    let found = store.account(actor.account).await?;
    found.ok_or_else(account_gone)
}

fn account_gone() -> ServiceError {
    let message = "this account no longer exists; sign in with another one";
    ServiceError::Unauthenticated(message.to_owned())
}

/// Locks the account until the end of the transaction, and checks that it is not deactivated. Required for everything
/// that creates or activates something.
pub(crate) async fn lock_active_account(
    unit: &mut UnitOfWork,
    account: AccountId,
) -> Result<Account, Abort<ServiceError>> {
    let account = lock_account(unit, account).await?;
    require_active(&account).map_err(Abort::Refused)?;
    Ok(account)
}

/// Locks the account until the end of the transaction.
pub(crate) async fn lock_account(unit: &mut UnitOfWork, account: AccountId) -> Result<Account, Abort<ServiceError>> {
    let found = unit.lock_account(account).await?;
    found.ok_or_else(|| Abort::Refused(account_gone()))
}

/// Checks that an account is not deactivated. A deactivated account is read-only.
pub(crate) fn require_active(account: &Account) -> Result<(), ServiceError> {
    if account.profile.deactivated_at.is_none() {
        return Ok(());
    }
    Err(ServiceError::Forbidden {
        reason: "deactivated",
        required: Some("active_account".to_owned()),
        message: "this account is deactivated; sign in and reactivate it first (POST /user/account/reactivate)"
            .to_owned(),
    })
}

//! An account, as its owner looks after it.
//!
//! * [`subscription`]: what the plan has, and how much of it is used.
//! * [`preferences`]: the time zone and quiet hours. [`address`], [`phone`], [`password`]: where the owner is reached and how
//!   they sign in, each changed only by somebody who shows that it is theirs.
//! * [`export`]: all that is kept of it. [`rest`]: deactivated for a while. [`delete`]: gone for good.

pub(crate) mod address;
mod delete;
mod export;
pub(crate) mod number;
mod password;
mod phone;
mod preferences;
mod rest;
mod subscription;

use std::sync::Arc;

use store::model::Account;
use store::{Abort, Store, UnitOfWork};
use tokio_util::task::TaskTracker;

use crate::access::{Authenticator, Reception};
use crate::evaluator::Evaluator;
use crate::identity::{Identity, Throttle};
use crate::messages::MessageWriter;
use crate::{AccountId, Actor, Ports, ServiceError, Settings};
pub use export::Export;
pub use number::{BadCallingCode, CallingCode, default_countries};
pub use phone::LIFE as PHONE_CODE_LIFE;
pub use preferences::Preferences;
pub use store::model::{Phone, QuietHours};
pub use subscription::{Period, SmsQuota, Subscription};

/// Use cases of the owner of an account: address, password, telephone number, preferences, export and deletion.
#[derive(Clone)]
pub struct AccountSettings {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) reception: Arc<Reception>,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) authenticator: Authenticator,
    pub(crate) identity: Identity,
    pub(crate) writer: MessageWriter,
    pub(crate) tasks: TaskTracker,
}

/// The actor's account as it is now.
pub(crate) async fn account_of(store: &Store, actor: &Actor) -> Result<Account, ServiceError> {
    let found = store.account(actor.account).await?;
    found.ok_or_else(gone)
}

fn gone() -> ServiceError {
    let message = "this account is not there any more; sign in with another one";
    ServiceError::Unauthenticated(message.to_owned())
}

/// The account, locked until the end of the transaction; whatever is made or set going in its name needs it to be awake.
pub(crate) async fn awake(unit: &mut UnitOfWork, account: AccountId) -> Result<Account, Abort<ServiceError>> {
    let account = present(unit, account).await?;
    must_be_awake(&account).map_err(Abort::Refused)?;
    Ok(account)
}

/// The account, locked until the end of the transaction.
pub(crate) async fn present(unit: &mut UnitOfWork, account: AccountId) -> Result<Account, Abort<ServiceError>> {
    let found = unit.lock_account(account).await?;
    found.ok_or_else(|| Abort::Refused(gone()))
}

/// A deactivated account can be read and nothing else, until it is reactivated.
pub(crate) fn must_be_awake(account: &Account) -> Result<(), ServiceError> {
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

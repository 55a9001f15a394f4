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
pub(crate) mod preferences;
mod subscription;

use delivery::DeliveryConfig;
use std::sync::Arc;

use tokio_util::task::TaskTracker;

use crate::access::{Authenticator, CredentialCache};
use crate::identity::{AccountAccess, SignInThrottle};
use delivery::messages::MessageWriter;
use evaluation::evaluator::Evaluator;
pub use export::ExportStream;
use foundation::Ports;
pub use phone::CODE_LIFETIME as PHONE_CODE_LIFETIME;
pub use preferences::Preferences;
pub use store::model::{Phone, QuietHours};
pub use subscription::{SmsQuota, Subscription};

/// Use cases for account owners: email address, password, phone number, preferences, export and deletion.
#[derive(Clone)]
pub struct AccountSettings {
    pub(crate) ports: Ports,
    pub(crate) delivery_settings: Arc<DeliveryConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) throttle: Arc<SignInThrottle>,
    pub(crate) authenticator: Authenticator,
    pub(crate) identity: AccountAccess,
    pub(crate) writer: MessageWriter,
    pub(crate) tasks: TaskTracker,
}

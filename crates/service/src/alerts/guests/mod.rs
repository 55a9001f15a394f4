//! Alerts of people without an account (decisions 2.21).
//!
//! A guest requests an alert with an email address ([`create`]). Anyone can do that with any address, so the alert
//! is inactive until somebody presents the secret that was sent to the address ([`verify`]). Then it is evaluated
//! like any other alert and notifies the address. An account with that confirmed address can take over the alert
//! ([`attach`]).
//!
//! **Requests disclose nothing.** The response depends only on the unverified requests for the address within the
//! last two days. It does not depend on whether an account exists, or on the alerts of its owner or of the guest. A
//! verified alert is therefore never reported as existing. When an equivalent alert is verified, it replaces the
//! older one.
//!
//! **No flooding.** Each alert sends an email to the address, so these are limited per day: for each address and in
//! total. (Requests are also limited for each client's IP address, at the server.)
//!
//! An alert that is never verified is deleted with its address once its last link has expired.

mod attach;
mod create;
mod description;
mod verify;

use std::sync::Arc;

use alerts::{Alert, AlertId, NewAlert};
use jiff::{SignedDuration, Timestamp};
use store::model::{AlertOwner, StoredAlert};

use crate::alerts::Alerts;
use delivery::messages::MessageWriter;
use evaluation::EvaluationConfig;
use evaluation::evaluator::Evaluator;
use evaluation::prices::Prices;
use evaluation::prices::initial_stocks::InitialPrices;
use foundation::Ports;
use foundation::secret;

pub use attach::AttachAlertRequest;
pub use create::GuestAlertRequest;
pub use verify::{VerifiedAlert, VerifyAlertRequest};

/// Alerts of people without an account.
#[derive(Clone)]
pub struct GuestAlerts {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) alerts: Alerts,
    pub(crate) prices: Prices,
    pub(crate) writer: MessageWriter,
}

/// The purpose of the links.
const VERIFY_PURPOSE: &str = "verify_alert";
/// The lifetime of a link, and the time within which another one can be requested.
const LINK_LIFETIME: SignedDuration = SignedDuration::from_hours(48);
/// The age at which an unverified alert is deleted: its link was repeated at the last moment at most, and that link
/// has expired, too.
pub(crate) const UNVERIFIED_RETENTION: SignedDuration = SignedDuration::from_hours(2 * 48);
/// The window in which links are counted.
const LINK_COUNT_WINDOW: SignedDuration = SignedDuration::from_hours(24);
/// The maximum number of links to an address in that window.
const MAX_LINKS_PER_ADDRESS: u64 = 5;
/// The maximum number of links in that window in total, so that guests leave part of the day's emails to accounts.
const MAX_LINKS_TOTAL: u64 = 1_000;
/// Another link is sent only if the last one is older than this. A newer one may still be on its way.
const LINK_RESEND_DELAY: SignedDuration = SignedDuration::from_mins(10);

/// Returns the stored hash of a link's secret. The alert's id is stored beside it, and the hash alone finds it.
fn hash(secret: &str) -> [u8; 32] {
    secret::hash(VERIFY_PURPOSE, "", secret)
}

/// Returns the alert's id as it is stored with its code.
fn payload(alert: AlertId) -> String {
    alert.0.hyphenated().to_string()
}

/// Returns the address of a guest's alert.
fn address(stored: &StoredAlert) -> &str {
    match &stored.owner {
        AlertOwner::Guest { email } => email,
        AlertOwner::Account(_) => "",
    }
}

/// Returns the request that would create the alert.
pub(super) fn as_new_alert(alert: &Alert) -> NewAlert {
    NewAlert {
        symbol: alert.symbol,
        condition: alert.condition.clone(),
        options: alert.options.clone(),
        routing: alert.routing.clone(),
        notification: alert.notification,
        parameters: alert.parameters.clone(),
        note: alert.note.clone(),
        tags: alert.tags.clone(),
        managed_by: None,
        email: None,
    }
}

fn time_before(now: Timestamp, time: SignedDuration) -> Timestamp {
    now.saturating_sub(time).unwrap_or(Timestamp::MIN)
}

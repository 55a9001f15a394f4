//! Alerts of people without an account (decisions 2.21).
//!
//! A guest asks for an alert with an address ([`create`]). Anybody can do that in anybody's name, so the alert is inactive
//! until somebody shows the secret that was mailed to the address ([`verify`]). Then it is judged like any other, and told to
//! the address. Whoever has an account with that address, and has shown that it is theirs, can take the alert over
//! ([`attach`]).
//!
//! **Asking tells nothing.** What a stranger is answered depends on what strangers have asked for in the name of that address
//! within the last two days and have not verified, and on nothing else: not on whether there is an account, nor on what its
//! owner, or the guest, waits for. So an alert that was verified is never answered as "there already"; when an equivalent one
//! is verified it takes the older one's place.
//!
//! **Nobody is flooded.** Each alert costs the address a letter, so those are counted: for each address and for all of them
//! together within a day. (Requests are also counted for each client's address, where requests come in.)
//!
//! What is never verified is forgotten, address and all, once its last link is over.

mod attach;
mod create;
mod verify;
mod wish;

use std::sync::Arc;

use alerts::{Alert, AlertId, NewAlert};
use jiff::{SignedDuration, Timestamp};
use store::model::{AlertOwner, StoredAlert};

use crate::alerts::Alerts;
use crate::evaluator::Evaluator;
use crate::identity::secret;
use crate::messages::MessageWriter;
use crate::prices::Prices;
use crate::prices::initial::InitialPrices;
use crate::{Ports, Settings};
pub use create::GuestWish;
pub use verify::VerifiedAlert;

/// Alerts of people without an account.
#[derive(Clone)]
pub struct GuestAlerts {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) alerts: Alerts,
    pub(crate) prices: Prices,
    pub(crate) writer: MessageWriter,
}

/// What the links are for.
const PURPOSE: &str = "verify_alert";
/// How long a link is good for, and for how long another one can be had.
const LIFE: SignedDuration = SignedDuration::from_hours(48);
/// What was not verified by then never will be: it was made, was repeated in its last moment, and that link is over, too.
pub(crate) const NEVER_VERIFIED_AFTER: SignedDuration = SignedDuration::from_hours(2 * 48);
/// Links are counted within this time.
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// So many links are mailed to an address in a day ...
const LINKS_TO_ADDRESS: u64 = 5;
/// ... and so many to all of them: letters to guests must leave some of the day's letters for those who have an account.
const LINKS_IN_ALL: u64 = 1_000;
/// A repeat has another link mailed only if the last one was mailed before that time: it may be still on its way.
const ANOTHER_LINK_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// What is kept of a link's secret. Which alert it is for is kept beside it, and found by it alone.
fn hash(secret: &str) -> [u8; 32] {
    secret::hash(PURPOSE, "", secret)
}

/// An alert's id beside the code that is for it.
fn payload(alert: AlertId) -> String {
    alert.0.hyphenated().to_string()
}

/// Whose a guest's alert is.
fn address(stored: &StoredAlert) -> &str {
    match &stored.owner {
        AlertOwner::Guest { email } => email,
        AlertOwner::Account(_) => "",
    }
}

/// What would have to be asked for to get this alert.
fn as_asked(alert: &Alert) -> NewAlert {
    NewAlert {
        symbol: alert.symbol,
        condition: alert.condition,
        notification: alert.notification,
        parameters: alert.parameters.clone(),
        email: None,
    }
}

fn before(now: Timestamp, time: SignedDuration) -> Timestamp {
    now.saturating_sub(time).unwrap_or(Timestamp::MIN)
}

//! Alerts: created, read, changed, deleted.
//!
//! Each use case reads and checks what was asked, and leaves the decision to [`alerts::transition`]. What changes
//! something is a unit of work ([`store::Transaction`]): it reads the alert under its lock, decides, and writes the alert and its
//! history in one transaction; what is to be refused is refused before anything is written. Once it is on disk, and
//! before anybody is answered, the evaluator is told.
//!
//! Whoever counts (the plan's quota) or compares (equivalent alerts) holds the account's lock meanwhile, so that of many
//! requests at once each sees what the others did.
//!
//! People without an account have alerts, too: [`guests`].

mod change;
mod create;
mod delete;
mod events;
pub(crate) mod guests;
mod history;
mod made_by;
mod metric;
mod outcome;
mod read;
mod record;
mod repeat;
pub(crate) mod terms;
mod view;

use std::sync::Arc;

use crate::evaluator::Evaluator;
use crate::prices::Prices;
use crate::prices::initial::InitialPrices;
use crate::prices::interest::Interest;
use crate::stocks::Stocks;
use crate::{Ports, Settings};
pub use create::Created;
pub use guests::{GuestAlerts, GuestWish, VerifiedAlert};
pub use made_by::MadeBy;
pub use outcome::{AlertOutcomes, MAX_OUTCOMES, Outcome};
pub use paper::Horizon;
pub use store::model::StoredAlert;
pub use view::{AlertDetail, AlertItem, Judged};

/// Alerts of accounts.
#[derive(Clone)]
pub struct Alerts {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) interest: Arc<Interest>,
    pub(crate) prices: Prices,
    pub(crate) stocks: Stocks,
}

/// Alerts that the actor does not have, be they other people's or nobody's.
const fn no_such_alert() -> crate::ServiceError {
    crate::ServiceError::NotFound("alert")
}

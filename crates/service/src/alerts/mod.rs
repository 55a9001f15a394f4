//! Alerts: create, read, change, delete.
//!
//! Each use case reads and validates the request, and leaves the decision to [`alerts::transition`]. A change is a
//! transaction ([`store::Store::transaction`]): it reads the alert under its lock, decides, and writes the alert and its history.
//! A refusal comes before any write. After the commit, and before the response, the evaluator gets the change.
//!
//! A use case that counts (the plan's quota) or compares (equivalent alerts) holds the account's lock meanwhile, so
//! that concurrent requests see each other's changes.
//!
//! [`batch`]: many changes in one transaction. [`scoped`]: alerts over many stocks. Alerts of people without an account: [`guests`]. [`preview`] plays an alert over stored bars; `parse_text` reads one from text.
//!
//! Functions that return [`foundation::ServiceError::Internal`] do so if the database fails.

mod batch;
mod bulk;
mod change;
mod create;
mod delete;
mod describe;
mod duplicates;
mod events;
mod explain;
pub(crate) mod guests;
mod history;
mod list_state;
mod metric;
mod named_symbols;
mod outcome;
mod parse_text;
pub mod preview;
mod read;
mod record;
mod rename;
pub(crate) mod scoped;
mod view;

use std::sync::Arc;

use evaluation::EvaluationConfig;
use evaluation::evaluator::Evaluator;
use evaluation::prices::Prices;
use evaluation::prices::initial_stocks::InitialPrices;
use evaluation::prices::interest::StockInterest;
use evaluation::stocks::Stocks;
use foundation::Ports;

pub use batch::{BatchError, BatchList, BatchResult, BatchedAlert, MAX_BATCH_CHANGES, RefusedChange};
pub(crate) use bulk::UNDO_LIFETIME;
pub use bulk::{BulkChange, BulkResult, SnoozeDuration, UndoResult};
pub use create::Created;
pub use describe::{AlertSentences, DescribedAlert, describe_stored};
pub use explain::{BlockingReason, ExplainedAlert, ExplainedPast, NearAlert};
pub use guests::{AttachAlertRequest, VerifyAlertRequest};
pub use guests::{GuestAlertRequest, GuestAlerts, VerifiedAlert};
pub use list_state::ListState;
pub use outcome::{AlertOutcomes, MAX_OUTCOMES, ScoredFiring};
pub use paper::{HORIZON_SESSIONS, Horizon};
pub use parse_text::{ParseAlertRequest, ParsedAlert};
pub use preview::{Preview, PreviewAlertRequest, PreviewFiring};
pub use record::RecordHistoryRequest;
pub use scoped::AlertMember;
pub use store::model::{EventPage, HistoryPosition, StoredAlert, StoredEvent, UndoId, UndoableChange, UndoableKind};
pub use view::{AlertDetail, AlertItem, AlertProximity};

/// Alerts of accounts.
#[derive(Clone)]
pub struct Alerts {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) initial_prices: Arc<InitialPrices>,
    pub(crate) interest: Arc<StockInterest>,
    pub(crate) prices: Prices,
    pub(crate) stocks: Stocks,
    pub(crate) previews: Arc<preview::PreviewLimit>,
}

/// Returns the error for a source and a name that another alert has.
fn name_taken(other: &StoredAlert) -> foundation::ServiceError {
    let id = other.alert.id;
    let message = format!(
        "your alert {id} has the same managed_by; update that alert, or use another name, since a name belongs to one alert"
    );
    foundation::ServiceError::Conflict(message)
}

/// Returns the error for an alert that the actor does not have, whether it exists or not.
pub(crate) const fn no_such_alert() -> foundation::ServiceError {
    foundation::ServiceError::NotFound("alert")
}

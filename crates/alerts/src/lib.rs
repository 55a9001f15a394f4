//! # Alerts: what users wait for, and the engine that notices it
//!
//! This room holds the rules of the product and nothing else: it knows no database, no HTTP and no clock. What comes
//! in is a value (a request, an event, an instant), what goes out is a value (a refusal with its mend, a decision
//! with its reason).

pub mod alert;
pub mod condition;
pub mod engine;
pub mod equivalence;
mod intention;
pub mod json;
pub mod plan;
pub mod request;
pub mod restore;
pub mod sentence;
pub mod transition;

pub use alert::{Alert, AlertId, Channel, NewAlert, Revision, Status};
pub use condition::{Condition, ConditionKind, Family};
pub use intention::Intention;
pub use plan::Plan;
pub use transition::{HistoryAction, Transition};

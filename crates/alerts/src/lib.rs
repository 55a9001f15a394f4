//! # Alerts: conditions, requests, statuses, plans and the evaluation engine
//!
//! This crate contains the rules of the product. It does not depend on a database, HTTP or a clock. Inputs are values (a
//! request, an event, an instant), and so are outputs (a validation error with its fix, a decision with its reason).

pub mod alert;
pub mod condition;
pub mod engine;
pub mod equivalence;
mod evaluated;
pub mod expression;
mod intention;
pub mod json;
pub mod lifecycle;
mod managed_by;
pub mod metrics;
mod named_enum;
mod note;
pub mod options;
pub mod plan;
pub mod request;
pub mod restore;
pub mod routing;
pub mod scope;
pub mod sentence;
pub mod tags;
pub mod text;
pub mod transition;

pub use alert::{Alert, AlertId, Channel, NewAlert, Revision, Status};
pub use condition::{Condition, ConditionFamily, ConditionKind};
pub use evaluated::EvaluatedAlert;
pub use intention::Intention;
pub use managed_by::{MAX_MANAGED_NAME_CHARACTERS, ManagedBy, ManagedNameError, check_managed_name};
pub use note::{Note, NoteError};
pub use plan::Plan;
pub use routing::Routing;
pub use scope::AlertScope;
pub use tags::{TagError, Tags};
pub use transition::{HistoryAction, Transition};

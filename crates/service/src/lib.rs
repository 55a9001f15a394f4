//! # Service: the use cases behind every interface
//!
//! REST, MCP, web pages and the command line call the same functions on a [`Service`]. It composes the use cases of
//! all areas ([`UseCases`]) and runs their background tasks:
//!
//! | crate | area |
//! |---|---|
//! | [`accounts`] | credentials, identity, account settings, OAuth |
//! | [`evaluation`] | the engine's owner, market data, prices, stocks |
//! | [`delivery`] | webhooks, email and text messages |
//! | [`watchlist`] | watchlists, paper trades, analyses |
//!
//! This crate has the use cases that need several areas:
//!
//! * [`alerts`](mod@alerts): creates, reads, changes and deletes alerts.
//! * [`approvals`]: changes by agents that wait for approval; [`idempotency`]: repeatable responses.
//! * [`feedback`]: feedback about the service; [`cron`]: periodic jobs; [`due_hints`]: due deliveries of other nodes.
//! * [`operator`]: the state of the whole service, for operators.
//! * [`templates`]: previews of templates for notifications.
//! * [`sealing`]: checks and rotates the key that seals secrets.

pub mod alerts;
pub mod approvals;
mod config;
pub mod cron;
mod due_hints;
pub mod feedback;
pub mod firings;
pub mod idempotency;
pub mod operator;
mod redirect;
pub mod sealing;
mod start;
mod start_error;
pub mod templates;
mod use_cases;

pub use config::ServiceConfig;
pub use start::Service;
pub use start_error::StartError;
pub use store::model::{AccountId, AlertFilter, AlertRevision, AlertSort, AlertSortField, ApiKeyId};
pub use store::model::{HistoryPosition, HistoryRow, ListRequest, ListedHistoryRow, Page, PageRequest};
pub use use_cases::UseCases;

//! # Service: the use cases behind every interface
//!
//! REST, MCP and the command line call the same functions on a [`Service`]. Only this crate combines the store, the
//! engine and the clock.
//!
//! * [`access`]: authentication ([`Actor`]) and permissions ([`Scope`]); accounts and API keys.
//! * [`alerts`](mod@alerts): creates, reads, changes and deletes alerts.
//! * [`analyst`](mod@analyst): analyzes stocks by rules or by a language model.
//! * [`catalog`]: all known stocks.
//! * [`stocks`]: search, and data of a stock.
//! * [`market`]: intake of market data; market status.
//! * [`identity`]: registration, sign-in and account settings; [`messages`]: email and text messages.
//! * [`prices`]: current prices and fallbacks.
//! * [`oauth`]: OAuth authorization server.
//! * [`webhooks`]: webhooks and their deliveries; [`vault`]: seals secrets; [`sealing`]: checks and rotates its key.
//! * [`watchlist`]: watchlists, paper trades and their performance.
//! * [`blindness`]: notices to owners whose alerts cannot be evaluated.
//! * [`approvals`]: changes by agents that wait for approval; [`idempotency`]: repeatable responses.
//! * [`feedback`]: feedback about the service; [`cron`]: periodic jobs.
//! * [`evaluator`]: owns the engine. It passes events to the engine, commits its decisions, and passes on users'
//!   changes, each after its commit and in commit order.
//!
//! Every error is a [`ServiceError`], which does not depend on HTTP. Its message may be shown to the user and names the
//! fix; internal errors are logged and not shown.

pub mod access;
pub mod alerts;
pub mod analyst;
pub mod approvals;
pub mod blindness;
mod body;
pub mod catalog;
mod config;
pub mod cron;
pub mod error;
pub mod evaluator;
pub mod feedback;
pub mod idempotency;
pub mod identity;
mod links;
pub mod market;
pub mod messages;
pub mod oauth;
mod ports;
pub mod prices;
pub mod random;
mod redirect;
pub mod sealing;
mod start;
mod start_error;
pub mod stocks;
mod use_cases;
pub mod vault;
pub mod watchlist;
pub mod webhooks;

pub use access::{Actor, AuthMethod, CredentialKind, Scope};
pub use config::ServiceConfig;
pub use error::{ErrorsByField, ServiceError, StockCandidate};
pub use ports::Ports;
pub use random::Random;
pub use sources::Clock;
pub use start::Service;
pub use start_error::StartError;
pub use store::model::{AccountId, AlertFilter, AlertSort, AlertSortField, ApiKeyId, HistoryRow, Page, PageRequest};
pub use use_cases::UseCases;

//! # The service: the use cases, once, for every way in
//!
//! REST, MCP and the command line all call the same functions here, on a [`Service`]. This is the only room where the
//! store, the engine and the clock meet.
//!
//! * [`access`]: who asks ([`Actor`]) and what they may do ([`Scope`]); accounts and API keys.
//! * [`alerts`](mod@alerts): creating, reading, changing and deleting alerts.
//! * [`analyst`](mod@analyst): a stock looked at, by the rules or by a language model.
//! * [`catalog`]: every stock that is known.
//! * [`stocks`]: the catalog and what is known of a stock.
//! * [`market`]: what sources deliver comes in here; whether the market is open.
//! * [`identity`]: how people come to accounts, and look after them; [`messages`]: how they are written to.
//! * [`prices`]: current prices, and the fallbacks without one.
//! * [`oauth`]: how people let programs act for them.
//! * [`webhooks`]: the endpoints of accounts, and the deliveries to them; [`vault`]: seals secrets; [`sealing`]: checks and
//!   rotates its key.
//! * [`watchlist`]: what accounts mean to do with stocks, the paper trades that try it out, and their performance.
//! * [`blindness`]: owners are told when their alerts cannot be judged.
//! * [`feedback`]: what people think of the service; [`cron`]: what is done from time to time.
//! * [`evaluator`]: owns the engine. It tells it what happens, commits what it decides, and tells it what users
//!   changed, each change after its commit and in the order of the commits.
//!
//! Every refusal is a [`ServiceError`]: it knows nothing of HTTP, its message may be shown to the user and names the
//! mend; what went wrong inside is logged and not shown.

pub mod access;
pub mod alerts;
pub mod analyst;
pub mod approvals;
pub mod blindness;
mod body;
pub mod catalog;
pub mod chance;
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
pub mod prices;
mod redirect;
pub mod sealing;
mod start;
pub mod stocks;
mod use_cases;
pub mod vault;
pub mod watchlist;
pub mod webhooks;

pub use access::{Actor, Scope, Shown, Via};
pub use chance::Chance;
pub use error::{Fields, ServiceError, StockCandidate};
pub use sources::Clock;
pub use start::{Ports, Service, Settings, StartError};
pub use store::model::{AccountId, AlertFilter, AlertSort, AlertSortField, ApiKeyId, HistoryRow, Page, PageRequest};
pub use use_cases::UseCases;

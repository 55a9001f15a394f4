//! # Foundation: what the use cases of every area share
//!
//! * [`ServiceError`]: the error of use cases. It does not depend on HTTP; its message may be shown to the user and
//!   names the fix. Internal errors are logged and not shown.
//! * [`Actor`]: the authenticated caller, with its [`AuthMethod`] and permissions ([`Scope`]); [`account`]: locks and
//!   checks of its account; [`plan_limits`]: limits of its plan; [`route_check`]: the channels of routes;
//!   [`template_check`]: the templates of messages.
//! * [`Ports`]: database, clock, randomness, vault and network, passed as parameters.
//! * [`JobLease`]: of several processes on one database, one runs a background job.
//! * [`SharedLimiter`]: limits that hold for all processes on one database together.
//! * [`Roles`]: the parts of the service that a node of a cluster runs; [`DispatchShare`]: its part of the deliveries.
//! * [`vault`]: seals secrets; [`secret`]: generates secrets and hashes them.
//! * [`scope_members`]: the stocks of an alert over many stocks.
//! * [`mod@request`]: request bodies: their readers, which collect all errors, and their schemas.

pub mod account;
mod actor;
mod dispatch_share;
pub mod error;
mod job_lease;
pub mod links;
pub mod made_by;
pub mod network;
pub mod plan_limits;
mod ports;
pub mod quiet_hours;
pub mod random;
pub mod request;
mod roles;
pub mod route_check;
mod scope;
pub mod scope_members;
pub mod secret;
mod shared_limiter;
pub mod template_check;
pub mod vault;

pub use actor::{Actor, AuthMethod, CredentialKind};
pub use dispatch_share::DispatchShare;
pub use error::{ErrorsByField, ServiceError, StockCandidate};
pub use job_lease::JobLease;
pub use made_by::MadeBy;
pub use network::Network;
pub use ports::{Ports, TransactionFuture};
pub use random::Random;
pub use roles::{InvalidRoles, Role, Roles};
pub use scope::Scope;
pub use shared_limiter::{LimitKey, SharedDecision, SharedLimit, SharedLimiter};

//! Alerts: created, read, changed, deleted.

mod change;
mod create;
mod delete;
mod history;
mod read;
mod view;

pub use create::Created;
pub use view::{AlertDetail, AlertItem, Judged};

//! Alerts over many stocks.
//!
//! Such an alert is stored as a template, which is never evaluated, and as one member for each of its stocks
//! ([`foundation::scope_members`]). A change of the alert is a change of the template and of all members in one transaction.

mod change;
mod create;
mod members;

pub(in crate::alerts) use create::{at_place, check_quota};
pub use members::AlertMember;

use alerts::AlertScope;
use foundation::ServiceError;
use serde_json::Value;

/// Returns what stands for the stock of an alert over many stocks where its name is shown.
pub(crate) fn name_of_stocks(scope: &AlertScope) -> String {
    match scope {
        AlertScope::Symbols(symbols) if symbols.len() == 1 => "1 stock".to_owned(),
        AlertScope::Symbols(symbols) => format!("{} stocks", symbols.len()),
        AlertScope::Watchlist(None) => "the watchlist".to_owned(),
        AlertScope::Watchlist(Some(intention)) => format!("the watchlist, intention {intention}"),
    }
}

/// Reads the scope of a request.
pub(crate) fn read_scope(value: &Value) -> Result<AlertScope, ServiceError> {
    AlertScope::read(value).map_err(|errors| {
        let fields = errors
            .iter()
            .map(|(field, messages)| (field.to_owned(), messages.to_vec()));
        ServiceError::fields(fields.collect())
    })
}

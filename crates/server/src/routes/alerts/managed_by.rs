//! The source and the name of an alert that a program manages, in responses.

use alerts::ManagedBy;

use crate::routes::prelude::*;

/// The source that manages an alert, and the alert's name there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ManagedBy)]
pub struct ManagedByView {
    /// The source.
    #[schema(min_length = 1, max_length = 100, example = "trading-alerts")]
    pub source: String,
    /// The name, which no other alert of the account has in this source.
    #[schema(min_length = 1, max_length = 100, example = "apple-oversold")]
    pub name: String,
}

impl ManagedByView {
    pub(crate) fn of(managed_by: &ManagedBy) -> Self {
        Self {
            source: managed_by.source().to_owned(),
            name: managed_by.name().to_owned(),
        }
    }
}

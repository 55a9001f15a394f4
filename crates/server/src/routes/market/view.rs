//! Prices of many stocks as JSON.

use serde::Serialize;
use service::market::ListedQuote;
use utoipa::ToSchema;

use crate::routes::stocks::quotes::Quote;

/// A stock with its name and its last price.
#[derive(Debug, Serialize, ToSchema)]
pub struct Mover {
    /// Its last price.
    #[serde(flatten)]
    pub quote: Quote,
    /// The company's name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
}

impl Mover {
    /// That of a stock of the catalog.
    #[must_use]
    pub fn of(listed: ListedQuote) -> Self {
        let ListedQuote { row, quote } = listed;
        Self {
            quote: Quote::of(quote),
            name: row.name,
        }
    }
}

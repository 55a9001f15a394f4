//! Prices of many stocks as JSON.

use serde::Serialize;
use service::market::{Coverage, ListedQuote};
use utoipa::ToSchema;

use crate::routes::stocks::quotes::Quote;

/// How many companies a figure of the whole market counts.
#[derive(Debug, Serialize, ToSchema)]
pub struct CoverageView {
    /// The companies with a price of the session and a close of the one before.
    #[schema(minimum = 0, example = 503)]
    pub stocks: u32,
    /// The companies of the catalog that are traded.
    #[schema(minimum = 0, example = 512)]
    pub of: u32,
}

impl CoverageView {
    /// As the service counts them.
    #[must_use]
    pub const fn of(coverage: Coverage) -> Self {
        Self {
            stocks: coverage.stocks,
            of: coverage.of,
        }
    }
}

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

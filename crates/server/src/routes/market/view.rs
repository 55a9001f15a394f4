//! Market-wide figures in responses.

use evaluation::market::{Coverage, ListedQuote};

use crate::routes::prelude::*;
use crate::routes::stocks::quotes::QuoteResponse;

/// Number of companies that a market-wide figure covers.
#[derive(Debug, Serialize, ToSchema)]
pub struct CoverageView {
    /// Companies with a price in the session and a close of the previous session.
    #[schema(minimum = 0, example = 503)]
    pub stocks: u32,
    /// Companies of the catalog that are still traded.
    #[schema(minimum = 0, example = 512)]
    pub of: u32,
}

impl CoverageView {
    pub(crate) const fn of(coverage: Coverage) -> Self {
        Self {
            stocks: coverage.stocks,
            of: coverage.of,
        }
    }
}

/// A quote with the company's name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Mover)]
pub struct NamedQuote {
    /// The last quote.
    #[serde(flatten)]
    pub quote: QuoteResponse,
    /// Company name.
    #[schema(example = "Apple Inc.")]
    pub name: String,
}

impl NamedQuote {
    pub(crate) fn of(listed: ListedQuote) -> Self {
        let ListedQuote { row, quote } = listed;
        Self {
            quote: QuoteResponse::of(quote),
            name: row.name,
        }
    }
}

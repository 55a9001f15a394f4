//! Parser of ApeWisdom's responses.

use jiff::Timestamp;
use market::records::MentionRow;

use super::NAME;
use super::models::{Mentioned, Page as Model};
use crate::provider::json::{self, RowReader};
use crate::provider::paged_request::Page;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::{DataResponse, InvalidRow, ProviderError};

/// Parses a page of counts. Counts are stored at `day`; the next page is given by its number.
pub(super) fn page(body: &[u8], requested: &RequestedSymbols, day: Timestamp) -> Result<Page, ProviderError> {
    let page: Model<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in &page.results {
        let Some(stock) = response.parse::<Mentioned<'_>>("a stock", element) else {
            continue;
        };
        let (symbols, row) = (requested.symbols_for(&stock.ticker), RowReader { label: &stock.ticker });
        if symbols.is_empty() {
            continue;
        }
        let count = row.integer("mentions", stock.mentions).and_then(|count| {
            u32::try_from(count).map_err(|_| {
                InvalidRow::with_message(row.label, "mentions", &count.to_string(), "is not a valid count")
            })
        });
        if let Some(mentions) = response.invalid_rows.keep_valid(count) {
            response.batch.mentions.extend(symbols.iter().map(|&symbol| MentionRow {
                symbol,
                time: day,
                mentions,
            }));
        }
    }
    let next_page = (page.current_page < page.pages).then(|| (page.current_page + 1).to_string());
    Ok(Page { response, next_page })
}

//! ApeWisdom's answers as records.

use jiff::Timestamp;
use market::records::MentionRow;

use super::NAME;
use super::models::{Mentioned, Page as Model};
use crate::provider::asked::Asked;
use crate::provider::errand::Page;
use crate::provider::json::{self, Row};
use crate::provider::{Answer, Fault, ProviderError};

/// A page of counts, kept under `day`, and the number of the next page.
pub(super) fn page(body: &[u8], asked: &Asked, day: Timestamp) -> Result<Page, ProviderError> {
    let page: Model<'_> = json::body(NAME, body)?;
    let mut answer = Answer::default();
    for element in &page.results {
        let Some(stock) = answer.faults.keep(json::element::<Mentioned<'_>>("a stock", element)) else {
            continue;
        };
        let (symbols, row) = (asked.of(&stock.ticker), Row { of: &stock.ticker });
        if symbols.is_empty() {
            continue;
        }
        let count = row.whole("mentions", stock.mentions).and_then(|count| {
            u32::try_from(count).map_err(|_| Fault::said(row.of, "mentions", &count.to_string(), "is no count"))
        });
        if let Some(mentions) = answer.faults.keep(count) {
            answer.batch.mentions.extend(symbols.iter().map(|&symbol| MentionRow {
                symbol,
                time: day,
                mentions,
            }));
        }
    }
    let next = (page.current_page < page.pages).then(|| (page.current_page + 1).to_string());
    Ok(Page { answer, next })
}

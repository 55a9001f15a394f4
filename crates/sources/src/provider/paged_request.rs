//! Requests in chunks of symbols and in pages.
//!
//! An adapter supplies the URL of each page and parses it ([`PagedRequest`]); [`fetch_all`] fetches all chunks and pages.

use url::Url;

use super::http::HttpClient;
use super::requested_symbols::RequestedSymbols;
use super::{DataResponse, ProviderError};

/// Maximum number of pages of one request. More pages mean that the provider repeats itself.
const MAX_PAGES: usize = 1_000;

/// A page of a response.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The page's records.
    pub(super) response: DataResponse,
    /// The provider's token or URL of the next page; `None` on the last page.
    pub(super) next_page: Option<String>,
}

impl From<DataResponse> for Page {
    fn from(response: DataResponse) -> Self {
        Self {
            response,
            next_page: None,
        }
    }
}

/// A request that the provider answers in pages. Implementations do no I/O.
pub(super) trait PagedRequest: Sync {
    /// Returns the URL of a page of this chunk. `page` is the previous page's `next_page`.
    fn url(&self, chunk: &RequestedSymbols, page: Option<&str>) -> Url;

    /// Parses a page.
    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError>;

    /// Returns whether a page covers the whole market, so that the size limit of catalogs applies.
    fn covers_market(&self) -> bool {
        false
    }
}

/// Fetches all chunks. A symbol that the provider does not find, or rejects by name, is reported as unknown; the other symbols
/// are still fetched.
pub(super) async fn fetch_all(
    http: &HttpClient,
    request: &dyn PagedRequest,
    chunks: Vec<RequestedSymbols>,
) -> Result<DataResponse, ProviderError> {
    let mut response = DataResponse::default();
    for mut chunk in chunks {
        loop {
            match fetch_pages(http, request, &chunk).await {
                Ok(pages) => response.append(pages),
                Err(ProviderError::NotFound { .. }) if chunk.len() == 1 => {
                    response.unknown.extend(chunk.missing(|_| false))
                }
                Err(ProviderError::Rejected { symbol: Some(name), .. }) if !chunk.symbols_for(&name).is_empty() => {
                    response.unknown.extend(chunk.remove(&name));
                    if chunk.len() > 0 {
                        continue;
                    }
                }
                Err(error) => return Err(error),
            }
            break;
        }
    }
    Ok(response)
}

async fn fetch_pages(
    http: &HttpClient,
    request: &dyn PagedRequest,
    chunk: &RequestedSymbols,
) -> Result<DataResponse, ProviderError> {
    let (mut response, mut token) = (DataResponse::default(), None::<String>);
    for _ in 0..MAX_PAGES {
        let url = request.url(chunk, token.as_deref());
        let body = if request.covers_market() {
            http.get_catalog(url).await?
        } else {
            http.get(url).await?
        };
        let page = request.read(&body, chunk)?;
        response.append(page.response);
        match page.next_page {
            None => return Ok(response),
            next_page if next_page == token => break,
            next_page => token = next_page,
        }
    }
    Err(ProviderError::Malformed {
        provider: http.tier().provider,
        detail: format!("the pages repeat, or exceed {MAX_PAGES}"),
    })
}

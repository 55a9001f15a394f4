//! ApeWisdom's requests for each [`DataRequest`].

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::{ApeWisdom, NAME, parse};
use crate::provider::paged_request::{self, Page, PagedRequest};
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataRequest, FetchFuture, Provider, ProviderError, Tier};

impl Provider for ApeWisdom {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(async move {
            let DataRequest::Mentions(symbols) = request else {
                return Err(ProviderError::not_offered(NAME, request.capability()));
            };
            let now = self.http.now();
            let midnight = now
                .to_zoned(TimeZone::UTC)
                .start_of_day()
                .map_or(now, |midnight| midnight.timestamp());
            let pages = ApeWisdomRequest {
                provider: self,
                day: midnight,
            };
            let requested = RequestedSymbols::new(symbols, TickerStyle::Dot);
            paged_request::fetch_all(&self.http, &pages, vec![requested]).await
        })
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

struct ApeWisdomRequest<'a> {
    provider: &'a ApeWisdom,
    day: Timestamp,
}

impl PagedRequest for ApeWisdomRequest<'_> {
    fn url(&self, _: &RequestedSymbols, page: Option<&str>) -> Url {
        self.provider
            .api
            .join(&["filter", "all-stocks", "page", page.unwrap_or("1")], &[])
    }

    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError> {
        parse::page(body, chunk, self.day)
    }
}

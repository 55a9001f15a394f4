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
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(async move {
            let DataRequest::Mentions(symbols) = request else {
                return Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: request.capability().name(),
                });
            };
            let now = self.setup.clock.now();
            let midnight = now
                .to_zoned(TimeZone::UTC)
                .start_of_day()
                .map_or(now, |midnight| midnight.timestamp());
            let pages = ApeWisdomRequest {
                provider: self,
                day: midnight,
            };
            paged_request::fetch_all(
                NAME,
                &self.http,
                &pages,
                vec![RequestedSymbols::new(symbols, TickerStyle::Dot)],
            )
            .await
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

//! Which requests a question takes.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::{ApeWisdom, NAME, parse};
use crate::provider::asked::Asked;
use crate::provider::errand::{self, Errand, Page};
use crate::provider::symbols::Style;
use crate::provider::{Ask, Fetch, Provider, ProviderError, Tier};

impl Provider for ApeWisdom {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        Box::pin(async move {
            let Ask::Mentions(symbols) = ask else {
                return Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: ask.capability().name(),
                });
            };
            let now = self.setup.clock.now();
            let midnight = now
                .to_zoned(TimeZone::UTC)
                .start_of_day()
                .map_or(now, |midnight| midnight.timestamp());
            let pages = Pages {
                of: self,
                day: midnight,
            };
            errand::run(NAME, &self.http, &pages, vec![Asked::new(symbols, Style::Dot)]).await
        })
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

struct Pages<'a> {
    of: &'a ApeWisdom,
    day: Timestamp,
}

impl Errand for Pages<'_> {
    fn url(&self, _: &Asked, page: Option<&str>) -> Url {
        self.of
            .api
            .at(&["filter", "all-stocks", "page", page.unwrap_or("1")], &[])
    }

    fn read(&self, body: &[u8], piece: &Asked) -> Result<Page, ProviderError> {
        parse::page(body, piece, self.day)
    }
}

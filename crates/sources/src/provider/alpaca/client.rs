//! Alpaca's requests for each [`DataRequest`].

use jiff::{SignedDuration, Timestamp};
use url::Url;

use super::{Alpaca, AlpacaFeed, FREE_PLAN_SIP_DELAY, NAME, parse};
use crate::provider::paged_request::{self, Page, PagedRequest};
use crate::provider::request::BarRange;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::stream::StreamProtocol;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataRequest, DataResponse, DateRange, FetchFuture, Provider, ProviderError, Tier};

/// Maximum rows per page.
const BARS_PER_PAGE: &str = "10000";
const ACTIONS_PER_PAGE: &str = "1000";

impl Provider for Alpaca {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(self.fetch_data(request))
    }

    fn stream(&self) -> Option<Box<dyn StreamProtocol>> {
        Some(Box::new(super::AlpacaStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Alpaca {
    async fn fetch_data(&self, request: &DataRequest) -> Result<DataResponse, ProviderError> {
        let kind = match request {
            DataRequest::Catalog => RequestKind::Catalog,
            DataRequest::Quotes(_) => RequestKind::Quotes,
            DataRequest::MinuteBars(_, times) => RequestKind::Bars {
                timeframe: "1Min",
                feed: self.config.feed.for_bars(),
                span: [times.from.to_string(), self.limit_end(times.to.to_string(), times.to)],
                range: BarRange::Minute(*times),
            },
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => RequestKind::Bars {
                timeframe: "1Day",
                feed: AlpacaFeed::Sip,
                span: [days.from.to_string(), self.limit_last_date(*days)],
                range: BarRange::Daily(*days),
            },
            DataRequest::Splits(_, days) => RequestKind::Actions("forward_split,reverse_split", *days),
            DataRequest::Dividends(_, days) => RequestKind::Actions("cash_dividend", *days),
            DataRequest::Fundamentals(_)
            | DataRequest::Earnings(..)
            | DataRequest::InsiderTrades(..)
            | DataRequest::Mentions(_) => {
                return Err(ProviderError::not_offered(NAME, request.capability()));
            }
        };
        let chunks = match request {
            DataRequest::Catalog => RequestedSymbols::empty_chunk(),
            _ => RequestedSymbols::new(request.symbols(), TickerStyle::Dot)
                .chunks(self.http.tier().max_symbols_per_request(request.capability())),
        };
        let paged = AlpacaRequest { provider: self, kind };
        paged_request::fetch_all(&self.http, &paged, chunks).await
    }
}

impl Alpaca {
    /// Returns a range's end as `text`, or earlier if the plan has no data of all exchanges that recent.
    fn limit_end(&self, text: String, end: Timestamp) -> String {
        if self.config.feed != AlpacaFeed::DelayedSip {
            return text;
        }
        self.clamp_to_available(text, end)
    }

    /// Returns the last date of the range, or an earlier instant if the plan has no data of all exchanges for that day yet.
    fn limit_last_date(&self, days: DateRange) -> String {
        let day = days.to.to_string();
        let midnight = days.to.tomorrow().and_then(|next| next.in_tz("America/New_York"));
        match midnight {
            Ok(midnight) if self.config.feed != AlpacaFeed::Sip => self.clamp_to_available(day, midnight.timestamp()),
            _ => day,
        }
    }

    fn clamp_to_available(&self, text: String, end: Timestamp) -> String {
        let available = self
            .http
            .now()
            .saturating_sub(FREE_PLAN_SIP_DELAY)
            .unwrap_or(Timestamp::MIN);
        if end > available { available.to_string() } else { text }
    }
}

fn span(days: DateRange) -> [String; 2] {
    [days.from.to_string(), days.to.to_string()]
}

enum RequestKind {
    Catalog,
    Quotes,
    Bars {
        timeframe: &'static str,
        feed: AlpacaFeed,
        span: [String; 2],
        range: BarRange,
    },
    Actions(&'static str, DateRange),
}

struct AlpacaRequest<'a> {
    provider: &'a Alpaca,
    kind: RequestKind,
}

impl PagedRequest for AlpacaRequest<'_> {
    fn url(&self, chunk: &RequestedSymbols, page: Option<&str>) -> Url {
        let (symbols, feed) = (chunk.comma_separated(), self.provider.config.feed.name());
        let (path, mut query, span): (&[&str], Vec<(&str, &str)>, [String; 2]);
        match &self.kind {
            RequestKind::Catalog => {
                let query = [("status", "active"), ("asset_class", "us_equity")];
                return self.provider.trading.join(&["v2", "assets"], &query);
            }
            RequestKind::Quotes => {
                let query = [("symbols", symbols.as_str()), ("feed", feed)];
                return self.provider.data.join(&["v2", "stocks", "snapshots"], &query);
            }
            RequestKind::Bars {
                timeframe,
                feed,
                span: of,
                ..
            } => {
                span = of.clone();
                path = &["v2", "stocks", "bars"];
                query = vec![
                    ("timeframe", *timeframe),
                    ("limit", BARS_PER_PAGE),
                    ("adjustment", "raw"),
                    ("feed", feed.name()),
                ];
            }
            RequestKind::Actions(types, days) => {
                span = self::span(*days);
                path = &["v1", "corporate-actions"];
                query = vec![("types", *types), ("limit", ACTIONS_PER_PAGE)];
            }
        }
        query.extend([("symbols", symbols.as_str()), ("start", &span[0]), ("end", &span[1])]);
        query.extend(page.map(|page| ("page_token", page)));
        self.provider.data.join(path, &query)
    }

    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError> {
        match &self.kind {
            RequestKind::Catalog => parse::assets(body).map(Page::from),
            RequestKind::Quotes => {
                parse::snapshots(body, chunk, self.provider.config.feed.has_market_volume()).map(Page::from)
            }
            RequestKind::Bars { range, .. } => parse::bars(body, chunk, *range),
            RequestKind::Actions(_, days) => parse::actions(body, chunk, *days),
        }
    }

    fn covers_market(&self) -> bool {
        matches!(self.kind, RequestKind::Catalog)
    }
}

//! Massive's requests for each [`DataRequest`].

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Span};
use market::calendar::new_york_date;
use url::Url;

use super::{Massive, NAME, parse};
use crate::provider::paged_request::{self, Page, PagedRequest};
use crate::provider::request::BarRange;
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::stream::StreamProtocol;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataRequest, DataResponse, DateRange, FetchFuture, Provider, ProviderError, Tier};

/// Maximum number of symbols per snapshot request. For more, the snapshot of the whole market is requested.
const MAX_SYMBOLS_PER_SNAPSHOT: usize = 250;

impl Provider for Massive {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(self.fetch_data(request))
    }

    fn stream(&self) -> Option<Box<dyn StreamProtocol>> {
        Some(Box::new(super::MassiveStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Massive {
    async fn fetch_data(&self, request: &DataRequest) -> Result<DataResponse, ProviderError> {
        let requested = RequestedSymbols::new(request.symbols(), TickerStyle::Dot);
        let chunks = match request {
            DataRequest::Catalog => RequestedSymbols::empty_chunk(),
            DataRequest::Quotes(_) | DataRequest::Splits(..) | DataRequest::Dividends(..) if requested.len() > 0 => {
                vec![requested]
            }
            DataRequest::DailyBars(_, days) => return self.daily_bars(request, requested, *days).await,
            DataRequest::MinuteBars(..) | DataRequest::Fundamentals(_) | DataRequest::Benchmark(..) => {
                requested.chunks(1)
            }
            DataRequest::Quotes(_) | DataRequest::Splits(..) | DataRequest::Dividends(..) => Vec::new(),
            DataRequest::Earnings(..) | DataRequest::InsiderTrades(..) | DataRequest::Mentions(_) => {
                return Err(ProviderError::not_offered(NAME, request.capability()));
            }
        };
        let requests = MassiveRequest {
            provider: self,
            request,
            day: None,
        };
        paged_request::fetch_all(&self.http, &requests, chunks).await
    }

    /// Fetches daily bars day by day for many symbols, or symbol by symbol for few: whichever takes fewer requests.
    async fn daily_bars(
        &self,
        request: &DataRequest,
        requested: RequestedSymbols,
        days: DateRange,
    ) -> Result<DataResponse, ProviderError> {
        let is_working = |day: &Date| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        let all = days.from.series(Span::new().days(1)).take_while(|&day| day <= days.to);
        let working: Vec<Date> = all.filter(is_working).collect();
        if requested.len() <= working.len() {
            let requests = MassiveRequest {
                provider: self,
                request,
                day: None,
            };
            return paged_request::fetch_all(&self.http, &requests, requested.chunks(1)).await;
        }
        let mut response = DataResponse::default();
        for day in working {
            let requests = MassiveRequest {
                provider: self,
                request,
                day: Some(day),
            };
            response.append(paged_request::fetch_all(&self.http, &requests, vec![requested.clone()]).await?);
        }
        Ok(response)
    }
}

struct MassiveRequest<'a> {
    provider: &'a Massive,
    request: &'a DataRequest,
    /// The date, if the request is for all stocks' bars of one day.
    day: Option<Date>,
}

impl MassiveRequest<'_> {
    fn range(&self, symbol: &str, unit: &str, from: &str, to: &str) -> Url {
        let query = [("adjusted", "false"), ("sort", "asc"), ("limit", "50000")];
        self.provider
            .api
            .join(&["v2", "aggs", "ticker", symbol, "range", "1", unit, from, to], &query)
    }

    fn events(&self, kind: &str, date: &str, days: DateRange, chunk: &RequestedSymbols) -> Url {
        let (from, to) = (days.from.to_string(), days.to.to_string());
        let (min_name, max_name) = (format!("{date}.gte"), format!("{date}.lte"));
        let mut query = vec![(min_name.as_str(), from.as_str()), (&max_name, &to), ("limit", "1000")];
        if chunk.len() == 1 {
            query.push(("ticker", chunk.first_name()));
        }
        self.provider.api.join(&["v3", "reference", kind], &query)
    }
}

impl PagedRequest for MassiveRequest<'_> {
    fn url(&self, chunk: &RequestedSymbols, page: Option<&str>) -> Url {
        if let Some(page) = page {
            return self.provider.api.with_path_and_query(page);
        }
        match self.request {
            DataRequest::Catalog => {
                let query = [("market", "stocks"), ("active", "true"), ("limit", "1000")];
                self.provider.api.join(&["v3", "reference", "tickers"], &query)
            }
            DataRequest::Quotes(_) => {
                let list = chunk.comma_separated();
                let query = [("tickers", list.as_str())];
                let named = if chunk.len() <= MAX_SYMBOLS_PER_SNAPSHOT {
                    &query[..]
                } else {
                    &[]
                };
                self.provider.api.join(
                    &["v2", "snapshot", "locale", "us", "markets", "stocks", "tickers"],
                    named,
                )
            }
            DataRequest::MinuteBars(_, times) => {
                let [from, to] = [times.from, times.to].map(|time| time.as_millisecond().to_string());
                self.range(chunk.first_name(), "minute", &from, &to)
            }
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => match self.day {
                None => self.range(chunk.first_name(), "day", &days.from.to_string(), &days.to.to_string()),
                Some(day) => {
                    let path = [
                        "v2",
                        "aggs",
                        "grouped",
                        "locale",
                        "us",
                        "market",
                        "stocks",
                        &day.to_string(),
                    ];
                    self.provider.api.join(&path, &[("adjusted", "false")])
                }
            },
            DataRequest::Splits(_, days) => self.events("splits", "execution_date", *days, chunk),
            DataRequest::Dividends(_, days) => self.events("dividends", "ex_dividend_date", *days, chunk),
            _ => self
                .provider
                .api
                .join(&["v3", "reference", "tickers", chunk.first_name()], &[]),
        }
    }

    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError> {
        match self.request {
            DataRequest::Catalog => parse::catalog(body),
            DataRequest::Quotes(_) => parse::snapshots(body, chunk).map(Page::from),
            DataRequest::MinuteBars(_, times) => parse::bars(body, chunk, BarRange::Minute(*times)),
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => {
                parse::bars(body, chunk, BarRange::Daily(*days))
            }
            DataRequest::Splits(_, days) => parse::splits(body, chunk, *days),
            DataRequest::Dividends(_, days) => parse::dividends(body, chunk, *days),
            _ => parse::overview(body, chunk, new_york_date(self.provider.http.now())).map(Page::from),
        }
    }

    fn covers_market(&self) -> bool {
        matches!(self.request, DataRequest::Catalog | DataRequest::Quotes(_)) || self.day.is_some()
    }
}

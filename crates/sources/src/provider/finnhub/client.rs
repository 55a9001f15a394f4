//! Finnhub's requests for each [`DataRequest`].

use jiff::{SignedDuration, Span};
use market::calendar::new_york_date;
use url::Url;

use super::{Finnhub, parse, parse_activity};
use crate::provider::paged_request::{self, Page, PagedRequest};
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::stream::StreamProtocol;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataRequest, DataResponse, DateRange, FetchFuture, Provider, ProviderError, Tier};

/// Number of days per request of the whole market's earnings calendar.
const CALENDAR_CHUNK_DAYS: i64 = 3;

impl Provider for Finnhub {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(async move {
            match request {
                DataRequest::Earnings(symbols, days) => self.earnings(request, symbols, *days).await,
                _ => self.one_by_one(request).await,
            }
        })
    }

    fn stream(&self) -> Option<Box<dyn StreamProtocol>> {
        Some(Box::new(super::FinnhubStream::new(&self.config, &self.stream)))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Finnhub {
    async fn one_by_one(&self, request: &DataRequest) -> Result<DataResponse, ProviderError> {
        let chunks = match request {
            DataRequest::Catalog => RequestedSymbols::empty_chunk(),
            _ => RequestedSymbols::new(request.symbols(), TickerStyle::Dot).chunks(1),
        };
        let requests = FinnhubRequest {
            provider: self,
            request,
            days: None,
        };
        paged_request::fetch_all(&self.http, &requests, chunks).await
    }

    /// Fetches earnings symbol by symbol, or for the whole market in chunks of days: whichever takes fewer requests.
    async fn earnings(
        &self,
        request: &DataRequest,
        symbols: &[market::Symbol],
        days: DateRange,
    ) -> Result<DataResponse, ProviderError> {
        let requested = RequestedSymbols::new(symbols, TickerStyle::Dot);
        let step = Span::new().days(CALENDAR_CHUNK_DAYS);
        let starts: Vec<_> = days.from.series(step).take_while(|&from| from <= days.to).collect();
        if requested.len() <= starts.len() {
            return self.one_by_one(request).await;
        }
        let mut response = DataResponse::default();
        for from in starts {
            let to = from
                .saturating_add(Span::new().days(CALENDAR_CHUNK_DAYS - 1))
                .min(days.to);
            let requests = FinnhubRequest {
                provider: self,
                request,
                days: Some(DateRange { from, to }),
            };
            response.append(paged_request::fetch_all(&self.http, &requests, vec![requested.clone()]).await?);
        }
        Ok(response)
    }
}

struct FinnhubRequest<'a> {
    provider: &'a Finnhub,
    request: &'a DataRequest,
    /// The days of a request for the whole market's calendar; `None` for a request by symbol.
    days: Option<DateRange>,
}

impl PagedRequest for FinnhubRequest<'_> {
    fn url(&self, chunk: &RequestedSymbols, _: Option<&str>) -> Url {
        let symbol = [("symbol", chunk.first_name())];
        let at = |path: &[&str], more: &[(&str, &str)]| self.provider.api.join(path, &[&symbol[..], more].concat());
        let span = |days: DateRange| [days.from.to_string(), days.to.to_string()];
        match self.request {
            DataRequest::Catalog => self.provider.api.join(&["stock", "symbol"], &[("exchange", "US")]),
            DataRequest::Quotes(_) => at(&["quote"], &[]),
            DataRequest::Fundamentals(_) => at(&["stock", "metric"], &[("metric", "all")]),
            DataRequest::MinuteBars(_, times) => {
                let [from, to] = [times.from, times.to].map(|time| time.as_second().to_string());
                at(
                    &["stock", "candle"],
                    &[("resolution", "1"), ("from", &from), ("to", &to)],
                )
            }
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => {
                let second = |date: jiff::civil::Date, days: i64| {
                    let date = date.saturating_add(Span::new().days(days));
                    let midnight = date.in_tz("UTC").map(|midnight| midnight.timestamp().as_second());
                    midnight.unwrap_or_default().to_string()
                };
                let (from, to) = (second(days.from, 0), second(days.to, 1));
                at(
                    &["stock", "candle"],
                    &[("resolution", "D"), ("from", &from), ("to", &to)],
                )
            }
            DataRequest::Earnings(_, days) => {
                let [from, to] = span(self.days.unwrap_or(*days));
                let query = [("from", from.as_str()), ("to", &to)];
                match self.days {
                    Some(_) => self.provider.api.join(&["calendar", "earnings"], &query),
                    None => at(&["calendar", "earnings"], &query),
                }
            }
            DataRequest::Dividends(_, days) | DataRequest::Splits(_, days) | DataRequest::InsiderTrades(_, days) => {
                let name = match self.request {
                    DataRequest::Dividends(..) => "dividend",
                    DataRequest::Splits(..) => "split",
                    _ => "insider-transactions",
                };
                let [from, to] = span(*days);
                at(&["stock", name], &[("from", &from), ("to", &to)])
            }
            DataRequest::Mentions(_) => {
                let today = new_york_date(self.provider.http.now());
                // The week before the last day establishes the usual number of mentions.
                let [from, to] = span(DateRange {
                    from: today.saturating_sub(Span::new().days(8)),
                    to: today.saturating_add(Span::new().days(1)),
                });
                at(&["stock", "social-sentiment"], &[("from", &from), ("to", &to)])
            }
        }
    }

    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError> {
        let response = match self.request {
            DataRequest::Catalog => parse::catalog(body),
            DataRequest::Quotes(_) => parse::quote(body, chunk),
            DataRequest::Fundamentals(_) => parse::metrics(body, chunk, new_york_date(self.provider.http.now())),
            DataRequest::MinuteBars(_, times) => parse::candles(body, chunk, |time| times.contains(time), false),
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => {
                let date = |time: jiff::Timestamp| time.to_zoned(jiff::tz::TimeZone::UTC).date();
                parse::candles(body, chunk, |time| days.contains(date(time)), true)
            }
            DataRequest::Earnings(_, days) => parse::earnings(body, chunk, *days),
            DataRequest::Dividends(_, days) => parse::dividends(body, chunk, *days),
            DataRequest::Splits(_, days) => parse::splits(body, chunk, *days),
            DataRequest::InsiderTrades(_, days) => parse_activity::insiders(body, chunk, *days),
            DataRequest::Mentions(_) => parse_activity::sentiment(body, chunk),
        };
        response.map(Page::from)
    }

    fn covers_market(&self) -> bool {
        matches!(self.request, DataRequest::Catalog)
    }
}

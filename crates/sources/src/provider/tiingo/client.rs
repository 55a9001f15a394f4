//! Tiingo's requests for each [`DataRequest`].

use jiff::{SignedDuration, Span};
use market::calendar::new_york_date;
use url::Url;

use super::parse::{self, DailyDataKind};
use super::{NAME, Tiingo};
use crate::provider::paged_request::{self, Page, PagedRequest};
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::ticker_style::TickerStyle;
use crate::provider::{DataRequest, DataResponse, FetchFuture, Provider, ProviderError, Tier};

impl Provider for Tiingo {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(self.fetch_data(request))
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Tiingo {
    async fn fetch_data(&self, request: &DataRequest) -> Result<DataResponse, ProviderError> {
        let requested = RequestedSymbols::new(request.symbols(), TickerStyle::Dash);
        match request {
            DataRequest::Fundamentals(_) => return self.fundamentals(&requested).await,
            DataRequest::Catalog
            | DataRequest::Earnings(..)
            | DataRequest::InsiderTrades(..)
            | DataRequest::Mentions(_) => {
                return Err(ProviderError::not_offered(NAME, request.capability()));
            }
            _ => {}
        }
        let chunks = requested.chunks(self.http.tier().max_symbols_per_request(request.capability()));
        let requests = TiingoRequest {
            provider: self,
            request,
        };
        paged_request::fetch_all(&self.http, &requests, chunks).await
    }

    /// Fetches fundamentals with two requests a symbol: the statements, and the daily market capitalisation.
    async fn fundamentals(&self, requested: &RequestedSymbols) -> Result<DataResponse, ProviderError> {
        let today = new_york_date(self.http.now());
        let mut response = DataResponse::default();
        for chunk in requested.chunks(1) {
            let name = chunk.first_name();
            let at = |file: &str, query: &[(&str, &str)]| self.api.join(&["tiingo", "fundamentals", name, file], query);
            // Five quarters, and the time until they are filed.
            let since = today.saturating_sub(Span::new().days(600)).to_string();
            let statements = at("statements", &[("startDate", &since), ("asReported", "true")]);
            let statements = match self.http.get(statements).await {
                Ok(statements) => statements,
                Err(ProviderError::NotFound { .. }) => {
                    response.unknown.extend(chunk.missing(|_| false));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let eps = parse::trailing_eps(&statements, name)?;
            let since = today.saturating_sub(Span::new().days(10)).to_string();
            let daily = self.http.get(at("daily", &[("startDate", &since)])).await?;
            let cap = parse::market_cap(&daily, name)?;
            response.append(parse::fundamentals(&chunk, eps, cap));
        }
        Ok(response)
    }
}

struct TiingoRequest<'a> {
    provider: &'a Tiingo,
    request: &'a DataRequest,
}

impl PagedRequest for TiingoRequest<'_> {
    fn url(&self, chunk: &RequestedSymbols, _: Option<&str>) -> Url {
        match self.request {
            DataRequest::Quotes(_) => self
                .provider
                .api
                .join(&["iex", ""], &[("tickers", &chunk.comma_separated())]),
            DataRequest::MinuteBars(_, times) => {
                // The endpoint accepts dates only.
                let [from, to] = [times.from, times.to].map(|time| new_york_date(time).to_string());
                let query = [
                    ("startDate", from.as_str()),
                    ("endDate", &to),
                    ("resampleFreq", "1min"),
                    ("columns", "open,high,low,close,volume"),
                ];
                self.provider.api.join(&["iex", chunk.first_name(), "prices"], &query)
            }
            DataRequest::DailyBars(_, days)
            | DataRequest::Benchmark(_, days)
            | DataRequest::Splits(_, days)
            | DataRequest::Dividends(_, days) => {
                let (from, to) = (days.from.to_string(), days.to.to_string());
                let query = [("startDate", from.as_str()), ("endDate", &to)];
                self.provider
                    .api
                    .join(&["tiingo", "daily", chunk.first_name(), "prices"], &query)
            }
            _ => self.provider.api.join(&[], &[]),
        }
    }

    fn read(&self, body: &[u8], chunk: &RequestedSymbols) -> Result<Page, ProviderError> {
        let response = match self.request {
            DataRequest::Quotes(_) => parse::quotes(body, chunk),
            DataRequest::MinuteBars(_, times) => parse::minutes(body, chunk, *times),
            DataRequest::DailyBars(_, days) | DataRequest::Benchmark(_, days) => {
                parse::daily(body, chunk, *days, DailyDataKind::Bars)
            }
            DataRequest::Splits(_, days) => parse::daily(body, chunk, *days, DailyDataKind::Splits),
            DataRequest::Dividends(_, days) => parse::daily(body, chunk, *days, DailyDataKind::Dividends),
            _ => Ok(DataResponse::default()),
        };
        response.map(Page::from)
    }
}

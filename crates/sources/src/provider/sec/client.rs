//! The SEC's requests for each [`DataRequest`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use market::records::WithdrawnFiling;

use super::form4::{AmendedFilings, Filing, apply_amendments};
use super::parse::{Cik, FilingLocation};
use super::{NAME, Sec, parse};
use crate::provider::stream::canonical_symbol;
use crate::provider::{DataRequest, DataResponse, DateRange, FetchFuture, InvalidRow, Provider, ProviderError, Tier};

/// The ticker list is fetched again after this long.
const TICKER_CACHE_LIFETIME: SignedDuration = SignedDuration::from_hours(12);

/// The registrants by ticker, and when they were fetched.
pub(super) type CachedRegistrants = (Timestamp, Arc<BTreeMap<Symbol, Cik>>);

impl Provider for Sec {
    fn tier(&self) -> &Tier {
        self.http.tier()
    }

    fn fetch<'a>(&'a self, request: &'a DataRequest) -> FetchFuture<'a> {
        Box::pin(async move {
            match request {
                DataRequest::Catalog => Ok(self.tickers().await?.1),
                DataRequest::InsiderTrades(symbols, days) => self.insider_trades(symbols, *days).await,
                _ => Err(ProviderError::not_offered(NAME, request.capability())),
            }
        })
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Sec {
    async fn tickers(&self) -> Result<(Arc<BTreeMap<Symbol, Cik>>, DataResponse), ProviderError> {
        let url = self.www.join(&["files", "company_tickers.json"], &[]);
        let body = self.http.get_catalog(url).await?;
        let (registrants, response) = parse::tickers(&body)?;
        let registrants = Arc::new(registrants);
        let cached = (self.http.now(), Arc::clone(&registrants));
        *self.registrants.lock().unwrap_or_else(PoisonError::into_inner) = Some(cached);
        Ok((registrants, response))
    }

    async fn registrants(&self) -> Result<Arc<BTreeMap<Symbol, Cik>>, ProviderError> {
        let cached = self.registrants.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match cached {
            Some((requested, cached)) if self.http.now().duration_since(requested) < TICKER_CACHE_LIFETIME => {
                Ok(cached)
            }
            _ => Ok(self.tickers().await?.0),
        }
    }

    /// Fetches insider trades day by day for many companies, or company by company for few: whichever takes fewer requests.
    async fn insider_trades(&self, symbols: &[Symbol], days: DateRange) -> Result<DataResponse, ProviderError> {
        let registrants = self.registrants().await?;
        let mut companies: BTreeMap<Cik, Vec<Symbol>> = BTreeMap::new();
        let mut response = DataResponse::default();
        for &symbol in symbols.iter().collect::<BTreeSet<_>>() {
            match registrants.get(&canonical_symbol(symbol)) {
                Some(&cik) => companies.entry(cik).or_default().push(symbol),
                None => response.unknown.push(symbol),
            }
        }
        let working_days = self.working_days(days);
        let locations = if working_days.len() < companies.len() {
            self.by_days(&working_days, &companies).await?
        } else {
            self.by_companies(&companies, days).await?
        };
        self.read_filings(locations, &companies, &mut response).await?;
        Ok(response)
    }

    /// Returns the weekdays of the range up to today. Filings are made on working days only.
    fn working_days(&self, days: DateRange) -> Vec<Date> {
        let today = new_york_date(self.http.now());
        let is_working = |date: &Date| !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
        let all = days
            .from
            .series(jiff::Span::new().days(1))
            .take_while(|&date| date <= days.to.min(today));
        all.filter(is_working).collect()
    }

    async fn by_days(
        &self,
        days: &[Date],
        companies: &BTreeMap<Cik, Vec<Symbol>>,
    ) -> Result<BTreeMap<FilingLocation, Cik>, ProviderError> {
        let mut locations = BTreeMap::new();
        for day in days {
            let year = day.year().to_string();
            let quarter = format!("QTR{}", (day.month() + 2) / 3);
            let name = format!("form.{}.idx", day.strftime("%Y%m%d"));
            let url = self
                .www
                .join(&["Archives", "edgar", "daily-index", &year, &quarter, &name], &[]);
            match self.http.get(url).await {
                Ok(body) => {
                    let listed = parse::index(&body, |cik| companies.contains_key(&cik))?;
                    locations.extend(listed.into_iter().map(|(cik, location)| (location, cik)));
                }
                // A holiday, or a day whose index is not published yet.
                Err(ProviderError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(locations)
    }

    async fn by_companies(
        &self,
        companies: &BTreeMap<Cik, Vec<Symbol>>,
        days: DateRange,
    ) -> Result<BTreeMap<FilingLocation, Cik>, ProviderError> {
        let mut locations = BTreeMap::new();
        for &cik in companies.keys() {
            let name = format!("CIK{cik:010}.json");
            let url = self.data.join(&["submissions", &name], &[]);
            let body = self.http.get(url).await?;
            let listed = parse::submissions(&body, cik, days)?;
            locations.extend(listed.into_iter().map(|location| (location, cik)));
        }
        Ok(locations)
    }

    /// Fetches the filings, applies the amendments, and adds the current filings to the response.
    async fn read_filings(
        &self,
        locations: BTreeMap<FilingLocation, Cik>,
        companies: &BTreeMap<Cik, Vec<Symbol>>,
        response: &mut DataResponse,
    ) -> Result<(), ProviderError> {
        let mut filings = Vec::new();
        for (location, cik) in locations {
            let path: Vec<&str> = std::iter::once("Archives")
                .chain(location.path.iter().map(String::as_str))
                .collect();
            let body = self.http.get(self.www.join(&path, &[])).await?;
            match Filing::read(&String::from_utf8_lossy(&body)) {
                // A watched company can be an insider of another company. That filing is not about the watched company.
                Ok(filing) if filing.issuer_cik == cik => filings.push((location.filed_on, filing)),
                Ok(_) => {}
                Err(error) => response.invalid_rows.record(InvalidRow::with_message(
                    &location.accession,
                    "form 4",
                    &location.accession,
                    error.to_string(),
                )),
            }
        }
        let AmendedFilings { current, replaced } = apply_amendments(filings);
        // An amendment can itself be amended. It is then withdrawn too, although the last amendment only refers to the original.
        for ((filed_on, filing), amended_on) in replaced.iter().filter(|((filed_on, _), day)| filed_on < day) {
            for symbol in symbols_of_filing(filing, companies) {
                let withdrawn = withdrawn_filing(symbol, filing, Some(*filed_on), *amended_on);
                response.batch.withdrawn_filings.push(withdrawn);
            }
        }
        for (filed_on, filing) in current {
            for error in &filing.invalid_rows {
                let owner = filing.owners.first().map_or("", |owner| owner.name.as_str());
                response
                    .invalid_rows
                    .record(InvalidRow::with_message(owner, "form 4", "", error.as_str()));
            }
            for symbol in symbols_of_filing(&filing, companies) {
                response
                    .batch
                    .insider_transactions
                    .extend(filing.rows(symbol, filed_on));
                if filing.is_amendment {
                    let withdrawn = withdrawn_filing(symbol, &filing, filing.original_filed_on, filed_on);
                    response.batch.withdrawn_filings.push(withdrawn);
                }
            }
        }
        Ok(())
    }
}

/// Returns the symbols of a filing's company. For a company with several share classes, the filing usually names one.
fn symbols_of_filing(filing: &Filing, companies: &BTreeMap<Cik, Vec<Symbol>>) -> Vec<Symbol> {
    let symbols = companies.get(&filing.issuer_cik).map_or(&[] as &[_], Vec::as_slice);
    let mut named = symbols.iter().copied();
    let named = named.find(|&symbol| Some(canonical_symbol(symbol)) == filing.symbol);
    named.map_or_else(|| symbols.to_vec(), |symbol| vec![symbol])
}

/// Returns the record that withdraws the insider's filing about the same period, filed on `filed_on` if that is known.
fn withdrawn_filing(symbol: Symbol, filing: &Filing, filed_on: Option<Date>, amended_on: Date) -> WithdrawnFiling {
    let insider = filing.owners.first().map(|owner| owner.name.clone());
    WithdrawnFiling {
        symbol,
        insider: insider.unwrap_or_default(),
        filed_on,
        traded_from: filing.period,
        amended_on,
    }
}

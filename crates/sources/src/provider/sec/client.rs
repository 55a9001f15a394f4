//! Which requests a question takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use jiff::civil::{Date, Weekday};
use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use market::calendar::new_york_date;
use market::records::WithdrawnFiling;

use super::form4::{Amended, Filing, replace_amended};
use super::parse::{Cik, Place};
use super::{NAME, Sec, parse};
use crate::provider::stream::canonical;
use crate::provider::{Answer, Ask, Days, Fault, Fetch, Provider, ProviderError, Tier};

/// The list of tickers is asked for anew after so long.
const TICKERS_LAST: SignedDuration = SignedDuration::from_hours(12);

/// The tickers as of an instant.
pub(super) type Known = (Timestamp, Arc<BTreeMap<Symbol, Cik>>);

impl Provider for Sec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tier(&self) -> &Tier {
        &self.tier
    }

    fn fetch<'a>(&'a self, ask: &'a Ask) -> Fetch<'a> {
        Box::pin(async move {
            match ask {
                Ask::Catalog => Ok(self.tickers().await?.1),
                Ask::InsiderTrades(symbols, days) => self.insider_trades(symbols, *days).await,
                _ => Err(ProviderError::NotOffered {
                    provider: NAME,
                    capability: ask.capability().name(),
                }),
            }
        })
    }

    fn clock_skew(&self) -> Option<SignedDuration> {
        self.http.clock_skew()
    }
}

impl Sec {
    async fn tickers(&self) -> Result<(Arc<BTreeMap<Symbol, Cik>>, Answer), ProviderError> {
        let url = self.www.at(&["files", "company_tickers.json"], &[]);
        let body = self.http.get_up_to(url, self.setup.most_catalog_bytes).await?;
        let (registrants, answer) = parse::tickers(&body)?;
        let registrants = Arc::new(registrants);
        let known = (self.setup.clock.now(), Arc::clone(&registrants));
        *self.registrants.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok((registrants, answer))
    }

    async fn registrants(&self) -> Result<Arc<BTreeMap<Symbol, Cik>>, ProviderError> {
        let known = self.registrants.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some((asked, known)) if self.setup.clock.now().duration_since(asked) < TICKERS_LAST => Ok(known),
            _ => Ok(self.tickers().await?.0),
        }
    }

    /// Day by day for many symbols, company by company for few: whatever takes fewer requests.
    async fn insider_trades(&self, symbols: &[Symbol], days: Days) -> Result<Answer, ProviderError> {
        let registrants = self.registrants().await?;
        let mut companies: BTreeMap<Cik, Vec<Symbol>> = BTreeMap::new();
        let mut answer = Answer::default();
        for &symbol in symbols.iter().collect::<BTreeSet<_>>() {
            match registrants.get(&canonical(symbol)) {
                Some(&cik) => companies.entry(cik).or_default().push(symbol),
                None => answer.unknown.push(symbol),
            }
        }
        let working_days = self.working_days(days);
        let places = if working_days.len() < companies.len() {
            self.by_days(&working_days, &companies).await?
        } else {
            self.by_companies(&companies, days).await?
        };
        self.read_all(places, &companies, &mut answer).await?;
        Ok(answer)
    }

    /// The days on which something can have been filed.
    fn working_days(&self, days: Days) -> Vec<Date> {
        let today = new_york_date(self.setup.clock.now());
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
    ) -> Result<BTreeMap<Place, Cik>, ProviderError> {
        let mut places = BTreeMap::new();
        for day in days {
            let year = day.year().to_string();
            let quarter = format!("QTR{}", (day.month() + 2) / 3);
            let name = format!("form.{}.idx", day.strftime("%Y%m%d"));
            let url = self
                .www
                .at(&["Archives", "edgar", "daily-index", &year, &quarter, &name], &[]);
            match self.http.get(url).await {
                Ok(body) => {
                    let listed = parse::index(&body, |cik| companies.contains_key(&cik))?;
                    places.extend(listed.into_iter().map(|(cik, place)| (place, cik)));
                }
                // A holiday, or a day whose index is not out yet.
                Err(ProviderError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(places)
    }

    async fn by_companies(
        &self,
        companies: &BTreeMap<Cik, Vec<Symbol>>,
        days: Days,
    ) -> Result<BTreeMap<Place, Cik>, ProviderError> {
        let mut places = BTreeMap::new();
        for &cik in companies.keys() {
            let name = format!("CIK{cik:010}.json");
            let url = self.data.at(&["submissions", &name], &[]);
            let body = self.http.get(url).await?;
            let listed = parse::submissions(&body, cik, days)?;
            places.extend(listed.into_iter().map(|place| (place, cik)));
        }
        Ok(places)
    }

    /// Reads the filings, lets amendments replace, and turns what stands into records.
    async fn read_all(
        &self,
        places: BTreeMap<Place, Cik>,
        companies: &BTreeMap<Cik, Vec<Symbol>>,
        answer: &mut Answer,
    ) -> Result<(), ProviderError> {
        let mut filings = Vec::new();
        for (place, cik) in places {
            let path: Vec<&str> = std::iter::once("Archives")
                .chain(place.path.iter().map(String::as_str))
                .collect();
            let body = self.http.get(self.www.at(&path, &[])).await?;
            match Filing::read(&String::from_utf8_lossy(&body)) {
                // An insider can be a company that is watched itself; its filing about another one is none about it.
                Ok(filing) if filing.issuer_cik == cik => filings.push((place.filed_on, filing)),
                Ok(_) => {}
                Err(error) => answer.faults.add(Fault::said(
                    &place.accession,
                    "form 4",
                    &place.accession,
                    error.to_string(),
                )),
            }
        }
        let Amended { standing, replaced } = replace_amended(filings);
        // An amendment may have been amended itself: then it does not stand either, though the last one only tells of the original.
        for ((filed_on, filing), amended_on) in replaced.iter().filter(|((filed_on, _), day)| filed_on < day) {
            for symbol in about(filing, companies) {
                let withdrawn = withdrawn(symbol, filing, Some(*filed_on), *amended_on);
                answer.batch.withdrawn_filings.push(withdrawn);
            }
        }
        for (filed_on, filing) in standing {
            for fault in &filing.faults {
                let owner = filing.owners.first().map_or("", |owner| owner.name.as_str());
                answer.faults.add(Fault::said(owner, "form 4", "", fault.as_str()));
            }
            for symbol in about(&filing, companies) {
                answer.batch.insider_transactions.extend(filing.rows(symbol, filed_on));
                if filing.is_amendment {
                    let withdrawn = withdrawn(symbol, &filing, filing.original_filed_on, filed_on);
                    answer.batch.withdrawn_filings.push(withdrawn);
                }
            }
        }
        Ok(())
    }
}

/// The stocks that a filing is about. A company can have several classes; the filing says which one, as a rule.
fn about(filing: &Filing, companies: &BTreeMap<Cik, Vec<Symbol>>) -> Vec<Symbol> {
    let symbols = companies.get(&filing.issuer_cik).map_or(&[] as &[_], Vec::as_slice);
    let mut named = symbols.iter().copied();
    let named = named.find(|&symbol| Some(canonical(symbol)) == filing.symbol);
    named.map_or_else(|| symbols.to_vec(), |symbol| vec![symbol])
}

/// What does not stand any more since that day: what the insider of `filing` filed about its period, on a day if that is known.
fn withdrawn(symbol: Symbol, filing: &Filing, filed_on: Option<Date>, amended_on: Date) -> WithdrawnFiling {
    let insider = filing.owners.first().map(|owner| owner.name.clone());
    WithdrawnFiling {
        symbol,
        insider: insider.unwrap_or_default(),
        filed_on,
        traded_from: filing.period,
        amended_on,
    }
}

//! # SEC EDGAR
//!
//! The filing system of the US Securities and Exchange Commission: free, without a key, and the original source of insider trades.
//! Written from sec.gov: "Accessing EDGAR Data", "EDGAR Application Programming Interfaces" and "Ownership XML Technical
//! Specification" (forms 3, 4 and 5).
//!
//! | data | endpoint |
//! |---|---|
//! | catalog, tickers and registrants (CIK) | `{www}/files/company_tickers.json` |
//! | the filings about a company | `{data}/submissions/CIK0000320193.json` |
//! | the filings of a day | `{www}/Archives/edgar/daily-index/2024/QTR1/form.20240308.idx` |
//! | a filing | `{www}/Archives/edgar/data/{cik}/{accession}/{document}`, or the `.txt` of the whole submission |
//!
//! Rules: every request must identify the client with a contact (`contact`; without it the adapter cannot be created). The limit is 10
//! requests a second, for all machines of the operator together.
//!
//! ## Selection of trades
//!
//! Form 4 reports an insider's transactions in shares (its first table) and in options and similar securities (its second, derivative
//! table). Only the first table contains trades of the stock; a grant of options at a price of zero is not one. Each row becomes a
//! record with the form's code. `P` is a purchase and `S` a sale in the market, whatever the column "acquired or disposed" says,
//! because filers get that column wrong. For the other codes (awards, withheld taxes, conversions) the column determines the side.
//!
//! An amendment (4/A) replaces the filing of the same owners about the same company and period. If that filing was delivered earlier,
//! it is withdrawn ([`Batch::withdrawn_filings`](market::records::Batch::withdrawn_filings)). The amended trades are known from the day
//! of the amendment.
//!
//! ## Undocumented points
//!
//! * The response for a missing index (weekends, holidays, the current day before the evening). The adapter treats 403 and 404 of the
//!   archive's storage as "not found".
//! * A filing by several owners counts as one insider, with the first owner's name.
//! * A foreign filer's price may be in another currency, stated only in a footnote. The adapter reads it as dollars.

mod client;
mod error;
mod form4;
mod models;
mod parse;

use std::sync::Mutex;
use std::time::Duration;

use http::HeaderMap;

use super::http::{AdapterSetup, AdapterSetupError, HttpClient, ProviderUrl, RequestLimit};
use super::limits::{delayed, offer};
use super::{Capability, RequestScope, Tier};

pub use form4::{AmendedFilings, Filing, Form4Error, Form4Transaction, ReportingOwner, apply_amendments};

/// The provider's name.
pub(super) const NAME: &str = "sec";

/// Configuration of the adapter.
#[derive(Debug, Clone)]
pub struct SecConfig {
    /// The base URL of files and archives.
    pub www_url: String,
    /// The base URL of the JSON API.
    pub data_url: String,
    /// The client's contact: a name and an email address.
    pub contact: String,
}

impl SecConfig {
    /// Returns the default configuration with this contact.
    #[must_use]
    pub fn new(contact: &str) -> Self {
        Self {
            www_url: "https://www.sec.gov".to_owned(),
            data_url: "https://data.sec.gov".to_owned(),
            contact: contact.to_owned(),
        }
    }

    /// Returns the plan: capabilities and request limits.
    #[must_use]
    pub fn tier() -> Tier {
        Tier {
            provider: NAME,
            plan: "public",
            offers: vec![
                offer(Capability::Catalog, RequestScope::Market),
                // The daily index covers the whole market; insiders have two business days to file.
                delayed(
                    Capability::InsiderTrades,
                    RequestScope::Market,
                    Duration::from_secs(86_400),
                ),
            ],
            request_limits: vec![RequestLimit::per_second(10)],
        }
    }
}

/// The SEC adapter.
#[derive(Debug)]
pub struct Sec {
    http: HttpClient,
    www: ProviderUrl,
    data: ProviderUrl,
    /// The cached registrants by ticker.
    registrants: Mutex<Option<client::CachedRegistrants>>,
}

impl Sec {
    /// Creates the adapter.
    ///
    /// # Errors
    /// [`AdapterSetupError::NoContact`] without a contact that has an email address, and others.
    pub fn new(config: &SecConfig, setup: &AdapterSetup) -> Result<Self, AdapterSetupError> {
        let contact = config.contact.trim();
        let is_fit = contact.contains('@') && contact.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_fit {
            return Err(AdapterSetupError::NoContact { provider: NAME });
        }
        let setup = AdapterSetup {
            user_agent: contact.to_owned(),
            ..setup.clone()
        };
        Ok(Self {
            http: HttpClient::new(SecConfig::tier(), &setup, HeaderMap::new(), error::classify_error)?,
            www: ProviderUrl::http("www_url", &config.www_url)?,
            data: ProviderUrl::http("data_url", &config.data_url)?,
            registrants: Mutex::new(None),
        })
    }
}

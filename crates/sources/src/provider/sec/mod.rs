//! # SEC EDGAR
//!
//! The register of the US Securities and Exchange Commission: free, without a key, and the source of everybody else's insider
//! trades. Written from sec.gov: "Accessing EDGAR Data", "EDGAR Application Programming Interfaces" and "Ownership XML Technical
//! Specification" (forms 3, 4 and 5).
//!
//! | what | where |
//! |---|---|
//! | catalog, tickers and registrants (CIK) | `{www}/files/company_tickers.json` |
//! | the filings about a company | `{data}/submissions/CIK0000320193.json` |
//! | the filings of a day | `{www}/Archives/edgar/daily-index/2024/QTR1/form.20240308.idx` |
//! | a filing | `{www}/Archives/edgar/data/{cik}/{accession}/{document}`, or the `.txt` of the whole submission |
//!
//! Rules: every request names who asks and how to reach them (`contact`; without it nothing is asked), and there are at most 10
//! requests a second, whatever the number of machines.
//!
//! ## Which trades
//!
//! Form 4 reports what an insider did with shares (its first table) and with options and the like (its second, derivative table).
//! Only the first table has trades of the stock; a grant of options at a price of zero is none. Each of its rows becomes a record
//! with the form's code. `P` is a purchase and `S` a sale in the market, whatever the column "acquired or disposed" says:
//! filers get that column wrong. Of the other codes (awards, taxes withheld, conversions) the column tells whether shares
//! came or went.
//!
//! An amendment (4/A) replaces the filing it corrects: the one of the same owners about the same company and period. If that one
//! was answered earlier, it is to be taken back ([`Batch::withdrawn_filings`](market::records::Batch::withdrawn_filings)). The
//! amended trades are known from the day of the amendment.
//!
//! ## What the documentation does not say
//!
//! How a missing index is answered (weekends, holidays, the current day before the evening): 403 and 404 of the archive's storage
//! are taken as "not there". One filing by several owners counts as one insider, by the first one's name. A foreign filer's price
//! may be in another currency, in a footnote only; it is read as dollars.

mod client;
mod error;
mod form4;
mod models;
mod parse;

use std::sync::Mutex;
use std::time::Duration;

use http::HeaderMap;

use super::http::{Address, Http, Quota, Setup, SetupError};
use super::limits::{delayed, offer};
use super::{Capability, Reach, Tier};

pub use form4::{Amended, Filing, Form4Error, Owner, Trade, replace_amended};

/// Its name.
pub(super) const NAME: &str = "sec";

/// How the register is asked.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where files and archives are.
    pub www_url: String,
    /// Where the programming interfaces are.
    pub data_url: String,
    /// Who asks: a name and a mail address.
    pub contact: String,
}

impl Config {
    /// The register, asked by `contact`.
    #[must_use]
    pub fn new(contact: &str) -> Self {
        Self {
            www_url: "https://www.sec.gov".to_owned(),
            data_url: "https://data.sec.gov".to_owned(),
            contact: contact.to_owned(),
        }
    }

    /// What is allowed.
    #[must_use]
    pub fn tier() -> Tier {
        Tier {
            provider: NAME,
            plan: "public",
            offers: vec![
                offer(Capability::Catalog, Reach::Market),
                // The index of a day has the whole market; insiders have two business days to file.
                delayed(Capability::InsiderTrades, Reach::Market, Duration::from_secs(86_400)),
            ],
            quotas: vec![Quota::per_second(10)],
        }
    }
}

/// Asks the SEC.
#[derive(Debug)]
pub struct Sec {
    http: Http,
    www: Address,
    data: Address,
    tier: Tier,
    setup: Setup,
    /// Who is registered under which ticker, and when that was asked.
    registrants: Mutex<Option<client::Known>>,
}

impl Sec {
    /// On behalf of the contact.
    ///
    /// # Errors
    /// [`SetupError::NoContact`] without a contact that has a mail address, and others.
    pub fn new(config: &Config, setup: &Setup) -> Result<Self, SetupError> {
        let address = |setting| move |error| SetupError::Address { setting, error };
        let contact = config.contact.trim();
        let is_fit = contact.contains('@') && contact.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_fit {
            return Err(SetupError::NoContact { provider: NAME });
        }
        let tier = Config::tier();
        let asks = Setup {
            user_agent: contact.to_owned(),
            ..setup.clone()
        };
        Ok(Self {
            http: Http::new(NAME, &asks, &tier.quotas, HeaderMap::new(), error::judge)?,
            www: Address::http(&config.www_url).map_err(address("www_url"))?,
            data: Address::http(&config.data_url).map_err(address("data_url"))?,
            tier,
            setup: setup.clone(),
            registrants: Mutex::new(None),
        })
    }
}

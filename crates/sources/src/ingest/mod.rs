//! # Ingest: market data that others push
//!
//! With the `push` source nobody goes and fetches: programs of the operator's send what they know to
//! `POST /market/ingest`, an object with any of these members, each an array of objects:
//!
//! | member | an element's members |
//! |---|---|
//! | `stocks` | `symbol`, `name`; may have `type`, `sector`, `industry`, `country`, `exchange`, `isin`, `is_active`, also within `details` |
//! | `quotes` | `symbol`, `price`; may have `volume`, `time`, `bid`, `ask` |
//! | `bars` | `symbol`, `date`, `open`, `high`, `low`, `close`, `volume` |
//! | `fundamentals` | `symbol` and figures: `eps_ttm`, `eps_forward`, `market_cap`, `dividend_yield`, `dividend_amount`, `beta`; may have `as_of` (else today) |
//! | `earnings` | `symbol`, `date`; may have `time`, `eps_estimate` |
//! | `dividends` | `symbol`, `ex_date`; may have `payment_date`, `amount` |
//! | `splits` | `symbol`, `date`, `ratio` |
//! | `insider_transactions` | `symbol`, `filed_on`, `insider`, `code`, `side`, `shares`, `price`; may have `traded_on` |
//! | `mentions` | `symbol`, `time`, `mentions` |
//!
//! [`parse`] turns such a body into a [`Batch`]. Each element is judged by itself: a bad one is [`Rejected`] with its
//! place, what is wrong and the mend, and costs no other. Only a body that is no object of arrays is refused as a
//! whole, with an [`IngestError`]. Members that are not listed are ignored, and null is as good as none.
//!
//! Numbers are JSON numbers or texts of numbers, exact to six decimals either way. What lies in the future and cannot
//! yet be known is refused: a price of tomorrow is a mistake, an earnings date of tomorrow is not.

mod kinds;
mod members;

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::records::Batch;
use serde_json::{Map, Value};

use crate::FeedKind;
use kinds::Record;
use members::Members;

/// What came of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ingested {
    /// The sound elements.
    pub batch: Batch,
    /// How many elements of each kind are sound; the kinds that the body has.
    pub accepted: BTreeMap<&'static str, usize>,
    /// The other elements, in the order of the kinds and of the body.
    pub rejected: Vec<Rejected>,
}

/// One element that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The array it stands in.
    pub kind: &'static str,
    /// Its place there; the first is 0.
    pub index: usize,
    /// What is wrong with it, and the mend.
    pub reason: String,
}

/// Why a whole body is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestError {
    /// The body is no JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// The body is JSON, but no object.
    #[error("the body must be an object with arrays such as quotes or bars")]
    NotAnObject,
    /// One of the kinds is no array.
    #[error("{kind} must be an array of objects")]
    NotAnArray {
        /// The kind's name.
        kind: &'static str,
    },
}

/// Reads the body of a request that came in at `now`.
///
/// ```
/// let body = br#"{"quotes": [{"symbol": "aapl", "price": 189.2}, {"symbol": "MSFT", "price": 0}]}"#;
/// let ingested = sources::ingest::parse(body, "2024-03-08T15:00:00Z".parse().unwrap()).unwrap();
/// assert_eq!(ingested.accepted["quotes"], 1);
/// assert_eq!(
///     ingested.rejected[0].reason,
///     "price \"0\" is not above zero; a price must be at least 0.000001"
/// );
/// ```
///
/// # Errors
/// [`IngestError`] when the body is no object of arrays.
pub fn parse(body: &[u8], now: Timestamp) -> Result<Ingested, IngestError> {
    let value = serde_json::from_slice(body).map_err(|error| IngestError::NotJson(error.to_string()))?;
    parse_value(&value, now)
}

/// Like [`parse`], for a body that has been read as JSON already.
///
/// # Errors
/// [`IngestError`] when the body is no object of arrays.
pub fn parse_value(body: &Value, now: Timestamp) -> Result<Ingested, IngestError> {
    let body = body.as_object().ok_or(IngestError::NotAnObject)?;
    let mut ingested = Ingested::default();
    let mut batch = Batch::default();
    for kind in FeedKind::ALL {
        let Some(elements) = elements(body, kind)? else {
            continue;
        };
        let mut intake = Intake {
            kind,
            elements,
            now,
            ingested: &mut ingested,
        };
        match kind {
            FeedKind::Stocks => intake.fill(&mut batch.stocks),
            FeedKind::Quotes => intake.fill(&mut batch.quotes),
            FeedKind::Bars => intake.fill(&mut batch.bars),
            FeedKind::Fundamentals => intake.fill(&mut batch.fundamentals),
            FeedKind::Earnings => intake.fill(&mut batch.earnings),
            FeedKind::Dividends => intake.fill(&mut batch.dividends),
            FeedKind::Splits => intake.fill(&mut batch.splits),
            FeedKind::InsiderTransactions => intake.fill(&mut batch.insider_transactions),
            FeedKind::Mentions => intake.fill(&mut batch.mentions),
        }
    }
    ingested.batch = batch;
    Ok(ingested)
}

/// The array of `kind`, if the body has one.
fn elements(body: &Map<String, Value>, kind: FeedKind) -> Result<Option<&[Value]>, IngestError> {
    match body.get(kind.name()) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(elements)) => Ok(Some(elements)),
        Some(_) => Err(IngestError::NotAnArray { kind: kind.name() }),
    }
}

/// The elements of one kind on their way in.
struct Intake<'a> {
    kind: FeedKind,
    elements: &'a [Value],
    now: Timestamp,
    ingested: &'a mut Ingested,
}

impl Intake<'_> {
    fn fill<R: Record>(&mut self, rows: &mut Vec<R>) {
        let kind = self.kind.name();
        for (index, element) in self.elements.iter().enumerate() {
            match Members::of(element, self.now).and_then(|members| R::read(&members)) {
                Ok(row) => rows.push(row),
                Err(reason) => self.ingested.rejected.push(Rejected { kind, index, reason }),
            }
        }
        self.ingested.accepted.insert(kind, rows.len());
    }
}

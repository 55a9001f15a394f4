//! # Ingest: pushed market data
//!
//! With the `push` source, programs of the operator send market data to `POST /market/ingest`. The body is an object with
//! any of these members, each an array of objects:
//!
//! | member | an element's members |
//! |---|---|
//! | `stocks` | `symbol`, `name`; may have `type`, `sector`, `industry`, `country`, `exchange`, `isin`, `is_active`, also within `details` |
//! | `quotes` | `symbol`, `price`; may have `volume`, `time`, `bid`, `ask`, `vwap` |
//! | `bars` | `symbol`, `date`, `open`, `high`, `low`, `close`, `volume` |
//! | `intraday_bars` | `symbol`, `time` at which the bar begins, `open`, `high`, `low`, `close`, `volume` |
//! | `fundamentals` | `symbol` and figures: `eps_ttm`, `eps_forward`, `market_cap`, `dividend_yield`, `dividend_amount`, `beta`; may have `as_of` (else today) |
//! | `earnings` | `symbol`, `date`; may have `time`, `eps_estimate` |
//! | `dividends` | `symbol`, `ex_date`; may have `payment_date`, `amount` |
//! | `splits` | `symbol`, `date`, `ratio` |
//! | `insider_transactions` | `symbol`, `filed_on`, `insider`, `code`, `side`, `shares`, `price`; may have `traded_on` |
//! | `mentions` | `symbol`, `time`, `mentions` |
//!
//! [`parse`] converts such a body to a [`Batch`]. Each element is checked by itself: an invalid one becomes an
//! [`RowRejection`] with its index, the problem and the fix, and does not affect the others. Only a body that is not an
//! object of arrays is rejected as a whole, with an [`IngestError`]. Members that are not listed are ignored, and null
//! means missing.
//!
//! Numbers are JSON numbers or strings with numbers; both are exact to six decimals. Data from the future that cannot be
//! known yet is rejected: a price of tomorrow is an error, an earnings date of tomorrow is not.

mod kinds;
mod members;

use std::collections::BTreeMap;

use jiff::Timestamp;
use market::records::Batch;
use serde_json::{Map, Value};

use crate::FeedKind;
use kinds::FromElement;
use members::Members;

/// The name of the array of intraday bars.
pub const INTRADAY_BARS: &str = "intraday_bars";

/// The result of reading a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestResult {
    /// The valid elements.
    pub batch: Batch,
    /// The number of valid elements of each kind that the body has.
    pub accepted: BTreeMap<&'static str, usize>,
    /// The invalid elements, in the order of the kinds and of the body.
    pub rejected: Vec<RowRejection>,
}

/// A row that was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRejection {
    /// The name of its array: `quotes`, `bars` and so on.
    pub kind: &'static str,
    /// Its index in the array, starting at 0.
    pub index: usize,
    /// The problem and the fix.
    pub reason: String,
}

/// The reason why a whole body is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestError {
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// The body is JSON, but not an object.
    #[error("the body must be an object with arrays such as quotes or bars")]
    NotAnObject,
    /// One of the kinds is not an array.
    #[error("{kind} must be an array of objects")]
    NotAnArray {
        /// The kind's name.
        kind: &'static str,
    },
}

/// Reads the body of a request that was received at `now`.
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
/// [`IngestError`] if the body is not an object of arrays.
pub fn parse(body: &[u8], now: Timestamp) -> Result<IngestResult, IngestError> {
    let value = serde_json::from_slice(body).map_err(|error| IngestError::NotJson(error.to_string()))?;
    parse_value(&value, now)
}

/// Like [`parse`], for a body that has been parsed as JSON.
///
/// # Errors
/// [`IngestError`] if the body is not an object of arrays.
pub fn parse_value(body: &Value, now: Timestamp) -> Result<IngestResult, IngestError> {
    let body = body.as_object().ok_or(IngestError::NotAnObject)?;
    let mut ingested = IngestResult::default();
    let mut batch = Batch::default();
    for kind in FeedKind::ALL {
        let Some(mut reader) = ElementReader::of(body, kind.name(), now, &mut ingested)? else {
            continue;
        };
        match kind {
            FeedKind::Stocks => reader.read_into(&mut batch.stocks),
            FeedKind::Quotes => reader.read_into(&mut batch.quotes),
            FeedKind::Bars => reader.read_into(&mut batch.bars),
            FeedKind::Fundamentals => reader.read_into(&mut batch.fundamentals),
            FeedKind::Earnings => reader.read_into(&mut batch.earnings),
            FeedKind::Dividends => reader.read_into(&mut batch.dividends),
            FeedKind::Splits => reader.read_into(&mut batch.splits),
            FeedKind::InsiderTransactions => reader.read_into(&mut batch.insider_transactions),
            FeedKind::Mentions => reader.read_into(&mut batch.mentions),
        }
    }
    // No alert needs them, so they are no feed of their own.
    if let Some(mut reader) = ElementReader::of(body, INTRADAY_BARS, now, &mut ingested)? {
        reader.read_into(&mut batch.intraday_bars);
    }
    ingested.batch = batch;
    Ok(ingested)
}

/// Reads the elements of one kind.
struct ElementReader<'a> {
    kind: &'static str,
    elements: &'a [Value],
    now: Timestamp,
    ingested: &'a mut IngestResult,
}

impl<'a> ElementReader<'a> {
    /// Returns the reader of an array, if the body has it.
    fn of(
        body: &'a Map<String, Value>,
        kind: &'static str,
        now: Timestamp,
        ingested: &'a mut IngestResult,
    ) -> Result<Option<Self>, IngestError> {
        let elements = match body.get(kind) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(elements)) => elements,
            Some(_) => return Err(IngestError::NotAnArray { kind }),
        };
        Ok(Some(Self {
            kind,
            elements,
            now,
            ingested,
        }))
    }

    fn read_into<R: FromElement>(&mut self, rows: &mut Vec<R>) {
        let kind = self.kind;
        for (index, element) in self.elements.iter().enumerate() {
            match Members::of(element, self.now).and_then(|members| R::read(&members)) {
                Ok(row) => rows.push(row),
                Err(reason) => self.ingested.rejected.push(RowRejection { kind, index, reason }),
            }
        }
        self.ingested.accepted.insert(kind, rows.len());
    }
}

//! Market data: ingestion, and figures of the market as a whole.
//!
//! * [`intake`]: ingestion of batches; [`batch_evaluation`]: their conversion to engine events; [`batch_parts`]: batches
//!   that are too large for one message; [`missed`], [`missed_outcome`]: data that is delivered late.
//! * [`intraday`]: which intraday bars are stored.
//! * [`indices`], [`movers`], [`sentiment`], [`performance`]: prices of many stocks at once, from the engine that
//!   evaluates the alerts; [`listed`] classifies the stocks.
//! * [`dates`]: dividends and earnings dates.
//! * [`completed`]: figures of completed sessions, for live sources.
//! * [`watched`]: the stocks that sources have to request.
//!
//! Functions that return [`ServiceError::Internal`] do so if the database fails.

mod batch_evaluation;
mod batch_parts;
mod completed;
mod dates;
mod indices;
pub(crate) mod intake;
mod intake_state;
mod intraday;
mod last_quote;
mod listed;
mod missed;
pub(crate) mod missed_outcome;
mod movers;
mod performance;
mod quote_selection;
mod sentiment;
pub(crate) mod sessions;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use sources::ingest::{self, IngestError, IngestResult};

use crate::EvaluationConfig;
use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::Prices;
use crate::stocks::Stocks;
use foundation::{Actor, Ports, Scope, ServiceError};

pub use dates::{MAX_EARNINGS_DAYS, NamedRow};
pub use intake::MarketIntake;
pub use listed::{Coverage, ListedQuote};
pub use missed_outcome::MissedPeriodOutcome;
pub use movers::TopMovers;
pub use performance::{DatedPrice, StockPerformance};
pub use sentiment::{MIN_STOCKS_FOR_LABEL, Sentiment, SentimentLabel};
pub use sessions::{completed_session, ended_session};
pub use sources::ingest::RowRejection;

/// Whether the market is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarketStatus {
    /// Whether the regular session is running.
    pub is_open: bool,
    /// The next open.
    pub next_open: Option<Timestamp>,
    /// The next close.
    pub next_close: Option<Timestamp>,
    /// The instant of this status.
    pub now: Timestamp,
}

/// The result of an ingest request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IngestReport {
    /// The number of accepted elements of each kind in the body.
    pub accepted: BTreeMap<&'static str, usize>,
    /// The rejected elements, with their indexes in the body.
    pub rejected: Vec<RowRejection>,
}

/// Requires permission to push market data: the actor is an operator, and the credential has the scope.
///
/// # Errors
/// [`ServiceError::Forbidden`] with the missing permission.
pub fn require_push_permission(actor: &Actor) -> Result<(), ServiceError> {
    actor.require(Scope::MarketWrite)?;
    if actor.is_operator {
        return Ok(());
    }
    let message = "only an operator can push market data; use the API key of an operator's account";
    Err(ServiceError::Forbidden {
        reason: "operator",
        required: None,
        message: message.to_owned(),
    })
}

/// The state of the market: hours, indices, movers, sentiment and performance.
#[derive(Clone)]
pub struct MarketOverview {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) market_intake: MarketIntake,
    pub(crate) prices: Prices,
    pub(crate) stocks: Stocks,
}

impl MarketOverview {
    /// Whether the market is open.
    #[must_use]
    pub fn market_status(&self) -> MarketStatus {
        let now = self.ports.clock.now();
        let calendar = &self.settings.calendar;
        MarketStatus {
            is_open: calendar.session_at(now).is_some(),
            next_open: calendar.next_open(now),
            next_close: calendar.next_close(now),
            now,
        }
    }

    /// Ingests the body of an ingest request. Invalid elements are returned with their indexes and do not
    /// affect the others.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] as [`require_push_permission`]; [`ServiceError::Malformed`] and
    /// [`ServiceError::Invalid`] if the body is not an object of arrays; [`ServiceError::Internal`] as
    /// [`MarketIntake::ingest`].
    pub async fn ingest_json(&self, actor: &Actor, body: &Value) -> Result<IngestReport, ServiceError> {
        require_push_permission(actor)?;
        let read = ingest::parse_value(body, self.ports.clock.now()).map_err(|error| match error {
            IngestError::NotAnObject | IngestError::NotJson(_) => ServiceError::Malformed(error.to_string()),
            IngestError::NotAnArray { kind, .. } => ServiceError::field(kind, "must be an array of objects"),
        })?;
        let indexes = BodyIndexes::of(&read);
        let IngestResult {
            batch,
            accepted,
            rejected,
        } = read;
        let mut report = IngestReport { accepted, rejected };
        for mut not_taken in self.market_intake.ingest(batch).await? {
            not_taken.index = indexes.body_index(not_taken.kind, not_taken.index);
            if let Some(accepted) = report.accepted.get_mut(not_taken.kind) {
                *accepted = accepted.saturating_sub(1);
            }
            report.rejected.push(not_taken);
        }
        report.rejected.sort_by_key(|rejected| (rejected.kind, rejected.index));
        Ok(report)
    }
}

/// Maps indexes of valid elements to their indexes in the body, by the indexes of the invalid ones.
struct BodyIndexes(BTreeMap<&'static str, BTreeSet<usize>>);

impl BodyIndexes {
    fn of(read: &IngestResult) -> Self {
        let mut invalid: BTreeMap<&'static str, BTreeSet<usize>> = BTreeMap::new();
        for rejected in &read.rejected {
            invalid.entry(rejected.kind).or_default().insert(rejected.index);
        }
        Self(invalid)
    }

    /// Returns the index in the body of the valid element number `index`.
    fn body_index(&self, kind: &str, index: usize) -> usize {
        let mut body_index = index;
        for &invalid in self.0.get(kind).into_iter().flatten() {
            if invalid <= body_index {
                body_index += 1;
            }
        }
        body_index
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use store::model::{AccountId, ApiKeyId};
    use uuid::Uuid;

    use super::*;
    use foundation::AuthMethod;

    fn actor(is_operator: bool, scope: Scope) -> Actor {
        Actor {
            account: AccountId(Uuid::from_u128(1)),
            email: "ann@example.com".to_owned(),
            plan: ::alerts::Plan::Basic,
            is_operator,
            time_zone: TimeZone::UTC,
            auth_method: AuthMethod::ApiKey {
                id: ApiKeyId(Uuid::from_u128(2)),
                name: "feed".to_owned(),
                scopes: vec![scope],
            },
        }
    }

    #[test]
    fn pushing_requires_an_operator_and_the_scope() {
        let reason = |is_operator, scope| match require_push_permission(&actor(is_operator, scope)) {
            Ok(()) => None,
            Err(ServiceError::Forbidden { reason, .. }) => Some(reason),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(reason(true, Scope::MarketWrite), None);
        assert_eq!(reason(true, Scope::StocksRead), Some("scope"));
        assert_eq!(reason(false, Scope::MarketWrite), Some("operator"));
    }

    #[test]
    fn indexes_of_valid_elements_skip_invalid_ones() {
        let indexes = BodyIndexes(BTreeMap::from([("quotes", BTreeSet::from([0, 2, 3]))]));
        let of_valid: Vec<_> = (0..3).map(|index| indexes.body_index("quotes", index)).collect();
        assert_eq!(of_valid, [1, 4, 5]);
        assert_eq!(indexes.body_index("bars", 7), 7);
    }
}

//! The market: what becomes known about it comes in here, and what is asked about all of it is answered here.
//!
//! * [`intake`]: taking in what sources deliver; [`missed`]: what they find out afterwards.
//! * [`indices`], [`movers`], [`sentiment`], [`performance`]: prices of many stocks at once, out of the same engine that judges
//!   alerts; [`listed`] says which stocks count.
//! * [`dates`]: what the calendar has of companies.
//! * [`completed`]: figures of completed sessions, for such a source.
//! * [`watched`]: what a source has to know to ask for no more than is needed.

mod completed;
mod dates;
mod indices;
pub(crate) mod intake;
mod judging;
mod listed;
mod missed;
mod movers;
mod performance;
mod sentiment;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use sources::ingest::{self, IngestError, IngestRejection, IngestResult};
use sources::live::RefreshKind;
use tokio::sync::Mutex;
use tokio::sync::broadcast;

use crate::catalog::Catalog;
use crate::evaluator::Evaluator;
use crate::prices::interest::Interest;
use crate::prices::{PriceArrivals, Prices};
use crate::stocks::Stocks;
use crate::{Actor, Ports, Scope, ServiceError, Settings};

pub use dates::{MAX_EARNINGS_DAYS, Named};
pub(crate) use intake::{Intake, RecordObserved, bar_of, ended_session, refused_never};
pub(crate) use listed::completed_session;
pub use listed::{Coverage, ListedQuote};
pub use missed::{Missed, MissedOutcome};
pub use movers::TopMovers;
pub use performance::{DatedPrice, StockPerformance};
pub use sentiment::{MIN_STOCKS_FOR_LABEL, Mood, Sentiment};

/// Whether the market is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarketStatus {
    /// Whether the regular session is going on.
    pub is_open: bool,
    /// When it opens next.
    pub next_open: Option<Timestamp>,
    /// When it closes next.
    pub next_close: Option<Timestamp>,
    /// The instant this was asked.
    pub now: Timestamp,
}

/// A row that could not be taken in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotIngested {
    /// Which part of the batch: `quotes`, `bars`, ...
    pub kind: &'static str,
    /// Its place in it, from 0.
    pub index: usize,
    /// Why not, and what would help.
    pub reason: String,
}

/// What became of the body of an ingest request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IngestAnswer {
    /// How many elements of each kind that the body has were taken in.
    pub accepted: BTreeMap<&'static str, usize>,
    /// The others, with their places in the body.
    pub rejected: Vec<NotIngested>,
}

/// Refuses unless the actor may push market data: it operates this service, and shows itself by something with the
/// scope for it.
///
/// # Errors
/// [`ServiceError::Forbidden`], naming what it takes.
pub fn may_push(actor: &Actor) -> Result<(), ServiceError> {
    actor.require(Scope::MarketWrite)?;
    if actor.is_operator {
        return Ok(());
    }
    let message = "market data is delivered by the operator of this service; use the key of an operator's account";
    Err(ServiceError::Forbidden {
        reason: "operator",
        required: None,
        message: message.to_owned(),
    })
}

/// Market data that sources deliver.
#[derive(Clone)]
pub struct MarketIntake {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) intake: Arc<Mutex<Intake>>,
    pub(crate) interest: Arc<Interest>,
    pub(crate) price_arrivals: PriceArrivals,
    pub(crate) wanted: broadcast::Sender<RefreshKind>,
}

/// The state of the market: hours, indices, movers, sentiment and performance.
#[derive(Clone)]
pub struct MarketOverview {
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<Settings>,
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

    /// Takes in what somebody pushed: the body of an ingest request (decisions 8). Bad elements come back with their
    /// places and cost no other.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`] as [`may_push`], [`ServiceError::Malformed`] and
    /// [`ServiceError::Invalid`] for a body that is no object of arrays; as [`Service::ingest`].
    pub async fn ingest_json(&self, actor: &Actor, body: &Value) -> Result<IngestAnswer, ServiceError> {
        may_push(actor)?;
        let read = ingest::parse_value(body, self.ports.clock.now()).map_err(|error| match error {
            IngestError::NotAnObject | IngestError::NotJson(_) => ServiceError::Malformed(error.to_string()),
            IngestError::NotAnArray { kind, .. } => ServiceError::field(kind, "must be an array of objects"),
        })?;
        let places = Places::of(&read);
        let mut answer = IngestAnswer {
            accepted: read.accepted,
            rejected: read.rejected.into_iter().map(NotIngested::from).collect(),
        };
        for mut not_taken in self.market_intake.ingest(read.batch).await? {
            not_taken.index = places.in_body(not_taken.kind, not_taken.index);
            if let Some(accepted) = answer.accepted.get_mut(not_taken.kind) {
                *accepted = accepted.saturating_sub(1);
            }
            answer.rejected.push(not_taken);
        }
        answer.rejected.sort_by_key(|rejected| (rejected.kind, rejected.index));
        Ok(answer)
    }
}

impl From<IngestRejection> for NotIngested {
    fn from(rejected: IngestRejection) -> Self {
        Self {
            kind: rejected.kind,
            index: rejected.index,
            reason: rejected.reason,
        }
    }
}

/// Where the elements that were read soundly stood in the body, among those that were not.
struct Places(BTreeMap<&'static str, BTreeSet<usize>>);

impl Places {
    fn of(read: &IngestResult) -> Self {
        let mut unsound: BTreeMap<&'static str, BTreeSet<usize>> = BTreeMap::new();
        for rejected in &read.rejected {
            unsound.entry(rejected.kind).or_default().insert(rejected.index);
        }
        Self(unsound)
    }

    /// The place in the body of the sound element number `index`.
    fn in_body(&self, kind: &str, index: usize) -> usize {
        let mut place = index;
        for &unsound in self.0.get(kind).into_iter().flatten() {
            if unsound <= place {
                place += 1;
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use store::model::{AccountId, ApiKeyId};
    use uuid::Uuid;

    use super::*;
    use crate::Via;

    fn who(is_operator: bool, scope: Scope) -> Actor {
        Actor {
            account: AccountId(Uuid::from_u128(1)),
            email: "ann@example.com".to_owned(),
            plan: ::alerts::Plan::Basic,
            is_operator,
            time_zone: TimeZone::UTC,
            via: Via::Key {
                id: ApiKeyId(Uuid::from_u128(2)),
                name: "feed".to_owned(),
                scopes: vec![scope],
            },
        }
    }

    #[test]
    fn pushing_takes_an_operator_and_the_scope_for_it() {
        let reason = |is_operator, scope| match may_push(&who(is_operator, scope)) {
            Ok(()) => None,
            Err(ServiceError::Forbidden { reason, .. }) => Some(reason),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(reason(true, Scope::MarketWrite), None);
        assert_eq!(reason(true, Scope::StocksRead), Some("scope"));
        assert_eq!(reason(false, Scope::MarketWrite), Some("operator"));
    }

    #[test]
    fn sound_elements_are_counted_past_the_unsound_ones() {
        let places = Places(BTreeMap::from([("quotes", BTreeSet::from([0, 2, 3]))]));
        let of_sound: Vec<_> = (0..3).map(|index| places.in_body("quotes", index)).collect();
        assert_eq!(of_sound, [1, 4, 5]);
        assert_eq!(places.in_body("bars", 7), 7);
    }
}

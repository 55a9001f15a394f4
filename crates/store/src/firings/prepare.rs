//! Firings on the way to the database: in order, and with all that is to be written.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use alerts::transition::{self, HistoryStatus, Transition};
use alerts::{AlertId, Channel, Status};
use market::Price;
use serde_json::Value;
use uuid::Uuid;

use crate::alerts::BY_ID;
use crate::alerts::{AlertRow, TABLE};
use crate::bulk::{Statement, query_many};
use crate::deliveries::make::Fired;
use crate::messages::make::Told;
use crate::model::{Compose, Firing, Owner, StoredAlert};
use crate::{Store, StoreError};

/// The places of alerts by their ids.
const SEQS: Statement = Statement {
    before: "SELECT id, seq FROM alerts WHERE id IN (VALUES ",
    columns: 1,
    after: ")",
};

/// A firing by its place among all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    index: usize,
    /// The place of its alert in the order of creation, if that was looked up.
    alert_seq: Option<i64>,
}

/// A chunk of firings, each known by its place among all.
pub(super) struct Prepared {
    /// The alerts as they are if their firings are taken.
    pub(super) fired: Vec<(usize, StoredAlert)>,
    /// What is to be written for them.
    pub(super) rows: Vec<FiringRow>,
    /// Those of which it is known already that they are not taken.
    pub(super) stale: Vec<(usize, AlertId)>,
}

/// What a firing writes: to its alert, to the history and to the events.
#[derive(Debug)]
pub(super) struct FiringRow {
    pub(super) place: usize,
    pub(super) alert: AlertId,
    pub(super) alert_seq: i64,
    pub(super) account: Option<Uuid>,
    /// A guest's address.
    pub(super) guest: Option<String>,
    pub(super) notification: Channel,
    pub(super) judged_revision: i64,
    pub(super) next_revision: i64,
    pub(super) status: &'static str,
    pub(super) at: i64,
    pub(super) price: Option<i64>,
    pub(super) details: String,
    pub(super) event: Uuid,
    pub(super) data: String,
}

impl FiringRow {
    /// The firing as those see it who deliver it, with the place its event has got.
    pub(super) const fn as_fired(&self, event_seq: i64) -> Fired {
        Fired {
            account: self.account,
            event: self.event,
            event_seq,
            at: self.at,
        }
    }

    /// The firing as those see it who tell people of it.
    pub(super) fn as_told(&self, event_seq: i64) -> Told<'_> {
        Told {
            notification: self.notification,
            account: self.account,
            guest: self.guest.as_deref(),
            alert_seq: self.alert_seq,
            event: self.event,
            event_seq,
            at: self.at,
        }
    }
}

impl Store {
    /// Firings in the order in which their alerts were made, if that is worth while.
    pub(super) async fn in_order_of_creation(&self, firings: &[Firing]) -> Result<Vec<Place>, StoreError> {
        let mut seqs: HashMap<Uuid, i64> = HashMap::new();
        if firings.len() > super::CHUNK {
            let found = query_many!((Uuid, i64), &self.pools, SEQS, firings, |query, firing| query
                .bind(firing.alert.0))?;
            seqs.extend(found);
        }
        let place = |(index, firing): (usize, &Firing)| Place {
            index,
            alert_seq: seqs.get(&firing.alert.0).copied(),
        };
        let mut places: Vec<Place> = firings.iter().enumerate().map(place).collect();
        places.sort_by_key(|place| place.alert_seq);
        Ok(places)
    }

    /// The alerts of some firings as rows.
    async fn rows_of(&self, firings: &[Firing], places: &[Place]) -> Result<Vec<AlertRow>, StoreError> {
        let seqs: Vec<i64> = places.iter().filter_map(|place| place.alert_seq).collect();
        if seqs.is_empty() {
            let by_id = query_many!(AlertRow, &self.pools, BY_ID, places, |query, place| {
                query.bind(firings[place.index].alert.0)
            });
            return Ok(by_id?);
        }
        self.alert_rows(&seqs).await
    }

    /// Reads the alerts of some firings and makes what is to be written.
    pub(super) async fn prepare(
        &self,
        firings: &[Firing],
        places: &[Place],
        compose: &Compose,
    ) -> Result<Prepared, StoreError> {
        let rows = self.rows_of(firings, places).await?;
        let mut found: HashMap<AlertId, AlertRow> = rows.into_iter().map(|row| (row.id(), row)).collect();
        let mut prepared = Prepared {
            fired: Vec::with_capacity(places.len()),
            rows: Vec::with_capacity(places.len()),
            stale: Vec::new(),
        };
        let mut seen = HashSet::new();
        for place in places.iter().map(|place| place.index) {
            let firing = &firings[place];
            // A second firing of the same alert was judged before the first was known.
            let row = if seen.insert(firing.alert) {
                found.remove(&firing.alert)
            } else {
                None
            };
            match row {
                Some(row) => match self.fire(place, firing, row, compose)? {
                    Some((alert, row)) => {
                        prepared.fired.push((place, alert));
                        prepared.rows.push(row);
                    }
                    None => prepared.stale.push((place, firing.alert)),
                },
                None => prepared.stale.push((place, firing.alert)),
            }
        }
        // Whoever writes the same rows takes them in the same order.
        prepared.rows.sort_unstable_by_key(|row| row.alert_seq);
        Ok(prepared)
    }

    /// One firing; `None` if its alert is not what was judged any more.
    fn fire(
        &self,
        place: usize,
        firing: &Firing,
        row: AlertRow,
        compose: &Compose,
    ) -> Result<Option<(StoredAlert, FiringRow)>, StoreError> {
        let (alert_seq, is_deleted) = (row.seq, row.is_deleted());
        let mut stored = StoredAlert::try_from(row)?;
        if !self.compares {
            stored.alert.status = Status::Active;
        } else if is_deleted || stored.alert.revision != firing.revision {
            return Ok(None);
        }
        let judged_revision = i64::from(stored.alert.revision.0);
        let Ok(Transition::Changed(changed)) = transition::fire(&stored.alert, firing.at) else {
            return Ok(None);
        };
        stored.alert = changed.alert;
        let HistoryStatus::Of(status) = changed.entry.new_status else {
            return Err(TABLE.corrupt("a firing does not delete"));
        };
        let data = catch_unwind(AssertUnwindSafe(|| compose(&stored, firing)));
        let data = data.map_err(|_| StoreError::Panicked("composing an event".to_owned()))?;
        let row = FiringRow {
            place,
            alert: stored.alert.id,
            alert_seq,
            account: stored.owner.account().map(|account| account.0),
            guest: match &stored.owner {
                Owner::Guest { email } => Some(email.clone()),
                Owner::Account(_) => None,
            },
            notification: stored.alert.notification,
            judged_revision,
            next_revision: i64::from(stored.alert.revision.0),
            status: status.name(),
            at: firing.at.as_microsecond(),
            price: firing.price.map(Price::micros),
            details: details(firing),
            event: firing.event.0,
            data,
        };
        Ok(Some((stored, row)))
    }
}

/// What the history keeps of a firing beside its price: `{"reason": "...", "metric": 198.66}`, the metric as it was measured
/// or null; of one that is late `"late": true` and `"crossed_at"`, too.
fn details(firing: &Firing) -> String {
    let reason = Value::from(firing.reason.as_str());
    // A decimal prints as a JSON number.
    let metric = firing
        .metric
        .map_or_else(|| "null".to_owned(), |metric| metric.to_string());
    match firing.crossed_at {
        Some(at) => format!(r#"{{"reason":{reason},"metric":{metric},"late":true,"crossed_at":"{at:.3}"}}"#),
        None => format!(r#"{{"reason":{reason},"metric":{metric}}}"#),
    }
}

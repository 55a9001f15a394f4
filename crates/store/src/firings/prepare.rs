//! Prepares firings for writing: order and row contents.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use alerts::transition::{self, HistoryStatus, Transition};
use alerts::{AlertId, Channel, Status};
use jiff::Timestamp;
use market::Price;
use serde_json::Value;
use uuid::Uuid;

use crate::alerts::BY_ID;
use crate::alerts::{AlertRow, TABLE, TotalKind, lifecycle_column};
use crate::bulk::{Statement, query_many};
use crate::database::Either;
use crate::model::{AlertOwner, Firing, FiringComposer, StoredAlert};
use crate::queue::create::FiredEvent;
use crate::routes::RoutePlan;
use crate::timeouts::with_statement_timeout;
use crate::{Store, StoreError};

/// The `seq` and the account of alerts by id, on PostgreSQL.
const ALERT_SEQS_OF_MANY: &str = "SELECT id, seq, account_id FROM alerts WHERE id = ANY($1)";

/// The `seq` and the account of alerts by id.
const ALERT_SEQS: Statement = Statement {
    before: "SELECT id, seq, account_id FROM alerts WHERE id IN (VALUES ",
    columns: 1,
    after: ")",
};

/// A firing's index in the evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct FiringPosition {
    index: usize,
    /// The `seq` of its alert, if it was looked up.
    alert_seq: Option<i64>,
    /// The account of its alert, if it was looked up. A guest has none.
    account: Option<Uuid>,
}

/// Divides firings into parts, so that those of an account are in one part. The order stays.
pub(super) fn divided_by_account(positions: Vec<FiringPosition>, parts: usize) -> Vec<Vec<FiringPosition>> {
    let mut divided = vec![Vec::new(); parts];
    for position in positions {
        // Ids are random.
        let [.., last] = position.account.map_or([0; 16], Uuid::into_bytes);
        divided[usize::from(last) % parts].push(position);
    }
    divided
}

/// A chunk of firings, each identified by its index in the evaluation.
pub(super) struct PreparedChunk {
    /// The alerts as they are if their firings are accepted.
    pub(super) fired: Vec<(usize, StoredAlert)>,
    /// The rows to write.
    pub(super) rows: Vec<FiringRow>,
    /// Firings that are already known to be rejected.
    pub(super) stale: Vec<(usize, AlertId)>,
}

/// The values that a firing writes to its alert, the history and the events.
#[derive(Debug)]
pub(super) struct FiringRow {
    pub(super) index: usize,
    pub(super) alert: AlertId,
    pub(super) alert_seq: i64,
    /// The `seq` of the alert over many stocks whose member fires.
    pub(super) parent_seq: Option<i64>,
    pub(super) account: Option<Uuid>,
    /// A guest's email address.
    pub(super) guest: Option<String>,
    pub(super) notification: Channel,
    /// The channels of its messages, see [`FiredEvent::route`].
    pub(super) route: Option<RoutePlan>,
    pub(super) evaluated_revision: i64,
    pub(super) next_revision: i64,
    pub(super) status: Status,
    /// The kind of the alert before the firing.
    pub(super) kind: TotalKind,
    pub(super) at: i64,
    /// The state of the life cycle after the firing; `None` without one.
    pub(super) lifecycle: Option<String>,
    pub(super) price: Option<i64>,
    pub(super) details: String,
    pub(super) event: Uuid,
    pub(super) data: String,
    pub(super) quoted_at: Option<i64>,
    pub(super) judged_at: Option<i64>,
}

impl FiringRow {
    /// The event for which a message and deliveries are created.
    pub(super) fn as_event(&self, event_seq: i64) -> FiredEvent<'_> {
        FiredEvent {
            notification: self.notification,
            account: self.account,
            guest: self.guest.as_deref(),
            route: self.route.as_ref(),
            alert_seq: self.alert_seq,
            event: self.event,
            event_seq,
            at: self.at,
        }
    }
}

impl Store {
    /// Sorts firings by creation of their alerts if there is more than one chunk.
    pub(super) async fn in_order_of_creation(&self, firings: &[Firing]) -> Result<Vec<FiringPosition>, StoreError> {
        let mut known: HashMap<Uuid, (i64, Option<Uuid>)> = HashMap::new();
        if firings.len() > super::FIRING_CHUNK_SIZE {
            let found: Vec<(Uuid, i64, Option<Uuid>)> = if let Either::Pg(pool) = &self.pools {
                let ids: Vec<Uuid> = firings.iter().map(|firing| firing.alert.0).collect();
                with_statement_timeout(sqlx::query_as(ALERT_SEQS_OF_MANY).bind(ids).fetch_all(pool)).await?
            } else {
                query_many!(
                    (Uuid, i64, Option<Uuid>),
                    &self.pools,
                    ALERT_SEQS,
                    firings,
                    |query, firing| query.bind(firing.alert.0)
                )
            };
            known.extend(found.into_iter().map(|(id, seq, account)| (id, (seq, account))));
        }
        let position = |(index, firing): (usize, &Firing)| {
            let (alert_seq, account) = known.get(&firing.alert.0).copied().unzip();
            FiringPosition {
                index,
                alert_seq,
                account: account.flatten(),
            }
        };
        let mut positions: Vec<FiringPosition> = firings.iter().enumerate().map(position).collect();
        positions.sort_by_key(|position| position.alert_seq);
        Ok(positions)
    }

    /// Returns the alert rows of some firings.
    async fn rows_of(&self, firings: &[Firing], positions: &[FiringPosition]) -> Result<Vec<AlertRow>, StoreError> {
        let seqs: Vec<i64> = positions.iter().filter_map(|position| position.alert_seq).collect();
        if seqs.is_empty() {
            let by_id = query_many!(AlertRow, &self.pools, BY_ID, positions, |query, position| {
                query.bind(firings[position.index].alert.0)
            });
            return Ok(by_id);
        }
        self.alert_rows(&seqs).await
    }

    /// Reads the alerts of some firings and prepares the rows to write.
    pub(super) async fn prepare(
        &self,
        firings: &[Firing],
        positions: &[FiringPosition],
        composer: &dyn FiringComposer,
    ) -> Result<PreparedChunk, StoreError> {
        let rows = self.rows_of(firings, positions).await?;
        let mut found: HashMap<AlertId, AlertRow> = rows.into_iter().map(|row| (row.id(), row)).collect();
        let mut prepared = PreparedChunk {
            fired: Vec::with_capacity(positions.len()),
            rows: Vec::with_capacity(positions.len()),
            stale: Vec::new(),
        };
        let mut seen = HashSet::new();
        for index in positions.iter().map(|position| position.index) {
            let firing = &firings[index];
            // A second firing of the same alert was evaluated before the first was known.
            let row = if seen.insert(firing.alert) {
                found.remove(&firing.alert)
            } else {
                None
            };
            match row {
                Some(row) => match self.prepare_firing(index, firing, row, composer)? {
                    Some((alert, row)) => {
                        prepared.fired.push((index, alert));
                        prepared.rows.push(row);
                    }
                    None => prepared.stale.push((index, firing.alert)),
                },
                None => prepared.stale.push((index, firing.alert)),
            }
        }
        let routes = prepared.fired.iter().zip(&prepared.rows);
        let routes: Vec<_> = routes
            .map(|((_, stored), row)| (row.account, stored.alert.routing.route.as_deref()))
            .collect();
        let plans = self.route_plans(&routes).await?;
        for (row, plan) in prepared.rows.iter_mut().zip(plans) {
            row.route = plan;
        }
        // All transactions write rows in the same order, which prevents deadlocks.
        prepared.rows.sort_unstable_by_key(|row| row.alert_seq);
        Ok(prepared)
    }

    /// Prepares one firing. `None`: the alert no longer is what was evaluated.
    fn prepare_firing(
        &self,
        index: usize,
        firing: &Firing,
        row: AlertRow,
        composer: &dyn FiringComposer,
    ) -> Result<Option<(StoredAlert, FiringRow)>, StoreError> {
        let (alert_seq, parent_seq, is_deleted) = (row.seq, row.parent_seq, row.is_deleted());
        let mut stored = StoredAlert::try_from(row)?;
        if !self.uses_compare_and_set {
            stored.alert.status = Status::Active;
        } else if is_deleted || stored.alert.revision != firing.revision {
            return Ok(None);
        }
        let evaluated_revision = i64::from(stored.alert.revision.0);
        let kind = TotalKind::of(&stored.role, stored.alert.status);
        let Ok(Transition::Changed(changed)) = transition::fire(&stored.alert, firing.at, firing.lifecycle.as_deref())
        else {
            return Ok(None);
        };
        stored.alert = changed.alert;
        let HistoryStatus::Of(status) = changed.entry.new_status else {
            return Err(TABLE.corrupt("a firing must not delete the alert"));
        };
        let data = catch_unwind(AssertUnwindSafe(|| composer.data(&stored, firing)));
        let data = data.map_err(|_| StoreError::Panicked("composing an event".to_owned()))?;
        let row = FiringRow {
            index,
            alert: stored.alert.id,
            alert_seq,
            parent_seq,
            account: stored.owner.account().map(|account| account.0),
            guest: match &stored.owner {
                AlertOwner::Guest { email } => Some(email.clone()),
                AlertOwner::Account(_) => None,
            },
            notification: stored.alert.notification,
            route: None,
            evaluated_revision,
            next_revision: i64::from(stored.alert.revision.0),
            status,
            kind,
            at: firing.at.as_microsecond(),
            lifecycle: lifecycle_column(firing.lifecycle.as_deref())?,
            price: firing.price.map(Price::micros),
            details: history_details(firing),
            event: composer.now().map_or(firing.event, |now| firing.event.made_at(now)).0,
            data,
            quoted_at: composer.quoted_at(&stored, firing).map(Timestamp::as_microsecond),
            judged_at: firing.judged_at.map(Timestamp::as_microsecond),
        };
        Ok(Some((stored, row)))
    }
}

/// The history details of a firing: `{"reason": "...", "metric": 198.66}`, with null for an unknown metric. A late
/// firing also has `"late": true` and `"crossed_at"`.
fn history_details(firing: &Firing) -> String {
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

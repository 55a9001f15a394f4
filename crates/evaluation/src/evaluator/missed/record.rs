//! Entries in the histories of alerts for which a part of a missed period could not be evaluated.

use std::collections::HashMap;

use ::alerts::transition::{HistoryStatus, StatusChange};
use ::alerts::{AlertId, HistoryAction, Status};
use jiff::Timestamp;
use serde_json::Map;
use store::model::{HistoryRow, StoredAlert};
use store::{StoreError, UnitOfWork};

use super::known::UnknownPeriod;
use crate::evaluator::Evaluator;

/// The number of entries that one transaction writes.
const ENTRIES_PER_TRANSACTION: usize = 200;

impl Evaluator {
    /// Records periods that could not be evaluated. A period that is recorded again has one entry.
    pub(crate) async fn record_unknown(&self, periods: &[UnknownPeriod]) -> Result<(), StoreError> {
        for some in periods.chunks(ENTRIES_PER_TRANSACTION) {
            let work = (some.to_vec(), self.engine_now());
            let record = self
                .store
                .commit(work, |(periods, now), unit| Box::pin(record(unit, periods, *now)));
            record.await?;
        }
        Ok(())
    }
}

async fn record(unit: &mut UnitOfWork, periods: &[UnknownPeriod], now: Timestamp) -> Result<(), StoreError> {
    let ids: Vec<AlertId> = periods.iter().map(|period| period.alert).collect();
    let stored = unit.alerts_by_id(&ids).await?.into_iter();
    let active = stored.filter(|stored| stored.alert.status == Status::Active);
    let active: HashMap<AlertId, StoredAlert> = active.map(|stored| (stored.alert.id, stored)).collect();
    for period in periods {
        if let Some(stored) = active.get(&period.alert) {
            unit.append_history_once(&entry(period, stored, now)).await?;
        }
    }
    Ok(())
}

fn entry(period: &UnknownPeriod, stored: &StoredAlert, now: Timestamp) -> HistoryRow {
    let details = [
        ("from", format!("{:.3}", period.from)),
        ("to", format!("{:.3}", period.to)),
        ("reason", period.reason.to_string()),
    ];
    let details = details.map(|(name, value)| (name.to_owned(), value.into()));
    HistoryRow {
        alert: period.alert,
        symbol: stored.alert.symbol,
        entry: StatusChange {
            action: HistoryAction::NotEvaluated,
            previous_status: Some(Status::Active),
            new_status: HistoryStatus::Of(Status::Active),
        },
        at: now,
        price: None,
        details: Some(Map::from_iter(details)),
    }
}

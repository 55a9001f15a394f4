//! Former states of alerts, by which their owner can undo a change.

use std::collections::HashMap;

use alerts::transition::{ArmingDetails, HistoryAction, HistoryStatus, StatusChange};
use alerts::{AlertId, Status};
use jiff::Timestamp;
use uuid::Uuid;

use super::row::{AlertRow, TABLE, select};
use super::totals::TotalKind;
use crate::database::query;
use crate::model::{AccountId, HistoryRow, RestoredAlert, StoredAlert, UndoId, UndoableChange, UndoableKind};
use crate::purge::Purge;
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const OLD_STATES: Purge = Purge {
    dependents: &[],
    counted: &["DELETE FROM undo_states WHERE (undo_id, alert_seq) IN
         (SELECT undo_id, alert_seq FROM undo_states WHERE changed_at < $1 LIMIT $2)"],
};

/// The changes of an account whose alerts are unchanged since.
const RECENT: &str =
    "SELECT s.undo_id, MAX(s.changed_at) AS changed_at, COUNT(*) AS count, MIN(s.alert_seq) AS first_seq,
     SUM(CASE WHEN alerts.status = s.status THEN 0 ELSE 1 END) AS other_status
     FROM undo_states s JOIN alerts ON alerts.seq = s.alert_seq
     WHERE s.account_id = $1 AND s.changed_at >= $2 AND alerts.parent_seq IS NULL AND alerts.revision = s.revision + 1
     GROUP BY s.undo_id ORDER BY MAX(s.changed_at) DESC, s.undo_id LIMIT $3";

row! {
    /// A change that can be undone.
    struct RecentRow {
        undo_id: Uuid,
        changed_at: i64,
        count: i64,
        first_seq: i64,
        other_status: i64,
    }
}

/// The state of an alert that is unchanged since the change that is undone: each change raises the revision by one.
const RESTORE: &str = "UPDATE alerts SET status = s.status, initial_price = s.initial_price,
     initial_price_set_at = s.initial_price_set_at, armed_at = s.armed_at, triggered_at = s.triggered_at,
     rsi_side = s.rsi_side, options = s.options, lifecycle = s.lifecycle, deleted_at = NULL, revision = alerts.revision + 1
     FROM undo_states s
     WHERE s.undo_id = $1 AND s.account_id = $2 AND s.changed_at >= $3 AND alerts.seq = s.alert_seq
     AND alerts.revision = s.revision + 1
     RETURNING alerts.seq";

impl UnitOfWork {
    /// Keeps the present state of an alert, and of its members, so that a change of it can be undone.
    pub async fn keep_state(
        &mut self,
        undo: UndoId,
        account: AccountId,
        alert: AlertId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO undo_states (undo_id, alert_seq, account_id, changed_at, revision, status, initial_price,
             initial_price_set_at, armed_at, triggered_at, rsi_side, options, lifecycle)
             SELECT $1, seq, account_id, $4, revision, status, initial_price, initial_price_set_at, armed_at, triggered_at,
             rsi_side, options, lifecycle FROM alerts
             WHERE account_id = $2 AND deleted_at IS NULL
             AND (id = $3 OR parent_seq = (SELECT seq FROM alerts WHERE id = $3))",
            undo.0,
            account.0,
            alert.0,
            at.as_microsecond(),
        );
        Ok(())
    }

    /// Forgets the kept states of an alert, and of its members, that the change has left as they were.
    pub async fn forget_unchanged(&mut self, undo: UndoId, alert: AlertId) -> Result<(), StoreError> {
        write_rows!(
            self,
            "DELETE FROM undo_states WHERE undo_id = $1 AND alert_seq IN
             (SELECT seq FROM alerts WHERE (id = $2 OR parent_seq = (SELECT seq FROM alerts WHERE id = $2))
              AND alerts.revision = undo_states.revision)",
            undo.0,
            alert.0,
        );
        Ok(())
    }

    /// Restores the alerts of a change that was made at `since` or later, and writes their history. An alert that has changed again,
    /// for instance because it fired, keeps its present state and is missing in the result.
    pub async fn restore_states(
        &mut self,
        undo: UndoId,
        account: AccountId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<RestoredAlert>, StoreError> {
        let sql = "SELECT alerts.seq, alerts.status, alerts.deleted_at FROM alerts
             JOIN undo_states s ON s.alert_seq = alerts.seq WHERE s.undo_id = $1 AND s.account_id = $2";
        let before = fetch!(self, fetch_all(i64, String, Option<i64>), sql, undo.0, account.0);
        let before: HashMap<i64, (String, bool)> = before
            .into_iter()
            .map(|(seq, status, deleted_at)| (seq, (status, deleted_at.is_some())))
            .collect();
        let since = since.as_microsecond();
        let restored = fetch!(self, fetch_all(i64,), RESTORE, undo.0, account.0, since);
        let mut alerts = Vec::with_capacity(restored.len());
        for (seq,) in restored {
            let (status, was_deleted) = before
                .get(&seq)
                .ok_or_else(|| TABLE.corrupt("an undone alert is missing"))?;
            let restored = self.restored_alert(seq, *was_deleted, account, now).await?;
            let kind = TotalKind::of(&restored.stored.role, restored.stored.alert.status);
            self.count_added(account.0, kind);
            if !was_deleted {
                let status = TABLE.parse("status", status, Status::from_name)?;
                self.count_removed(account.0, kind.with_status(status));
            }
            alerts.push(restored);
        }
        write_rows!(
            self,
            "DELETE FROM undo_states WHERE undo_id = $1 AND account_id = $2",
            undo.0,
            account.0
        );
        Ok(alerts)
    }

    async fn restored_alert(
        &mut self,
        seq: i64,
        was_deleted: bool,
        account: AccountId,
        now: Timestamp,
    ) -> Result<RestoredAlert, StoreError> {
        let row = fetch!(self, fetch_one AlertRow, select!("WHERE alerts.seq = $1"), seq);
        let stored = StoredAlert::try_from(row)?;
        let alert = &stored.alert;
        if was_deleted {
            self.insert_alert_tags(Some(account.0), seq, &alert.tags).await?;
        }
        let entry = HistoryRow {
            alert: alert.id,
            symbol: alert.symbol,
            entry: StatusChange {
                action: HistoryAction::Updated,
                previous_status: None,
                new_status: HistoryStatus::Of(alert.status),
            },
            at: now,
            price: None,
            details: ArmingDetails::of_undo(alert, now).to_json(),
        };
        self.write_history(seq, &entry).await?;
        Ok(RestoredAlert { stored, was_deleted })
    }
}

impl RecentRow {
    fn with_first(self, first: AlertRow) -> Result<UndoableChange, StoreError> {
        let was_deleted = first.is_deleted();
        let first = StoredAlert::try_from(first)?;
        let kind = match first.alert.status {
            _ if was_deleted => UndoableKind::Delete,
            // An active alert is snoozed, or a snooze ends.
            _ if self.other_status == 0 && first.alert.options.snoozed_until.is_some() => UndoableKind::Snooze,
            Status::Active => UndoableKind::Activate,
            Status::Paused | Status::Inactive | Status::Triggered => UndoableKind::Pause,
        };
        Ok(UndoableChange {
            undo: UndoId(self.undo_id),
            at: TABLE.instant(self.changed_at)?,
            kind,
            count: self.count.unsigned_abs(),
            first,
        })
    }
}

impl Store {
    /// Returns the newest changes of an account since `since` that can still be undone, newest first.
    pub async fn undoable_changes(
        &self,
        account: AccountId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<UndoableChange>, StoreError> {
        let (since, limit) = (since.as_microsecond(), i64::from(limit));
        let changes = query!(fetch_all RecentRow, &self.pools, RECENT, account.0, since, limit)?;
        let seqs: Vec<i64> = changes.iter().map(|change| change.first_seq).collect();
        let alerts = self.alert_rows(&seqs).await?;
        let mut alerts: HashMap<i64, AlertRow> = alerts.into_iter().map(|row| (row.seq, row)).collect();
        changes
            .into_iter()
            .filter_map(|change| {
                let first = alerts.remove(&change.first_seq)?;
                Some(change.with_first(first))
            })
            .collect()
    }

    /// Returns the number of alerts that a change has changed. The members of an alert over many stocks do not count.
    pub async fn count_changed(&self, undo: UndoId, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM undo_states s JOIN alerts ON alerts.seq = s.alert_seq
             WHERE s.undo_id = $1 AND s.account_id = $2 AND alerts.parent_seq IS NULL AND alerts.revision > s.revision";
        let (count,) = query!(fetch_one(i64,), &self.pools, sql, undo.0, account.0)?;
        Ok(count.unsigned_abs())
    }

    /// Deletes the former states of changes before `before`, at most `limit`. Returns the number deleted.
    pub async fn purge_undo_states(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.purge(OLD_STATES, before, limit).await
    }
}

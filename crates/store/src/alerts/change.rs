//! Creates, changes and deletes alerts. Each change writes its history entry.

use alerts::transition::{self, ChangedAlert};
use alerts::{Alert, AlertId, ManagedBy, NewAlert, Note, Status, restore};
use jiff::Timestamp;
use market::{Decimal, Price, Symbol};
use serde_json::{Map, Value};

use super::row::{
    AlertRow, TABLE, lifecycle_column, onboarding_id, options_column, routing_column, scope_column, select, side_name,
    tags_column,
};
use super::totals::{TotalKind, kind_column};
use crate::columns::{self, json, values};
use crate::model::{AccountId, AlertOwner, HistoryRow, ScopeRole, StoredAlert};
use crate::unit_of_work::{fetch, select_locked};
use crate::{StoreError, UnitOfWork};

macro_rules! select_same_condition {
    ($owner_and_threshold:literal) => {
        select!(concat!(
            "WHERE alerts.symbol = $2 AND condition = $3 AND deleted_at IS NULL AND scope IS NULL AND parent_seq IS NULL AND ",
            $owner_and_threshold,
            " ORDER BY alerts.seq"
        ))
    };
}

impl UnitOfWork {
    /// Counts an account's active alerts. One over many stocks counts as many as it has active members.
    pub async fn count_active_alerts(&mut self, account: AccountId) -> Result<u32, StoreError> {
        let active = self.alert_totals(account).await?.evaluated(Status::Active)?;
        u32::try_from(active).map_err(|error| TABLE.corrupt(error))
    }

    /// Returns the owner's alerts that [`alerts::equivalence::equivalent`] may find equivalent to `new`, oldest
    /// first. These have the same symbol, condition, threshold and moment, or the same `onboarding_id`. Deleted
    /// alerts are missing.
    ///
    /// Concurrent calls for the same owner must wait until the end of the transaction. For an account, the caller
    /// locks the account first. For a guest, this method locks the address.
    pub async fn similar_alerts(&mut self, owner: &AlertOwner, new: &NewAlert) -> Result<Vec<StoredAlert>, StoreError> {
        let mut rows = self.alerts_with_same_condition(owner, new).await?;
        if let Some(id) = onboarding_id(new.parameters.as_ref()) {
            rows.extend(self.alerts_with_onboarding_id(owner, &id).await?);
            rows.sort_by_key(|row| row.seq);
            rows.dedup_by_key(|row| row.seq);
        }
        values(rows)
    }

    /// Returns the owner's alerts with the same symbol, condition and threshold.
    async fn alerts_with_same_condition(
        &mut self,
        owner: &AlertOwner,
        new: &NewAlert,
    ) -> Result<Vec<AlertRow>, StoreError> {
        let symbol = new.symbol.as_str();
        let kind = new.condition.kind().name();
        let threshold = new.condition.threshold().map(Decimal::micros);
        // Four separate statements, because a comparison that treats nulls as equal, or two owner columns as one,
        // uses no index.
        Ok(match (owner, threshold) {
            (AlertOwner::Account(account), Some(threshold)) => {
                let sql = select_same_condition!("account_id = $1 AND threshold = $4");
                fetch!(self, fetch_all AlertRow, sql, account.0, symbol, kind, threshold)
            }
            (AlertOwner::Account(account), None) => {
                let sql = select_same_condition!("account_id = $1 AND threshold IS NULL");
                fetch!(self, fetch_all AlertRow, sql, account.0, symbol, kind)
            }
            (AlertOwner::Guest { email }, threshold) => {
                let email = columns::text(email);
                if self.connection.is_pg() {
                    let lock = "SELECT CAST(pg_advisory_xact_lock(hashtextextended($1, 0)) AS TEXT)";
                    fetch!(self, fetch_one(String,), lock, &email);
                }
                match threshold {
                    Some(threshold) => {
                        let sql = select_same_condition!("guest_email = $1 AND threshold = $4");
                        fetch!(self, fetch_all AlertRow, sql, &email, symbol, kind, threshold)
                    }
                    None => {
                        let sql = select_same_condition!("guest_email = $1 AND threshold IS NULL");
                        fetch!(self, fetch_all AlertRow, sql, &email, symbol, kind)
                    }
                }
            }
        })
    }

    /// Returns the owner's alerts that a client has marked with an `onboarding_id`.
    async fn alerts_with_onboarding_id(&mut self, owner: &AlertOwner, id: &str) -> Result<Vec<AlertRow>, StoreError> {
        Ok(match owner {
            AlertOwner::Account(account) => {
                let sql = select!(
                    "WHERE onboarding_id = $2 AND account_id = $1 AND deleted_at IS NULL AND parent_seq IS NULL"
                );
                fetch!(self, fetch_all AlertRow, sql, account.0, id)
            }
            AlertOwner::Guest { email } => {
                let sql = select!("WHERE onboarding_id = $2 AND guest_email = $1 AND deleted_at IS NULL");
                fetch!(self, fetch_all AlertRow, sql, columns::text(email), id)
            }
        })
    }

    /// Returns an account's alert and locks it until the end of the transaction. `None`: the account has no such
    /// alert, or it is deleted.
    pub async fn lock_alert(&mut self, account: AccountId, id: AlertId) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL AND parent_seq IS NULL")
        );
        let row = fetch!(self, fetch_optional AlertRow, sql, id.0, account.0);
        row.map(StoredAlert::try_from).transpose()
    }

    /// Returns all alerts on a stock and locks them until the end of the transaction. Deleted alerts are missing.
    pub async fn lock_alerts_of_symbol(&mut self, symbol: Symbol) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE alerts.symbol = $1 AND deleted_at IS NULL AND scope IS NULL ORDER BY seq")
        );
        values(fetch!(self, fetch_all AlertRow, sql, symbol.as_str()))
    }

    /// Inserts an alert with its history entry.
    pub async fn insert_alert(&mut self, alert: &StoredAlert, row: &HistoryRow) -> Result<(), StoreError> {
        let StoredAlert {
            alert,
            owner,
            created_by,
            role,
            managed_by,
        } = alert;
        let parent = match role {
            ScopeRole::Member(parent) => Some(parent.0),
            ScopeRole::Single | ScopeRole::Scoped(_) => None,
        };
        let (account, guest) = owner_columns(owner);
        let parameters = alert.parameters.as_ref().map(json).transpose()?;
        let inserted = crate::database::query!(
            fetch_one(i64,),
            &mut self.connection,
            "INSERT INTO alerts
             (id, account_id, guest_email, symbol, condition, threshold, moment, parameters, notification, status,
              revision, initial_price, created_at, armed_at, triggered_at, rsi_side, onboarding_id, created_by,
              threshold_set_at, initial_price_set_at, note, tags, options, lifecycle, scope, routing, templates, managed_source, managed_name, parent_seq)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                     $22, $23, $24, $25, $26, $27, $28, $29, (SELECT seq FROM alerts WHERE id = $30))
             RETURNING seq",
            alert.id.0,
            account,
            guest.as_deref(),
            alert.symbol.as_str(),
            alert.condition.kind().name(),
            alert.condition.threshold().map(Decimal::micros),
            restore::moment(&alert.condition).map(Timestamp::as_microsecond),
            parameters.as_deref(),
            alert.notification.name(),
            alert.status.name(),
            i64::from(alert.revision.0),
            alert.initial_price.map(Price::micros),
            alert.created_at.as_microsecond(),
            alert.armed_at.as_microsecond(),
            alert.triggered_at.map(Timestamp::as_microsecond),
            alert.rsi_side.map(side_name),
            onboarding_id(alert.parameters.as_ref()).as_deref(),
            created_by.as_deref().map(columns::text),
            alert.threshold_set_at.as_microsecond(),
            alert.initial_price_set_at.as_microsecond(),
            alert.note.as_ref().map(Note::as_str),
            tags_column(&alert.tags).as_deref(),
            options_column(&alert.options).as_deref(),
            lifecycle_column(alert.lifecycle.as_deref())?.as_deref(),
            scope_column(role).as_deref(),
            routing_column(&alert.routing).as_deref(),
            columns::templates_column(alert.routing.templates.as_deref()).as_deref(),
            managed_by.as_ref().map(ManagedBy::source),
            managed_by.as_ref().map(ManagedBy::name),
            parent,
        );
        let (seq,) = self.track_write(inserted)?;
        if let Some(account) = account {
            self.count_added(account, TotalKind::of(role, alert.status));
        }
        self.insert_alert_tags(account, seq, &alert.tags).await?;
        self.write_history(seq, row).await
    }

    /// Writes a changed alert and its history entry if the stored alert still has the revision of `before`. Otherwise
    /// writes nothing and returns `false`.
    pub async fn update_alert(
        &mut self,
        changed: &ChangedAlert,
        before: &Alert,
        at: Timestamp,
        details: Option<&Map<String, Value>>,
    ) -> Result<bool, StoreError> {
        let alert = &changed.alert;
        let parameters = alert.parameters.as_ref().map(json).transpose()?;
        let updated = crate::database::query!(
            fetch_optional(Option<uuid::Uuid>, String),
            &mut self.connection,
            concat!(
                "UPDATE alerts SET condition = $3, threshold = $4, moment = $5, parameters = $6, notification = $7,
             status = $8, revision = $9, initial_price = $10, armed_at = $11, triggered_at = $12, rsi_side = $13,
             onboarding_id = $14, threshold_set_at = $15, initial_price_set_at = $16, note = $17, tags = $18,
             options = $19, lifecycle = $20, routing = $21, templates = $22
             WHERE id = $1 AND revision = $2 AND deleted_at IS NULL RETURNING account_id, ",
                kind_column!()
            ),
            alert.id.0,
            i64::from(before.revision.0),
            alert.condition.kind().name(),
            alert.condition.threshold().map(Decimal::micros),
            restore::moment(&alert.condition).map(Timestamp::as_microsecond),
            parameters.as_deref(),
            alert.notification.name(),
            alert.status.name(),
            i64::from(alert.revision.0),
            alert.initial_price.map(Price::micros),
            alert.armed_at.as_microsecond(),
            alert.triggered_at.map(Timestamp::as_microsecond),
            alert.rsi_side.map(side_name),
            onboarding_id(alert.parameters.as_ref()).as_deref(),
            alert.threshold_set_at.as_microsecond(),
            alert.initial_price_set_at.as_microsecond(),
            alert.note.as_ref().map(Note::as_str),
            tags_column(&alert.tags).as_deref(),
            options_column(&alert.options).as_deref(),
            lifecycle_column(alert.lifecycle.as_deref())?.as_deref(),
            routing_column(&alert.routing).as_deref(),
            columns::templates_column(alert.routing.templates.as_deref()).as_deref(),
        );
        let Some(updated) = self.track_optional_write(updated)? else {
            return Ok(false);
        };
        if let Some((account, kind)) = Self::counted_kind(updated)? {
            self.count_added(account, kind);
            self.count_removed(account, kind.with_status(before.status));
        }
        if alert.tags != before.tags {
            self.replace_alert_tags(alert.id, &alert.tags).await?;
        }
        let row = HistoryRow {
            alert: alert.id,
            symbol: alert.symbol,
            entry: changed.entry,
            at,
            price: None,
            details: details.cloned(),
        };
        self.append_history(&row).await?;
        Ok(true)
    }

    /// Marks an alert as deleted and writes its history entry. Returns `false`, and writes nothing, if the revision
    /// has changed or the alert is already deleted.
    pub async fn delete_alert(&mut self, alert: &Alert, at: Timestamp) -> Result<bool, StoreError> {
        let deleted = crate::database::query!(
            fetch_optional(Option<uuid::Uuid>, String),
            &mut self.connection,
            concat!(
                "UPDATE alerts SET deleted_at = $3, revision = $4 WHERE id = $1 AND revision = $2 AND deleted_at IS NULL
                 RETURNING account_id, ",
                kind_column!()
            ),
            alert.id.0,
            i64::from(alert.revision.0),
            at.as_microsecond(),
            i64::from(alert.revision.next().0),
        );
        let Some(deleted) = self.track_optional_write(deleted)? else {
            return Ok(false);
        };
        if let Some((account, kind)) = Self::counted_kind(deleted)? {
            self.count_removed(account, kind);
        }
        if !alert.tags.is_empty() {
            self.delete_alert_tags(alert.id).await?;
        }
        let row = HistoryRow {
            alert: alert.id,
            symbol: alert.symbol,
            entry: transition::delete(alert),
            at,
            price: None,
            details: None,
        };
        self.append_history(&row).await?;
        Ok(true)
    }
}

/// The owner as columns: account id, guest email address.
fn owner_columns(owner: &AlertOwner) -> (Option<uuid::Uuid>, Option<String>) {
    match owner {
        AlertOwner::Account(account) => (Some(account.0), None),
        AlertOwner::Guest { email } => (None, Some(columns::text(email))),
    }
}

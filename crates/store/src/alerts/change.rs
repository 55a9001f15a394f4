//! Alerts as they are made, changed and deleted: each change with its history entry.

use alerts::transition::{self, Changed};
use alerts::{Alert, AlertId, NewAlert, Revision, restore};
use jiff::Timestamp;
use market::{Decimal, Price, Symbol};
use serde_json::{Map, Value};

use super::row::{AlertRow, TABLE, onboarding_id, select, side_name};
use crate::columns::{self, json};
use crate::model::{AccountId, HistoryRow, Owner, StoredAlert};
use crate::unit::{ask, write};
use crate::{StoreError, Unit};

macro_rules! wish {
    ($owner_and_threshold:literal) => {
        select!(concat!(
            "WHERE alerts.symbol = $2 AND condition = $3 AND deleted_at IS NULL AND ",
            $owner_and_threshold,
            " ORDER BY alerts.seq"
        ))
    };
}

impl Unit {
    /// How many of an account's alerts are active.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_active_alerts(&mut self, account: AccountId) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM alerts WHERE account_id = $1 AND status = 'active' AND deleted_at IS NULL";
        let (count,) = ask!(self, fetch_one(i64,), sql, account.0);
        TABLE.narrow("COUNT(*)", count)
    }

    /// The alerts of the owner that [`alerts::equivalence::equivalent`] may find equivalent to `asked`: those of the same
    /// symbol, condition, threshold and moment, and those of the same `onboarding_id`; none that is deleted. Oldest first.
    /// Others that would do the same for that owner wait until the end of the transaction: an account has to be locked
    /// for that, a guest's address is.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn similar_alerts(&mut self, owner: &Owner, asked: &NewAlert) -> Result<Vec<StoredAlert>, StoreError> {
        let mut rows = self.alerts_of_wish(owner, asked).await?;
        if let Some(id) = onboarding_id(asked.parameters.as_ref()) {
            rows.extend(self.alerts_of_onboarding(owner, &id).await?);
            rows.sort_by_key(|row| row.seq);
            rows.dedup_by_key(|row| row.seq);
        }
        rows.into_iter().map(StoredAlert::try_from).collect()
    }

    /// The alerts of the owner with the same symbol, condition and threshold.
    async fn alerts_of_wish(&mut self, owner: &Owner, asked: &NewAlert) -> Result<Vec<AlertRow>, StoreError> {
        let symbol = asked.symbol.as_str();
        let kind = asked.condition.kind().name();
        let threshold = asked.condition.threshold().map(Decimal::micros);
        // Four texts, because a comparison that takes nulls for equal, or two owners for one, finds no index.
        Ok(match (owner, threshold) {
            (Owner::Account(account), Some(threshold)) => {
                let sql = wish!("account_id = $1 AND threshold = $4");
                ask!(self, fetch_all AlertRow, sql, account.0, symbol, kind, threshold)
            }
            (Owner::Account(account), None) => {
                let sql = wish!("account_id = $1 AND threshold IS NULL");
                ask!(self, fetch_all AlertRow, sql, account.0, symbol, kind)
            }
            (Owner::Guest { email }, threshold) => {
                let email = columns::text(email);
                if self.link.is_pg() {
                    let lock = "SELECT CAST(pg_advisory_xact_lock(hashtextextended($1, 0)) AS TEXT)";
                    ask!(self, fetch_one(String,), lock, &email);
                }
                match threshold {
                    Some(threshold) => {
                        let sql = wish!("guest_email = $1 AND threshold = $4");
                        ask!(self, fetch_all AlertRow, sql, &email, symbol, kind, threshold)
                    }
                    None => {
                        let sql = wish!("guest_email = $1 AND threshold IS NULL");
                        ask!(self, fetch_all AlertRow, sql, &email, symbol, kind)
                    }
                }
            }
        })
    }

    /// The alerts of the owner that a client has marked with that id.
    async fn alerts_of_onboarding(&mut self, owner: &Owner, id: &str) -> Result<Vec<AlertRow>, StoreError> {
        Ok(match owner {
            Owner::Account(account) => {
                let sql = select!("WHERE onboarding_id = $2 AND account_id = $1 AND deleted_at IS NULL");
                ask!(self, fetch_all AlertRow, sql, account.0, id)
            }
            Owner::Guest { email } => {
                let sql = select!("WHERE onboarding_id = $2 AND guest_email = $1 AND deleted_at IS NULL");
                ask!(self, fetch_all AlertRow, sql, columns::text(email), id)
            }
        })
    }

    /// An alert of an account, kept from changing until the end of the transaction. `None`: it has no such alert, or
    /// it was deleted.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn alert_to_change(
        &mut self,
        account: AccountId,
        id: AlertId,
    ) -> Result<Option<StoredAlert>, StoreError> {
        let sql = if self.link.is_pg() {
            select!("WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE")
        } else {
            select!("WHERE id = $1 AND account_id = $2 AND deleted_at IS NULL")
        };
        let row = ask!(self, fetch_optional AlertRow, sql, id.0, account.0);
        row.map(StoredAlert::try_from).transpose()
    }

    /// All alerts of a stock that are not deleted, kept from changing until the end of the transaction.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn alerts_of_symbol_to_change(&mut self, symbol: Symbol) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = if self.link.is_pg() {
            select!("WHERE alerts.symbol = $1 AND deleted_at IS NULL ORDER BY seq FOR NO KEY UPDATE")
        } else {
            select!("WHERE alerts.symbol = $1 AND deleted_at IS NULL ORDER BY seq")
        };
        let rows = ask!(self, fetch_all AlertRow, sql, symbol.as_str());
        rows.into_iter().map(StoredAlert::try_from).collect()
    }

    /// Adds an alert with its history entry.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_alert(&mut self, alert: &StoredAlert, row: &HistoryRow) -> Result<(), StoreError> {
        let StoredAlert {
            alert,
            owner,
            created_by,
        } = alert;
        let (account, guest) = parts(owner);
        let parameters = alert.parameters.as_ref().map(json).transpose()?;
        let inserted = crate::database::query!(
            fetch_one(i64,),
            &mut self.link,
            "INSERT INTO alerts
             (id, account_id, guest_email, symbol, condition, threshold, moment, parameters, notification, status,
              revision, initial_price, created_at, armed_at, triggered_at, rsi_side, onboarding_id, created_by,
              threshold_set_at, initial_price_set_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
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
        );
        let (seq,) = self.noted_writing(inserted)?;
        self.write_history(seq, row).await
    }

    /// Writes a changed alert and its history entry, if it still is of the revision `before`. `false`: it is not, and
    /// nothing was written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn update_alert(
        &mut self,
        changed: &Changed,
        before: Revision,
        at: Timestamp,
        details: Option<&Map<String, Value>>,
    ) -> Result<bool, StoreError> {
        let alert = &changed.alert;
        let parameters = alert.parameters.as_ref().map(json).transpose()?;
        let rows = write!(
            self,
            "UPDATE alerts SET condition = $3, threshold = $4, moment = $5, parameters = $6, notification = $7,
             status = $8, revision = $9, initial_price = $10, armed_at = $11, triggered_at = $12, rsi_side = $13,
             onboarding_id = $14, threshold_set_at = $15, initial_price_set_at = $16
             WHERE id = $1 AND revision = $2 AND deleted_at IS NULL",
            alert.id.0,
            i64::from(before.0),
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
        );
        if rows == 0 {
            return Ok(false);
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

    /// Marks an alert as deleted at an instant and writes its history entry. `false`: it is not of that revision any more, or was
    /// deleted before, and nothing was written.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn delete_alert(&mut self, alert: &Alert, at: Timestamp) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "UPDATE alerts SET deleted_at = $3, revision = $4 WHERE id = $1 AND revision = $2 AND deleted_at IS NULL",
            alert.id.0,
            i64::from(alert.revision.0),
            at.as_microsecond(),
            i64::from(alert.revision.next().0),
        );
        if rows == 0 {
            return Ok(false);
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

/// An owner as columns: the account's id, the guest's address.
fn parts(owner: &Owner) -> (Option<uuid::Uuid>, Option<String>) {
    match owner {
        Owner::Account(account) => (Some(account.0), None),
        Owner::Guest { email } => (None, Some(columns::text(email))),
    }
}

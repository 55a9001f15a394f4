//! Alerts over many stocks and their members.
//!
//! An alert over many stocks is a row that is never evaluated; each of its stocks is a separate row, a member, which is evaluated,
//! fires and is adjusted like any alert. What the owner sees of the whole is derived from the members when it is read, so no firing
//! has to change two rows: it is active as long as a member is.

use alerts::{AlertId, AlertScope};
use market::Symbol;

use super::row::{AlertRow, TABLE, select};
use crate::columns::values;
use crate::database::{OptionalUuidRow, query};
use crate::model::{AccountId, ListError, ListRequest, Page, StoredAlert};
use crate::unit_of_work::{fetch, select_locked};
use crate::{Store, StoreError, UnitOfWork};

macro_rules! has_member {
    ($condition:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM alerts m WHERE m.parent_seq = alerts.seq AND m.deleted_at IS NULL",
            $condition,
            ")"
        )
    };
}

/// The status that the owner sees. One without members is active: its watchlist is empty.
macro_rules! shown_status {
    () => {
        concat!(
            "CASE WHEN scope IS NULL OR status <> 'active' THEN status WHEN ",
            crate::alerts::scopes::has_member!(" AND m.status = 'active'"),
            " OR NOT ",
            crate::alerts::scopes::has_member!(""),
            " THEN 'active' WHEN ",
            crate::alerts::scopes::has_member!(" AND m.status = 'inactive'"),
            " THEN 'inactive' WHEN ",
            crate::alerts::scopes::has_member!(" AND m.status = 'paused'"),
            " THEN 'paused' ELSE 'triggered' END"
        )
    };
}

/// The time of the last firing that the owner sees: the latest one of any member.
macro_rules! shown_triggered_at {
    () => {
        "CASE WHEN scope IS NULL THEN triggered_at ELSE \
         (SELECT MAX(m.triggered_at) FROM alerts m WHERE m.parent_seq = alerts.seq) END"
    };
}

/// The state of an alert as its owner sees it: those of all members, one a line.
macro_rules! shown_lifecycle {
    () => {
        "CASE WHEN scope IS NULL THEN lifecycle ELSE COALESCE(\
         (SELECT STRING_AGG(m.lifecycle, '\n') FROM alerts m WHERE m.parent_seq = alerts.seq AND m.deleted_at IS NULL), lifecycle) END"
    };
}

/// The columns of an alert as its owner sees it. Members are not shown by themselves, so it has no parent.
macro_rules! select_shown {
    ($rest:expr) => {
        concat!(
            "SELECT alerts.seq, alerts.id, account_id, guest_email, alerts.symbol, condition, threshold, moment, parameters, \
             notification, ",
            crate::alerts::scopes::shown_status!(),
            " AS status, revision, initial_price, alerts.created_at, armed_at, ",
            crate::alerts::scopes::shown_triggered_at!(),
            " AS triggered_at, rsi_side, threshold_set_at, initial_price_set_at, created_by, deleted_at, note, tags, options, routing, templates, ",
            crate::alerts::scopes::shown_lifecycle!(),
            " AS lifecycle, scope, managed_source, managed_name, alerts.parent_seq, \
             CASE WHEN FALSE THEN alerts.id END AS parent_id \
             FROM alerts ",
            $rest
        )
    };
}

pub(crate) use {has_member, select_shown, shown_lifecycle, shown_status, shown_triggered_at};

impl Store {
    /// Returns a page of the members of an account's alert over many stocks, in the order of their symbols. A stock that it no longer
    /// has keeps its place as [`ListRequest::after`].
    pub async fn members(
        &self,
        account: AccountId,
        id: AlertId,
        request: impl Into<ListRequest<Symbol>>,
    ) -> Result<Page<StoredAlert>, ListError> {
        let request = request.into();
        let after = request.after.as_ref().map_or("", |symbol| symbol.as_str());
        if request.after.is_some() {
            let sql = "SELECT seq FROM alerts WHERE account_id = $1
                       AND parent_seq = (SELECT seq FROM alerts WHERE id = $2) AND symbol = $3 LIMIT 1";
            let found = query!(fetch_optional(i64,), &self.pools, sql, account.0, id.0, after)?;
            found.ok_or(ListError::UnknownItem)?;
        }
        let sql = "SELECT COUNT(*) FROM alerts WHERE account_id = $1 AND deleted_at IS NULL
                   AND parent_seq = (SELECT seq FROM alerts WHERE id = $2)";
        let (total,) = query!(fetch_one(i64,), &self.pools, sql, account.0, id.0)?;
        let sql = select!(
            "WHERE account_id = $1 AND deleted_at IS NULL AND parent_seq = (SELECT seq FROM alerts WHERE id = $2) \
             AND alerts.symbol > $3 ORDER BY alerts.symbol LIMIT $4 OFFSET $5"
        );
        let (limit, offset) = request.limit_and_offset();
        let rows = query!(fetch_all AlertRow, &self.pools, sql, account.0, id.0, after, limit, offset)?;
        Ok(Page {
            items: values(rows)?,
            total: TABLE.narrow("COUNT(*)", total)?,
        })
    }
}

impl Store {
    /// Returns the member of an account's alert over many stocks that is on a stock.
    pub async fn member(
        &self,
        account: AccountId,
        id: AlertId,
        symbol: Symbol,
    ) -> Result<Option<StoredAlert>, StoreError> {
        let sql = select!(
            "WHERE account_id = $1 AND deleted_at IS NULL AND parent_seq = (SELECT seq FROM alerts WHERE id = $2) \
             AND alerts.symbol = $3"
        );
        let row = query!(fetch_optional AlertRow, &self.pools, sql, account.0, id.0, symbol.as_str())?;
        row.map(StoredAlert::try_from).transpose()
    }
}

impl UnitOfWork {
    /// Returns the members of an alert over many stocks in the order of their creation, and locks them until the end of the
    /// transaction.
    pub async fn lock_members(&mut self, parent: AlertId) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE deleted_at IS NULL AND parent_seq = (SELECT seq FROM alerts WHERE id = $1) ORDER BY seq")
        );
        values(fetch!(self, fetch_all AlertRow, sql, parent.0))
    }

    /// Replaces the scope of an alert over many stocks.
    pub async fn set_scope(&mut self, id: AlertId, scope: &AlertScope) -> Result<(), StoreError> {
        let sql = "UPDATE alerts SET scope = $2 WHERE id = $1 AND scope IS NOT NULL RETURNING account_id";
        let scope = scope.to_json().to_string();
        let written = query!(fetch_optional OptionalUuidRow, &mut self.connection, sql, id.0, scope);
        if let Some((Some(account),)) = self.track_optional_write(written)? {
            self.note_listed_change(account);
        }
        Ok(())
    }

    /// Returns an account's alerts over many stocks, oldest first, and locks them until the end of the transaction, so that none is
    /// deleted while it gets a member. Callers that decide based on the result must [lock the account](UnitOfWork::lock_account)
    /// first.
    pub async fn scoped_alerts(&mut self, account: AccountId) -> Result<Vec<StoredAlert>, StoreError> {
        let sql = select_locked!(
            self,
            select!("WHERE account_id = $1 AND deleted_at IS NULL AND scope IS NOT NULL ORDER BY seq")
        );
        values(fetch!(self, fetch_all AlertRow, sql, account.0))
    }
}

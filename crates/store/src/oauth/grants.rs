//! Grants: what one account's owner has allowed one program.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::deliveries::never;
use crate::model::{AccountId, Grant, GrantId};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

pub(super) const TABLE: Table = Table("oauth_grants");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT seq, id, account_id, client_id, client_name, scopes, created_at, last_used_at, expires_at, ended_at \
             FROM oauth_grants ",
            $rest
        )
    };
}

#[derive(sqlx_macros::FromRow)]
struct GrantRow {
    seq: i64,
    id: Uuid,
    account_id: Uuid,
    client_id: String,
    client_name: String,
    scopes: String,
    created_at: i64,
    last_used_at: Option<i64>,
    expires_at: i64,
    ended_at: Option<i64>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = StoreError;

    fn try_from(row: GrantRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: GrantId(row.id),
            account: AccountId(row.account_id),
            client_id: row.client_id,
            client_name: row.client_name,
            scopes: scopes(&row.scopes)?,
            created_at: TABLE.instant(row.created_at)?,
            last_used_at: TABLE.instant_if_any(row.last_used_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            ended_at: TABLE.instant_if_any(row.ended_at)?,
        })
    }
}

/// Scopes as they are kept.
pub(super) fn scopes(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|error| TABLE.corrupt(error))
}

/// Scopes as they are to be kept.
pub(super) fn scopes_text(scopes: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(scopes).map_err(|error| TABLE.corrupt(error))
}

impl Store {
    /// The grants of an account that go on at `now`, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grants(&self, account: AccountId, now: Timestamp) -> Result<Vec<Grant>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY seq");
        let rows = query!(fetch_all GrantRow, &self.pools, sql, account.0, now.as_microsecond())?;
        rows.into_iter().map(Grant::try_from).collect()
    }

    /// At most `limit` grants of an account that are kept, whether they are over or not, oldest first, behind `place`; and the
    /// place behind them.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grants_after(
        &self,
        account: AccountId,
        place: i64,
        limit: u32,
    ) -> Result<(Vec<Grant>, i64), StoreError> {
        let sql = select!("WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let rows = query!(fetch_all GrantRow, &self.pools, sql, account.0, place, i64::from(limit))?;
        let next = rows.last().map_or(place, |row| row.seq);
        let grants: Result<_, _> = rows.into_iter().map(Grant::try_from).collect();
        Ok((grants?, next))
    }

    /// Notes that a grant was used.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn touch_grant(&self, id: GrantId, at: Timestamp) -> Result<(), StoreError> {
        self.write(Touch { id, at }).await.map_err(never)
    }

    pub(super) async fn grant_by_seq(&self, seq: i64) -> Result<Option<Grant>, StoreError> {
        let row = query!(fetch_optional GrantRow, &self.pools, select!("WHERE seq = $1"), seq)?;
        row.map(Grant::try_from).transpose()
    }
}

/// Notes that a grant was used.
struct Touch {
    id: GrantId,
    at: Timestamp,
}

impl Work for Touch {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            let sql = "UPDATE oauth_grants SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, $2 - 1) < $2";
            write!(unit, sql, self.id.0, self.at.as_microsecond());
            Ok(())
        })
    }
}

impl Unit {
    /// Adds a grant. If the account has `at_most` that go on, the one that was used least lately ends.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_grant(&mut self, grant: &Grant, at_most: u32) -> Result<(), StoreError> {
        let (account, now) = (grant.account.0, grant.created_at.as_microsecond());
        write!(
            self,
            "UPDATE oauth_grants SET ended_at = $2
             WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 AND seq NOT IN
             (SELECT seq FROM oauth_grants WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2
              ORDER BY COALESCE(last_used_at, created_at) DESC, seq DESC LIMIT $3)",
            account,
            now,
            i64::from(at_most) - 1,
        );
        let scopes = scopes_text(&grant.scopes)?;
        write!(
            self,
            "INSERT INTO oauth_grants
             (id, account_id, client_id, client_name, scopes, created_at, last_used_at, expires_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            grant.id.0,
            account,
            &grant.client_id,
            &grant.client_name,
            &scopes,
            now,
            grant.last_used_at.map(Timestamp::as_microsecond),
            grant.expires_at.as_microsecond(),
            grant.ended_at.map(Timestamp::as_microsecond),
        );
        Ok(())
    }

    /// When the account made the grant that `newer` others came after, if it is kept.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant_made_before(&mut self, account: AccountId, newer: u32) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT created_at FROM oauth_grants WHERE account_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2";
        let found = ask!(self, fetch_optional(i64,), sql, account.0, i64::from(newer));
        found.map(|(at,)| TABLE.instant(at)).transpose()
    }

    pub(super) async fn grant_row(&mut self, seq: i64) -> Result<Option<Grant>, StoreError> {
        let row = ask!(self, fetch_optional GrantRow, select!("WHERE seq = $1"), seq);
        row.map(Grant::try_from).transpose()
    }

    /// A grant, whether it is over or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant(&mut self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        let row = ask!(self, fetch_optional GrantRow, select!("WHERE id = $1"), id.0);
        row.map(Grant::try_from).transpose()
    }

    /// Notes that a grant was used, and until when it goes on for that. One that was ended stays so.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn renew_grant(&mut self, id: GrantId, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        write!(
            self,
            "UPDATE oauth_grants SET last_used_at = $2, expires_at = $3 WHERE id = $1 AND ended_at IS NULL",
            id.0,
            at.as_microsecond(),
            expires_at.as_microsecond(),
        );
        Ok(())
    }

    /// Ends a grant of an account. `false`: it has none such that goes on.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_grant(&mut self, account: AccountId, id: GrantId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_grants SET ended_at = $3
                   WHERE account_id = $1 AND id = $2 AND ended_at IS NULL AND expires_at > $3";
        Ok(write!(self, sql, account.0, id.0, at.as_microsecond()) == 1)
    }

    /// Ends all grants of an account. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn end_grants(&mut self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        let sql = "UPDATE oauth_grants SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL";
        Ok(write!(self, sql, account.0, at.as_microsecond()))
    }
}

//! Grants: access that an account's owner has granted to a client.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, json_list, values};
use crate::database::query;
use crate::model::{AccountId, Grant, GrantId};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

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

row! {
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
}

impl TryFrom<GrantRow> for Grant {
    type Error = StoreError;

    fn try_from(row: GrantRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: GrantId(row.id),
            account: AccountId(row.account_id),
            client_id: row.client_id,
            client_name: row.client_name,
            scopes: TABLE.list(&row.scopes)?,
            created_at: TABLE.instant(row.created_at)?,
            last_used_at: TABLE.optional_instant(row.last_used_at)?,
            expires_at: TABLE.instant(row.expires_at)?,
            ended_at: TABLE.optional_instant(row.ended_at)?,
        })
    }
}

impl Store {
    /// Returns an account's grants that are live at `now`, oldest first.
    pub async fn grants(&self, account: AccountId, now: Timestamp) -> Result<Vec<Grant>, StoreError> {
        let sql = select!("WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY seq");
        values(query!(fetch_all GrantRow, &self.pools, sql, account.0, now.as_microsecond())?)
    }

    /// Returns an account's stored grants after a position, live or not, oldest first, at most `limit`. Also returns
    /// the next position.
    pub async fn grants_after(
        &self,
        account: AccountId,
        position: i64,
        limit: u32,
    ) -> Result<(Vec<Grant>, i64), StoreError> {
        let sql = select!("WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let rows = query!(fetch_all GrantRow, &self.pools, sql, account.0, position, i64::from(limit))?;
        let next = rows.last().map_or(position, |row| row.seq);
        Ok((values(rows)?, next))
    }

    /// Records that a grant was used.
    pub async fn touch_grant(&self, id: GrantId, at: Timestamp) -> Result<(), StoreError> {
        let transaction = self.commit((id, at), |&(id, at), unit| {
            Box::pin(async move {
                let sql =
                    "UPDATE oauth_grants SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, $2 - 1) < $2";
                write_rows!(unit, sql, id.0, at.as_microsecond());
                Ok(())
            })
        });
        transaction.await
    }

    pub(super) async fn grant_by_seq(&self, seq: i64) -> Result<Option<Grant>, StoreError> {
        let row = query!(fetch_optional GrantRow, &self.pools, select!("WHERE seq = $1"), seq)?;
        row.map(Grant::try_from).transpose()
    }
}

impl UnitOfWork {
    /// Inserts a grant. If the account has `limit` live grants, the least recently used one is ended.
    pub async fn insert_grant(&mut self, grant: &Grant, limit: u32) -> Result<(), StoreError> {
        let (account, now) = (grant.account.0, grant.created_at.as_microsecond());
        write_rows!(
            self,
            "UPDATE oauth_grants SET ended_at = $2
             WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2 AND seq NOT IN
             (SELECT seq FROM oauth_grants WHERE account_id = $1 AND ended_at IS NULL AND expires_at > $2
              ORDER BY COALESCE(last_used_at, created_at) DESC, seq DESC LIMIT $3)",
            account,
            now,
            i64::from(limit) - 1,
        );
        write_rows!(
            self,
            "INSERT INTO oauth_grants
             (id, account_id, client_id, client_name, scopes, created_at, last_used_at, expires_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            grant.id.0,
            account,
            &grant.client_id,
            &grant.client_name,
            json_list(&grant.scopes),
            now,
            grant.last_used_at.map(Timestamp::as_microsecond),
            grant.expires_at.as_microsecond(),
            grant.ended_at.map(Timestamp::as_microsecond),
        );
        Ok(())
    }

    /// Returns the creation time of the account's grant that `offset` newer ones follow, if it is stored.
    pub async fn nth_newest_grant_created_at(
        &mut self,
        account: AccountId,
        offset: u32,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT created_at FROM oauth_grants WHERE account_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2";
        let found = fetch!(self, fetch_optional(i64,), sql, account.0, i64::from(offset));
        found.map(|(at,)| TABLE.instant(at)).transpose()
    }

    pub(super) async fn grant_row(&mut self, seq: i64) -> Result<Option<Grant>, StoreError> {
        let row = fetch!(self, fetch_optional GrantRow, select!("WHERE seq = $1"), seq);
        row.map(Grant::try_from).transpose()
    }

    /// Returns a grant, live or not.
    pub async fn grant(&mut self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        let row = fetch!(self, fetch_optional GrantRow, select!("WHERE id = $1"), id.0);
        row.map(Grant::try_from).transpose()
    }

    /// Records that a grant was used and extends it. An ended grant remains ended.
    pub async fn renew_grant(&mut self, id: GrantId, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        write_rows!(
            self,
            "UPDATE oauth_grants SET last_used_at = $2, expires_at = $3 WHERE id = $1 AND ended_at IS NULL",
            id.0,
            at.as_microsecond(),
            expires_at.as_microsecond(),
        );
        Ok(())
    }

    /// Ends an account's grant. Returns `false` if the account has no such live grant.
    pub async fn end_grant(&mut self, account: AccountId, id: GrantId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_grants SET ended_at = $3
                   WHERE account_id = $1 AND id = $2 AND ended_at IS NULL AND expires_at > $3";
        Ok(write_rows!(self, sql, account.0, id.0, at.as_microsecond()) == 1)
    }

    /// Ends all grants of an account and returns their number.
    pub async fn end_grants(&mut self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        let sql = "UPDATE oauth_grants SET ended_at = $2 WHERE account_id = $1 AND ended_at IS NULL";
        Ok(write_rows!(self, sql, account.0, at.as_microsecond()))
    }
}

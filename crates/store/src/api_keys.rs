//! API keys.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::{Table, json_list, values};
use crate::database::query;
use crate::model::{Account, AccountId, ApiKey, ApiKeyId};
use crate::sqlite::row;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("api_keys");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, account_id, name, prefix, hash, scopes, created_at, last_used_at FROM api_keys ",
            $rest
        )
    };
}

row! {
    struct ApiKeyRow {
        id: Uuid,
        account_id: Uuid,
        name: String,
        prefix: String,
        hash: Vec<u8>,
        scopes: String,
        created_at: i64,
        last_used_at: Option<i64>,
    }
}

impl TryFrom<ApiKeyRow> for ApiKey {
    type Error = StoreError;

    fn try_from(row: ApiKeyRow) -> Result<Self, StoreError> {
        let hash = row.hash.try_into();
        Ok(Self {
            id: ApiKeyId(row.id),
            account: AccountId(row.account_id),
            name: row.name,
            prefix: row.prefix,
            hash: hash.map_err(|_| TABLE.corrupt("hash is not of 32 bytes"))?,
            scopes: TABLE.list(&row.scopes)?,
            created_at: TABLE.instant(row.created_at)?,
            last_used_at: TABLE.optional_instant(row.last_used_at)?,
        })
    }
}

impl Store {
    /// Returns the API key with a hash, and its account.
    pub async fn api_key_by_hash(&self, hash: [u8; 32]) -> Result<Option<(ApiKey, Account)>, StoreError> {
        let row = query!(fetch_optional ApiKeyRow, &self.pools, select!("WHERE hash = $1"), &hash[..])?;
        let Some(row) = row else { return Ok(None) };
        let key = ApiKey::try_from(row)?;
        // If the account was deleted in between, its keys are gone too.
        let account = self.account(key.account).await?;
        Ok(account.map(|account| (key, account)))
    }

    /// Returns an account's API keys, oldest first.
    pub async fn api_keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY created_at, seq");
        values(query!(fetch_all ApiKeyRow, &self.pools, sql, account.0)?)
    }

    /// Records when keys were last used. An instant earlier than the recorded one changes nothing.
    pub async fn touch_api_keys(&self, used: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        let transaction = self.commit(used.to_vec(), |used, unit| {
            Box::pin(async move {
                for (id, at) in used {
                    write_rows!(
                        unit,
                        "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, $2 - 1) < $2",
                        id.0,
                        at.as_microsecond(),
                    );
                }
                Ok(())
            })
        });
        transaction.await
    }
}

impl UnitOfWork {
    /// Inserts an API key.
    pub async fn insert_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        write_rows!(
            self,
            "INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes, created_at, last_used_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            key.id.0,
            key.account.0,
            &key.name,
            &key.prefix,
            &key.hash[..],
            json_list(&key.scopes),
            key.created_at.as_microsecond(),
            key.last_used_at.map(Timestamp::as_microsecond),
        );
        Ok(())
    }

    /// Counts an account's API keys.
    pub async fn count_api_keys(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM api_keys WHERE account_id = $1";
        let (count,) = fetch!(self, fetch_one(i64,), sql, account.0);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Deletes an account's API key. Returns `false` if the account has no such key.
    pub async fn delete_api_key(&mut self, account: AccountId, id: ApiKeyId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM api_keys WHERE account_id = $1 AND id = $2";
        Ok(write_rows!(self, sql, account.0, id.0) == 1)
    }

    /// Deletes all API keys of an account and returns the number deleted.
    pub async fn delete_api_keys(&mut self, account: AccountId) -> Result<u64, StoreError> {
        Ok(write_rows!(
            self,
            "DELETE FROM api_keys WHERE account_id = $1",
            account.0
        ))
    }
}

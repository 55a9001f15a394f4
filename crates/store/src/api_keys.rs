//! API keys.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{Account, AccountId, ApiKey, ApiKeyId};
use crate::unit::{ask, write};
use crate::{Abort, BoxFuture, Store, StoreError, Unit, Work};

const TABLE: Table = Table("api_keys");

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, account_id, name, prefix, hash, scopes, created_at, last_used_at FROM api_keys ",
            $rest
        )
    };
}

#[derive(sqlx_macros::FromRow)]
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
            scopes: serde_json::from_str(&row.scopes).map_err(|error| TABLE.corrupt(error))?,
            created_at: TABLE.instant(row.created_at)?,
            last_used_at: TABLE.instant_if_any(row.last_used_at)?,
        })
    }
}

impl Store {
    /// The API key of that hash, with its account.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn api_key_by_hash(&self, hash: [u8; 32]) -> Result<Option<(ApiKey, Account)>, StoreError> {
        let row = query!(fetch_optional ApiKeyRow, &self.pools, select!("WHERE hash = $1"), &hash[..])?;
        let Some(row) = row else { return Ok(None) };
        let key = ApiKey::try_from(row)?;
        // An account that was deleted in between takes its keys with it.
        let account = self.account(key.account).await?;
        Ok(account.map(|account| (key, account)))
    }

    /// An account's API keys, oldest first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn api_keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = select!("WHERE account_id = $1 ORDER BY created_at, seq");
        let rows = query!(fetch_all ApiKeyRow, &self.pools, sql, account.0)?;
        rows.into_iter().map(ApiKey::try_from).collect()
    }

    /// Notes when keys were used last; an earlier instant than the one that is noted changes nothing.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn touch_api_keys(&self, used: &[(ApiKeyId, Timestamp)]) -> Result<(), StoreError> {
        let touched = self.write(Touch(used.to_vec())).await;
        touched.map_err(|abort| match abort {
            Abort::Store(error) => error,
            Abort::Refused(never) => match never {},
        })
    }
}

/// Notes when keys were used.
struct Touch(Vec<(ApiKeyId, Timestamp)>);

impl Work for Touch {
    type Done = ();
    type Refusal = std::convert::Infallible;

    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<(), Abort<Self::Refusal>>> {
        Box::pin(async move {
            for (id, at) in &self.0 {
                write!(
                    unit,
                    "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, $2 - 1) < $2",
                    id.0,
                    at.as_microsecond(),
                );
            }
            Ok(())
        })
    }
}

impl Unit {
    /// Adds an API key.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        let scopes = serde_json::to_string(&key.scopes).map_err(|error| TABLE.corrupt(error))?;
        write!(
            self,
            "INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes, created_at, last_used_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            key.id.0,
            key.account.0,
            &key.name,
            &key.prefix,
            &key.hash[..],
            &scopes,
            key.created_at.as_microsecond(),
            key.last_used_at.map(Timestamp::as_microsecond),
        );
        Ok(())
    }

    /// How many API keys an account has.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_api_keys(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM api_keys WHERE account_id = $1";
        let (count,) = ask!(self, fetch_one(i64,), sql, account.0);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Deletes an API key of an account. `false`: it has no such key.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn delete_api_key(&mut self, account: AccountId, id: ApiKeyId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM api_keys WHERE account_id = $1 AND id = $2";
        Ok(write!(self, sql, account.0, id.0) == 1)
    }

    /// Deletes all API keys of an account. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn delete_api_keys(&mut self, account: AccountId) -> Result<u64, StoreError> {
        Ok(write!(self, "DELETE FROM api_keys WHERE account_id = $1", account.0))
    }
}

//! The key check value.

use jiff::Timestamp;

use super::SealedValue;
use super::values::Kind;
use crate::database::query;
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

#[derive(sqlx_macros::FromRow)]
struct CheckRow {
    sealed: Vec<u8>,
}

impl Store {
    /// The key check value, if it was made.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn key_check(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM key_check WHERE id = 1";
        let row = query!(fetch_optional CheckRow, &self.pools, sql)?;
        Ok(row.map(|row| row.sealed))
    }
}

impl Unit {
    /// The key check value, if it was made.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn key_check(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM key_check WHERE id = 1";
        let row = ask!(self, fetch_optional CheckRow, sql);
        Ok(row.map(|row| row.sealed))
    }

    /// Keeps a key check value, if there is none. `false`: there was one already.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_key_check(&mut self, sealed: &[u8], now: Timestamp) -> Result<bool, StoreError> {
        let sql = "INSERT INTO key_check (id, sealed, made_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING";
        Ok(write!(self, sql, sealed, now.as_microsecond()) == 1)
    }

    /// Hands every sealed value to `take`.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn each_sealed_value(&mut self, take: &mut (dyn FnMut(SealedValue) + Send)) -> Result<(), StoreError> {
        for kind in Kind::ALL {
            let mut cursor = kind.start();
            loop {
                let page = self.sealed_page(kind, &cursor).await?;
                let Some((last, _)) = page.last() else { break };
                cursor = last.clone();
                page.into_iter().for_each(|(_, value)| take(value));
            }
        }
        Ok(())
    }
}

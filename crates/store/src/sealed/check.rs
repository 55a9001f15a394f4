//! The key check value: a sealed value that shows which key the database uses.

use jiff::Timestamp;

use super::SealedValue;
use super::values::SealedColumn;
use crate::database::{BytesRow, query};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

impl Store {
    /// Returns the key check value, if it exists.
    pub async fn key_check(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM key_check WHERE id = 1";
        let row = query!(fetch_optional BytesRow, &self.pools, sql)?;
        Ok(row.map(|(sealed,)| sealed))
    }
}

impl UnitOfWork {
    /// Returns the key check value, if it exists.
    pub async fn key_check(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM key_check WHERE id = 1";
        let row = fetch!(self, fetch_optional BytesRow, sql);
        Ok(row.map(|(sealed,)| sealed))
    }

    /// Inserts a key check value. Returns `false` if one exists.
    pub async fn insert_key_check(&mut self, sealed: &[u8], now: Timestamp) -> Result<bool, StoreError> {
        let sql = "INSERT INTO key_check (id, sealed, made_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING";
        Ok(write_rows!(self, sql, sealed, now.as_microsecond()) == 1)
    }

    /// Passes every sealed value to `visit`.
    pub async fn for_each_sealed_value(
        &mut self,
        visit: &mut (dyn FnMut(SealedValue) + Send),
    ) -> Result<(), StoreError> {
        for column in SealedColumn::ALL {
            let mut cursor = column.start();
            loop {
                let page = self.sealed_page(column, &cursor).await?;
                let Some((last, _)) = page.last() else { break };
                cursor = last.clone();
                page.into_iter().for_each(|(_, value)| visit(value));
            }
        }
        Ok(())
    }
}

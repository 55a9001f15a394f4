//! The private key of push messages, which all processes share.

use jiff::Timestamp;
use uuid::Uuid;

use crate::database::query;
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

/// The id of a key and the key, sealed.
type KeyRow = (Uuid, Vec<u8>);

const SELECT: &str = "SELECT id, private_key FROM web_push_keys WHERE seq = 1";

impl Store {
    /// Returns the private key of push messages, sealed, with its id.
    pub async fn web_push_key(&self) -> Result<Option<(Uuid, Vec<u8>)>, StoreError> {
        Ok(query!(fetch_optional KeyRow, &self.pools, SELECT)?)
    }
}

impl UnitOfWork {
    /// Inserts a private key of push messages, sealed, unless there is one. Returns the key that counts.
    pub async fn insert_web_push_key(
        &mut self,
        id: Uuid,
        sealed: &[u8],
        now: Timestamp,
    ) -> Result<(Uuid, Vec<u8>), StoreError> {
        let sql = "INSERT INTO web_push_keys (seq, id, private_key, created_at) VALUES (1, $1, $2, $3) ON CONFLICT (seq) DO NOTHING";
        write_rows!(self, sql, id, sealed, now.as_microsecond());
        Ok(fetch!(self, fetch_one KeyRow, SELECT))
    }
}

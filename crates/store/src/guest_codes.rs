//! Queries for one-time codes by payload. Guests receive such codes for an address and an alert.

use jiff::Timestamp;

use crate::columns::{Table, text};
use crate::database::{OptionalNumberRow, OptionalTextRow, query};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("codes");

impl Store {
    /// Returns the payload of the code with a hash, in any state.
    pub async fn code_payload(&self, hash: [u8; 32]) -> Result<Option<String>, StoreError> {
        let sql = "SELECT payload FROM codes WHERE hash = $1";
        let row = query!(fetch_optional OptionalTextRow, &self.pools, sql, &hash[..])?;
        Ok(row.and_then(|(payload,)| payload))
    }
}

impl UnitOfWork {
    /// Counts all codes for a purpose that were created after `since`.
    pub async fn count_codes_for_purpose(&mut self, purpose: &str, since: Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND created_at > $2";
        let (count,) = fetch!(self, fetch_one(i64,), sql, purpose, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Returns the creation time of the oldest code for a purpose and a subject that was created after `since`.
    pub async fn oldest_code(
        &mut self,
        purpose: &str,
        subject: &str,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(created_at) FROM codes WHERE purpose = $1 AND subject = $2 AND created_at > $3";
        let (subject, since) = (text(subject), since.as_microsecond());
        let (oldest,) = fetch!(self, fetch_one OptionalNumberRow, sql, purpose, subject, since);
        TABLE.optional_instant(oldest)
    }

    /// Counts the codes for a purpose, a subject and a payload that were created after `since`.
    pub async fn count_codes_with_payload(
        &mut self,
        purpose: &str,
        subject: &str,
        payload: &str,
        since: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND subject = $2 AND payload = $3 AND created_at > $4";
        let (subject, since) = (text(subject), since.as_microsecond());
        let (count,) = fetch!(self, fetch_one(i64,), sql, purpose, subject, payload, since);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Revokes all codes for a purpose, a subject and a payload. Returns their number.
    pub async fn revoke_codes_with_payload(
        &mut self,
        purpose: &str,
        subject: &str,
        payload: &str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "UPDATE codes SET used_at = $4
                   WHERE purpose = $1 AND subject = $2 AND payload = $3 AND used_at IS NULL";
        Ok(write_rows!(
            self,
            sql,
            purpose,
            text(subject),
            payload,
            now.as_microsecond()
        ))
    }
}

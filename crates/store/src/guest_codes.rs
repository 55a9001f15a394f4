//! Codes by what comes into force with them: those that guests are sent, about an address and for an alert.

use jiff::Timestamp;

use crate::columns::{Table, text};
use crate::database::query;
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("codes");

type MaybeText = (Option<String>,);
type MaybeNumber = (Option<i64>,);

impl Store {
    /// What comes into force with the code of that hash, be it good or not.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn code_payload(&self, hash: [u8; 32]) -> Result<Option<String>, StoreError> {
        let sql = "SELECT payload FROM codes WHERE hash = $1";
        let row = query!(fetch_optional MaybeText, &self.pools, sql, &hash[..])?;
        Ok(row.and_then(|(payload,)| payload))
    }
}

impl Unit {
    /// How many codes for that purpose were made since then, whatever they are about.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_codes_for(&mut self, purpose: &str, since: Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND created_at > $2";
        let (count,) = ask!(self, fetch_one(i64,), sql, purpose, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// When the first of the codes for that purpose and about that subject was made of those that were made since then.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn oldest_code(
        &mut self,
        purpose: &str,
        subject: &str,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(created_at) FROM codes WHERE purpose = $1 AND subject = $2 AND created_at > $3";
        let (subject, since) = (text(subject), since.as_microsecond());
        let (oldest,) = ask!(self, fetch_one MaybeNumber, sql, purpose, subject, since);
        TABLE.instant_if_any(oldest)
    }

    /// How many codes for that purpose, about that subject and with that payload were made since then.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_codes_with(
        &mut self,
        purpose: &str,
        subject: &str,
        payload: &str,
        since: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND subject = $2 AND payload = $3 AND created_at > $4";
        let (subject, since) = (text(subject), since.as_microsecond());
        let (count,) = ask!(self, fetch_one(i64,), sql, purpose, subject, payload, since);
        TABLE.narrow("COUNT(*)", count)
    }

    /// Withdraws all codes for that purpose, about that subject and with that payload. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn withdraw_codes_with(
        &mut self,
        purpose: &str,
        subject: &str,
        payload: &str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "UPDATE codes SET used_at = $4
                   WHERE purpose = $1 AND subject = $2 AND payload = $3 AND used_at IS NULL";
        Ok(write!(self, sql, purpose, text(subject), payload, now.as_microsecond()))
    }
}

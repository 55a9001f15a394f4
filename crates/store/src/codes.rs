//! Codes that were sent to somebody.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, CodeState, Guessed, NewCode, UsedCode};
use crate::unit::{ask, write};
use crate::{Store, StoreError, Unit};

const TABLE: Table = Table("codes");

/// Account, subject and payload of a code, and when it was made.
type CodeRow = (Option<Uuid>, String, Option<String>, i64);

impl Store {
    /// What is known of the code of that hash; `None`: it never was one, or it has been over for long.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn code_state(&self, hash: [u8; 32], now: Timestamp) -> Result<Option<CodeState>, StoreError> {
        let sql = "SELECT used_at, expires_at FROM codes WHERE hash = $1";
        let row = query!(fetch_optional(Option<i64>, i64), &self.pools, sql, &hash[..])?;
        let Some((used_at, expires_at)) = row else {
            return Ok(None);
        };
        Ok(Some(match used_at {
            Some(_) => CodeState::Used,
            None if TABLE.instant(expires_at)? <= now => CodeState::Expired,
            None => CodeState::Good,
        }))
    }
}

impl Unit {
    /// Adds a code. If there was one of that hash, which only short ones can have, this one takes its place.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_code(&mut self, code: &NewCode) -> Result<(), StoreError> {
        write!(
            self,
            "INSERT INTO codes (purpose, account_id, subject, payload, hash, created_at, expires_at, tries)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
             ON CONFLICT (hash) DO UPDATE
             SET created_at = excluded.created_at, expires_at = excluded.expires_at, used_at = NULL, tries = 0",
            code.purpose,
            code.account.map(|account| account.0),
            &code.subject,
            code.payload.as_deref(),
            &code.hash[..],
            code.created_at.as_microsecond(),
            code.expires_at.as_microsecond(),
        );
        Ok(())
    }

    /// Uses a code up, and says what it is about. Of any number that try at once, one succeeds. `None`: there is no such
    /// code, or it was used, or its time is over.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn use_code(&mut self, hash: [u8; 32], now: Timestamp) -> Result<Option<UsedCode>, StoreError> {
        let sql = "UPDATE codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
        if write!(self, sql, &hash[..], now.as_microsecond()) == 0 {
            return Ok(None);
        }
        let sql = "SELECT account_id, subject, payload, created_at FROM codes WHERE hash = $1";
        let (account, subject, payload, created_at) = ask!(self, fetch_one CodeRow, sql, &hash[..]);
        Ok(Some(UsedCode {
            account: account.map(AccountId),
            subject,
            payload,
            created_at: TABLE.instant(created_at)?,
        }))
    }

    /// Withdraws all codes of an account for that purpose. Says how many.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn withdraw_codes(
        &mut self,
        purpose: &str,
        account: AccountId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "UPDATE codes SET used_at = $3 WHERE purpose = $1 AND account_id = $2 AND used_at IS NULL";
        Ok(write!(self, sql, purpose, account.0, now.as_microsecond()))
    }

    /// Withdraws one code.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn withdraw_code(&mut self, hash: [u8; 32], now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        write!(self, sql, &hash[..], now.as_microsecond());
        Ok(())
    }

    /// How many codes for that purpose were made about that subject since then.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_codes(&mut self, purpose: &str, subject: &str, since: Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND subject = $2 AND created_at > $3";
        let (count,) = ask!(self, fetch_one(i64,), sql, purpose, subject, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// How many codes for that purpose were made for an account since then.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn count_codes_of(
        &mut self,
        purpose: &str,
        account: AccountId,
        since: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND account_id = $2 AND created_at > $3";
        let (count,) = ask!(self, fetch_one(i64,), sql, purpose, account.0, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Takes a guess at the latest code of an account for that purpose and subject: a short one, that is good for
    /// `max_wrong` wrong guesses.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn guess_code(
        &mut self,
        purpose: &str,
        account: AccountId,
        subject: &str,
        hash: [u8; 32],
        max_wrong: u32,
        now: Timestamp,
    ) -> Result<Guessed, StoreError> {
        let micros = now.as_microsecond();
        // A guess is counted before it is looked at, so that any number at once are counted one by one. A right one
        // counts, too: it must be among the guesses that are allowed.
        let counted = write!(
            self,
            "UPDATE codes SET tries = tries + 1 WHERE tries < $5 AND used_at IS NULL AND expires_at > $4 AND seq =
             (SELECT seq FROM codes WHERE purpose = $1 AND account_id = $2 AND subject = $3
              ORDER BY created_at DESC, seq DESC LIMIT 1)",
            purpose,
            account.0,
            subject,
            micros,
            i64::from(max_wrong),
        );
        if counted == 0 {
            return Ok(Guessed::Nothing);
        }
        let used = write!(
            self,
            "UPDATE codes SET used_at = $5 WHERE hash = $4 AND used_at IS NULL AND seq =
             (SELECT seq FROM codes WHERE purpose = $1 AND account_id = $2 AND subject = $3
              ORDER BY created_at DESC, seq DESC LIMIT 1)",
            purpose,
            account.0,
            subject,
            &hash[..],
            micros,
        );
        if used == 1 {
            return Ok(Guessed::Right);
        }
        let sql = "SELECT tries FROM codes WHERE purpose = $1 AND account_id = $2 AND subject = $3
                   ORDER BY created_at DESC, seq DESC LIMIT 1";
        let (tries,) = ask!(self, fetch_one(i64,), sql, purpose, account.0, subject);
        let tries: u64 = TABLE.narrow("tries", tries)?;
        Ok(Guessed::Wrong(u64::from(max_wrong).saturating_sub(tries)))
    }
}

//! One-time codes that were sent to someone.

use jiff::Timestamp;
use uuid::Uuid;

use crate::columns::Table;
use crate::database::query;
use crate::model::{AccountId, CodeCheck, CodeState, NewCode, UsedCode};
use crate::unit_of_work::{fetch, write_rows};
use crate::{Store, StoreError, UnitOfWork};

const TABLE: Table = Table("codes");

/// Account, subject, payload and creation time of a code.
type CodeRow = (Option<Uuid>, String, Option<String>, i64);

impl Store {
    /// Returns the state of the code with a hash. `None`: the code never existed, or was purged.
    pub async fn code_state(&self, hash: [u8; 32], now: Timestamp) -> Result<Option<CodeState>, StoreError> {
        let sql = "SELECT used_at, expires_at FROM codes WHERE hash = $1";
        let row = query!(fetch_optional(Option<i64>, i64), &self.pools, sql, &hash[..])?;
        let Some((used_at, expires_at)) = row else {
            return Ok(None);
        };
        Ok(Some(match used_at {
            Some(_) => CodeState::Used,
            None if TABLE.instant(expires_at)? <= now => CodeState::Expired,
            None => CodeState::Valid,
        }))
    }
}

impl UnitOfWork {
    /// Inserts a code. A code with the same hash is replaced; only short codes can collide.
    pub async fn insert_code(&mut self, code: &NewCode) -> Result<(), StoreError> {
        write_rows!(
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

    /// Uses a code and returns what it stands for. Of several concurrent calls, one succeeds. `None`: the code is
    /// unknown, used or expired.
    pub async fn use_code(&mut self, hash: [u8; 32], now: Timestamp) -> Result<Option<UsedCode>, StoreError> {
        let sql = "UPDATE codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
        if write_rows!(self, sql, &hash[..], now.as_microsecond()) == 0 {
            return Ok(None);
        }
        let sql = "SELECT account_id, subject, payload, created_at FROM codes WHERE hash = $1";
        let (account, subject, payload, created_at) = fetch!(self, fetch_one CodeRow, sql, &hash[..]);
        Ok(Some(UsedCode {
            account: account.map(AccountId),
            subject,
            payload,
            created_at: TABLE.instant(created_at)?,
        }))
    }

    /// Revokes all codes of an account for a purpose and returns their number.
    pub async fn revoke_codes(&mut self, purpose: &str, account: AccountId, now: Timestamp) -> Result<u64, StoreError> {
        let sql = "UPDATE codes SET used_at = $3 WHERE purpose = $1 AND account_id = $2 AND used_at IS NULL";
        Ok(write_rows!(self, sql, purpose, account.0, now.as_microsecond()))
    }

    /// Revokes one code.
    pub async fn revoke_code(&mut self, hash: [u8; 32], now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        write_rows!(self, sql, &hash[..], now.as_microsecond());
        Ok(())
    }

    /// Counts the codes for a purpose and a subject that were created after `since`.
    pub async fn count_codes(&mut self, purpose: &str, subject: &str, since: Timestamp) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND subject = $2 AND created_at > $3";
        let (count,) = fetch!(self, fetch_one(i64,), sql, purpose, subject, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Counts the codes for a purpose and an account that were created after `since`.
    pub async fn count_codes_of_account(
        &mut self,
        purpose: &str,
        account: AccountId,
        since: Timestamp,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM codes WHERE purpose = $1 AND account_id = $2 AND created_at > $3";
        let (count,) = fetch!(self, fetch_one(i64,), sql, purpose, account.0, since.as_microsecond());
        TABLE.narrow("COUNT(*)", count)
    }

    /// Checks a guess at an account's latest code for a purpose and a subject. Such a short code allows `max_wrong`
    /// wrong guesses.
    pub async fn check_code(
        &mut self,
        purpose: &str,
        account: AccountId,
        subject: &str,
        hash: [u8; 32],
        max_wrong: u32,
        now: Timestamp,
    ) -> Result<CodeCheck, StoreError> {
        let micros = now.as_microsecond();
        // Each guess is counted before it is compared, so concurrent guesses are counted one by one. A correct guess
        // counts too: it must be among the allowed guesses.
        let counted = write_rows!(
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
            return Ok(CodeCheck::NoActiveCode);
        }
        let used = write_rows!(
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
            return Ok(CodeCheck::Correct);
        }
        let sql = "SELECT tries FROM codes WHERE purpose = $1 AND account_id = $2 AND subject = $3
                   ORDER BY created_at DESC, seq DESC LIMIT 1";
        let (tries,) = fetch!(self, fetch_one(i64,), sql, purpose, account.0, subject);
        let tries: u64 = TABLE.narrow("tries", tries)?;
        Ok(CodeCheck::Wrong(u64::from(max_wrong).saturating_sub(tries)))
    }
}

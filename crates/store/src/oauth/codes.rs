//! Codes, each exchanged once for a grant's first tokens.

use jiff::Timestamp;

use super::grants::TABLE;
use crate::model::{GrantCode, GrantId, ShownCode};
use crate::unit::{ask, write};
use crate::{StoreError, Unit};

#[derive(sqlx_macros::FromRow)]
struct CodeRow {
    grant_seq: i64,
    redirect_uri: String,
    challenge: String,
    expires_at: i64,
    used_at: Option<i64>,
}

impl Unit {
    /// Adds a code of a grant. `false`: there is no such grant.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn insert_grant_code(&mut self, grant: GrantId, code: &GrantCode) -> Result<bool, StoreError> {
        let rows = write!(
            self,
            "INSERT INTO oauth_codes (hash, grant_seq, redirect_uri, challenge, expires_at)
             SELECT $2, seq, $3, $4, $5 FROM oauth_grants WHERE id = $1",
            grant.0,
            &code.hash[..],
            &code.redirect_uri,
            &code.challenge,
            code.expires_at.as_microsecond(),
        );
        Ok(rows == 1)
    }

    /// A code with its grant, whatever has become of either.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn grant_code(&mut self, hash: [u8; 32]) -> Result<Option<ShownCode>, StoreError> {
        let sql = "SELECT grant_seq, redirect_uri, challenge, expires_at, used_at FROM oauth_codes WHERE hash = $1";
        let Some(row) = ask!(self, fetch_optional CodeRow, sql, &hash[..]) else {
            return Ok(None);
        };
        let Some(grant) = self.grant_row(row.grant_seq).await? else {
            return Ok(None);
        };
        Ok(Some(ShownCode {
            code: GrantCode {
                hash,
                redirect_uri: row.redirect_uri,
                challenge: row.challenge,
                expires_at: TABLE.instant(row.expires_at)?,
            },
            is_used: row.used_at.is_some(),
            grant,
        }))
    }

    /// Uses a code up. `false`: it was used before. Of any number at once one is first.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn use_grant_code(&mut self, hash: [u8; 32], at: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE oauth_codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
        Ok(write!(self, sql, &hash[..], at.as_microsecond()) == 1)
    }
}
